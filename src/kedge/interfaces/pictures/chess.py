"""A chess board with arrows for the moves of people and of a search."""

from collections.abc import Sequence
from math import hypot, sqrt

import chess
import chess.svg

from kedge.agents.agent import Row
from kedge.games.chess import ChessState

_ARROWS = 5  # of each kind; more would hide each other
_LEAST = 0.01  # smallest share with an arrow
_ANCHOR, _SEARCH = "#2f66b0", "#d9480f"
_BOARD = {
    "square light": "#f3f3f0",
    "square dark": "#bcc4cc",
    "square light lastmove": "#e9e3b0",
    "square dark lastmove": "#d2c98c",
}
_MARGIN, _SQUARE = 15.0, 45.0  # python-chess's


def draw(state: ChessState, rows: Sequence[Row]) -> str:
    """Return an SVG with people's moves in wide blue arrows and search's in narrow orange ones.

    The likelier a move, the wider and darker its arrow.
    """
    board = chess.Board(state.fen())
    arrows = _arrows(board.turn, [(row.action, row.anchor) for row in rows], _ANCHOR, 16.0)
    if rows[0].visits is not None:
        played = [(row.action, row.policy) for row in rows]
        arrows += _arrows(board.turn, played, _SEARCH, 7.0)
    drawn = chess.svg.board(
        board,
        orientation=board.turn,
        lastmove=chess.Move(*_squares(state.history[-1])) if state.history else None,
        check=board.king(board.turn) if board.is_check() else None,
        colors=_BOARD,
        size=480,
    )
    return str(drawn).removesuffix("</svg>") + "".join(arrows) + "</svg>"


def _arrows(
    turn: chess.Color, shares: Sequence[tuple[int, float]], colour: str, widest: float
) -> list[str]:
    likeliest = sorted(shares, key=lambda each: -each[1])[:_ARROWS]
    return [
        _arrow(action, turn, colour, widest, share)
        for action, share in reversed(likeliest)
        if share >= _LEAST
    ]


def _arrow(action: int, turn: chess.Color, colour: str, widest: float, share: float) -> str:
    (x1, y1), (x2, y2) = (_centre(square, turn) for square in _squares(action))
    length = hypot(x2 - x1, y2 - y1)
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    half = widest * (0.2 + 0.8 * sqrt(min(1.0, share))) / 2
    head, wing = 2.0 + 3.0 * half, 1.2 + 2.0 * half
    neck_x, neck_y = x2 - head * dx, y2 - head * dy
    outline = [
        (x1 - half * dy, y1 + half * dx),
        (neck_x - half * dy, neck_y + half * dx),
        (neck_x - wing * dy, neck_y + wing * dx),
        (x2, y2),
        (neck_x + wing * dy, neck_y - wing * dx),
        (neck_x + half * dy, neck_y - half * dx),
        (x1 + half * dy, y1 - half * dx),
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in outline)
    opacity = 0.35 + 0.5 * min(1.0, share)
    title = f"<title>{ChessState.uci(action)} {share:.1%}</title>"
    return (
        f'<polygon points="{points}" fill="{colour}" fill-opacity="{opacity:.2f}">{title}</polygon>'
    )


def _squares(action: int) -> tuple[chess.Square, chess.Square]:
    """Return the squares that a move leaves and reaches; see `kedge.games.chess.game`."""
    return action & 63, action >> 6 & 63


def _centre(square: chess.Square, turn: chess.Color) -> tuple[float, float]:
    file, rank = chess.square_file(square), chess.square_rank(square)
    across, down = (file, 7 - rank) if turn == chess.WHITE else (7 - file, rank)
    return _MARGIN + _SQUARE * (across + 0.5), _MARGIN + _SQUARE * (down + 0.5)
