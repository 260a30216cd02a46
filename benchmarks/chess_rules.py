"""Chess: kedge beside python-chess, in one run, as ratios.

    python benchmarks/chess_rules.py

All rows use one core. Both sides bulk-count perft: the moves of the last ply are counted, not made.
"Play" pushes a move and lists the legal ones, through Python on both sides. Planes are lc0's 112,
packed into bit masks; the other side is the plain-Python encoder from the tests.
"""

import argparse
import random
import sys
from pathlib import Path

import chess

from kedge.games.chess import START_FEN, ChessState
from kedge.models.chess.encoding import encode_chess

sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers" / "models"))
import plain_planes
from timing import rate

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def row(name: str, ours: float, theirs: float) -> None:
    print(f"{name:<42}{ours:>14,.0f}{theirs:>14,.0f}{ours / theirs:>10,.0f}×")


def python_chess_perft(board: chess.Board, depth: int) -> int:
    if depth == 1:
        return board.legal_moves.count()
    leaves = 0
    for move in board.legal_moves:
        board.push(move)
        leaves += python_chess_perft(board, depth - 1)
        board.pop()
    return leaves


def random_games(count: int, plies: int) -> list[list[str]]:
    rng = random.Random(0)
    games = []
    for _ in range(count):
        state, moves = ChessState(), []
        while len(moves) < plies and not state.is_terminal():
            action = rng.choice(state.legal_actions())
            moves.append(state.uci(action))
            state.apply_action(action)
        games.append(moves)
    return games


def play_kedge(games: list[list[int]]) -> int:
    done = 0
    for game in games:
        board = ChessState().board
        for action in game:
            board.push(action)
            board.legal_actions()
        done += len(game)
    return done


def play_python_chess(games: list[list[chess.Move]]) -> int:
    done = 0
    for game in games:
        board = chess.Board()
        for move in game:
            board.push(move)
            list(board.legal_moves)
        done += len(game)
    return done


def read_kedge(games: list[list[str]]) -> int:
    done = 0
    for game in games:
        board = ChessState().board
        for text in game:
            board.push(board.parse_san(text))
        done += len(game)
    return done


def read_python_chess(games: list[list[str]]) -> int:
    done = 0
    for game in games:
        board = chess.Board()
        for text in game:
            board.push_san(text)
        done += len(game)
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    print(f"{'a second':<42}{'kedge':>14}{'python':>14}{'ratio':>11}")

    for name, fen, depth, their_depth in [
        ("start", START_FEN, 6, 4),
        ("Kiwipete", KIWIPETE, 5, 3),
    ]:
        state, board = ChessState.from_fen(fen), chess.Board(fen)
        ours = rate(lambda s=state, d=depth: s.board.perft(d), repeats)
        theirs = rate(lambda b=board, d=their_depth: python_chess_perft(b, d), repeats)
        row(f"perft leaves, {name}, bulk-counted", ours, theirs)

    games = random_games(100, 100)
    moves = [[chess.Move.from_uci(text) for text in game] for game in games]
    actions = [ChessState.from_fen(START_FEN, game).history for game in games]
    row(
        "play: push a move, list the legal ones",
        rate(lambda: play_kedge(actions), repeats),
        rate(lambda: play_python_chess(moves), repeats),
    )
    san = [chess.Board().variation_san([*game]).split() for game in moves]
    san = [[text for text in game if not text[0].isdigit()] for game in san]
    row(
        "read: parse SAN, push",
        rate(lambda: read_kedge(san), repeats),
        rate(lambda: read_python_chess(san), repeats),
    )

    states = [ChessState.from_fen(START_FEN, game[:40]) for game in games]
    boards = [chess.Board() for _ in games]
    for board, game in zip(boards, moves, strict=True):
        for move in game[:40]:
            board.push(move)
    many = states * 50
    row(
        "planes, packed",
        rate(lambda: len(encode_chess(many)[0]), repeats),
        rate(lambda: len([plain_planes.encode(board) for board in boards]), repeats),
    )


if __name__ == "__main__":
    main()
