"""Records: kedge beside python-chess and sgfmill, in one run, as ratios.

    python benchmarks/records.py [FILE] [--go FILE]

FILE holds chess games as PGN or JSON lines. Without it, the benchmark generates random games of 70
half-moves, which are harder to read than people's. Both sides read PGN and play every move; "with
clocks" has a comment after each. Go games are read as SGF, every move of the main line, and not
played. Rows use one core unless they say otherwise.
"""

import argparse
import itertools
import os
import random
import tempfile
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import chess.pgn
import numpy as np
from sgfmill import sgf
from timing import rate

from kedge.games.chess import ChessState
from kedge.records import (
    ChessGame,
    GoGame,
    MoveNote,
    chess_positions,
    encode_chess_positions,
    go_arrays,
    maia_filter,
    read_chess_games,
    read_go_games,
    write_pgn,
    write_sgf,
)
from kedge.records.streams import _zstd

THEIRS = 300  # games for python-chess and sgfmill


def row(name: str, ours: float, theirs: float | None = None) -> None:
    ratio = f"{theirs:>14,.0f}{ours / theirs:>10,.0f}×" if theirs else ""
    print(f"{name:<44}{ours:>14,.0f}{ratio}")


def random_games(count: int) -> list[ChessGame]:
    rng = random.Random(0)
    games = []
    for _ in range(count):
        board, moves = ChessState().board, []
        while len(moves) < 70 and (legal := board.legal_actions()):
            moves.append(rng.choice(legal))
            board.push(moves[-1])
        games.append(ChessGame(np.array(moves, np.uint16), "1-0", rated=True))
    return games


def clocked(game: ChessGame) -> ChessGame:
    names = [name for name in ChessGame.__slots__ if name != "clocks"]
    clocks = np.linspace(600, 1, len(game)).round().astype(np.float32)
    return ChessGame(**{name: getattr(game, name) for name in names}, clocks=clocks)


def read_theirs(path: Path) -> int:
    with path.open(encoding="utf-8") as file:
        count = 0
        while count < THEIRS and chess.pgn.read_game(file) is not None:
            count += 1
    return count


def read_ours(path: Path, threads: int) -> int:
    return sum(1 for _ in read_chess_games(path, threads=threads))


def random_go_games(count: int) -> list[GoGame]:
    rng = np.random.default_rng(0)
    return [GoGame(rng.permutation(361)[:210].astype(np.int16), komi=6.5) for _ in range(count)]


def read_sgf_theirs(texts: list[str]) -> int:
    for text in texts[:THEIRS]:
        game = sgf.Sgf_game.from_string(text)
        for node in game.get_main_sequence():
            node.get_move()
    return min(THEIRS, len(texts))


def go_rows(games: list[GoGame], repeats: int) -> None:
    plies = sum(map(len, games))
    print(f"\n{len(games):,} games of Go, {plies / len(games):.0f} moves each")
    print(f"{'a second':<44}{'kedge':>14}{'sgfmill':>14}{'ratio':>11}")
    note = MoveNote("Black 0.53, White 0.47 [a good move]\nand so on")
    plain = list(map(write_sgf, games))
    noted = [write_sgf(game, [note] * len(game)) for game in games]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KEDGE_HOME"] = folder  # keep the table out of the user's home
        for name, texts in (("games, SGF", plain), ("games, SGF with comments", noted)):
            path = Path(folder) / "games.sgf"
            path.write_text("".join(texts), encoding="utf-8")
            ours = rate(lambda path=path: sum(1 for _ in read_go_games(path)), repeats)
            row(name, ours, rate(lambda texts=texts: read_sgf_theirs(texts), 1))
        packed = Path(folder) / "games.zip"
        with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
            for number, text in enumerate(plain):
                archive.writestr(f"{number}.sgf", text)
        row("games, zip of SGF", rate(lambda: sum(1 for _ in read_go_games(packed)), repeats))
        go_arrays(packed)
        row("games, the table that is kept", rate(lambda: len(go_arrays(packed)), repeats))
    row("games written", rate(lambda: len(list(map(write_sgf, games))), repeats))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?")
    parser.add_argument("--go", metavar="FILE")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--games", type=int, default=20_000)
    options = parser.parse_args()
    repeats = options.repeats
    games = (
        list(itertools.islice(read_chess_games(options.file), options.games))
        if options.file
        else []
    )
    games = games or random_games(min(options.games, 5_000))
    plies = sum(map(len, games))
    print(f"{len(games):,} games, {plies / len(games):.0f} half-moves each")
    print(f"{'a second':<44}{'kedge':>14}{'python-chess':>14}{'ratio':>11}")
    with tempfile.TemporaryDirectory() as folder:
        plain, clocks = Path(folder) / "plain.pgn", Path(folder) / "clocks.pgn"
        write_pgn((game for game in games), plain)
        write_pgn(map(clocked, games), clocks)
        for name, path in (("games, PGN", plain), ("games, PGN with clocks", clocks)):
            ours = rate(lambda path=path: read_ours(path, 1), repeats)
            row(name, ours, rate(lambda path=path: read_theirs(path), 1))
            row(f"{name}, all cores", rate(lambda path=path: read_ours(path, 0), repeats))
        for suffix in (".gz", ".bz2", ".zst"):
            if suffix == ".zst" and _zstd() is None:
                continue
            packed = clocks.with_suffix(f".pgn{suffix}")
            write_pgn(map(clocked, games), packed)
            row(
                f"games, PGN with clocks, {suffix}", rate(lambda p=packed: read_ours(p, 1), repeats)
            )
        again = Path(folder) / "again.pgn"
        row("games written", rate(lambda: write_pgn(games, again, threads=1), repeats))
    row(
        "positions chosen",
        rate(lambda: sum(1 for _ in chess_positions(games, maia_filter())), repeats),
    )
    some = list(itertools.islice(chess_positions(games), 100_000))
    row("positions encoded", rate(lambda: len(encode_chess_positions(some, threads=1)), repeats))
    row("positions encoded, all cores", rate(lambda: len(encode_chess_positions(some)), repeats))
    go_games = itertools.islice(read_go_games(options.go), 5_000) if options.go else ()
    go_rows(list(go_games) or random_go_games(2_000), repeats)


if __name__ == "__main__":
    main()
