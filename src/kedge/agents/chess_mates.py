"""Forced mates, proved. A search only samples: what it visits most may still have an escape."""

from collections.abc import Callable, Sequence

from kedge import _core
from kedge.games.chess import ChessState

_MOST = 5_000  # positions to look at for a line, some ten milliseconds


def forced_mate(state: ChessState, line: Sequence[int]) -> int | None:
    """In how many moves the first move of `line` mates by force; below 0 if its mover is mated.

    Only a line that ends in checkmate is looked into, no deeper than it goes. Every defence is
    tried, and against each the moves that give check. So a number is a proof, though perhaps not
    of the shortest mate; None says only that there was none.
    """
    board = state.board.copy()
    for action in line:
        board.push(action)
    if not _is_mated(board):
        return None
    for _ in line[1:]:
        board.pop()
    prover = _Prover(board)
    try:
        if len(line) % 2:
            deep = range(len(line) // 2 + 1)
            return next((moves + 1 for moves in deep if prover.loses(moves)), None)
        deep = range(1, len(line) // 2 + 1)
        return next((-moves for moves in deep if prover.wins(moves)), None)
    except _TooManyError:
        return None


class _TooManyError(Exception):
    """Positions: nothing is proved."""


class _Prover:
    """Asks about the mover of its board, which it moves and takes back."""

    def __init__(self, board: _core.ChessBoard) -> None:
        self._board = board
        self._positions = 0

    def wins(self, moves: int) -> bool:
        """Whether the mover mates with checks alone, in as many moves or fewer."""
        return not self._board.is_terminal() and any(
            self._after(action, lambda: self._board.in_check and self.loses(moves - 1))
            for action in self._board.legal_actions()
        )

    def loses(self, moves: int) -> bool:
        """Whether the mover, whatever it plays, is mated in as many moves of its opponent."""
        if self._board.is_terminal():
            return _is_mated(self._board)
        return moves > 0 and all(
            self._after(action, lambda: self.wins(moves)) for action in self._board.legal_actions()
        )

    def _after(self, action: int, question: Callable[[], bool]) -> bool:
        self._positions += 1
        if self._positions > _MOST:
            raise _TooManyError
        self._board.push(action)
        answer = question()
        self._board.pop()
        return answer


def _is_mated(board: _core.ChessBoard) -> bool:
    return board.in_check and not board.legal_actions()
