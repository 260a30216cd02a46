"""Hanabi games, replayed by the rules, and which of their moves to predict."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.records.hanabi.files import read_hanabi_games
from kedge.records.hanabi.games import HanabiGame, is_held_out
from kedge.records.report import ReadReport
from kedge.records.sieve import Sieve
from kedge.records.splits import NOT_HELD_OUT

#: What is said of games that have nothing to predict.
NO_PEOPLE, NO_BOTS = "without moves of people", "without moves of programs"


def replayed_hanabi_games(
    path: str | Path | IO[bytes], report: ReadReport | None = None
) -> Iterator[HanabiGame]:
    """What `read_hanabi_games` reads, replayed: broken too are games that the rules contradict.

    They do where a move is illegal, and where the score is another. Games that say themselves that
    they have illegal moves (`HanabiGame.legal`) are kept up to the first.
    """
    report = ReadReport() if report is None else report
    for game in read_hanabi_games(path, report):
        try:
            kept = by_the_rules(game)
        except ValueError as error:
            report.reject(len(game), str(error))
        else:
            report.positions -= len(game) - len(kept)
            yield kept


def by_the_rules(game: HanabiGame) -> HanabiGame:
    """The game as far as the rules go along; a ValueError if it should be farther."""
    state = game.rules.initial_state(game.deck)
    made = np.array(game.actions, np.int64)
    try:
        for action in np.where(made < 0, len(state.game.moves), made)[:, np.newaxis]:
            state.games.step(action, 1)
    except ValueError:
        return _until_illegal(game)
    # After a bomb some sources count nothing, as the rules do, and some what was built.
    if game.legal and game.score not in (None, state.score, sum(state.fireworks)):
        raise ValueError(f"the score is {state.score}, not {game.score}")
    return game


def _until_illegal(game: HanabiGame) -> HanabiGame:
    """Move by move, so that it can be said what is wrong."""
    state = game.rules.initial_state(game.deck)
    for ply, action in enumerate(game.actions):
        try:
            state.apply_action(action)
        except InputError as error:
            if not game.legal:
                return replace(game, actions=game.actions[:ply])
            raise ValueError(f"move {ply + 1}: {error}") from None
    return game


def hanabi_sieve(*, everything: bool = False, bots: bool = False) -> Sieve:
    """Which moves count: those of people, or of programs, in games that are held out, or in all."""

    def choices(game: HanabiGame) -> npt.NDArray[np.bool_]:
        return game.choices(people=not bots)

    filters: dict[str, Any] = {} if everything else {NOT_HELD_OUT: is_held_out}
    return Sieve({**filters, NO_BOTS if bots else NO_PEOPLE: choices})


__all__ = ["NO_BOTS", "NO_PEOPLE", "by_the_rules", "hanabi_sieve", "replayed_hanabi_games"]
