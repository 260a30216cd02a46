"""Positions of recorded Go games, and their native boards for search."""

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import IO, Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError, LeftOutWarning
from kedge.records.go.files import read_go_games
from kedge.records.go.games import GoGame, Split, split_of, years_words
from kedge.records.report import ReadReport
from kedge.records.sieve import Sieve

#: A set of `split_of`, or "all" for any game on 19×19.
GoSplit = Literal[Split, "all"]


@dataclass(frozen=True, slots=True, eq=False)
class GoPosition:
    """The position before ``game.moves[ply]``."""

    phases: ClassVar[Mapping[str, int]] = {"moves 1-50": 0, "moves 51-150": 50, "moves 151-": 150}

    game: GoGame
    ply: int

    @property
    def action(self) -> int:
        """The move that was played."""
        return int(self.game.moves[self.ply])

    @property
    def groups(self) -> dict[str, str]:
        """The groups of this position, by which results are split."""
        game = self.game
        return {
            "year": str(game.year or "unknown"),
            "split": split_of(game) or "none",
            "komi": "unknown" if game.komi is None else f"{game.komi:g}",
        }


def legal_length(game: GoGame) -> int:
    """Return the number of moves before the first that is illegal or after the end."""
    board = game.state(0).board
    for ply, move in enumerate(game.moves.tolist()):
        if game.colours is not None:
            board.set_player(bool(game.mover(ply)))
        if board.is_terminal() or not board.is_legal(move):
            return ply
        board.push(move)
    return len(game)


def go_sieve(split: GoSplit) -> Sieve:
    """Return the filters for the games of `split`, up to an illegal move."""
    if split not in get_args(GoSplit):
        raise InputError(f"split: one of {', '.join(get_args(GoSplit))}, not {split}")
    filters: dict[str, Any] = {"not on 19×19": lambda game: game.size == 19}
    if split != "all":
        filters[not_in(split)] = lambda game: split_of(game) == split
    filters["illegal"] = _legal_moves
    return Sieve(filters)


def not_in(split: Split) -> str:
    """The name of the filter that removes games outside a set."""
    return f"not in the {split} set ({years_words(split)})"


def _legal_moves(game: GoGame) -> npt.NDArray[np.bool_]:
    try:
        length = legal_length(game)
    except InputError:  # impossible setup stones
        length = 0
    return np.arange(len(game)) < length


def legal_games(path: str | Path | IO[bytes], report: ReadReport | None = None) -> Iterator[GoGame]:
    """Yield the games of `read_go_games` that are legal; the report counts others as broken.

    Moves after two passes are left out with a warning: servers let players resume a game.
    """
    report = ReadReport() if report is None else report
    for game in read_go_games(path, report):
        try:
            legal = _legal_part(game)
        except InputError as error:
            report.reject(len(game), str(error))
            continue
        if legal is not game:
            report.positions -= len(game) - len(legal)
            file = report.last[1].partition(", line ")[0]
            warnings.warn(f"{file}: moves after two passes; left out", LeftOutWarning, stacklevel=2)
        yield legal


def _legal_part(game: GoGame) -> GoGame:
    """Return the game up to two passes; raise `InputError` if it violates the rules before."""
    ply = legal_length(game)
    if ply == len(game):
        return game
    state = game.state(ply)
    if state.is_terminal():
        return game.until(ply)
    move = int(game.moves[ply])
    raise InputError(f"move {ply + 1}: {state.gtp(move)!r} is illegal: {state.board.verdict(move)}")


def go_positions(games: Iterable[GoGame]) -> Iterator[GoPosition]:
    """Yield all positions, game by game, up to the first illegal move."""
    for game in games:
        for ply in range(legal_length(game)):
            yield GoPosition(game, ply)


def boards_of(chosen: Sequence[GoPosition]) -> list[Any]:
    """Return the native boards of positions, each with the moves so far as its history.

    Neighbouring positions of one game, in the order of play, are replayed once.
    """
    boards: list[Any] = []
    for _, run in groupby(chosen, key=lambda position: id(position.game)):
        group = list(run)
        game, wanted = group[0].game, Counter(position.ply for position in group)
        board, last = game.state(0).board, max(wanted)
        for ply, move in enumerate(game.moves[: last + 1].tolist()):
            if game.colours is not None:
                board.set_player(bool(game.mover(ply)))
            boards += [board.copy() for _ in range(wanted[ply])]
            if ply < last:
                if not board.is_legal(move):
                    raise InputError(f"move {ply + 1}: illegal")
                board.push(move)
    return boards
