"""Positions of Go that people moved in, and the native boards to search them on."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import IO, Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.records.go.files import read_go_games
from kedge.records.go.games import GoGame, Split, split_of, years_words
from kedge.records.report import ReadReport, unbroken
from kedge.records.sieve import Sieve

#: Even games of people by their years, as `split_of` has them; or any game on 19×19.
GoSplit = Literal["train", "test", "modern", "modern-test", "all"]


@dataclass(frozen=True, slots=True, eq=False)
class GoPosition:
    """The position before ``game.moves[ply]``."""

    phases: ClassVar[Mapping[str, int]] = {"moves 1-50": 0, "moves 51-150": 50, "moves 151-": 150}

    game: GoGame
    ply: int

    @property
    def action(self) -> int:
        """What was played."""
        return int(self.game.moves[self.ply])

    @property
    def groups(self) -> dict[str, str]:
        """By what figures are split."""
        game = self.game
        return {
            "year": str(game.year or "unknown"),
            "split": split_of(game) or "none",
            "komi": "unknown" if game.komi is None else f"{game.komi:g}",
        }


def legal_length(game: GoGame) -> int:
    """How many moves there are before one that is illegal, or after the end."""
    board = game.state(0).board
    for ply, move in enumerate(game.moves.tolist()):
        if game.colours is not None:
            board.set_player(bool(game.mover(ply)))
        if board.is_terminal() or not board.is_legal(move):
            return ply
        board.push(move)
    return len(game)


def go_sieve(split: GoSplit) -> Sieve:
    """Which positions count: those of the games that `split` names, up to an illegal move."""
    if split not in get_args(GoSplit):
        raise InputError(f"split: one of {', '.join(get_args(GoSplit))}, not {split}")
    filters: dict[str, Any] = {"of other boards": lambda game: game.size == 19}
    if split != "all":
        filters[not_in(split)] = lambda game: split_of(game) == split
    filters["illegal"] = _legal_moves
    return Sieve(filters)


def not_in(split: Split) -> str:
    """What is said of games that are not in a set."""
    return f"not in the {split} set ({years_words(split)})"


def _legal_moves(game: GoGame) -> npt.NDArray[np.bool_]:
    try:
        length = legal_length(game)
    except InputError:  # stones that cannot stand
        length = 0
    return np.arange(len(game)) < length


def legal_games(path: str | Path | IO[bytes], report: ReadReport | None = None) -> Iterator[GoGame]:
    """What `read_go_games` reads, replayed: games with an illegal move are broken too."""
    report = ReadReport() if report is None else report
    return unbroken(read_go_games(path, report), report, _fault)


def _fault(game: GoGame) -> str | None:
    """What the rules have against a game."""
    try:
        ply = legal_length(game)
    except InputError as error:  # stones that cannot stand
        return str(error)
    if ply == len(game):
        return None
    state = game.state(ply)
    if state.is_terminal():
        return f"move {ply + 1} comes after two passes"
    move = int(game.moves[ply])
    return f"move {ply + 1}, {state.gtp(move)!r}, is not a legal move: {state.board.judge(move)}"


def go_positions(games: Iterable[GoGame]) -> Iterator[GoPosition]:
    """All positions, game by game, up to a move that is illegal."""
    for game in games:
        for ply in range(legal_length(game)):
            yield GoPosition(game, ply)


def boards_of(chosen: Sequence[GoPosition]) -> list[Any]:
    """The native boards of positions, each with the game up to it as its history.

    Positions of one game that stand next to each other, in their order, are replayed once.
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
                    raise InputError(f"move {ply + 1} of a game is illegal")
                board.push(move)
    return boards
