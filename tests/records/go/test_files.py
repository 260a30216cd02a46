"""Files, folders and archives of Go games; the table that is kept; and real games."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import tracemalloc
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from damage import damaged
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.errors import InputError
from kedge.games.go.ranks import rank_number, server_number
from kedge.games.symmetries import symmetries
from kedge.records import (
    GoGame,
    ReadReport,
    go_arrays,
    holds_go,
    legal_games,
    read_go_games,
    write_sgf,
)
from kedge.records.go import files
from kedge.records.go.arrays import (
    AI,
    COLOURS,
    HANDICAP,
    SETUP,
    arrays_folder,
    joined_arrays,
    make_go_arrays,
)
from kedge.records.go.duplicates import games_among
from kedge.records.go.games import SPLITS, date_of, split_of
from kedge.records.splits import CHOOSE, LEARN, TEST

HEADER = "path\tdate\tkomi\tresult\thandicap\tAB\tAW\tblack\twhite\tai\tcolors\tmoves"
ROWS = [
    "a.sgf\t1950-01-02\t4.5\tB+R\t\t\t\tGo\tKitani\t0\t\tpddptt",
    "b.sgf\t2016\t\tJigo\t2\tdppd\t\tx\ty\t0\tW\tpddp",
    "c.sgf\t\t6.5\tW+0.50\t\t\t\tx\tAlphaGo\t1\tBWW\tpddpqq",
]
TABLE = "\n".join([HEADER, *ROWS]).encode() + b"\n"


def read(path: object) -> tuple[list[GoGame], ReadReport]:
    report = ReadReport()
    return list(read_go_games(path, report)), report  # type: ignore[arg-type]


def sgf(number: int) -> bytes:
    return write_sgf(GoGame(np.array([number], np.int16), black=f"player {number}")).encode()


def numbers(games: list[GoGame]) -> list[int]:
    return [int(game.moves[0]) for game in games]


# --- Tables -------------------------------------------------------------------------------------


def test_a_table():
    games, report = read(io.BytesIO(TABLE))
    first, second, third = games
    assert (report.games, report.positions, report.broken) == (3, 8, [])
    assert first.moves.tolist() == [3 * 19 + 15, 15 * 19 + 3, 361]
    assert (first.komi, first.result, first.date, first.source) == (
        4.5,
        "B+R",
        "1950-01-02",
        "a.sgf",
    )
    assert (second.handicap, second.black_stones, second.colours) == (2, (72, 288), None)
    assert (second.komi, second.result, second.mover(0)) == (None, "0", 1)
    assert third.ai
    assert third.colours is not None
    assert third.colours.tolist() == [0, 1, 1]
    assert [split_of(game) for game in games] == ["train", None, None]


def test_a_table_of_a_server():
    """White moves first after handicap stones, which no column of colours says."""
    header = "server id date komi handicap AB black black_rank white white_rank time bot moves"
    rows = [
        "KGS|k/1.sgf|2006-01-02|0.50|2|dppd|x|2k|y|3d|1200|W|ddtt",
        "Fox-Pro|14|2015-12-14|0|0||x|9d|z|9p|60||ddpp",
        "Tygem|75|2005.11.02 11:17|6.5|1||x|9d|x|9d|30|BW|dd",
    ]
    lines = [header.replace(" ", "\t"), *(row.replace("|", "\t") for row in rows)]
    games, report = read(io.BytesIO("\n".join(lines).encode()))
    assert report.broken == []
    handicap, even, last = games
    assert [game.colours for game in games] == [None] * 3
    assert [game.mover(0) for game in games] == [1, 0, 0]
    assert handicap.black_stones == (72, 288)
    assert handicap.moves.tolist() == [60, 361]
    assert [game.server for game in games] == ["KGS", "Fox-Pro", "Tygem"]
    assert [game.source for game in games] == ["k/1.sgf", "14", "75"]
    assert [game.komi for game in games] == [0.5, None, 6.5]  # Fox exports no komi as 0
    assert [game.bots for game in games] == ["W", "", "BW"]
    assert [game.ai for game in games] == [True, False, True]
    assert [game.date for game in games] == ["2006-01-02", "2015-12-14", "2005-11-02"]
    assert (even.black_rank, even.white_rank, even.place) == ("9d", "9p", "Fox-Pro")
    assert (handicap.time, last.handicap) == ("1200", 0)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("x", "1 columns, expected 12"),
        (ROWS[0] + "a", "moves must have two letters each"),
        (ROWS[0] + "zz", "move 4: 'zz' is not a point of a 19×19 board"),
        (ROWS[2] + "aa", "3 colours for 4 moves"),
    ],
)
def test_broken_rows(row, reason):
    games, report = read(io.BytesIO("\n".join([HEADER, ROWS[0], row, ROWS[1]]).encode()))
    assert len(games) == 2
    [broken] = report.broken
    assert (broken.number, broken.reason) == (2, reason)
    assert broken.where.endswith("line 3")


# --- Files --------------------------------------------------------------------------------------

COMPRESSORS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def tar(files: dict[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


FILES = {
    "1.sgf": sgf(1),
    "../../2.SGF": sgf(2),
    "readme.txt": b"(;B[aa])",
    "inner.zip": zipped({"9.sgf": sgf(9)}),
    "deep/er/3.sgf": sgf(3) + sgf(4),
}


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_compressed_files(suffix, tmp_path):
    for name, content, expected in (
        ("a.sgf", sgf(5) + sgf(6), [5, 6]),
        ("a.tar", tar(FILES), [1, 2, 3, 4]),
        ("a.tsv", TABLE, [72, 72, 72]),
    ):
        path = tmp_path / (name + suffix)
        path.write_bytes(COMPRESSORS[suffix](content))
        games, report = read(path)
        assert numbers(games) == expected
        assert report.broken == []
        assert report.bytes_read == path.stat().st_size
        assert numbers(read(path.rename(tmp_path / "whatever"))[0]) == expected


def test_archives():
    for content in (
        zipped(FILES),
        tar(FILES, tarfile.USTAR_FORMAT),
        tar(FILES, tarfile.GNU_FORMAT),
    ):
        games, report = read(io.BytesIO(content))
        assert numbers(games) == [1, 2, 3, 4]
        assert (report.broken, report.games) == ([], 4)


def test_folders(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "1.sgf").write_bytes(sgf(1))
    (tmp_path / "a.zip").write_bytes(zipped({"x.sgf": sgf(7)}))
    (tmp_path / "c.sgf.gz").write_bytes(gzip.compress(sgf(2)))
    (tmp_path / "notes.txt").write_text("(;B[aa])")
    (tmp_path / "d.sgf").write_bytes(b"nothing")
    games, report = read(tmp_path)
    assert numbers(games) == [7, 1, 2]
    assert [(one.where, one.reason) for one in report.broken] == [
        (str(tmp_path / "d.sgf"), "no game found")
    ]
    assert read(tmp_path / "b")[1].games == 1


def test_encrypted_and_damaged_members():
    content = bytearray(zipped({"1.sgf": sgf(1), "2.sgf": sgf(2), "3.sgf": sgf(3)}))
    for magic, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        content[content.index(magic) + flags] |= 1
    games, report = read(io.BytesIO(bytes(content)))
    assert numbers(games) == [2, 3]
    assert [(one.where, one.reason) for one in report.broken] == [("stream: 1.sgf", "encrypted")]
    second = content.index(b"2.sgf") + 5
    content[second + 3 : second + 9] = b"\xff" * 6
    games, report = read(io.BytesIO(bytes(content)))
    assert numbers(games) == [3]
    assert report.broken[1].reason.startswith("cannot unpack")


@pytest.mark.parametrize("pack", [zipped, tar])
def test_bombs(pack, monkeypatch):
    monkeypatch.setattr(files, "LARGEST_FILE", 10_000)
    monkeypatch.setattr(files, "LARGEST_ARCHIVE", 50_000)
    monkeypatch.setattr(files, "MOST_FILES", 6)
    zeros = b" " * 20_000
    games, report = read(io.BytesIO(pack({"1.sgf": sgf(1), "b.sgf": zeros, "2.sgf": sgf(2)})))
    assert numbers(games) == [1, 2]
    assert "longer than" in report.broken[0].reason
    games, report = read(io.BytesIO(pack({f"{i}.sgf": zeros for i in range(6)})))
    assert "longer than" in report.broken[-1].reason
    games, _ = read(io.BytesIO(pack({f"{i}.sgf": sgf(i) for i in range(9)})))
    assert numbers(games) == [0, 1, 2, 3, 4, 5]


def test_headers_that_never_end():
    """A name of 200 MiB, which tarfile would read at once."""
    front = tarfile.TarInfo("1.sgf")
    front.size = len(sgf(1))
    for kind in (tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME):
        bomb = tarfile.TarInfo("bomb")
        bomb.type, bomb.size = kind, 200 << 20
        blocks = front.tobuf() + sgf(1).ljust(512, b"\0") + bomb.tobuf(tarfile.GNU_FORMAT)
        packed = gzip.compress(blocks + b"9" * (20 << 20), 1)
        tracemalloc.start()
        games, report = read(io.BytesIO(packed))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert numbers(games) == [1]
        assert report.broken[-1].reason.endswith("header longer than 1 MiB")
        assert peak < 40 << 20


def test_only_what_unpacks_with_bounds():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("1.sgf", sgf(1))
        archive.writestr("2.sgf", bytes(10 << 20), zipfile.ZIP_BZIP2)
    games, report = read(io.BytesIO(out.getvalue()))
    assert numbers(games) == [1]
    assert [one.reason for one in report.broken] == ["not compressed with deflate"]


def test_nothing_without_end(tmp_path):
    for name, content in (("a.sgf.gz", bytes(65 << 20)), ("b.sgf.gz", b"[a]" * (22 << 20))):
        (tmp_path / name).write_bytes(gzip.compress(content, 1))
        with pytest.raises(InputError, match="no game in its first 64 MiB"):
            list(read_go_games(tmp_path / name))


def test_which_game_a_file_is_of(tmp_path):
    contents = {
        "a.sgf": b"",
        "b.txt": b"\xef\xbb\xbf\n ( ;FF[4])",
        "c": gzip.compress(sgf(1)),
        "d.pgn": b'[Event "?"]\n\n1. e4 (; hm\n1. d4) *',
        "e.gz": b"\x1f\x8bnothing",
        "f.tar.xz": b"",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    assert [holds_go(tmp_path / name) for name in contents] == [
        True,
        True,
        True,
        False,
        False,
        True,
    ]
    assert holds_go(tmp_path)
    assert not holds_go(tmp_path / "nowhere")


def test_files_that_end_early():
    whole = gzip.compress(
        b"".join(os.urandom(50).hex().encode() + sgf(i) for i in range(361) for _ in range(5))
    )
    games, report = read(io.BytesIO(whole[: len(whole) // 2]))
    assert 300 < len(games) < 1500
    assert report.broken[-1].reason.startswith("compressed file ends early")
    packed = tar({f"{i}.sgf": sgf(i) for i in range(20)})
    games, report = read(io.BytesIO(packed[:5700]))
    assert 0 < len(games) < 20
    assert report.broken[-1].reason.startswith("archive ends early")
    with pytest.raises(InputError, match="No such file"):
        next(read_go_games("nowhere.sgf"))


@given(st.sampled_from([zipped(FILES), tar(FILES), TABLE, sgf(1) * 3]), st.data())
@settings(max_examples=150, deadline=None)
def test_damage(content, data):
    raw = damaged(data, content)
    report, count = ReadReport(limit=3), 0
    try:
        for game in legal_games(io.BytesIO(raw), report):
            count += 1
            assert len(list(game.states())) == len(game) + 1 <= 200
        assert count == report.games
        assert sum(report.kinds.values()) == report.broken_games >= len(report.broken)
    except InputError as error:
        reason = str(error)
    else:
        reason = ""
    assert "\n" not in reason


# --- The table that is kept ---------------------------------------------------------------------


def test_flags_and_splits():
    def game(year: int, **changes: object) -> GoGame:
        return GoGame(np.array([1, 2], np.int16), date=str(year), **changes)  # type: ignore[arg-type]

    games = [
        game(1899),
        game(1900),
        game(2014, komi=60.0),
        game(2015, result="B+R"),
        game(2016, result="0"),
        game(2017, result="W+0.5"),
        game(2024),
        game(2025),
        game(1990, komi=60.5),
        game(1990, ai=True),
        game(1990, handicap=2, black_stones=(3, 4)),
        game(1990, size=13),
        game(1990, colours=np.array([0, 0], np.uint8)),
        GoGame(np.empty(0, np.int16)),
    ]
    table = make_go_arrays(games)
    assert len(table) == len(games)
    assert [table.rows(split).tolist() for split in SPLITS] == [[1, 2], [3, 4], [5, 6, 7], []]
    assert table.flags.tolist() == [0] * 9 + [AI, HANDICAP | SETUP, 0, COLOURS, 0]
    assert table.moves(12).tolist() == [1, 2]
    assert table.moves(13).tolist() == []
    np.testing.assert_array_equal(table.black_returns[3:7], np.float32([1, 0, -1, np.nan]))
    assert (table.years[0], table.years[-1], table.komi[2]) == (1899, 0, 60)
    assert len(make_go_arrays([])) == 0


def test_players_in_a_table():
    def game(*moves: int, **changes: object) -> GoGame:
        return GoGame(np.array(moves, np.int16), **changes)  # type: ignore[arg-type]

    first = make_go_arrays(
        [
            game(1, 2, black_rank="9p", white_rank="Meijin"),
            game(5, handicap=2, black_stones=(3, 4), server="KGS", black_rank="2k", bots="W"),
        ]
    )
    second = make_go_arrays([game(7, 8, 9, server="Fox-9d", white_rank="9d", white_stones=(6,))])
    table = joined_arrays([first, second])
    assert table.stones.tolist() == [[1, 3, 0], [1, 4, 0], [2, 6, 1]]
    assert table.first.tolist() == [0, 1, 1]
    assert [table.moves(row).tolist() for row in range(3)] == [[1, 2], [5], [7, 8, 9]]
    assert table.servers.tolist() == [0, server_number("KGS"), server_number("Fox")]
    ranks = [rank_number(rank) for rank in ("9p", None, "2k", None, None, "9d")]
    assert table.ranks.ravel().tolist() == ranks
    assert table.bots.tolist() == [[False, False], [False, True], [False, False]]
    some = table.take(np.array([2, 1]))
    assert [some.moves(row).tolist() for row in range(2)] == [[7, 8, 9], [5]]
    assert some.stones.tolist() == [[0, 6, 1], [1, 3, 0], [1, 4, 0]]
    assert some.first.tolist() == [1, 1]
    assert some.servers.tolist() == table.servers[[2, 1]].tolist()
    assert joined_arrays([first]) is first


def test_persons_are_held_out_by_name():
    names = [f"player {number}" for number in range(2000)]
    games = [
        GoGame(np.empty(0, np.int16), black=name, white="player 0", server=server)
        for server in ("KGS", "Tygem")
        for name in names
    ]
    games.append(GoGame(np.empty(0, np.int16)))
    parts = make_go_arrays(games).parts
    for part in (CHOOSE, TEST):
        assert 20 < (parts[:2000, 0] == part).sum() < 60
    assert (parts[:2000, 0] != parts[2000:4000, 0]).any()  # a name is one person on a server only
    assert len(set(parts[:2000, 1].tolist())) == 1
    assert parts[-1].tolist() == [LEARN, LEARN]


def test_games_that_are_recorded_twice():
    rng = np.random.default_rng(0)
    moves = rng.permutation(361)[:80].astype(np.int16)
    turned = symmetries(19)[3].argsort()[moves].astype(np.int16)
    swapped = moves.copy()
    swapped[[0, 2]] = swapped[[2, 0]]  # the same corners, in another order
    other = moves.copy()
    other[30] = 361
    short = moves[:30]
    records = [moves, turned, swapped, other, short, short, moves[:0], moves[:0]]
    table = make_go_arrays([GoGame(np.asarray(record)) for record in records])
    assert games_among(table, np.array([0])).tolist() == [True] * 3 + [False] * 5
    assert games_among(table, np.array([4])).tolist() == [False] * 4 + [True] * 2 + [False] * 2
    assert not games_among(table, np.array([], np.int64)).any()


def test_the_table_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "games.sgf"
    path.write_bytes(sgf(1))
    report = ReadReport()
    assert go_arrays(path, report).actions.tolist() == [1]
    again = ReadReport()
    assert go_arrays(path, again).actions.tolist() == [1]
    assert (report.games, again.games) == (1, 0)
    path.write_bytes(sgf(2) + sgf(3))
    assert go_arrays(path).actions.tolist() == [2, 3]
    [kept] = arrays_folder().iterdir()
    for content in (b"", b"PK", kept.read_bytes()[:-200], os.urandom(500)):
        kept.write_bytes(content)
        assert go_arrays(path).actions.tolist() == [2, 3]
    (tmp_path / "more.sgf").write_bytes(sgf(4))
    assert go_arrays(tmp_path).actions.tolist() == [2, 3, 4]
    monkeypatch.setenv("KEDGE_HOME", str(path / "no folder"))
    assert go_arrays(path).actions.tolist() == [2, 3]
    with pytest.raises(InputError, match="No such file"):
        go_arrays(tmp_path / "nowhere")


# --- Real games ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def professionals(shared) -> Path:
    return shared("data/go/cwi_pro_games.tsv.xz")


def test_the_paper_s_sets(professionals):
    report = ReadReport()
    games = list(read_go_games(professionals, report))
    assert (report.games, report.broken_games) == (65_117, 0)
    # 42,877 even games of people from 1900 to 2014, less five in which a side moves twice in a row
    # or White begins.
    assert Counter(map(split_of, games)) == {
        "train": 42_872,
        "test": 2_401,
        "modern": 14_565,
        "modern-test": 745,
        None: 4_534,
    }
    assert sum(game.black_return is None for game in games) < 350
    for game in games[::400]:
        [again] = read_go_games(io.BytesIO(write_sgf(game).encode()))
        assert again == game or again.ai != game.ai


def test_dates_of_real_games(professionals):
    with lzma.open(professionals, "rt", encoding="utf-8") as file:
        header = next(file).split("\t")
        date, raw = header.index("date"), header.index("date_raw")
        for line in file:
            cells = line.split("\t", 4)
            assert (date_of(cells[raw]) or "") == cells[date]
