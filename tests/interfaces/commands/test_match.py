"""``kedge match`` as a user meets it."""

import signal
import subprocess
import time
from pathlib import Path

import chess.pgn
import command
import pytest
from command import KEDGE, kedge

from kedge.records import read_go_games

QUICK = ["--max-plies", "16", "--chunk", "2"]


def match(*arguments, game="chess"):
    return kedge("match", game, *arguments)


def answer(*arguments, game="chess"):
    return command.answer("match", game, *arguments)


def test_a_match(tmp_path):
    """Search wins against the model that it searches with, and the PGN tells how."""
    pgn = tmp_path / "games.pgn"
    found = answer("puct(chess, playouts=6)", "chess(elo=800)", "--games", 5, "--pgn", pgn)
    assert found["games"] == found["wins"] + found["draws"] + found["losses"] == 5
    assert found["score"] == (found["wins"] + found["draws"] / 2) / 5
    assert found["as_white"]["games"] == 3
    assert (found["a"], found["b"]) == ("puct(chess, playouts=6)", "chess(elo=800)")
    assert {"score_se", "elo", "elo_low", "elo_high", "mean_plies", "folder"} <= set(found)
    points, plies = 0.0, 0
    with pgn.open() as file:
        while game := chess.pgn.read_game(file):
            assert not game.errors
            white, black = (game.headers[name] for name in ("White", "Black"))
            assert {white, black} == {found["a"], found["b"]}
            outcome = game.end().board().outcome(claim_draw=True)
            if game.headers["Termination"] == "normal":
                assert outcome.result() == game.headers["Result"]
            first, second = ({"1": 1.0, "0": 0.0, "1/2": 0.5}[p]
                             for p in game.headers["Result"].split("-"))  # fmt: skip
            points += first if white == found["a"] else second
            plies += game.end().ply()
    assert points == 5 * found["score"]
    assert plies == 5 * found["mean_plies"]
    assert sum(found["terminations"].values()) == 5


@pytest.mark.parametrize("flag", ["--pgn", "--sgf"])
def test_a_match_replaces_no_other_games(flag, tmp_path, own_home, go_model):
    mine = tmp_path / "games"
    mine.write_text("my own games")
    game, agent = ("chess", "chess") if flag == "--pgn" else ("go", go_model)
    done = match(agent, agent, "--games", 2, flag, mine, game=game)
    assert done.returncode == 2
    assert done.stderr == (
        f"kedge: {mine}: exists, and its games are not from kedge; give another file name, "
        "or move it\n"
    )
    assert mine.read_text() == "my own games"
    assert not (own_home / "runs").exists()


@pytest.mark.parametrize("name", ["games.pgn", "games.pgn.xz"])
def test_a_finished_match_writes_its_games_again(name, tmp_path):
    arguments = ("uniform", "uniform", "-n", 2, "--max-plies", 4, "--pgn", tmp_path / name)
    answer(*arguments)
    before = (tmp_path / name).read_bytes()
    answer(*arguments)
    assert (tmp_path / name).read_bytes() == before


def test_a_match_of_go(go_model, tmp_path):
    sgf = tmp_path / "games.sgf.gz"
    search = f"puct({go_model}, playouts=3)"
    short = ["--games", 3, "--max-plies", 24, "--scorer", "playouts", "--komi", 5.5]
    found = answer(search, go_model, *short, "--sgf", sgf, game="go")
    assert found["games"] == found["wins"] + found["draws"] + found["losses"] == 3
    assert (found["game"], found["as_black"]["games"], found["sgf"]) == ("go", 2, str(sgf))
    games = list(read_go_games(sgf))
    assert [game.black == found["a"] for game in games] == [True, False, True]
    assert all((len(game), game.komi, game.rules) == (24, 5.5, "Japanese") for game in games)
    won = [(game.black_return > 0) == (game.black == found["a"]) for game in games]
    assert sum(won) == found["wins"]
    again = match(search, go_model, *short, game="go")
    assert "scorers: playouts 3" in again.stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--scorer", "gnu"], "unknown scorer 'gnu'; did you mean gnugo"),
        (["--scorer", "katago:a,b"], "/a: No such file"),
        (["--komi", "99"], "--komi"),
        (["--sgf", "nowhere/games.sgf"], "nowhere/games.sgf: cannot write"),
    ],
)
def test_bad_input_for_go(arguments, said, go_model, own_home):
    done = match(go_model, go_model, *arguments, game="go")
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (own_home / "runs").exists()


def test_the_table_is_for_people():
    done = match("chess", "chess", "-n", 2, "-t", 0.3, "--engine", "inline", *QUICK)
    assert done.returncode == 0
    first, *_, last = done.stdout.splitlines()
    assert first.startswith("chess – chess: +0 =2 −0, score 50.0 ± 0.0 %, Elo +0 (95 %: −")
    assert Path(last).is_dir()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_match_that_was_stopped_goes_on(tmp_path, how):
    long = ["chess", "chess", "--games", "24", "--max-plies", "40", "--chunk", "2", "--folder"]
    driver = subprocess.Popen(
        [KEDGE, "match", "chess", *long, str(tmp_path / "run")],
        stderr=subprocess.PIPE,
        text=True,
        # Python ignores Ctrl-C if its parent did, as those of a test suite in the background do.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    deadline = time.monotonic() + 30
    while len(before := list(tmp_path.glob("run/tasks/*.json"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    driver.send_signal(how)
    said = driver.communicate(timeout=20)[1]
    if how == signal.SIGINT:
        assert driver.returncode == 130
        # On a busy machine there may be lines on how far it is before.
        assert said.endswith("kedge: interrupted; what was finished is kept\n")
    kept = {path: path.stat().st_mtime_ns for path in before}
    assert len(list(tmp_path.glob("run/tasks/*.json"))) < 12
    resumed = answer(*long, tmp_path / "run")
    assert {path: path.stat().st_mtime_ns for path in before} == kept
    if how == signal.SIGINT:
        whole = answer(*long, tmp_path / "whole", "--engine", "inline")
        assert {**resumed, "folder": None} == {**whole, "folder": None}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chess", "chess", "--games", "0"], "--games"),
        (["chess", "chess", "--games", "1000000000"], "--games"),
        (["chess", "nobody"], "unknown agent 'nobody'"),
        (["chess", "zzz"], "unknown agent 'zzz'; agents of Chess: puct, uniform; "),
        (["chess", "zzz"], "; models: kedge models list"),
        (["chess", "go-larg"], "did you mean chess-large?"),
        (["chess", "chess", "--device", "tpu"], "device 'tpu': unknown; use cpu, openvino, cuda"),
        (["rm", "chess"], "agent rm: does not play chess"),
        (["chess", "chess(", "--games", "2"], "ends too early"),
        (["chess", "chess", "--pgn", "nowhere/games.pgn"], "nowhere/games.pgn: cannot write"),
        (["chess", "chess", "--pgn", "."], "cannot write (it is a folder)"),
        (["chess", "chess", "--chunk", "5"], "chunk: an even number"),
        (["chess", "chess", "--resign", "-1"], "resign: a value between 0 and 1"),
        (["chess", "chess", "--dtype", "bfloat16"], "--device cpu computes in float32 only"),
    ],
)
def test_bad_input_is_reported_before_play(arguments, said, own_home):
    done = match(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (own_home / "runs").exists()
