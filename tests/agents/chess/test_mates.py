"""Mates that are announced are forced: python-chess's own search agrees."""

import chess
import numpy as np
import pytest

from kedge.agents.chess.mates import forced_end, forced_mate
from kedge.games.chess import ChessState

SCHOLAR = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"
SMOTHERED = "5rk1/5Npp/8/8/2Q5/8/6PP/6K1 w - - 0 1"
LADDER = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"


def mate(fen, moves):
    state = ChessState.from_fen(fen)
    line = ChessState.from_fen(fen, moves.split()).history
    found = forced_mate(state, line)
    assert state.fen() == fen, "the position is left as it was"
    return found


@pytest.mark.parametrize(
    ("fen", "moves", "number"),
    [
        (SCHOLAR, "h5f7", 1),
        (LADDER, "a2a7 h8g8 b1b8", 2),
        (SMOTHERED, "f7h6 g8h8 c4g8 f8g8 h6f7", 3),
        ("rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2", "g2g4 d8h4", -1),
        ("5r1k/5N1p/7p/8/2Q5/8/6PP/6K1 b - - 0 1", "h8g7 c4g4 g7f6 g4g8", None),  # 2...Kxf7
        # The most visited line need not be the best defence: a mate that is not forced is no mate.
        ("rnbqkbnr/pppp1ppp/8/4p3/2B1P3/8/PPPP1PPP/RNBQK1NR w KQkq - 0 3", "d1h5 b8c6 h5f7", None),
        (SCHOLAR, "h5e5", None),  # a check, and no mate
        (SCHOLAR, "a2a3 f6h5", None),
    ],
)
def test_mates(fen, moves, number):
    assert mate(fen, moves) == number


def test_a_draw_is_an_escape():
    moves = "a2a7 h8g8 b1b8"
    assert mate(LADDER.replace("0 1", "97 90"), moves) == 2
    assert mate(LADDER.replace("0 1", "98 90"), moves) is None, "a draw comes first"


def after(board, move):
    copy = board.copy()
    copy.push(move)
    return copy


def test_mates_in_two_are_those_of_brute_force():
    """Check every line of three half-moves that ends in mate: does its first move force one?"""

    def mating(board):
        return [move for move in board.legal_moves if after(board, move).is_checkmate()]

    seen = set()
    for fen in (LADDER, SMOTHERED, "k7/8/2K5/8/8/8/8/1Q6 w - - 0 1"):
        board = chess.Board(fen)
        for first in board.legal_moves:
            reached = after(board, first)
            mates = {reply: mating(after(reached, reply)) for reply in reached.legal_moves}
            forced = 2 if all(mates.values()) else None
            for reply, lasts in mates.items():
                for last in lasts[:1]:
                    assert mate(fen, f"{first} {reply} {last}") == forced
                    seen.add(forced)
    assert seen == {2, None}


@pytest.mark.parametrize(
    ("fen", "value", "line"),
    [
        (SCHOLAR, 1.0, "h5f7"),
        (SMOTHERED, 1.0, "f7h6 g8h8 c4g8 f8g8 h6f7"),
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", 1.0, "d1d8"),
        ("7k/R7/6K1/8/8/8/8/8 b - - 0 1", -1.0, ""),  # 1... Kg8 2. Ra8#
        (chess.STARTING_FEN, None, None),
        ("7k/8/6KQ/8/8/8/8/8 b - - 0 1", -1.0, ""),  # 1... Kg8 2. Qg7#
    ],
)
def test_near_ends(fen, value, line):
    state = ChessState.from_fen(fen)
    found = forced_end(state)
    assert state.fen() == fen
    if value is None:
        assert found is None
        return
    assert found is not None
    assert (found[0], " ".join(map(state.uci, found[1]))) == (value, line)


def test_near_ends_are_those_of_python_chess():
    """Positions of random games: mates in one are all found, and what is found is a mate."""
    rng, mates = np.random.default_rng(0), 0
    for _ in range(20):
        board = chess.Board()
        while not board.is_game_over(claim_draw=True) and board.ply() < 60:
            in_one = any(after(board, move).is_checkmate() for move in board.legal_moves)
            found = forced_end(ChessState.from_fen(board.fen()))
            if in_one:
                assert found is not None
                assert (found[0], len(found[1])) == (1.0, 1)
                mates += 1
            elif found is not None and found[0] == 1.0:
                assert len(found[1]) in (3, 5)
            board.push(rng.choice(list(board.legal_moves)))
    assert mates > 0
