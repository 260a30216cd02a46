"""Chess games in and out: golden texts, python-chess's reader, damage, and real games."""

import bz2
import gzip
import io
import lzma
import random
import sys
import time
from dataclasses import replace

import chess
import chess.pgn
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pgn_samples import (
    LICHESS,
    check_beside_python_chess,
    game,
    line,
    only,
    random_game,
    read,
    uci,
)

from kedge.errors import InputError
from kedge.games.chess import START_FEN, ChessState
from kedge.records import (
    ChessGame,
    ReadReport,
    pgn_texts,
    read_chess_games,
    streams,
    time_class_of,
    write_pgn,
)
from kedge.records.chess import files as module
from kedge.records.chess.evals import MATE

# --- Golden texts -------------------------------------------------------------------------------


def test_a_lichess_game():
    found = only(LICHESS)
    assert uci(found) == ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"]
    np.testing.assert_array_equal(found.evals, np.float32([17, 19, np.nan, 3 - MATE, np.nan]))
    assert found.clocks is not None
    assert found.clocks.dtype == np.float32
    np.testing.assert_array_equal(found.clocks, np.float32([180, 179, 181.5, np.nan, 3600]))
    assert (found.white, found.black) == ("ann", "bob")
    assert (found.white_elo, found.black_elo) == (1912, 1987)
    assert (found.result, found.termination) == ("0-1", "Time forfeit")
    assert (found.time_control, found.time_class) == ("180+2", "blitz")
    assert (found.rated, found.has_bot, found.black_title) == (True, True, "BOT")
    assert (found.date, found.site) == ("2019-12-02", "https://lichess.org/abcdefgh")
    assert found.fen is None
    assert found.state().fen() == found.state(5).fen() != found.state(0).fen() == START_FEN


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ("1. e4 e5 2. Nf3 Nc6 1-0", "e2e4 e7e5 g1f3 b8c6"),
        ("1.e4 e5 2.Nf3 Nc6 1-0", "e2e4 e7e5 g1f3 b8c6"),
        ("1 e4 1... e5 2. Nf3 2. ... Nc6 1-0", "e2e4 e7e5 g1f3 b8c6"),
        ("e4 e5 1-0", "e2e4 e7e5"),
        ("1. e4! $1 $142 e5?? 2. Nf3 !? Nc6 +- 1-0", "e2e4 e7e5 g1f3 b8c6"),
        ("1. e4 (1. d4 d5 (1... Nf6 {)} 2. c4 ; ( \n) 2. c4) e5 1-0", "e2e4 e7e5"),
        ("1. e4 {1-0 (} e5 ; 2. Nf3 0-1\n2. Nf3 1-0", "e2e4 e7e5 g1f3"),
        ("1. e4\n% 1... c5\ne5\n\n2. Nf3 1-0", "e2e4 e7e5 g1f3"),
        ("1. e4{a}e5{b}2.Nf3(2.f4)Nc6 1-0", "e2e4 e7e5 g1f3 b8c6"),
        ("1. e4 { two\n[%eval 1]\nlines } e5 1-0", "e2e4 e7e5"),
        (
            "1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. 0-0 0-0 5. e4 1-0",
            "g1f3 g8f6 g2g3 g7g6 f1g2 f8g7 e1g1 e8g8 e2e4",
        ),
        ("1. e4 d5 2. e5 f5 3. exf6 e.p. 1-0", "e2e4 d7d5 e4e5 f7f5 e5f6"),
        ("1. Ng1-f3 e7e5 2. Nf3xe5 1-0", "g1f3 e7e5 f3e5"),
        ("1. e4 e5 * 1-0", "e2e4 e7e5"),
        ("1-0", ""),
    ],
)
def test_movetext(moves, expected):
    found = only(game(moves))
    assert uci(found) == expected.split()
    assert found.result == "1-0"
    assert found.clocks is None


