"""Go on 19×19: kedge beside OpenSpiel and sgfmill, in one run, as ratios.

    python benchmarks/go.py

Rows use one core unless they say otherwise. "Play" lists the legal moves and makes one, through
Python on all sides; sgfmill has no such list. kedge's planes are AlphaGo Zero's 16 of stones as bit
masks; OpenSpiel's are its observation of four. "Replay" turns recorded games into masks, from the
first move to the last. Peers that are not installed are skipped with a message.
"""

import argparse
import importlib
import random
from types import ModuleType

import numpy as np
from timing import rate

from kedge import _core
from kedge.models.go.encoding import GO

SIZE = 19
PASS = SIZE * SIZE


def row(name: str, ours: float, peer: str = "", theirs: float = 0.0) -> None:
    beside = f"{peer:>12}{theirs:>14,.0f}{ours / theirs:>10,.0f}×" if theirs else ""
    print(f"{name:<40}{ours:>14,.0f}{beside}")


def peer(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed; skipped")
        return None


def random_games(count: int, plies: int) -> list[list[int]]:
    """Random games of legal moves without passes."""
    rng = random.Random(0)
    games = []
    for _ in range(count):
        board, moves = _core.GoBoard(superko="simple"), []
        for _ in range(plies):
            moves.append(rng.choice(board.legal_actions()[:-1]))
            board.push(moves[-1])
        games.append(moves)
    return games


def random_play(games: int) -> int:
    return sum(_core.GoBoard().play_random(2 * PASS, seed) for seed in range(games))


def play_kedge(games: list[list[int]]) -> int:
    for game in games:
        board = _core.GoBoard(superko="simple")
        for move in game:
            board.legal_actions()
            board.push(move)
    return sum(map(len, games))


def play_openspiel(pyspiel: ModuleType, games: list[list[int]]) -> int:
    rules = pyspiel.load_game("go(board_size=19)")
    flip = [(SIZE - 1 - p // SIZE) * SIZE + p % SIZE for p in range(PASS)]
    done = 0
    for game in games:
        state = rules.new_initial_state()
        for move in game:
            if state.is_terminal():  # a repeated board
                break
            state.legal_actions()
            state.apply_action(flip[move])
            done += 1
    return done


def make_kedge(games: list[list[int]]) -> int:
    for game in games:
        board = _core.GoBoard(superko="simple")
        for move in game:
            board.push(move)
    return sum(map(len, games))


def make_sgfmill(boards: ModuleType, games: list[list[int]]) -> int:
    for game in games:
        board = boards.Board(SIZE)
        for ply, move in enumerate(game):
            board.play(SIZE - 1 - move // SIZE, move % SIZE, "bw"[ply % 2])
    return sum(map(len, games))


def records(games: list[list[int]]) -> dict[str, np.ndarray]:
    lengths = [len(game) for game in games]
    offsets = np.cumsum([0, *lengths])
    plies = np.concatenate([np.arange(n) for n in lengths])
    return {
        "moves": np.concatenate(games).astype(np.int16),
        "colours": (plies % 2).astype(np.uint8),
        "offsets": offsets,
        "plies": plies,
        "ply_offsets": offsets,
        "sizes": np.full(len(games), SIZE, np.uint8),
        "komi": np.full(len(games), 7.5, np.float32),
        "setup": np.empty((0, 3), np.int32),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    pyspiel, sgfmill = peer("pyspiel"), peer("sgfmill.boards")
    print(f"{'a second':<40}{'kedge':>14}{'peer':>26}{'ratio':>11}")
    row("random play, native, superko checked", rate(lambda: random_play(100), repeats))

    games = random_games(40, 250)
    ours = rate(lambda: play_kedge(games), repeats)
    if pyspiel:
        theirs = rate(lambda: play_openspiel(pyspiel, games), repeats)
        row("play: list the legal moves, make one", ours, "OpenSpiel", theirs)
    else:
        row("play: list the legal moves, make one", ours)
    ours = rate(lambda: make_kedge(games), repeats)
    if sgfmill:
        row("make a move", ours, "sgfmill", rate(lambda: make_sgfmill(sgfmill, games), 1))
    else:
        row("make a move", ours)

    boards = []
    for seed in range(64):
        boards.append(_core.GoBoard())
        boards[-1].play_random(200, seed)
    many = boards * 100
    masks = np.empty((len(many), GO.planes - 1, GO.plane_words), np.uint64)
    komi = np.empty(len(many), np.float32)

    def encode() -> int:
        _core.go_encode(many, masks, komi)
        return len(many)

    ours = rate(encode, repeats)
    if pyspiel:
        state = pyspiel.load_game("go(board_size=19)").new_initial_state()
        for move in games[0][:200]:
            state.apply_action(move)
        theirs = rate(lambda: sum(1 for _ in range(200) if state.observation_tensor()), repeats)
        row("planes into the caller's batch", ours, "OpenSpiel", theirs)
    else:
        row("planes into the caller's batch", ours)

    flat = records(games * 10)
    for name, options in [
        ("replay: masks, one thread", {"threads": 1}),
        ("replay: masks, all threads", {}),
        ("replay: masks and legal moves, one thread", {"threads": 1, "legal": True}),
    ]:
        row(name, rate(lambda o=options: len(_core.go_replay(**flat, **o)[0]), repeats))


if __name__ == "__main__":
    main()
