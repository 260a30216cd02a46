"""Fitting people's times: a known model is found again from games that were made by it."""

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from kedge.agents.board.networks import network
from kedge.agents.chess.move_times import (
    FEATURES,
    PEOPLE,
    MoveTimes,
    features,
    just_taken,
)
from kedge.errors import InputError
from kedge.games.chess import START_FEN, ChessState
from kedge.models.chess.encoding import encode_chess
from kedge.records import ChessGame, read_chess_games
from kedge.records.chess.filters import has_clocks, is_for_testing
from kedge.regularize import entropy
from kedge.training.chess.move_times import TimedMoves, fit, fit_share, score, timed_moves

KEDGE = str(Path(sys.executable).with_name("kedge"))


def games(count, moves="e2e4 d7d5 e4d5 d8d5 b1c3 d5a5", clocks=(60, 60, 58, 59, 57.5, 50)):
    played = np.array(ChessState.from_fen(START_FEN, moves.split()).history, np.uint16)
    return [
        ChessGame(
            played,
            time_control="60+1",
            time_class="bullet",
            clocks=np.array(clocks, np.float32),
            white=f"player {number}",
            black="always me",
        )
        for number in range(count)
    ]


def test_moves_and_their_times():
    found = timed_moves(games(100), network("chess"), games_a_player=3)
    assert len(found) == 100 * 2 + 3 * 2
    assert found.players == 101
    assert found.features.shape == (len(found), len(FEATURES))
    assert 0 < found.held_out.mean() < 0.3
    np.testing.assert_allclose(found.seconds[:4], [3.0, 1.5, 2.0, 10.0])
    columns = dict(zip(FEATURES, found.features[:4].T, strict=True))
    np.testing.assert_allclose(columns["share"], np.log([2.5, 58 / 40 + 1, 2.5, 59 / 40 + 1]))
    np.testing.assert_allclose(columns["longest"], np.log(60))
    np.testing.assert_allclose(columns["opening"], [0.1, 0.2, 0.15, 0.25])
    np.testing.assert_array_equal(columns["taken"], [0, 1, 1, 0])
    assert (columns["entropy"] > 0.1).all()


def test_impossible_clocks_are_left_out():
    clocks = (60, 60, 58, 62, np.nan, 70)
    found = timed_moves(games(100, clocks=clocks), network("chess"))
    assert set(found.seconds.tolist()) == {3.0}
    with pytest.raises(InputError, match="clocks"):
        timed_moves([], network("chess"))


def test_a_known_model_is_found_again():
    rng = np.random.default_rng(0)
    count = 20_000
    x = features(
        remaining=rng.uniform(5, 600, count),
        longest=rng.choice([180, 300, 600], count),
        increment=rng.choice([0, 2, 5], count),
        ply=rng.integers(2, 100, count),
        entropy=rng.uniform(0, 2, count),
        taken=rng.random(count) < 0.2,
    )
    true = MoveTimes((0.5, 0.4, 0.2, 1.0, -0.5, 0.5, -0.3), 0.6)
    seconds = np.exp(true.log_seconds(x) + 0.6 * rng.standard_normal(count))
    moves = TimedMoves(x, seconds, np.full(count, "blitz"), rng.random(count) < 0.2, 9)
    found = fit(moves)
    np.testing.assert_allclose(found.weights, true.weights, atol=0.1)
    assert found.spread == pytest.approx(0.6, abs=0.02)
    best, worse = score(found, moves), score(fit_share(moves), moves)
    assert best["log_likelihood"] > worse["log_likelihood"] + 0.1
    assert best["log_error"] == pytest.approx(0.6 * np.sqrt(2 / np.pi), rel=0.05)
    assert best["medians"]["blitz"]["model"] == pytest.approx(
        best["medians"]["blitz"]["people"], rel=0.1
    )


def test_what_the_mover_sees():
    assert entropy(np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])) == pytest.approx([np.log(2), 0])
    taken = ChessState.from_fen(START_FEN, ["e2e4", "d7d5", "e4d5"])
    planes, _ = encode_chess([ChessState(), taken, ChessState.from_fen(taken.fen())])
    assert just_taken(planes).tolist() == [False, True, False]


def test_the_shipped_numbers_tell_more_than_the_clock(shared):
    path = shared("data/chess/lichess_games.jsonl.xz")
    clocked = (game for game in read_chess_games(path) if has_clocks(game) and is_for_testing(game))
    moves = timed_moves(islice(clocked, 20), network("chess"))
    fitted, share = score(PEOPLE, moves), score(fit_share(moves), moves)
    assert fitted["log_likelihood"] > share["log_likelihood"] + 0.1


def test_the_command(tmp_path):
    lines = [
        json.dumps(
            {
                "moves": "e2e4 d7d5 e4d5 d8d5 b1c3 d5a5",
                "time_control": "60+1",
                "clocks": [60, 60, 58, 59, 57, 50 - number % 7],
                "white": f"player {number}",
                "black": f"other {number}",
            }
        )
        for number in range(60)
    ]
    (tmp_path / "games.jsonl").write_text("\n".join(lines))
    command = [KEDGE, "train", "move-times", str(tmp_path / "games.jsonl")]
    found = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True).stdout)
    assert found["moves"] == 240
    assert set(found["weights"]) == set(FEATURES)
    assert {"fitted", "share"} <= set(found["held_out"])
    shown = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    assert "log-likelihood" in shown
    assert "bullet: median" in shown
