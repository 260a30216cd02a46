"""lc0's input planes in plain Python over python-chess: the specification of the native encoder."""

import chess

STEPS, PER_STEP, PLANES = 8, 13, 112
FULL = (1 << 64) - 1


def encode(board: chess.Board, fill: bool = True) -> tuple[list[int], int]:
    """The planes of `board` with its move stack as history, and the half-move clock."""
    line = _line(board)
    us = board.turn
    planes = [0] * PLANES
    for step in range(STEPS):
        known = step < len(line)
        position, repeated = line[step] if known else line[-1]
        if not known:
            # An en-passant square tells the position before: the pawn stood at home.
            jumped = position.ep_square is not None
            if fill and position.board_fen() == chess.STARTING_BOARD_FEN and position.turn:
                break
            if not fill and not (step == len(line) and jumped):
                break
            position = _before_jump(position)
            repeated = False
        for side, colour in enumerate((us, not us)):
            for piece in chess.PIECE_TYPES:
                squares = int(position.pieces(piece, colour))
                planes[PER_STEP * step + 6 * side + piece - 1] = _seen(squares, us)
        planes[PER_STEP * step + 12] = FULL * repeated
    flags = [
        board.has_queenside_castling_rights(us),
        board.has_kingside_castling_rights(us),
        board.has_queenside_castling_rights(not us),
        board.has_kingside_castling_rights(not us),
        us == chess.BLACK,
        board.halfmove_clock > 0,
        False,
        True,
    ]
    planes[STEPS * PER_STEP :] = [FULL * flag for flag in flags]
    return planes, min(board.halfmove_clock, 255)


def _line(board: chess.Board) -> list[tuple[chess.Board, bool]]:
    """Positions from the last to the first, each with whether it had occurred before."""
    board = board.copy()
    line = [board.copy(stack=False)]
    while board.move_stack:
        board.pop()
        line.append(board.copy(stack=False))
    keys = [position._transposition_key() for position in line]
    return [(position, keys[i] in keys[i + 1 :]) for i, position in enumerate(line)]


def _before_jump(position: chess.Board) -> chess.Board:
    if position.ep_square is None:
        return position
    position = position.copy()
    up = -8 if position.turn else 8
    pawn = position.remove_piece_at(position.ep_square + up)
    position.set_piece_at(position.ep_square - up, pawn)
    return position


def _seen(squares: int, us: bool) -> int:
    return squares if us else chess.flip_vertical(squares)
