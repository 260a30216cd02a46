"""Files of Hanabi games: JSON lines, and the JSON of hanab.live.

hanab.live identifies a card by its place in the deck, learning environments by its slot in the
hand, so the reader deals and draws cards. It checks no other rules.
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

_COLORS = {"No Variant": 5, "4 Suits": 4, "3 Suits": 3}  # colours by hanab.live's variant
_VARIANTS = {colors: variant for variant, colors in _COLORS.items()}
_OTHER_RULES = (
    "startingPlayer",
    "cardCycle",
    "deckPlays",
    "emptyClues",
    "allOrNothing",
    "detrimentalCharacters",
)
_KINDS = ("play", "discard", "color", "rank")  # kinds of moves, in the order of hanab.live
_END, _END_BY_VOTE = 4, 5
_HINTS = ("color", "rank")
# Sources that keep the score even after the last life was lost.
_COUNT_BOMBS = ("yawgmoth/HanabiData", "Quuxplusone/Hanabi")


def read_hanabi_games(
    path: str | Path | IO[bytes], report: ReadReport | None = None
) -> Iterator[HanabiGame]:
    """Yield the games of a file.

    Parameters
    ----------
    path
        A file of games as JSON, one per line, or one game: as hanab.live exports it, or with
        `seats`, `deck` and `actions` such as ``[0, "play", 4, -1]``. Or a binary stream (buffered,
        or one that can seek). It may be compressed: gzip, bzip2, xz, and zstd with the ``records``
        extra.
    report
        Counts what is read, one position per move, and collects why games are left out: an
        impossible deck, a card that is not in the hand, a hint to oneself or to nobody, an
        unsupported variant.

    Raises
    ------
    InputError
        If the file cannot be opened, or is damaged from its first byte on.
    """
    report = ReadReport() if report is None else report
    return read_json_games(path, report, game_of, mark="deck")


# --- Moves --------------------------------------------------------------------------------------


class _HintToOneselfError(ValueError):
    """A hint to the mover, which some servers accept although the rules forbid it."""


class _Table:
    """The player to move, and the hands as places in the deck."""

    def __init__(self, rules: Hanabi) -> None:
        self._rules, size = rules, rules.hand_size
        self.seat = 0
        self._hands = [[*range(i * size, (i + 1) * size)] for i in range(rules.num_players)]
        self._drawn = rules.num_players * size

    @property
    def hand(self) -> list[int]:
        """The hand of the player to move, oldest card first."""
        return self._hands[self.seat]

    def make(self, kind: Any, target: Any, value: Any) -> int:
        """Make a move with the card in a slot, or a hint to a seat; return its action number."""
        if kind not in _KINDS or type(target) is not int or type(value) is not int:
            raise ValueError("unknown kind of move, slot or value")
        players = self._rules.num_players
        if kind in _HINTS:
            if target == self.seat:
                raise _HintToOneselfError("hint to oneself")
            if not 0 <= target < players:
                raise ValueError(f"hint to seat {target}; seats are 0 to {players - 1}")
            action = self._rules.actions.get(Move(kind, (target - self.seat) % players, value))
            if action is None:
                raise ValueError(f"hint of unknown {kind} {value}")
        else:
            if not 0 <= target < len(self.hand):
                raise ValueError(f"no card in slot {target}")
            action = self._rules.actions[Move(kind, target)]
            del self.hand[target]
            if self._drawn < len(self._rules.cards):
                self.hand.append(self._drawn)
                self._drawn += 1
        self.seat = (self.seat + 1) % players
        return action

    def words(self, action: int) -> tuple[str, int, int]:
        """Return the arguments of `make` for an action."""
        kind, at, value = self._rules.moves[action]
        return kind, (self.seat + at) % self._rules.num_players if kind in _HINTS else at, value

    def touched(self, deck: Sequence[Card], kind: str, target: int, value: int) -> int:
        """Return the deck place of the oldest card that a move plays, discards or hints."""
        if kind not in _HINTS:
            return self.hand[target]
        hand: list[int] = self._hands[target]
        return next(card for card in hand if deck[card][_HINTS.index(kind)] == value)


def _plain_move(raw: Any, table: _Table) -> tuple[Any, Any, Any]:
    if type(raw) is not list or len(raw) != 4:
        raise ValueError("not of the form [seat, kind, slot or target, value]")
    seat, kind, target, value = raw
    if type(seat) is not int or seat != table.seat:
        raise ValueError(f"expected seat {table.seat} to move")
    return kind, target, value


def _live_move(raw: Any, table: _Table) -> tuple[Any, Any, Any]:
    if type(raw) is not dict:
        raise ValueError("not a JSON object")
    number, target = known(raw, "type", int), known(raw, "target", int)
    if number is None or not 0 <= number < len(_KINDS) or target is None:
        raise ValueError("unknown type or target of move")
    kind = _KINDS[number]
    if kind not in _HINTS:
        if target not in table.hand:
            raise ValueError(f"card {target} of the deck is not in the hand")
        target = table.hand.index(target)
    return kind, target, known(raw, "value", int) or 0


# --- Games --------------------------------------------------------------------------------------


def game_of(record: Mapping[str, Any]) -> HanabiGame:
    """Return the game in a JSON object of either format, or raise a ValueError with the reason."""
    return _live_game(record) if "players" in record else _plain_game(record)


def _plain_game(record: Mapping[str, Any]) -> HanabiGame:
    players = _names(record, "seats")
    if known(record, "num_players", int) not in (None, len(players)):
        raise ValueError('"num_players" and "seats" differ')
    rules = _rules(players, record, known(record, "hand_size", int))
    name, is_legal = known(record, "id", str), known(record, "legal", bool) is not False
    if not name:
        raise ValueError('"id" is missing')
    actions = _actions(_list(record, "actions"), rules, _plain_move, is_legal)
    return HanabiGame(
        name,
        players,
        _deck(record, rules, _plain_card),
        actions,
        rules.hand_size,
        rules.colors,
        legal=is_legal,
        slips=_slips(record, len(actions)),
        **_about(record),
    )


def _live_game(record: Mapping[str, Any]) -> HanabiGame:
    players = _names(record, "players")
    options = known(record, "options", dict) or {}
    other = next((name for name in _OTHER_RULES if options.get(name)), None)
    if other is not None:
        raise ValueError(f"option {other} is not supported")
    usual = _rules(players, options).hand_size
    more = bool(options.get("oneExtraCard")) - bool(options.get("oneLessCard"))
    rules = _rules(players, options, usual + more)
    moves = _list(record, "actions")
    abandoned = _end(moves[-1], len(players)) if moves else None
    if abandoned is not None:
        moves = moves[:-1]
    ours = known(record, "kedge", dict) or {}
    is_legal = known(ours, "legal", bool) is not False
    deck = _deck(record, rules, _live_card)
    actions = _actions(moves, rules, _live_move, is_legal)
    return HanabiGame(
        known(ours, "id", str) or str(known(record, "id", int) or _digest(deck, actions)),
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
    """Return an id for a game without one."""
    return hashlib.sha256(json.dumps([deck, actions]).encode()).hexdigest()[:16]


def _rules(
    players: tuple[str, ...], options: Mapping[str, Any], hand_size: int | None = None
) -> Hanabi:
    variant = options.get("variant", "No Variant")
    colors = _COLORS.get(variant) if isinstance(variant, str) else None
    if colors is None:
        raise ValueError(f"variant {short(variant)} is not supported")
    return rules_of(len(players), colors, hand_size)


def _about(record: Mapping[str, Any]) -> dict[str, Any]:
    source = known(record, "source", str)
    counts = source is not None and any(name in source for name in _COUNT_BOMBS)
    bomb = known(record, "bomb", str) or ("stack" if counts else "zero")
    if bomb not in BOMBS:
        raise ValueError(f'"bomb" must be {" or ".join(BOMBS)}, not {short(bomb)}')
    return {
        "score": known(record, "score", int),
        "bomb": bomb,
        "participant": known(record, "participant", str),
        "source": source,
        "licence": known(record, "license", str),
    }


def _slips(record: Mapping[str, Any], moves: int) -> tuple[int, ...]:
    slips = known(record, "slips", list) or []
    if not all(type(move) is int and 0 <= move < moves for move in slips):
        raise ValueError('"slips" has an entry that is not the number of a move, from 0')
    return tuple(slips)


def _list(record: Mapping[str, Any], name: str) -> list[Any]:
    values = known(record, name, list)
    if values is None:
        raise ValueError(f'"{name}" is missing')
    return values


def _names(record: Mapping[str, Any], name: str) -> tuple[str, ...]:
    names = _list(record, name)
    if not all(isinstance(entry, str) for entry in names):
        raise ValueError(f'"{name}" has an entry that is not text')
    return tuple(names)


def _deck(
    record: Mapping[str, Any], rules: Hanabi, card_of: Callable[[Any], tuple[Any, Any]]
) -> tuple[Card, ...]:
    cards = _list(record, "deck")
    if len(cards) != len(rules.cards):
        raise ValueError(f"the deck has {len(cards)} cards, expected {len(rules.cards)}")
    deck = []
    for number, raw in enumerate(cards):
        color, rank = card_of(raw)
        is_card = type(color) is int and type(rank) is int
        if not is_card or not (0 <= color < rules.colors and 1 <= rank <= rules.ranks):
            raise ValueError(f"card {number} of the deck is not a card")
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
                break  # no such action exists: keep the game up to it
            raise ValueError(f"move {number}: {error}") from None
    return tuple(actions)


def _end(raw: Any, players: int) -> tuple[int, int] | None:
    """Return who ended the game and why, if its last move says so."""
    if type(raw) is not dict or raw.get("type") not in (_END, _END_BY_VOTE):
        return None
    seat = known(raw, "target", int)
    if seat is None or not -1 <= seat < players:
        raise ValueError('the last move ends the game without a valid "target"')
    return seat, known(raw, "value", int) or 0


# --- Writing ------------------------------------------------------------------------------------


def write_hanabi_games(games: Iterable[HanabiGame], path: str | Path) -> int:
    """Write games in the form of hanab.live, one per line; return their number.

    The suffix of `path` selects the compression. Fields that hanab.live does not have are under
    ``kedge``, and `read_hanabi_games` reads them back.
    """
    return write_json_games(map(live_game, games), path)


def write_live_games(games: Iterable[HanabiGame], folder: Path) -> int:
    """Write each game into its own file, to watch on hanab.live; return their number."""
    make_folder(folder)
    count = 0
    for game in games:
        write_atomic(folder / f"{game.id}.json", json.dumps(live_game(game)) + "\n")
        count += 1
    return count


def live_game(game: HanabiGame) -> dict[str, Any]:
    """Return a game for hanab.live's Watch Specific Replay, from JSON."""
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
    is_number = re.fullmatch("[1-9][0-9]{0,17}", game.id) is not None  # like ids on hanab.live
    return {
        **({"id": int(game.id)} if is_number else {}),
        "players": list(game.players),
        "deck": [{"suitIndex": color, "rank": rank} for color, rank in game.deck],
        "actions": _live_actions(game),
        "options": _live_options(game),
        "kedge": ours,
    }


def live_notes(game: HanabiGame, comments: Sequence[str]) -> list[list[str]]:
    """Return comments on the moves as hanab.live's notes: per player, one per card of the deck.

    A note belongs to the mover. It is on the card that is played or discarded, or on the oldest
    card that a hint touches. A bar separates several notes on one card, as on hanab.live.
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
        kind, target, value = table.words(action)
        live = (target, value) if kind in _HINTS else (table.hand[target], 0)
        actions.append((_KINDS.index(kind), *live))
        table.make(kind, target, value)
    if game.abandoned is not None:
        actions.append((_END_BY_VOTE if game.abandoned[0] == -1 else _END, *game.abandoned))
    return [dict(zip(("type", "target", "value"), action, strict=True)) for action in actions]


def _live_options(game: HanabiGame) -> dict[str, Any]:
    usual = Hanabi(len(game.players)).hand_size
    sizes = {usual - 1: {"oneLessCard": True}, usual: {}, usual + 1: {"oneExtraCard": True}}
    if game.colors not in _VARIANTS or game.hand_size not in sizes:
        raise InputError(
            f"hanab.live has no games of {game.colors} colours and {game.hand_size} cards per hand"
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