def test_promotions_from_a_set_up_position():
    fen = "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1"
    found = only(game("1... gxf1=R 2. bxc8=N Rxh1 3. Kxf2 Rf1 4. Ke2 h1Q 1-0", SetUp="1", FEN=fen))
    assert uci(found) == ["g2f1r", "b7c8n", "f1h1", "e2f2", "h1f1", "f2e2", "h2h1q"]
    assert (found.fen, found.variant, found.mover(0)) == (fen, "From Position", 1)
    assert only(game("1. e4 1-0", SetUp="1", FEN=START_FEN)).fen is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (game("1. e4 e5 2. Ke3 1-0"), "half-move 3, 'Ke3', is not a legal move"),
        (game("1. e4 e5 2. -- 1-0"), "half-move 3, '--', is not a legal move"),
        (game("1. e4 e5 2. N"), "half-move 3, 'N', is not a legal move"),
        (game("1. e4 e5 2. Nf3 { [%clk 0:0"), "cut short: a comment is not closed"),
        (game("1. e4 e5 (1... c5 2. Nf3 1-0"), "a variation is not closed"),
        (game("1. e4 e5 2. Nf3"), "cut short: no result after the moves"),
        (game("1. e4 e5 1-0", Variant="Atomic"), "'Atomic' is not standard chess"),
        (game("1. e4 e5 1-0", Variant="Chess960"), "'Chess960' is not standard chess"),
        (game("1. e4 e5 1-0", FEN="8/8/8/8/8/8/8/8 w - - 0 1"), "FEN: white has 0 kings, not 1"),
        (game("1. e4 \0 1-0"), "has NUL bytes"),
        (game("1. e4 1-0", White="a\0b"), "has NUL bytes"),
        (game("1. e4 Ñf6 1-0"), "half-move 2, '??f6', is not a legal move"),
        (game("1. N2xf3 1-0"), "half-move 1, 'N2xf3', is not a legal move"),
    ],
)
def test_a_broken_game_costs_itself_only(text, reason):
    good = game("1. d4 d5 1/2-1/2", "1/2-1/2")
    games, report = read(good + text + "\n\n" + good)
    assert [uci(found) for found in games] == [["d2d4", "d7d5"]] * 2
    [broken] = report.broken
    assert (broken.number, broken.reason) == (2, reason)
    assert broken.where.endswith("line 6")
    assert (report.games, report.positions, report.broken_games) == (2, 4, 1)
    assert report.noise == ("NUL" in reason)


def test_tags_that_share_a_line():
    text = '[Event "A ] [b"][White "Ann"] [Black "Bo "The Bear" B"]\n[Result "1-0"]\n\n1. e4 1-0\n'
    (found,), report = read(text)
    assert (found.white, found.black, found.result) == ("Ann", 'Bo "The Bear" B', "1-0")
    assert report.broken_games == 0


def test_games_without_tags():
    games, report = read("1. e4 e5 1-0\n\n1. d4 d5 { x } 0-1 1. c4 *\n 1. Zz 1-0\n1. f4\n")
    assert [(uci(found), found.result) for found in games] == [
        (["e2e4", "e7e5"], "1-0"),
        (["d2d4", "d7d5"], "0-1"),
        (["c2c4"], "*"),
        (["f2f4"], "*"),
    ]
    assert [(one.number, one.where[-6:]) for one in report.broken] == [(4, "line 4")]


@pytest.mark.parametrize(
    "unit",
    [
        "1. e4 *\n",
        "1. e4 e4 *\n",
        "{x}",
        "()",
        "1a",
        "1-",
        "$",
        "[%clk ",
        "[%eval ",
        "[%eval 1",
        "((",
        "\n%",
        "\\",
    ],
)
def test_time_grows_with_the_length_only(unit):
    count = 1_000_000 // len(unit)
    start = time.process_time()
    read('[Event "?"]\n\n1. e4 ' + unit * count)
    read('[Event "?"]\n\n1. e4 {' + unit * count + "} *")
    assert time.process_time() - start < 5.0


def test_tags_without_moves():
    text = '[Event "a"]\n[Result "*"]\n\n[Event "b"]\n\n*\n\n[Event "c"]\n'
    games, report = read(text)
    assert [len(found) for found in games] == [0, 0, 0]
    assert report.broken == []


def test_line_ends_marks_and_letters():
    text = LICHESS.replace("\n", "\r\n").replace('"ann"', '"Žofie \\"the\\" \\\\ {"')
    for raw in (b"\xef\xbb\xbf" + text.encode(), text.encode(), b"\r\n\n% x\n" + text.encode()):
        found = only(raw)
        assert found.white == 'Žofie "the" \\ {'
        assert len(found) == 5
    assert only(LICHESS.replace("ann", "José").encode("latin-1")).white == "José"
    assert only(game("1. e4 1-0", White='Joe "The Rook" X')).white == 'Joe "The Rook" X'


