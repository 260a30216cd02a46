"""Evaluations in chess records: PGN comments, JSON lines, damage, and real games."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from damage import damaged
from hypothesis import given, settings
from hypothesis import strategies as st
from pgn_samples import check_beside_python_chess, game, line, only, read, shuffle

from kedge.records import ReadReport, read_chess_games, write_pgn
from kedge.records.chess.evals import MATE
from kedge.records.chess.files import pgn_texts

NEITHER = 'neither centipawns nor a mate such as "#-3"'


@pytest.mark.parametrize(
    ("comment", "centipawns"),
    [
        ("[%eval 0.24]", 24),
        ("[%eval -1.5]", -150),
        ("[%eval +3]", 300),
        ("[%eval .07]", 7),
        ("[%eval 0.24,18]", 24),
        ("x [%clk 0:01:00] [%eval -0.00][%emt 0:00:01]", 0),
        ("[%eval 0.24] [%eval 0.5]", 50),
        ("[%eval 999999999999.99]", 30_000),
        ("[%eval -301.0]", -30_000),
        ("[%eval #3]", MATE - 3),
        ("[%eval #-3]", 3 - MATE),
        ("[%eval #99999999999]", MATE - 1000),
        ("[%eval #-1234]", 1000 - MATE),
        ("[%eval #0]", None),
        ("[%eval 0.24", None),
        ("[%eval ]", None),
        ("[%eval .]", None),
        ("[%eval #]", None),
        ("[%eval #1.5]", None),
        ("[%eval 1e9]", None),
        ("[%eval --1]", None),
        ("[%eval nan]", None),
        ("[%eval", None),
    ],
)
def test_evals(comment, centipawns):
    found = only(game(f"1. e4 {{ {comment} }} (1. d4 {{ [%eval 9.0] }}) 1... e5 1-0"))
    if centipawns is None:
        assert found.evals is None
    else:
        assert found.evals.dtype == np.float32
        np.testing.assert_array_equal(found.evals, np.float32([centipawns, np.nan]))


def test_evals_are_written(tmp_path):
    evals = np.float32([24, -5, 0, np.nan, -30_000, 30_000, MATE - 1, 1000 - MATE])
    clocks = np.float32([60, np.nan] * 4)
    written = shuffle(8, evals=evals, clocks=clocks)
    path = tmp_path / "games.pgn"
    write_pgn([written, shuffle(4)], path)
    text = path.read_text()
    assert "{ [%eval 0.24] [%clk 0:01:00] } 1... Nf6 { [%eval -0.05] } 2." in text
    assert "{ [%eval #1] [%clk 0:01:00] }" in text
    again, without = read_chess_games(path)
    np.testing.assert_array_equal(again.evals, evals)
    np.testing.assert_array_equal(again.clocks, clocks)
    assert without.evals is None


@pytest.mark.parametrize(
    ("evals", "expected"),
    [
        ([24, -7], [24, -7]),
        ([24.5, None], [24.5, np.nan]),
        (["#3", "#-12"], [MATE - 3, 12 - MATE]),
        (["#+1", "#0"], [MATE - 1, np.nan]),
        ([10**400, -31_999], [30_000, -30_000]),
        ([1e300, "#999999999"], [30_000, MATE - 1000]),
        ([5], [5, np.nan]),
    ],
)
def test_evals_of_json_lines(evals, expected):
    np.testing.assert_array_equal(only(line(evals=evals)).evals, np.float32(expected))
    assert only(line(evals=[None, None])).evals is None
    assert only(line(evals=[])).evals is None
    assert only(line(moves="", evals=[])).evals is None


def test_evals_belong_to_the_position_after_a_move():
    found = only(line(evals=[24, "#1"]))
    np.testing.assert_array_equal(found.evals_before(), np.float32([np.nan, 24]))
    assert np.isnan(only(line()).evals_before()).all()
    assert len(only(line(moves="")).evals_before()) == 0
    assert found != only(line()) != only(line(evals=[24, 25]))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *(
            (line(evals=evals), '"evals" is not a list with at most one evaluation per half-move')
            for evals in ("x", 7, {"0": 1}, [1, 2, 3])
        ),
        *(
            (line(evals=[1, value]), f'"evals" has {value!r}: {NEITHER}')
            for value in ("0.24", "#", "#x", "#1.5", "#-", "#٣", "", True, [], np.nan, np.inf)
        ),
        (line(evals=["é" * 99]), f'"evals" has \'{"é" * 19}: {NEITHER}'),
    ],
)
def test_broken_evals(text, reason):
    games, report = read(line() + text + line())
    assert len(games) == 2
    assert [(one.number, one.reason) for one in report.broken] == [(2, reason)]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_evals_never_crash(data):
    raw = damaged(data, line(evals=[24, "#-3"]).encode())
    for found in read(line().encode() + raw + b"\n")[0]:
        assert found.evals is None or len(found.evals) == len(found)
        assert found.evals is None or (np.abs(found.evals[~np.isnan(found.evals)]) < MATE).all()


@settings(max_examples=200, deadline=None)
@given(st.text("[]%eval #-+0123456789.,", max_size=30))
def test_any_eval_is_bounded(text):
    games, _ = read(game(f"1. e4 {{ [%eval {text} }} e5 1-0"))
    for found in games:
        assert found.evals is None or abs(found.evals[0]) < MATE


def test_real_evals_through_pgn(shared, tmp_path):
    path, report = shared("data/chess/lichess_rapid_evals_1.jsonl.xz"), ReadReport()
    games = list(itertools.islice(read_chess_games(path, report), 2000))
    assert report.broken == []
    assert all(found.evals is not None for found in games)
    write_pgn(games, tmp_path / "games.pgn")
    for ours, again in zip(games, read_chess_games(tmp_path / "games.pgn"), strict=True):
        assert ours == replace(again, scale=ours.scale)  # of JSON's "site"
    for ours, text in zip(games[::40], pgn_texts(games[::40]), strict=True):
        check_beside_python_chess(ours, text)
