"""Predictions as an experiment: chunks, kills, and ratings as input of a model."""

import dataclasses
import json
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import tiny_go

from kedge import _core
from kedge.errors import InputError
from kedge.evaluation.board.players import predict_players
from kedge.evaluation.chess.ratings import players_of
from kedge.evaluation.prediction import predict
from kedge.experiments import run
from kedge.experiments.chess.predict import ChessPredict
from kedge.experiments.go.predict import GoPredict
from kedge.experiments.players import player_on
from kedge.games.go import GoState
from kedge.models.board.network import to_onnx
from kedge.records import ChessGame, chess_positions, maia_filter, read_chess_games, write_pgn
from kedge.records.chess.positions import boards_of
from kedge.records.go.games import GoGame
from kedge.records.go.sgf import write_sgf

PLIES = 20  # of which ten are predicted


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Twelve games, of which ten are rated: five strong players against five weak ones."""
    rng = np.random.default_rng(0)
    games = []
    for number in range(12):
        board, moves = _core.ChessBoard(), []
        for _ in range(PLIES):
            moves.append(int(rng.choice(board.legal_actions())))
            board.push(moves[-1])
        ratings = (1930, 1180) if number % 2 else (1180, 1930)
        games.append(
            ChessGame(
                np.array(moves, np.uint16),
                result="1-0",
                white_elo=ratings[0],
                black_elo=ratings[1],
                rated=number not in (3, 4),
                time_control="600+0",
            )
        )
    path = tmp_path_factory.mktemp("games") / "games.pgn"
    write_pgn(games, path)
    return path


def quick(file, **fields):
    return ChessPredict(**{"agent": "chess", "data": (str(file),), "chunk": 3, **fields})


def done(experiment, folder, **options):
    return run(experiment, folder=folder, progress=False, **options)


def test_a_process_makes_the_agent_once(file, tmp_path, monkeypatch):
    made = []

    def make(*arguments):
        made.append(arguments)
        return player_on(*arguments)

    monkeypatch.setattr("kedge.experiments.board.predict.player_on", make)
    monkeypatch.setattr("kedge.experiments.predict.player_on", make)
    experiment = quick(file)
    done(experiment, tmp_path / "one", engine="inline")
    assert len(made) == 1
    assert "player" not in vars(pickle.loads(pickle.dumps(experiment)))
    done(experiment, tmp_path / "two", engine="inline")
    assert len(made) == 2, "the model may have changed"


def test_the_engine_does_not_matter(file, tmp_path):
    one = done(quick(file), tmp_path / "inline", engine="inline")
    two = done(quick(file), tmp_path / "local", workers=2)
    assert one.results == two.results
    assert list(one.results) == ["games 1-3", "games 4-6", "games 7-9", "games 10-10"]
    whole = predict(
        list(chess_positions(read_chess_games(file), maia_filter())),
        quick(file).player,
        boards_of,
    ).to_json()
    data = one.report().data
    assert (data["games"], data["positions"], data["top1"]) == (10, 100, whole["top1"])
    assert data["cross_entropy"] == pytest.approx(whole["cross_entropy"], abs=1e-6)
    assert data["groups"].keys() == whole["groups"].keys()


def test_the_limit_counts_positions(file, tmp_path):
    cut = quick(file, limit=47)
    assert [task.key for task in cut.tasks()] == ["games 1-3", "games 4-5"]
    data = done(cut, tmp_path / "cut", engine="inline").report().data
    assert (data["games"], data["positions"]) == (5, 47)


def test_what_was_left_out_is_reported(file, tmp_path):
    broken = tmp_path / "broken.pgn"
    broken.write_bytes(file.read_bytes() + b'[Event "Rated game"]\n\n1. e4 e4 1-0\n')
    report = done(quick(broken), tmp_path / "run", engine="inline").report()
    read = report.data["read"]
    assert (read["games"], read["broken"], read["left_out"]) == (12, 1, {"not rated": 2})
    assert report.notes[0].startswith("12 games read, 2 not rated, 1 invalid (")
    assert "broken.pgn, line" in report.notes[0]
    assert report.notes[1].startswith("few games: ")
    everybody = quick(broken, unrated=True)
    assert len(everybody.tasks()) == 4
    assert done(everybody, tmp_path / "all", engine="inline").report().data["games"] == 12


def test_an_error_names_the_filters_that_leave_nothing(file, tmp_path):
    casual = tmp_path / "casual.pgn"
    games = [dataclasses.replace(game, rated=None) for game in read_chess_games(file)]
    short = [dataclasses.replace(games[0], moves=games[0].moves[:5], rated=True)]
    write_pgn(games + short, casual)
    with pytest.raises(InputError) as error:
        quick(casual).tasks()
    assert str(error.value).startswith(
        f"{casual}: no position left: 13 games read, 12 not rated, 1 too short; --unrated keeps"
    )


def test_the_first_tasks_on_a_cpu_are_short(file, tmp_path):
    keys = [task.key for task in quick(file, chunk=None).tasks()]
    assert keys == ["games 1-1", "games 2-2", "games 3-4", "games 5-8", "games 9-10"]
    assert len(quick(file, chunk=None, device="cuda").tasks()) == 1
    assert quick(file, chunk=None)._bounds(1000)[6:9] == [32, 64, 96]
    assert quick(file, chunk=None)._bounds(1000)[-2:] == [992, 1000]


def test_the_digest_of_a_run(file, tmp_path, monkeypatch):
    assert quick(file).digest == quick(file, agent=" chess ").digest
    assert quick(file).digest != quick(file, told_ratings=True).digest
    monkeypatch.chdir(file.parent)
    assert quick("games.pgn").digest == quick(file).digest
    copy = tmp_path / "games.pgn"
    copy.write_bytes(file.read_bytes())
    before = quick(copy).digest
    assert before == quick(file).digest, "a copy, wherever it is, is the same"
    copy.write_bytes(file.read_bytes() * 2)
    assert quick(copy).digest != before
    assert len(quick(copy).tasks()) == 7


def test_a_killed_run_goes_on(file, tmp_path):
    agent = "puct(chess, playouts=8)"
    command = [sys.executable, "-m", "kedge", "predict", "chess", str(file), "--agent", agent]
    command += ["--chunk", "1", "--workers", "2", "--json", "--folder", str(tmp_path / "killed")]
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    tasks = tmp_path / "killed" / "tasks"
    while not list(tasks.glob("*.json")):
        assert started.poll() is None
        time.sleep(0.01)
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    kept = {path: path.stat().st_mtime_ns for path in tasks.glob("*.json")}
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert len(list(tasks.glob("*.json"))) == 10
    sessions = json.loads((tmp_path / "killed" / "experiment.json").read_text())["sessions"]
    assert [session["missing"] for session in sessions] == [10, 10 - len(kept)]
    undisturbed = done(quick(file, agent=agent, chunk=1), tmp_path / "whole", engine="inline")
    data = {**undisturbed.report().data, "folder": str(tmp_path / "killed")}
    assert json.loads(again.stdout) == json.loads(json.dumps(data))


def test_each_position_has_its_players_ratings(file):
    asked = []
    rated = quick(file, told_ratings=True)

    def player(players):
        asked.append((players["elo"], players["opponent"]))
        return rated.player_with(players)

    chosen = list(chess_positions(read_chess_games(file), maia_filter()))
    data = predict_players(chosen, player, players_of, boards_of)
    assert sorted(asked) == [(1200, 1900), (1900, 1200)]
    assert len(data.games) == 10
    total = 0.0
    for rating in (1930, 1180):
        alike = [position for position in chosen if position.rating == rating]
        agent = rated.player_with(players_of(alike[0].game)[alike[0].ply])
        total += predict(alike, agent, boards_of).to_json()["top1"]
    assert data.to_json()["top1"] == pytest.approx(total / 2)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"limit": 0}, "limit: at least 1"),
        ({"chunk": 0}, "chunk: at least 1"),
        ({"agent": "chess("}, "ends too early"),
        ({"agent": "maia-1900", "told_ratings": True}, "takes no players as input"),
    ],
)
def test_bad_fields(file, fields, said):
    with pytest.raises(InputError, match=said):
        quick(file, **fields)


def test_bad_data(file):
    with pytest.raises(InputError, match="no position left"):
        quick(file, bucket=2800).tasks()
    with pytest.raises(InputError, match="No such file"):
        _ = dataclasses.replace(quick(file), data=("nowhere.pgn",)).digest


def test_go(tmp_path):
    games = []
    for seed in range(3):
        state, rng = GoState(superko="simple"), np.random.default_rng(seed)
        for _ in range(12 + seed):
            state.apply_action(int(rng.choice(state.legal_actions()[:-1])))
        games.append(GoGame(np.array(state.history, np.int16), komi=6.5, date="2015-01-01"))
    games.append(GoGame(games[0].moves, komi=6.5, date="2001-01-01"))
    file, model = tmp_path / "games.sgf", tmp_path / "go.onnx"
    file.write_text("".join(write_sgf(game) for game in games))
    model.write_bytes(to_onnx(tiny_go.weights()).SerializeToString())
    fields = {"agent": f'"{model}"', "data": (str(file),)}
    done = run(GoPredict(**fields), engine="inline", folder=tmp_path / "run")
    data = done.report().data
    assert (data["games"], data["positions"]) == (3, 12 + 13 + 14)
    assert data["read"]["left_out"] == {"not in the test set (2015-2016)": 1}
    assert data["groups"]["year"]["2015"]["positions"] == 39
    assert data["groups"]["phase"]["moves 1-50"]["positions"] == 39
    everything = GoPredict(**fields, split="all", limit=20)
    assert (
        run(everything, engine="inline", folder=tmp_path / "all").report().data["positions"] == 20
    )
    file.write_text("(;AB[ab][ba]AW[aa];B[pd])(;KM[9999];B[aa])" + file.read_text())
    read = run(everything, engine="inline", folder=tmp_path / "more").report().data["read"]
    assert read["left_out"] == {"illegal": 2}
    with pytest.raises(InputError, match=r"2017.*--split all keeps every game"):
        GoPredict(**fields, split="modern").tasks()
    with pytest.raises(InputError, match="does not play go"):
        GoPredict(**{**fields, "agent": "chess"}).check()
    with pytest.raises(InputError, match="split"):
        GoPredict(**fields, split="old")


@pytest.mark.parametrize("agent", ["uniform", "puct(uniform)"])
def test_agents_without_a_model_are_refused_before_the_data_is_read(file, agent):
    with pytest.raises(InputError, match="only models and searches over models predict"):
        quick(file, agent=agent).check()