def test_tags_that_say_nothing():
    found = only(game("1. e4 *", "*", WhiteElo="?", BlackElo="-5", Date="19??.??.??", White="?"))
    assert (found.white_elo, found.black_elo, found.date, found.white) == (None,) * 4
    assert (found.rated, found.time_class, found.time_control) == (None, "unknown", None)
    assert only(game("1. e4 *", "*", Date="1972.07.??")).date == "1972-07"
    assert only(game("1. e4 0-1", "*")).result == "0-1"
    assert only(game("1. e4 0-1", "1-0")).result == "1-0"


@pytest.mark.parametrize(
    ("event", "rated", "speed"),
    [
        ("Rated Blitz game", True, "blitz"),
        ("Casual Correspondence game", False, "correspondence"),
        ("rated ultraBullet game", True, "ultrabullet"),
        ("Rated Rapid tournament https://lichess.org/tournament/x", True, "rapid"),
        ("World Championship", None, "unknown"),
    ],
)
def test_events(event, rated, speed):
    found = only(game("1. e4 1-0", Event=event))
    assert (found.rated, found.time_class) == (rated, speed)
    # What the game says anyway is not kept a second time.
    assert found.event == (None if event.endswith("game") else event)
    kept = only(*pgn_texts([replace(found, round="3")]))
    assert (kept.event, kept.round) == (found.event, "3")


@pytest.mark.parametrize(
    ("control", "speed"),
    [
        ("29+0", "ultrabullet"),
        ("30+0", "bullet"),
        ("0+1", "bullet"),
        ("179+0", "bullet"),
        ("60+3", "blitz"),
        ("180+0", "blitz"),
        ("479+0", "blitz"),
        ("480+0", "rapid"),
        ("300+5", "rapid"),
        ("1499+0", "rapid"),
        ("1500+0", "classical"),
        ("900+15", "classical"),
        ("21600+0", "correspondence"),
        ("600", "rapid"),
        ("40/7200:3600", "classical"),
        ("1/86400", "correspondence"),
        ("-", "correspondence"),
        ("?", "unknown"),
        (None, "unknown"),
        ("", "unknown"),
        ("5 min", "unknown"),
        ("９00+0", "unknown"),
        ("9" * 5000, "unknown"),
    ],
)
def test_time_classes(control, speed):
    assert time_class_of(control) == speed


@pytest.mark.parametrize(
    ("comment", "clock"),
    [
        ("[%clk 0:00:05]", 5.0),
        ("[%clk 1:02:03.4]", 3723.4),
        ("[%clk 2:30]", 150.0),
        ("x [%eval 1] [%clk 0:01:00][%emt 0:00:01]", 60.0),
        ("[%clk 0:01:00] [%clk 0:02:00]", 120.0),
        ("[%clk 0:01:00", None),
        ("[%clk ]", None),
        ("[%clk 5]", None),
        ("[%clk a:bb:cc]", None),
        ("[%clk 0:01:00:00]", None),
        ("[%clk -0:01:00]", None),
        ("[%clk", None),
    ],
)
def test_clocks(comment, clock):
    found = only(game(f"1. e4 {{ {comment} }} (1. d4 {{ [%clk 9:00:00] }}) 1-0"))
    assert (None if found.clocks is None else float(found.clocks[0])) == (
        None if clock is None else pytest.approx(clock, rel=1e-7)
    )


# --- JSON lines ---------------------------------------------------------------------------------


