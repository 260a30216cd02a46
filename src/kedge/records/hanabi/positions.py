"""Replay Hanabi games by the rules, and select the moves to predict."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.records.hanabi.files import game_of
from kedge.records.hanabi.games import HanabiGame, is_for_testing
from kedge.records.json_games import read_json_games
from kedge.records.report import ReadReport
from kedge.records.sieve import Sieve
from kedge.records.splits import NOT_FOR_TESTING

#: Names of the filters that remove games with nothing to predict.
NO_PEOPLE, NO_BOTS = "without moves of people", "without moves of programs"


def replayed_hanabi_games(
    path: str | Path | IO[bytes],
    report: ReadReport | None = None,
    *,
    keep_positions: bool = False,
) -> Iterator[HanabiGame]:
    """Yield the games of `read_hanabi_games` that follow the rules.

    The report counts a game as broken if a move is illegal or the score differs. A game that
    declares illegal moves (`HanabiGame.legal`) is kept up to the first of them. With
    `keep_positions`, games have their `positions`, some 15 kB each.
    """

    def legal_game(record: Mapping[str, Any]) -> HanabiGame:
        return by_the_rules(game_of(record), keep_positions=keep_positions)

    report = ReadReport() if report is None else report
    return read_json_games(path, report, legal_game, mark="deck")


def by_the_rules(game: HanabiGame, *, keep_positions: bool = False) -> HanabiGame:
    """Return the legal part of a game; a ValueError if all should be legal."""
    positions = game.replayed()
    made = len(positions) - 1
    if game.legal and made < len(game):
        raise ValueError(f"move {made + 1}: {_refusal(replace(game, positions=positions))}")
    score, stack = int(positions.scores()[-1]), int(positions.fireworks()[-1].sum())
    # After a bomb some sources count 0, as the rules do, others the cards played. And hanab.live
    # counts 0 if the players end a game.
    counted = (None, score, stack, 0 if game.abandoned else score)
    if game.legal and game.score not in counted:
        raise ValueError(f"the score is {score}, but the record says {game.score}")
    if made < len(game):
        game = replace(game, actions=game.actions[:made])
    return replace(game, positions=positions) if keep_positions else game


def _refusal(game: HanabiGame) -> str:
    """Return why the first illegal move of a game is illegal."""
    try:
        deque(game.replay(), maxlen=0)
    except InputError as error:
        return str(error)
    raise AssertionError("all moves are legal")


def hanabi_sieve(
    *, everything: bool = False, bots: bool = False, players: int | None = None
) -> Sieve:
    """Return the filters for moves of people or of programs, in held-out games or in all.

    With `players`, only games of so many players are kept.
    """

    def choices(game: HanabiGame) -> npt.NDArray[np.bool_]:
        return game.choices(people=not bots)

    filters: dict[str, Any] = {}
    if players is not None:
        filters[f"not for {players} players"] = lambda game: len(game.players) == players
    if not everything:
        filters[NOT_FOR_TESTING] = is_for_testing
    return Sieve({**filters, NO_BOTS if bots else NO_PEOPLE: choices})


__all__ = ["NO_BOTS", "NO_PEOPLE", "by_the_rules", "hanabi_sieve", "replayed_hanabi_games"]
