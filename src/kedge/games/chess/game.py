"""Chess: the rules. The native board does the work.

An action is ``from | to << 6 | promotion << 12``: squares a1 = 0 … h8 = 63, promotion 0 or 1 to 4
for knight, bishop, rook and queen; castling is the king's move of two squares. A game ends by
checkmate, stalemate, dead material, a hundred half-moves without a capture or pawn's move, and the
third occurrence of a position (the last two are drawn without a claim).
"""

from collections.abc import Iterable

from kedge import _core
from kedge.errors import InputError

TERMINAL = -4  #: The result of `current_player` after the end, as in OpenSpiel.
START_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


class Chess:
    """The rules of chess; see `kedge.games.load_game`."""

    name = "chess"
    num_players = 2

    def initial_state(self) -> "ChessState":
        return ChessState()

    def __str__(self) -> str:
        return self.name


class ChessState:
    """A position of chess with its history, and the methods of OpenSpiel.

    >>> state = ChessState()
    >>> state.apply_action(state.parse_san("e4"))
    >>> state.fen()
    'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1'
    >>> [state.san(action) for action in state.legal_actions()][:3]
    ['a5', 'b5', 'c5']
    """

    num_players = 2

    def __init__(self, board: "_core.ChessBoard | None" = None) -> None:
        #: The native board, for searches and encoders; by default at the start of a game.
        self.board = _core.ChessBoard() if board is None else board
        #: The actions since the first position.
        self.history: list[int] = []

    @classmethod
    def from_fen(cls, fen: str, moves: Iterable[str] = ()) -> "ChessState":
        """Return the position of `fen` after `moves`, UCI or SAN, which become its history.

        Impossible castling rights and en-passant squares are dropped. An `InputError` is raised for
        malformed fields, for impossible numbers of kings, pawns or pieces, for pawns on the outer
        ranks, and if the side that just moved is in check. `moves` may go on past a draw that
        nobody claimed.
        """
        if not fen.isascii():
            raise InputError(f"FEN {fen[:100]!r}: has characters that are not ASCII")
        try:
            state = cls(_core.ChessBoard.from_fen(fen))
        except ValueError as error:
            raise InputError(f"FEN {fen[:100]!r}: {error}") from None
        for number, text in enumerate(moves, 1):
            try:
                state.play_on(state.parse_move(text))
            except InputError as error:
                raise InputError(f"move {number}: {error}") from None
        return state

    def current_player(self) -> int:
        """The player to move: 0 for white, 1 for black."""
        return TERMINAL if self.is_terminal() else self.board.player()

    def legal_actions(self) -> list[int]:
        """The legal actions in ascending order; none when the game is over."""
        return [] if self.is_terminal() else self.board.legal_actions()

    def apply_action(self, action: int) -> None:
        if self.is_terminal():
            raise InputError("the game is over")
        self.play_on(action)

    def play_on(self, action: int) -> None:
        """Make a move, also past a draw that nobody claimed."""
        try:
            self.board.push(action)
        except (TypeError, ValueError):
            raise self._illegal(action) from None
        self.history.append(int(action))

    def is_terminal(self) -> bool:
        return self.board.is_terminal()

    def returns(self) -> list[float]:
        """One value per player: 1 for a win, −1 for a loss, 0 for a draw or an unfinished game."""
        value = self.board.terminal_value() if self.is_terminal() else 0.0
        return [value, 0.0 - value] if self.board.player() == 0 else [0.0 - value, value]

    def termination(self) -> str | None:
        """How the game ended, in words; None before the end."""
        board = self.board
        if not board.is_terminal():
            return None
        if not board.has_moves:
            return "checkmate" if board.in_check else "stalemate"
        if board.insufficient_material:
            return "insufficient material"
        return "fifty moves" if board.rule50 >= 100 else "threefold repetition"

    def clone(self) -> "ChessState":
        copy = ChessState(self.board.copy())
        copy.history = self.history.copy()
        return copy

    def fen(self) -> str:
        """The position as FEN, with an en-passant square only if the capture is legal."""
        return self.board.fen()

    @staticmethod
    def uci(action: int) -> str:
        """The move in UCI."""
        return _core.ChessBoard.uci(action)

    protocol_name = uci

    def parse_uci(self, text: str) -> int:
        """Return the legal move that `text` names; e1h1 is accepted as castling."""
        try:
            return self.board.parse_uci(text if text.isascii() else "")
        except ValueError:
            raise InputError(f"{text[:40]!r} is not a legal move in {self.fen()}") from None

    def san(self, action: int) -> str:
        """The move in SAN."""
        try:
            return self.board.san(action)
        except (TypeError, ValueError):
            raise self._illegal(action) from None

    action_to_string = san

    def parse_san(self, text: str) -> int:
        """Return the one legal move that `text` names; marks such as ``!`` are ignored."""
        try:
            return self.board.parse_san(text if text.isascii() else "")
        except ValueError:
            raise InputError(
                f"{text[:40]!r} is not a legal move in {self.fen()}, or is ambiguous"
            ) from None

    #: SAN may name both squares of a move, as UCI does.
    parse_move = parse_san

    @property
    def move_number(self) -> int:
        """Number of the next move, as on a score sheet."""
        return int(self.fen().split()[5])

    def to_svg(self) -> str:
        import chess
        import chess.svg

        board = chess.Board(self.fen())
        last = chess.Move.from_uci(self.uci(self.history[-1])) if self.history else None
        check = board.king(board.turn) if board.is_check() else None
        return str(chess.svg.board(board, lastmove=last, check=check))

    def _illegal(self, action: int) -> InputError:
        return InputError(f"action {action} is not a legal move in {self.fen()}")

    def __str__(self) -> str:
        ranks = []
        for rank in self.fen().split()[0].split("/"):
            squares = "".join("." * int(c) if c.isdigit() else c for c in rank)
            ranks.append(" ".join(squares))
        return "\n".join([*ranks, self.fen()])