def test_json_lines():
    found = only(
        line(
            site="lichess",
            id="https://lichess.org/x",
            date="2017-08-31",
            time_control="900+2",
            time_class="rapid",
            white_elo=1500,
            black_elo=1191,
            clocks=[5, None],
            rated=False,
            white_hash="a",
            black_hash="b",
            source="s",
        )
    )
    assert uci(found) == ["e2e4", "e7e5"]
    assert (found.white, found.black, found.site) == ("a", "b", "https://lichess.org/x")
    assert (found.rated, found.source, found.time_class) == (False, "s", "rapid")
    np.testing.assert_array_equal(found.clocks, np.float32([5, np.nan]))
    assert found.evals is None
    assert only(line(time_class="blitz")).time_class == "blitz"
    assert only(line(moves="", clocks=None)).clocks is None
    assert uci(only(line(moves="a2a1q", fen="7k/8/8/8/8/8/p7/7K b - - 0 1")))[0] == "a2a1q"
    assert len(read(line() + "\n" + line().strip())[0]) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON, or cut short"),
        ("[1]", "not a JSON object"),
        ("[" * 100_000, "not JSON, or cut short"),
        (line(moves=None), '"moves" is not text'),
        (line(moves=["e2e4"]), '"moves" is not text'),
        (line(moves="e2e4é"), '"moves" has characters that are not ASCII'),
        (line(moves="e2e4 e2e4"), "half-move 2, 'e2e4', is not a legal move"),
        (line(fen="x"), "FEN: has 1 fields, not 6 (or 4: no counters)"),
        (line(fen=3), '"fen" is not text'),
        (line(result="won"), "'won' is not a result"),
        (line(white_elo="high"), '"white_elo" is not a rating'),
        (line(clocks=[1]), '"clocks" is not a list with one number per half-move'),
        (line(clocks=[1, "x"]), '"clocks" is not a list with one number per half-move'),
        (line(clocks=[1, -1]), '"clocks" has a negative or infinite time'),
        (line(clocks=[1, 1e300]), '"clocks" has a negative or infinite time'),
        (line(variant="Atomic"), "'Atomic' is not standard chess"),
        (line(white_hash=7), '"white" is not text'),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_broken_json_lines(text, reason):
    games, report = read(line() + text.strip() + "\n" + line())
    assert len(games) == 2
    assert [(one.number, one.reason) for one in report.broken] == [(2, reason)]


# --- Files --------------------------------------------------------------------------------------

COMPRESSORS = {".gz": gzip.compress, ".bz2": lambda raw: bz2.compress(raw, 1), ".xz": lzma.compress}


def zstd() -> object:
    return pytest.importorskip("zstandard")


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_compressed_files(suffix, tmp_path):
    if suffix == ".zst":
        zstd()
    games = list(read(LICHESS + game("1. d4 1-0"))[0])
    path = tmp_path / f"games.pgn{suffix}"
    assert write_pgn(games, path) == 2
    assert list(read_chess_games(path)) == games
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    renamed = tmp_path / "whatever"
    path.rename(renamed)
    assert list(read_chess_games(str(renamed))) == games
    report = ReadReport()
    list(read_chess_games(renamed, report))
    assert report.bytes_read == renamed.stat().st_size


def test_streams():
    for content in (LICHESS.encode(), gzip.compress(LICHESS.encode())):
        stream = io.BytesIO(b"??" + content)
        stream.seek(2)
        assert len(list(read_chess_games(stream))) == 1
        assert not stream.closed


def test_several_zstd_frames(tmp_path):
    compress = zstd().ZstdCompressor().compress
    skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc"
    path = tmp_path / "x.pgn.zst"
    path.write_bytes(skippable + compress(LICHESS.encode()) + compress(LICHESS.encode()))
    assert len(list(read_chess_games(path))) == 2


def test_zstd_without_its_library(tmp_path, monkeypatch):
    path = tmp_path / "x.pgn.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd0000")
    monkeypatch.setattr(streams, "_zstd", lambda: None)
    with pytest.raises(
        InputError, match=r"zst: reading .zst needs zstandard; kedge\[records\] has it"
    ):
        list(read_chess_games(path))
    with pytest.raises(InputError, match=r"writing \.zst"):
        write_pgn([], path)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("damage", ["cut", "flip"])
