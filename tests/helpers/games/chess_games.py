"""Games of chess: recorded ones, and random ones on our board and on python-chess's."""

import random

import chess
import numpy as np

from kedge.games.chess import START_FEN, ChessState
from kedge.records import ChessGame

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
PROMOTIONS = "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1"

# Where a game starts, and what its players like: random play alone seldom repeats a position or
# runs out of material.
STARTS = [
    START_FEN,
    START_FEN,
    KIWIPETE,
    PROMOTIONS,
    "8/5k2/8/8/2b5/8/3K1B2/8 w - - 90 90",
    "4k3/8/8/1n6/8/8/p4N2/4K3 b - - 0 50",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 95 60",
    "rnbqkbnr/1ppppp1p/8/p5pP/8/8/PPPPPPP1/RNBQKBNR w KQkq g6 0 3",
]
TASTES = ["any", "shuffle", "capture"]


def choose(rng: random.Random, board: chess.Board, legal: list[chess.Move], taste: str):
    if taste == "shuffle" and len(board.move_stack) > 1 and rng.random() < 0.8:
        last = board.move_stack[-2]
        back = chess.Move(last.to_square, last.from_square)
        if back in legal:
            return back
    if taste == "capture":
        captures = [move for move in legal if board.is_capture(move)]
        if captures:
            return rng.choice(captures)
    return rng.choice(legal)


def play(seed: int, plies: int):
    """Yields (state, board, legal moves) of a random game, the same on every run."""
    rng = random.Random(seed)
    board = chess.Board(rng.choice(STARTS))
    taste = rng.choice(TASTES)
    state = ChessState.from_fen(board.fen())
    for _ in range(plies):
        legal = list(board.legal_moves)
        yield rng, state, board, legal
        if not legal or board.is_fivefold_repetition() or board.is_seventyfive_moves():
            return
        move = choose(rng, board, legal, taste)
        state.board.push(state.parse_uci(move.uci()))
        board.push(move)


def recorded(moves: str, fen: str | None = None, **tags: object) -> ChessGame:
    """A game whose moves are written down."""
    state = ChessState.from_fen(fen or START_FEN, moves.split())
    return ChessGame(np.array(state.history, np.uint16), fen=fen, **tags)
