"""Files of Hanabi games: JSON lines, and the JSON of hanab.live.

hanab.live identifies a card by its place in the deck, so its reader deals and draws cards. JSON
lines have slots of the hand, whose cards the reader counts. Neither checks other rules.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from kedge.games.hanabi import BOMBS, Card, Hanabi
from kedge.records.hanabi.games import HanabiGame, rules_of
from kedge.records.hanabi.hands import HINTS, KINDS, DeckHands, HintToOneselfError, action_of
from kedge.records.hanabi.live import (
    COLORS,
    END,
    END_BY_VOTE,
    live_game,
    live_notes,
    write_hanabi_games,
    write_live_games,
)
from kedge.records.json_games import known, read_json_games, short
from kedge.records.report import ReadReport

_OTHER_RULES = (
    "startingPlayer",
    "cardCycle",
    "deckPlays",
    "emptyClues",
    "allOrNothing",
    "detrimentalCharacters",
)
_MOST_SEATS = 9  # that get a name: more than the rules allow, so that these refuse the game
# Sources that keep the score even after the last life was lost.
_COUNT_BOMBS = ("yawgmoth/HanabiData", "Quuxplusone/Hanabi")


def read_hanabi_games(
    path: str | Path | IO[bytes], report: ReadReport | None = None
) -> Iterator[HanabiGame]:
    """Yield the games of a file.

    Parameters
    ----------
    path
        A file of games as JSON, one per line, or one game: as hanab.live exports it or
        hanabi-challenges collects it, or with `seats`, `deck` and `actions` such as
        ``[0, "play", 4, -1]``. Or a binary stream (buffered,
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


def _plain_actions(moves: list[Any], rules: Hanabi) -> Iterator[int]:
    hands = [rules.hand_size] * rules.num_players
    pile = len(rules.cards) - sum(hands)
    for number, raw in enumerate(moves):
        mover = number % len(hands)
        if type(raw) is not list or len(raw) != 4:
            raise ValueError("not of the form [seat, kind, slot or target, value]")
        seat, kind, target, value = raw
        if type(seat) is not int or seat != mover:
            raise ValueError(f"expected seat {mover} to move")
        yield action_of(rules, mover, hands[mover], kind, target, value)
        if kind not in HINTS:
            hands[mover] -= not pile
            pile -= pile > 0


def _live_actions(moves: list[Any], rules: Hanabi) -> Iterator[int]:
    table = DeckHands(rules)
    for raw in moves:
        yield table.make(*_live_move(raw, table))


def _live_move(raw: Any, table: DeckHands) -> tuple[Any, Any, Any]:
    if type(raw) is not dict:
        raise ValueError("not a JSON object")
    number, target = known(raw, "type", int), known(raw, "target", int)
    if number is None or not 0 <= number < len(KINDS) or target is None:
        raise ValueError("unknown type or target of move")
    kind = KINDS[number]
    if kind not in HINTS:
        if target not in table.hand:
            raise ValueError(f"card {target} of the deck is not in the hand")
        target = table.hand.index(target)
    return kind, target, known(raw, "value", int) or 0


def _checked(actions: Iterator[int], *, is_legal: bool) -> tuple[int, ...]:
    """Return the actions; an error says which move is wrong."""
    made = []
    try:
        for action in actions:
            made.append(action)  # noqa: PERF402 (those before an error count)
    except ValueError as error:
        # No action is a hint to oneself: a game that is not all legal ends before it.
        if is_legal or not isinstance(error, HintToOneselfError):
            raise ValueError(f"move {len(made) + 1}: {error}") from None
    return tuple(made)


# --- Games --------------------------------------------------------------------------------------


def game_of(record: Mapping[str, Any]) -> HanabiGame:
    """Return the game in a JSON object of either format, or raise a ValueError with the reason."""
    if type(record.get("players")) is int:
        record = _spelled_out(record)
    return _live_game(record) if "players" in record else _plain_game(record)


def _spelled_out(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a game of hanabi-challenges as hanab.live writes it.

    It has the number of players instead of their names, and lists instead of objects.
    """

    def objects(name: str, *fields: str) -> list[Any]:
        return [
            dict(zip(fields, raw, strict=True))
            if type(raw) is list and len(raw) == len(fields)
            else raw
            for raw in _list(record, name)
        ]

    ours = {name: record[name] for name in ("legal", "score", "source") if name in record}
    return {
        "id": record.get("id"),
        "players": [f"player {seat}" for seat in range(min(record["players"], _MOST_SEATS))],
        "deck": objects("deck", "suitIndex", "rank"),
        "actions": objects("actions", "type", "target", "value"),
        "options": record.get("options"),
        "kedge": ours,
    }


def _plain_game(record: Mapping[str, Any]) -> HanabiGame:
    players = _names(record, "seats")
    if known(record, "num_players", int) not in (None, len(players)):
        raise ValueError('"num_players" and "seats" differ')
    rules = _rules(players, record, known(record, "hand_size", int))
    name, is_legal = known(record, "id", str), known(record, "legal", bool) is not False
    if not name:
        raise ValueError('"id" is missing')
    actions = _checked(_plain_actions(_list(record, "actions"), rules), is_legal=is_legal)
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
    actions = _checked(_live_actions(moves, rules), is_legal=is_legal)
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
    colors = COLORS.get(variant) if isinstance(variant, str) else None
    if colors is None:
        raise ValueError(f"variant {short(variant)} is not supported")
    return rules_of(len(players), colors, hand_size, "zero")


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


def _end(raw: Any, players: int) -> tuple[int, int] | None:
    """Return who ended the game and why, if its last move says so."""
    if type(raw) is not dict or raw.get("type") not in (END, END_BY_VOTE):
        return None
    seat = known(raw, "target", int)
    if seat is None or not -1 <= seat < players:
        raise ValueError('the last move ends the game without a valid "target"')
    return seat, known(raw, "value", int) or 0


__all__ = [
    "game_of",
    "live_game",
    "live_notes",
    "read_hanabi_games",
    "write_hanabi_games",
    "write_live_games",
]
