"""Files of Hanabi games: JSON lines, and the JSON of hanab.live.

hanab.live names a card by its place in the deck, the learning environments by its slot in the hand:
so cards are dealt and drawn here. Of the rules, the reader knows no more.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from kedge.errors import InputError
from kedge.files import make_folder, write_atomic
from kedge.games.hanabi import BOMBS, Card, Hanabi, Move
from kedge.records.hanabi.games import HanabiGame, rules_of
from kedge.records.json_games import known, read_json_games, short, write_json_games
from kedge.records.report import ReadReport

_COLORS = {"No Variant": 5, "4 Suits": 4, "3 Suits": 3}  # by hanab.live's name of the variant
_VARIANTS = {colors: variant for variant, colors in _COLORS.items()}
_OTHER_RULES = (
    "startingPlayer",
    "cardCycle",
    "deckPlays",
    "emptyClues",
    "allOrNothing",
    "detrimentalCharacters",
)
_KINDS = ("play", "discard", "color", "rank")  # of moves, as hanab.live numbers them
_END, _END_BY_VOTE = 4, 5
_HINTS = ("color", "rank")
# Sources that count what was built even when the last life was lost.
_COUNT_BOMBS = ("yawgmoth/HanabiData", "Quuxplusone/Hanabi")


def read_hanabi_games(
    path: str | Path | IO[bytes], report: ReadReport | None = None
) -> Iterator[HanabiGame]:
    """The games of a file, one by one.

    Parameters
    ----------
    path
        A file of games as JSON, one a line, or one game alone: as hanab.live exports it, or with
        `seats`, `deck` and `actions` such as ``[0, "play", 4, -1]``. Or a binary stream (buffered,
        or one that can seek). It may be compressed: gzip, bzip2, xz, and zstd with the ``records``
        extra.
    report
        Counts what is read, a position a move, and keeps the reasons of games that are left out
        because they are broken: a deck that cannot be, a card that is not in the hand, a hint to
        oneself or to nobody, a variant that is not played here.

    Raises
    ------
    InputError
        If the file cannot be opened, or is damaged from its first byte on.
    """
    report = ReadReport() if report is None else report
    return read_json_games(path, report, game_of, mark="deck")


# --- Moves --------------------------------------------------------------------------------------


class _HintToOneselfError(ValueError):
    """What some servers allowed."""


class _Table:
    """Who is to move, and who holds which cards, by their places in the deck."""

    def __init__(self, rules: Hanabi) -> None:
        self._rules, size = rules, rules.hand_size
        self.seat = 0
        self._hands = [[*range(i * size, (i + 1) * size)] for i in range(rules.num_players)]
        self._drawn = rules.num_players * size

    @property
    def hand(self) -> list[int]:
        """Of the player to move, the oldest card first."""
        return self._hands[self.seat]

    def make(self, kind: Any, target: Any, told: Any) -> int:
        """Make a move, with the card in a slot or a hint to a seat; the number of that action."""
        if kind not in _KINDS or type(target) is not int or type(told) is not int:
            raise ValueError("there is no such move")
        players = self._rules.num_players
        if kind in _HINTS:
            if target == self.seat:
                raise _HintToOneselfError("a hint to oneself")
            if not 0 <= target < players:
                raise ValueError(f"a hint to seat {target}, where nobody sits")
            action = self._rules.actions.get(Move(kind, (target - self.seat) % players, told))
            if action is None:
                raise ValueError(f"a hint of {told}, which is nothing")
        else:
            if not 0 <= target < len(self.hand):
                raise ValueError(f"there is no card in slot {target}")
            action = self._rules.actions[Move(kind, target)]
            del self.hand[target]
            if self._drawn < len(self._rules.cards):
                self.hand.append(self._drawn)
                self._drawn += 1
        self.seat = (self.seat + 1) % players
        return action

    def words(self, action: int) -> tuple[str, int, int]:
        """What `make` is to be told for an action."""
        kind, at, told = self._rules.moves[action]
        return kind, (self.seat + at) % self._rules.num_players if kind in _HINTS else at, told

    def touched(self, deck: Sequence[Card], kind: str, target: int, told: int) -> int:
        """The place in the deck of the oldest card that a move is about."""
        if kind not in _HINTS:
            return self.hand[target]
        hand: list[int] = self._hands[target]
        return next(card for card in hand if deck[card][_HINTS.index(kind)] == told)


def _plain_move(raw: Any, table: _Table) -> tuple[Any, Any, Any]:
    if type(raw) is not list or len(raw) != 4:
        raise ValueError("is not of the form [seat, kind, slot or target, value]")
    seat, kind, target, told = raw
    if type(seat) is not int or seat != table.seat:
        raise ValueError(f"seat {table.seat} is to move")
    return kind, target, told


def _live_move(raw: Any, table: _Table) -> tuple[Any, Any, Any]:
    if type(raw) is not dict:
        raise ValueError("is not a JSON object")
    number, target = known(raw, "type", int), known(raw, "target", int)
    if number is None or not 0 <= number < len(_KINDS) or target is None:
        raise ValueError("there is no such move")
    kind = _KINDS[number]
    if kind not in _HINTS:
        if target not in table.hand:
            raise ValueError(f"card {target} of the deck is not in the hand")
        target = table.hand.index(target)
    return kind, target, known(raw, "value", int) or 0


# --- Games --------------------------------------------------------------------------------------


def game_of(found: Mapping[str, Any]) -> HanabiGame:
    """The game that an object holds, in either format; a ValueError says why it is broken."""
    return _live_game(found) if "players" in found else _plain_game(found)


def _plain_game(found: Mapping[str, Any]) -> HanabiGame:
    players = _names(found, "seats")
    if known(found, "num_players", int) not in (None, len(players)):
        raise ValueError('"num_players" and "seats" differ')
    rules = _rules(players, found, known(found, "hand_size", int))
    name, is_legal = known(found, "id", str), known(found, "legal", bool) is not False
    if not name:
        raise ValueError('"id" is missing')
    actions = _actions(_list(found, "actions"), rules, _plain_move, is_legal)
    return HanabiGame(
        name,
        players,
        _deck(found, rules, _plain_card),
        actions,
        rules.hand_size,
        rules.colors,
        legal=is_legal,
        slips=_slips(found, len(actions)),
        **_about(found),
    )


def _live_game(found: Mapping[str, Any]) -> HanabiGame:
    players = _names(found, "players")
    options = known(found, "options", dict) or {}
    other = next((name for name in _OTHER_RULES if options.get(name)), None)
    if other is not None:
        raise ValueError(f"the option {other} is not played here")
    usual = _rules(players, options).hand_size
    more = bool(options.get("oneExtraCard")) - bool(options.get("oneLessCard"))
    rules = _rules(players, options, usual + more)
    moves = _list(found, "actions")
    abandoned = _end(moves[-1], len(players)) if moves else None
    if abandoned is not None:
        moves = moves[:-1]
    ours = known(found, "kedge", dict) or {}
    is_legal = known(ours, "legal", bool) is not False
    deck = _deck(found, rules, _live_card)
    actions = _actions(moves, rules, _live_move, is_legal)
    return HanabiGame(
        known(ours, "id", str) or str(known(found, "id", int) or _digest(deck, actions)),
        players,
        deck,
        actions,
        rules.hand_size,
        rules.colors,
        legal=is_legal,
        abandoned=abandoned,
        slips=_slips(ours, len(actions)),
        **_about(ours),
    )


def _digest(deck: tuple[Card, ...], actions: tuple[int, ...]) -> str:
    """A name for a game that has none."""
    return hashlib.sha256(json.dumps([deck, actions]).encode()).hexdigest()[:16]


def _rules(
    players: tuple[str, ...], options: Mapping[str, Any], hand_size: int | None = None
) -> Hanabi:
    variant = options.get("variant", "No Variant")
    colors = _COLORS.get(variant) if isinstance(variant, str) else None
    if colors is None:
        raise ValueError(f"the variant {short(variant)} is not played here")
    return rules_of(len(players), colors, hand_size)


def _about(found: Mapping[str, Any]) -> dict[str, Any]:
    source = known(found, "source", str)
    counts = source is not None and any(name in source for name in _COUNT_BOMBS)
    bomb = known(found, "bomb", str) or ("stack" if counts else "zero")
    if bomb not in BOMBS:
        raise ValueError(f'"bomb" is {" or ".join(BOMBS)}, not {short(bomb)}')
    return {
        "score": known(found, "score", int),
        "bomb": bomb,
        "participant": known(found, "participant", str),
        "source": source,
        "licence": known(found, "license", str),
    }


def _slips(found: Mapping[str, Any], moves: int) -> tuple[int, ...]:
    slips = known(found, "slips", list) or []
    if not all(type(move) is int and 0 <= move < moves for move in slips):
        raise ValueError('"slips" are not all moves of the game, counted from 0')
    return tuple(slips)


def _list(found: Mapping[str, Any], name: str) -> list[Any]:
    values = known(found, name, list)
    if values is None:
        raise ValueError(f'"{name}" is missing')
    return values


def _names(found: Mapping[str, Any], name: str) -> tuple[str, ...]:
    names = _list(found, name)
    if not all(isinstance(one, str) for one in names):
        raise ValueError(f'"{name}" has something that is no text')
    return tuple(names)


def _deck(
    found: Mapping[str, Any], rules: Hanabi, card_of: Callable[[Any], tuple[Any, Any]]
) -> tuple[Card, ...]:
    cards = _list(found, "deck")
    if len(cards) != len(rules.cards):
        raise ValueError(f"the deck has {len(cards)} cards, not {len(rules.cards)}")
    deck = []
    for number, raw in enumerate(cards):
        color, rank = card_of(raw)
        is_card = type(color) is int and type(rank) is int
        if not is_card or not (0 <= color < rules.colors and 1 <= rank <= rules.ranks):
            raise ValueError(f"card {number} of the deck is none")
        deck.append(Card(color, rank))
    if sorted(deck) != rules.cards:
        card = next(iter(Counter(deck) - Counter(rules.cards)))
        raise ValueError(f"the deck has too many of {tuple(card)}")
    return tuple(deck)


def _plain_card(raw: Any) -> tuple[Any, Any]:
    return (raw[0], raw[1]) if type(raw) is list and len(raw) == 2 else (None, None)


def _live_card(raw: Any) -> tuple[Any, Any]:
    return (raw.get("suitIndex"), raw.get("rank")) if type(raw) is dict else (None, None)


def _actions(
    moves: list[Any],
    rules: Hanabi,
    move_of: Callable[[Any, _Table], tuple[Any, Any, Any]],
    is_legal: bool,
) -> tuple[int, ...]:
    table = _Table(rules)
    actions = []
    for number, raw in enumerate(moves, 1):
        try:
            actions.append(table.make(*move_of(raw, table)))
        except ValueError as error:
            if not is_legal and isinstance(error, _HintToOneselfError):
                break  # there is no such action: the game is kept up to it
            raise ValueError(f"move {number}: {error}") from None
    return tuple(actions)


def _end(raw: Any, players: int) -> tuple[int, int] | None:
    """Who ended a game and why, if that is what its last move says."""
    if type(raw) is not dict or raw.get("type") not in (_END, _END_BY_VOTE):
        return None
    seat = known(raw, "target", int)
    if seat is None or not -1 <= seat < players:
        raise ValueError("the game is ended by nobody")
    return seat, known(raw, "value", int) or 0


# --- Writing ------------------------------------------------------------------------------------


def write_hanabi_games(games: Iterable[HanabiGame], path: str | Path) -> int:
    """Write games as hanab.live takes them, one a line; how many they were.

    The file is compressed as its name says. What hanab.live has no place for stands under
    ``kedge``, and comes back when the file is read here.
    """
    return write_json_games(map(live_game, games), path)


def write_live_games(games: Iterable[HanabiGame], folder: Path) -> int:
    """Write each game into a file of its own, to be watched on hanab.live; how many they were."""
    make_folder(folder)
    count = 0
    for game in games:
        write_atomic(folder / f"{game.id}.json", json.dumps(live_game(game)) + "\n")
        count += 1
    return count


def live_game(game: HanabiGame) -> dict[str, Any]:
    """A game as hanab.live shows it: Watch Specific Replay, from JSON."""
    ours = {
        "id": game.id,
        "score": game.score,
        "bomb": game.bomb,
        "legal": game.legal,
        "slips": list(game.slips),
        "participant": game.participant,
        "source": game.source,
        "license": game.licence,
    }
    is_number = re.fullmatch("[1-9][0-9]{0,17}", game.id) is not None  # as hanab.live's are
    return {
        **({"id": int(game.id)} if is_number else {}),
        "players": list(game.players),
        "deck": [{"suitIndex": color, "rank": rank} for color, rank in game.deck],
        "actions": _live_actions(game),
        "options": _live_options(game),
        "kedge": ours,
    }


def live_notes(game: HanabiGame, comments: Sequence[str]) -> list[list[str]]:
    """Comments on the moves as hanab.live has notes: of each player, one a card of the deck.

    A note stands on the card that is played or discarded, or on the oldest that a hint is about,
    among those of who made the move. Several on one card have a bar between them, as there.
    """
    notes = [[""] * len(game.deck) for _ in game.players]
    table = _Table(game.rules)
    for action, comment in zip(game.actions, comments, strict=True):
        words = table.words(action)
        card = table.touched(game.deck, *words)
        own = notes[table.seat]
        own[card] = " | ".join(filter(None, (own[card], comment)))
        table.make(*words)
    return notes


def _live_actions(game: HanabiGame) -> list[dict[str, int]]:
    table = _Table(game.rules)
    actions = []
    for action in game.actions:
        kind, target, told = table.words(action)
        live = (target, told) if kind in _HINTS else (table.hand[target], 0)
        actions.append((_KINDS.index(kind), *live))
        table.make(kind, target, told)
    if game.abandoned is not None:
        actions.append((_END_BY_VOTE if game.abandoned[0] == -1 else _END, *game.abandoned))
    return [dict(zip(("type", "target", "value"), action, strict=True)) for action in actions]


def _live_options(game: HanabiGame) -> dict[str, Any]:
    usual = Hanabi(len(game.players)).hand_size
    sizes = {usual - 1: {"oneLessCard": True}, usual: {}, usual + 1: {"oneExtraCard": True}}
    if game.colors not in _VARIANTS or game.hand_size not in sizes:
        raise InputError(
            f"hanab.live plays no game of {game.colors} colours and {game.hand_size} cards a hand"
        )
    return {"variant": _VARIANTS[game.colors], **sizes[game.hand_size]}


__all__ = [
    "game_of",
    "live_game",
    "live_notes",
    "read_hanabi_games",
    "write_hanabi_games",
    "write_live_games",
]
