"""Write games as hanab.live exports and imports them."""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from kedge.errors import InputError
from kedge.files import make_folder, write_atomic
from kedge.games.hanabi import Hanabi
from kedge.records.hanabi.games import HanabiGame
from kedge.records.hanabi.hands import HINTS, KINDS, DeckHands
from kedge.records.json_games import write_json_games

COLORS = {"No Variant": 5, "4 Suits": 4, "3 Suits": 3}  # colours by hanab.live's variant
_VARIANTS = {colors: variant for variant, colors in COLORS.items()}
#: Types of moves that end the game.
END, END_BY_VOTE = 4, 5


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
    table = DeckHands(game.rules)
    for action, comment in zip(game.actions, comments, strict=True):
        words = table.words(action)
        card = table.touched(game.deck, *words)
        own = notes[table.seat]
        own[card] = " | ".join(filter(None, (own[card], comment)))
        table.make(*words)
    return notes


def _live_actions(game: HanabiGame) -> list[dict[str, int]]:
    table = DeckHands(game.rules)
    actions = []
    for action in game.actions:
        kind, target, value = table.words(action)
        live = (target, value) if kind in HINTS else (table.hand[target], 0)
        actions.append((KINDS.index(kind), *live))
        table.make(kind, target, value)
    if game.abandoned is not None:
        actions.append((END_BY_VOTE if game.abandoned[0] == -1 else END, *game.abandoned))
    return [dict(zip(("type", "target", "value"), action, strict=True)) for action in actions]


def _live_options(game: HanabiGame) -> dict[str, Any]:
    usual = Hanabi(len(game.players)).hand_size
    sizes = {usual - 1: {"oneLessCard": True}, usual: {}, usual + 1: {"oneExtraCard": True}}
    if game.colors not in _VARIANTS or game.hand_size not in sizes:
        raise InputError(
            f"hanab.live has no games of {game.colors} colours and {game.hand_size} cards per hand"
        )
    return {"variant": _VARIANTS[game.colors], **sizes[game.hand_size]}
