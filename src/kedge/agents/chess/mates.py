"""Proofs of forced mates. A search only samples: its most visited line may have an escape."""

from collections.abc import Callable, Sequence

from kedge import _core
from kedge.games.chess import ChessState

_MOST = 5_000  # positions per line, about ten milliseconds
_NEAR = 3  # longest mate that `forced_end` looks for, in moves


def forced_mate(state: ChessState, line: Sequence[int]) -> int | None:
    """Return in how many moves the first move of `line` forces mate; negative if it gets mated.

    Only a line that ends in checkmate is examined, no deeper than it goes. Every defence is tried,
    and against each only moves that give check. So a number is a proof, though perhaps not of the
    shortest mate. None proves nothing.
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


def forced_end(state: ChessState) -> tuple[float, list[int]] | None:
    """Return the mover's value by a forced mate, 1 or -1, and the line that forces it.

    The line is empty if the mover gets mated. Only mates by checks alone in at most three moves
    are found: readers of a game see them, and a search of few playouts may miss them. None proves
    nothing.
    """
    board = state.board.copy()
    if board.is_terminal():
        return None
    prover = _Prover(board)
    try:
        for moves in range(1, _NEAR + 1):
            if prover.wins(moves):
                return 1.0, prover.mating_line(moves)
            if prover.loses(moves):
                return -1.0, []
    except _TooManyError:
        pass
    return None


class _TooManyError(Exception):
    """Too many positions: nothing is proved."""


class _Prover:
    """Proves mates for or against the mover of a board. It makes and takes back moves on it."""

    def __init__(self, board: _core.ChessBoard) -> None:
        self._board = board
        self._positions = 0

    def wins(self, moves: int) -> bool:
        """Whether the mover mates with checks alone in at most `moves` moves."""
        return not self._board.is_terminal() and self._winner(moves) is not None

    def loses(self, moves: int) -> bool:
        """Whether every move of the mover lets the opponent mate in at most `moves` moves."""
        if self._board.is_terminal():
            return _is_mated(self._board)
        return moves > 0 and all(
            self._after(action, lambda: self.wins(moves)) for action in self._board.legal_actions()
        )

    def mating_line(self, moves: int) -> list[int]:
        """Return a mating line of at most `moves` moves, against the first legal defences."""
        board, line = self._board, list[int]()
        while (action := self._winner(moves)) is not None:
            line.append(action)
            board.push(action)
            if board.is_terminal():
                break
            line.append(board.legal_actions()[0])
            board.push(line[-1])
            moves -= 1
        for _ in line:
            board.pop()
        return line

    def _winner(self, moves: int) -> int | None:
        """Return a check that wins for the mover in at most `moves` moves, or None."""

        def wins() -> bool:
            return self._board.in_check and self.loses(moves - 1)

        legal = self._board.legal_actions()
        return next((action for action in legal if self._after(action, wins)), None)

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