def test_damaged_compressed_files(suffix, damage, tmp_path):
    rng = random.Random(0)
    text = "".join(game("1. e4 e5 1-0", White=str(rng.random())) for _ in range(20_000)).encode()
    compress = (
        zstd().ZstdCompressor(write_checksum=True).compress
        if suffix == ".zst"
        else COMPRESSORS[suffix]
    )
    raw = bytearray(compress(text))
    if damage == "cut":
        raw = raw[: len(raw) // 2]
    else:
        raw[len(raw) // 2] ^= 255
    path = tmp_path / f"x.pgn{suffix}"
    path.write_bytes(raw)
    report = ReadReport()
    games = list(read_chess_games(path, report))
    assert 1000 < len(games) < 20_001
    assert 1 <= report.broken_games <= 3 or damage == "flip"


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_compressed_files_that_end_at_once(suffix, tmp_path):
    path = tmp_path / f"x.pgn{suffix}"
    path.write_bytes(COMPRESSORS[suffix](LICHESS.encode())[:9])
    with pytest.raises(InputError, match=r"cannot read \("):
        list(read_chess_games(path))


@pytest.mark.parametrize(
    ("name", "reason"),
    [("absent.pgn", "No such file"), (".", "Is a directory"), ("a\0b", "not a valid file name")],
)
def test_unreadable_files(name, reason, tmp_path):
    path = f"{tmp_path}/{name}"
    with pytest.raises(InputError, match=reason):
        list(read_chess_games(path))


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf", b"% nothing\n", b"{ comment }"])
def test_no_game(content):
    games, report = read(content)
    assert games == []
    assert report.broken_games == report.noise


@pytest.mark.parametrize("seed", range(3))
def test_noise(seed):
    games, report = read(random.Random(seed).randbytes(100_000))
    assert games == []
    assert report.broken_games == report.noise >= 1


def test_the_number_of_broken_games_kept_is_bounded():
    report = ReadReport(limit=5)
    text = (game("1. e5 1-0") * 100).encode()
    assert list(read_chess_games(io.BufferedReader(io.BytesIO(text)), report)) == []
    assert (report.broken_games, len(report.broken)) == (100, 5)


class Endless(io.RawIOBase):
    """Much text of little size."""

    def __init__(self, start: bytes, unit: bytes, count: int, end: bytes = b"") -> None:
        self.parts = iter([start, *[unit] * count, end])
        self.left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        self.left = self.left or next((part for part in self.parts if part), b"")
        size = min(len(buffer), len(self.left))
        buffer[:size], self.left = self.left[:size], self.left[size:]
        return size


@pytest.mark.parametrize(
    ("start", "unit"),
    [
        (b'[Event "long"]\n\n1. e4 {', b"x" * 99 + b"\n"),
        (b'[Event "long"]\n\n1. e4 (', b"( " * 50),
        (b"", b"x" * 100),
        (b'[Event "tags"]\n', b'[Site "abcdefghijklmn"]\n' * 4),
    ],
    ids=["comment", "variation", "noise", "tags"],
)
def test_a_game_without_an_end_takes_bounded_memory(start, unit):
    unit *= 80  # 8 kB
    count = 4000  # 32 MB
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = ReadReport()
    end = ("\n\n" + game("1. d4 1-0")).encode()
    stream = io.BufferedReader(Endless(start, unit, count, end))
    games = list(read_chess_games(stream, report))
    assert [uci(found) for found in games] == [["d2d4"]]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 32_000 * (1024 if sys.platform == "darwin" else 1)
    assert 1 <= report.broken_games < 60
    # Lines are counted past what was skipped.
    lines = start.count(b"\n") + count * unit.count(b"\n")
    report = ReadReport()
    end = ("\n\n" + game("1. d5 1-0")).encode()
    list(read_chess_games(io.BufferedReader(Endless(start, unit, count, end)), report))
    assert report.broken[-1].where.endswith(f"line {lines + 3}")


def test_a_long_json_line_takes_bounded_memory():
    report = ReadReport()
    stream = io.BufferedReader(Endless(line().encode() + b'{"moves": "', b"e2e4 " * 1600, 2000))
    assert len(list(read_chess_games(stream, report))) == 1
    assert [one.reason for one in report.broken] == ["longer than 4 MiB"]


@pytest.mark.parametrize("size", [2, 7, 64, 1000])
def test_pieces_of_any_size(size, monkeypatch):
    text = LICHESS + game("1. d4 { x } 1-0") + game("1. zz 1-0") + game("1. c4 c5 *", "*")
    whole, report = read(text * 3)
    monkeypatch.setattr(streams, "PIECE", size)
    games, again = read(text * 3)
    assert games == whole
    assert again.broken == report.broken
    games, again = read(line() + "x\n" + line())
    assert [one.number for one in again.broken] == [2]


# --- Beside python-chess ------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([None, 80, 20]))
def test_random_games_beside_python_chess(seed, columns):
    exporter = chess.pgn.StringExporter(columns=columns)
    text = random_game(seed).accept(exporter) + "\n\n"
    if any(part in text for part in ("\n;", "\n%")):  # wrapped into a comment line
        return
    check_beside_python_chess(only(text), text)


def test_written_games_beside_python_chess(tmp_path):
    games = [only(str(random_game(seed)) + "\n\n") for seed in range(40)]
    path = tmp_path / "x.pgn"
    write_pgn(games, path)
    assert list(read_chess_games(path)) == games
    texts = path.read_text(encoding="utf-8").split("\n\n\n")[:-1]
    for ours, text in zip(games, texts, strict=True):
        check_beside_python_chess(ours, text)


def test_written_as_lichess_writes(tmp_path):
    path = tmp_path / "x.pgn"
    write_pgn(read(LICHESS)[0], path)
    text = path.read_text(encoding="utf-8")
    assert '[Event "Rated blitz game"]\n[Site "https://lichess.org/abcdefgh"]\n' in text
    assert text.endswith(
        "\n\n1. e4 { [%eval 0.17] [%clk 0:03:00] } 1... e5 { [%eval 0.19] [%clk 0:02:59] } "
        "2. Nf3 { [%clk 0:03:01.5] } 2... Nc6 { [%eval #-3] } 3. Bb5 { [%clk 1:00:00] } "
        "0-1\n\n\n"
    )


def test_writing_what_is_no_game(tmp_path):
    path = tmp_path / "x.pgn"
    path.write_text("kept")
    with pytest.raises(InputError, match="game 0: half-move 1 is not a legal move"):
        write_pgn([ChessGame(np.zeros(1, np.uint16))], path)
    with pytest.raises(InputError, match="cannot write"):
        write_pgn([], tmp_path / "no" / "x.pgn")
    assert path.read_text() == "kept"
    assert len(list(tmp_path.iterdir())) == 1


def test_fast_san_is_parse_san():
    """The parser's short cut against the board's own, on every text one letter off a move."""
    rng = random.Random(1)
    for seed in range(6):
        board = random_game(seed, plies=60, branches=False).end().board()
        state = ChessState.from_fen(board.fen())
        texts = [board.san(move) for move in board.legal_moves]
        texts += [board.uci(move) for move in board.legal_moves]
        for text in list(texts):
            for _ in range(6):
                at = rng.randrange(len(text) + 1)
                letter = rng.choice("abcdefgh12345678xNBRQKO-=+#")
                texts += [text[:at] + letter + text[at + 1 :], text[:at] + letter + text[at:]]
        for text in texts:
            try:
                expected = [state.parse_san(text)]
            except InputError:
                expected = []
            if text[:1].isdigit() or text.strip("!?+-=#/") == "" or set(text) & set("*"):
                continue  # a number, a mark
            games, _ = read(game(f"{text} *", "*", FEN=board.fen()))
            assert [found.moves.tolist() for found in games] == [expected][: len(expected)], text


# --- Damage -------------------------------------------------------------------------------------

SAMPLE = (LICHESS + str(random_game(3)) + "\n\n" + game("1. d4 (1. c4 {x}) d5 $3 1/2-1/2")).encode()


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damage_never_crashes(data):
    raw = bytearray(SAMPLE)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(raw) - 1))
        kind = data.draw(st.sampled_from(["cut", "put", "drop", "copy"]))
        if kind == "cut":
            raw = raw[: at + 1]
        elif kind == "put":
            noise = data.draw(st.binary(max_size=4) | st.sampled_from([b"{", b"(", b'[E "', b"\0"]))
            raw[at : at + len(noise)] = noise
        elif kind == "drop":
            del raw[at : at + data.draw(st.integers(0, 50))]
        else:
            raw[at:at] = raw[at : at + 200]
        raw = raw or bytearray(b" ")
    try:
        games, report = read(bytes(raw))
    except InputError:
        assert raw[:4] != SAMPLE[:4], "only what begins like a compressed file is refused"
        return
    for found in games:
        found.state()  # legal throughout
    assert report.games == len(games)
    assert report.games + report.broken_games <= raw.count(b"[") + raw.count(b"-") + 2


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300) | st.text('[]{}()"\n.;%$*-1e4Nf3 \\', max_size=200).map(str.encode))
def test_anything_is_read(raw):
    games, report = read(b"\n" + raw)
    assert len(games) == report.games


# --- Real games ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lichess_games(shared) -> list[ChessGame]:
    report = ReadReport()
    games = list(read_chess_games(shared("data/chess/lichess_games.jsonl.xz"), report))
    assert report.broken == []
    assert (report.games, report.positions) == (74_209, 4_815_214)
    return games


def test_real_games_through_pgn(lichess_games, tmp_path):
    path = tmp_path / "all.pgn"
    write_pgn(lichess_games, path)
    report = ReadReport()
    for ours, again in zip(lichess_games, read_chess_games(path, report), strict=True):
        assert ours == again
    assert report.broken == []


def test_real_games_beside_python_chess(lichess_games, tmp_path):
    sample = lichess_games[:: len(lichess_games) // 60]
    for ours, text in zip(sample, module.pgn_texts(sample), strict=True):
        check_beside_python_chess(ours, text)
