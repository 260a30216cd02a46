"""The command line as a user meets it: its output and its exit code."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import typer
from command import KEDGE, answer, kedge

from kedge import catalogue
from kedge.errors import InputError
from kedge.games.go.ranks import SERVERS
from kedge.interfaces import cli
from kedge.interfaces.cli import app
from kedge.interfaces.commands.groups import LazyCommand
from kedge.interfaces.inputs import fields_of
from kedge.models import shipped_models
from kedge.paper import EXPERIMENTS, experiment_class


def test_version():
    """Run kedge in its own process, as a user does."""
    done = subprocess.run([KEDGE, "--version"], capture_output=True, check=True, text=True)
    assert done.stdout == kedge("--version").stdout
    assert done.stdout.startswith("kedge 0.")


@pytest.mark.parametrize("command", [(), ("solve",), ("paper",), ("experiments",)])
def test_help_teaches(command):
    done = kedge(*command, "--help")
    assert done.returncode == 0
    assert "Usage: kedge" in done.stdout
    if command in (("solve",), ("paper",)):
        assert "Examples" in done.stdout


def test_help_lists_commands_by_use():
    found = re.findall(r"^│ (\w+) ", kedge("--help").stdout, re.MULTILINE)
    assert found[:5] == ["play", "policy", "analyze", "uci", "gtp"]
    assert found[-3:] == ["solve", "paper", "experiments"]


def test_help_is_quick():
    kedge("--help")  # byte code is written the first time
    start = time.perf_counter()
    kedge("--help")
    assert time.perf_counter() - start < 1.5  # 0.3 s when nothing else runs


def test_solve_json():
    found = answer("solve", "blotto(coins=10,fields=3)", "--iterations", 2000, "--lambda", 0.1)
    assert set(found) >= {
        "policies", "exploitability", "kl_to_anchor", "residual", "iterations", "seconds"
    }  # fmt: skip
    assert np.shape(found["policies"]) == (2, 66)
    assert np.sum(found["policies"], axis=1) == pytest.approx([1.0, 1.0])
    assert found["exploitability"] == pytest.approx(0.0529, abs=0.005)
    assert found["residual"] < 0.01
    assert found["iterations"] == 2000


def test_solve_is_quick():
    """1.5 s from the shell for 100,000 iterations; here with room for a busy machine."""
    start = time.perf_counter()
    answer("solve", "blotto(coins=10,fields=3)", "--iterations", 100_000)
    assert time.perf_counter() - start < 3.0


@pytest.mark.parametrize("algorithm", ["pikl-hedge", "mmd", "qre"])
def test_algorithms_agree(algorithm, tmp_path):
    (tmp_path / "people.json").write_text("[[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]")
    options = ["--lambda", "0.5,2", "--anchor", "people.json"]
    options += [] if algorithm == "qre" else ["--iterations", 20_000]
    found = answer("solve", "rock-paper-scissors", "--algorithm", algorithm, *options, cwd=tmp_path)
    payoffs = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    first, second = np.array([0.7, 0.2, 0.1]), np.array([0.1, 0.3, 0.6])
    for _ in range(1000):  # damped iteration of π ∝ τ·exp(u/λ)
        answers = [0.7, 0.2, 0.1] * np.exp(payoffs @ second / 0.5)
        replies = [0.1, 0.3, 0.6] * np.exp(-payoffs.T @ first / 2.0)
        first = 0.7 * first + 0.3 * answers / answers.sum()
        second = 0.7 * second + 0.3 * replies / replies.sum()
    assert found["policies"][0] == pytest.approx(first, abs=1e-3)
    assert found["policies"][1] == pytest.approx(second, abs=1e-3)
    assert found["residual"] < 1e-3


def test_linear_weighting_helps_players_who_chase_each_other(tmp_path):
    (tmp_path / "people.json").write_text("[[0.6, 0.4], [0.3, 0.7], [0.8, 0.2]]")
    options = ["solve", "matching-pennies(players=3)", "--lambda", "0.5,1,0.7",
               "--anchor", "people.json", "-n", 20_000]  # fmt: skip
    plain, linear = (
        answer(*options, "--weighting", weighting, cwd=tmp_path)["residual"]
        for weighting in ("uniform", "linear")
    )
    assert linear < plain / 3


@pytest.mark.parametrize("algorithm", ["hedge", "rm", "rm+"])
def test_no_residual_without_lambda(algorithm):
    found = answer("solve", "matching-pennies", "-a", algorithm, "-n", 100)
    assert found["residual"] is None
    assert found["exploitability"] == pytest.approx(0.0, abs=1e-9)


def test_dil_pikl_takes_types():
    found = answer(
        "solve", "rock-paper-scissors", "-a", "dil-pikl", "--lambda-types", "0.1,1", "-n", 20_000
    )
    assert found["residual"] < 1e-3


def test_sampling_repeats_by_seed():
    options = ["solve", "rock-paper-scissors", "--feedback", "sampled", "-n", 50, "--seed"]
    one, same, other = (answer(*options, seed)["policies"] for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_infinite_kl_is_still_json(tmp_path):
    (tmp_path / "people.json").write_text("[[1, 0, 0], [0.5, 0.25, 0.25]]")
    found = answer(
        "solve", "rock-paper-scissors", "-a", "rm", "--anchor", "people.json", cwd=tmp_path
    )
    assert found["kl_to_anchor"][0] == "Infinity"


def test_solve_for_people():
    done = kedge("solve", "blotto(coins=10,fields=3)", "--iterations", 100)
    assert done.returncode == 0
    assert "exploitability" in done.stdout
    assert "and 56 more actions" in done.stdout


def test_names_from_files_are_not_markup(tmp_path):
    content = {"payoffs": [[[1]], [[2]]], "name": "[/x]", "players": ["[/]B", "\x1b[31mC"]}
    (tmp_path / "game.json").write_text(json.dumps(content))
    done = kedge("solve", "game.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[/]B" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [KEDGE, "solve", "matching-pennies", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr == "kedge: cannot write: No space left on device\n"


@pytest.mark.parametrize("command", ["models list", "uci", "solve matching-pennies", "--help"])
def test_a_closed_output_is_one_line(command):
    done = subprocess.run(
        f"'{KEDGE}' {command} >&-",
        shell=True,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == "kedge: cannot write: the output is closed\n"


def test_a_reader_that_left_hears_nothing():
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run([KEDGE, "paper"], stdout=theirs, stderr=subprocess.PIPE, text=True)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (1, "")


def test_one_action_each(tmp_path):
    (tmp_path / "game.json").write_text('{"payoffs": [[[1]], [[2]]]}')
    for algorithm in ("pikl-hedge", "hedge", "rm", "rm+", "mmd", "dil-pikl"):
        assert answer("solve", "game.json", "-a", algorithm, cwd=tmp_path)["policies"] == [[1], [1]]
    assert answer("solve", "game.json", "--lambda", 0, cwd=tmp_path)["policies"] == [[1], [1]]


def test_solve_reads_gambit_files(tmp_path):
    (tmp_path / "dilemma.nfg").write_text(
        'NFG 1 R "dilemma" { "A" "B" } { 2 2 }\n3 3 5 0 0 5 1 1\n'
    )
    found = answer("solve", "dilemma.nfg", "-a", "rm", "-n", 1000, cwd=tmp_path)
    assert found["policies"][0][1] > 0.99


BAD = {
    "unknown game": (["chekers"], "unknown game 'chekers'"),
    "near game": (["bloto"], "did you mean blotto"),
    "bad spec": (["blotto(coins="], "ends too early"),
    "unknown option of a game": (["blotto(wings=3)"], "wings"),
    "no file": (["none.nfg"], "No such file"),
    "truncated nfg": (["short.nfg"], "short.nfg, line 1: the file ends after 3 of 8"),
    "inf payoff": (["inf.json"], "player 1 has a payoff that is not a finite"),
    "not json": (["broken.json"], "broken.json: not JSON"),
    "wrong shape": (["flat.json"], "shape"),
    "lambda < 0": (["matching-pennies", "--lambda", "-1"], "--lambda: must be at least 0"),
    "lambda nan": (["matching-pennies", "--lambda", "nan"], "--lambda: must be at least 0"),
    "lambda word": (["matching-pennies", "--lambda", "much"], "--lambda: 'much' is not a number"),
    "too many lambdas": (["matching-pennies", "--lambda", "1,2,3"], "3 values for 2 players"),
    "lambda of rm": (["matching-pennies", "-a", "rm", "--lambda", "1"], "rm has no such option"),
    "qre at 0": (["matching-pennies", "-a", "qre", "--lambda", "0"], "qre needs lambda > 0"),
    "iterations of qre": (["matching-pennies", "-a", "qre", "-n", "5"], "qre has no such option"),
    "other file": (["game.efg"], "game.efg: not a game file"),
    "one eta too many": (["matching-pennies", "--eta", "1,2,3"], "eta: 3 values for 2 players"),
    "no game": ([], "game"),
    "iterations as a fraction": (["matching-pennies", "-n", "1e5"], "-n"),
    "huge payoffs": (["scale.json"], "a payoff is too large"),
    "huge spec": (["random(1000000000)"], "too many|more than"),
    "huge blotto": (["blotto(coins=1000000, fields=500000)"], "at most 10000 coins"),
    "mmd at 0": (["matching-pennies", "-a", "mmd", "--lambda", "0"], "no safe step size"),
    "eta 0": (["matching-pennies", "--eta", "0"], "eta: must be a positive number"),
    "eta word": (["matching-pennies", "--eta", "fast"], "--eta: 'fast' is not a number"),
    "anchor sum": (["matching-pennies", "--anchor", "sum.json"], "player 1: sums to 1.1"),
    "anchor negative": (["matching-pennies", "--anchor", "negative.json"], "negative probability"),
    "anchor nan": (["matching-pennies", "--anchor", "nan.json"], "not a finite number"),
    "anchor shape": (["matching-pennies", "--anchor", "short.json"], "has 2 actions"),
    "anchor words": (["matching-pennies", "--anchor", "words.json"], "not an array of numbers"),
    "anchor no list": (["matching-pennies", "--anchor", "flat.json"], "one policy"),
    "anchor missing": (["matching-pennies", "--anchor", "none.json"], "No such file"),
    "openspiel": (["openspiel:kuhn_pokr"], "openspiel"),
    "unknown algorithm": (["matching-pennies", "-a", "cfr"], "--algorithm"),
    "no iterations": (["matching-pennies", "-n", "0"], "--iterations"),
}


@pytest.fixture(scope="module")
def wrong_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    for name, content in {
        "short.nfg": 'NFG 1 R "t" { "a" "b" } { 2 2 } 1 2 3',
        "inf.json": '{"payoffs": [[[1, 2]], [[1, Infinity]]]}',
        "broken.json": '{"payoffs": ',
        "scale.json": '{"payoffs": [[[1e308, 0]], [[0, 0]]]}',
        "flat.json": '{"payoffs": [[1, 2], [3, 4]]}',
        "sum.json": "[[0.5, 0.5], [0.5, 0.6]]",
        "negative.json": "[[0.5, 0.5], [1.5, -0.5]]",
        "nan.json": "[[0.5, 0.5], [0.5, NaN]]",
        "short.json": "[[0.5, 0.5], [1.0]]",
        "words.json": '[[0.5, 0.5], ["a", "b"]]',
    }.items():
        (folder / name).write_text(content)
    return folder


@pytest.mark.parametrize(("arguments", "said"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_line_and_exit_2(arguments, said, wrong_files):
    done = kedge("solve", *arguments, cwd=wrong_files)
    assert done.returncode == 2, done.stderr
    assert re.search(said if "|" in said else re.escape(said), " ".join(done.stderr.split()))
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


SMALL = ["--set", "coins=4", "--set", "lambdas=0.1,1", "--set", "iterations=500", "--set",
         "repeats=2", "--no-open"]  # fmt: skip


def test_paper_makes_files_and_experiments_finds_them(own_home):
    done = kedge("paper", "blotto", *SMALL)
    assert done.returncode == 0, done.stderr
    assert "piKL-Hedge" in done.stdout
    runs = answer("experiments", "list")["runs"]
    assert [run["name"] for run in runs] == ["blotto"]
    folder = Path(runs[0]["folder"])
    assert own_home in folder.parents
    before = {path.name: path.read_bytes() for path in (folder / "report").iterdir()}
    assert set(before) >= {"report.txt", "report.csv", "report.tex", "report.json", "figure.svg"}

    again = answer("paper", "blotto", *SMALL)
    assert again["rows"][-1]["lambda"] == 1.0
    assert before == {path.name: path.read_bytes() for path in (folder / "report").iterdir()}

    shown = answer("experiments", "show", "blotto")
    assert shown["config"]["coins"] == 4
    assert shown["done"] == shown["total"]
    assert "piKL-Hedge" in kedge("experiments", "show", "blotto").stdout
    assert "not a run; nearest: blotto-" in kedge("experiments", "show", "theory").stderr
    assert answer("experiments", "clean", "blotto")["removed"] == [str(folder)]
    assert answer("experiments", "list")["runs"] == []


def test_paper_lists_what_there_is():
    assert set(answer("paper")) == set(EXPERIMENTS) >= {"blotto", "chess-accuracy"}
    assert "--set iterations=100000" in kedge("paper").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bloto"], "did you mean blotto"),
        (["blotto", "--set", "coin=3"], "did you mean coins"),
        (["blotto", "--set", "coins"], "field=value"),
        (["blotto", "--set", "coins=many"], "'many' is not of type int"),
        (["blotto", "--set", "lambdas=1,x"], "is not of type float"),
        (["blotto", "--address", "auto"], "only the ray engine"),
        (["blotto", "--set", "lambdas="], "lambdas: none given"),
        (["blotto", "--set", "lambdas=0.1,,2"], "is not of type float"),
        (["blotto", "--set", "lambdas=0"], "lambdas: above 0 and finite, not 0"),
        (["blotto", "--set", "lambdas=nan"], "lambdas: above 0"),
        (["blotto", "--set", "lambdas=1,1"], "given twice"),
        (["blotto", "--set", "repeats=0"], "repeats: at least 1"),
        (["blotto", "--set", "fields=0"], "fields"),
        (["blotto", "--set", "coins=1000"], "too many"),
        (["theory", "--set", "games=0"], "games: at least 1"),
        (["chess-accuracy", "--data", "."], "file '.' is a directory"),
        (["theory", "--set", "delta=2"], "delta: must be between 0 and 1"),
        (["theory", "--set", "actions=1"], "actions: at least 2"),
    ],
)
def test_bad_paper(arguments, said):
    done = kedge("paper", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_folder_of_another_config_is_left_alone(tmp_path):
    folder = tmp_path / "run"
    assert kedge("paper", "blotto", *SMALL, "--folder", folder).returncode == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = kedge("paper", "blotto", *SMALL, "--set", "seed=1", "--folder", folder)
    assert done.returncode == 2
    assert "another experiment (seed is 0 there, 1 here)" in done.stderr
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "arguments", [["show", "nothing"], ["clean"], ["clean", "nothing"], ["show", "."]]
)
def test_bad_experiments(arguments, tmp_path):
    done = kedge("experiments", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def interrupt(*arguments, after=0.0, until=lambda: True):
    process = subprocess.Popen(
        [KEDGE, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # In a job started in the background Ctrl-C is ignored, and a child inherits that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    time.sleep(after)
    while not until() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    return process.returncode, stderr


def test_ctrl_c_ends_a_long_solve_with_130():
    code, stderr = interrupt("solve", "blotto(coins=10,fields=3)", "-n", 10**9, after=1.5)
    assert code == 130
    assert stderr == "kedge: interrupted\n", "nothing is kept"


def test_ctrl_c_keeps_finished_tasks(own_home):
    options = ["paper", "blotto", *SMALL, "--set", "iterations=3000000"]
    code, stderr = interrupt(*options, until=lambda: any(own_home.rglob("tasks/*.json")))
    assert code == 130
    assert stderr.endswith("kedge: interrupted; what was finished is kept\n")
    assert "Traceback" not in stderr
    run = answer("experiments", "list")["runs"][0]
    assert 0 < run["done"] < run["total"]


def test_one_game_has_no_standard_error(tmp_path):
    moves = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 4. d3 Bc5 5. c3 d6 6. O-O O-O 1-0"
    (tmp_path / "game.pgn").write_text(f'[Event "Rated blitz game"]\n\n{moves}\n')
    done = kedge("predict", "chess", "game.pgn", "--agent", "chess", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "nan" not in done.stdout


def test_settings_read_what_fields_take():
    kind = experiment_class("chess-accuracy")
    given = ["positions=1e4", "sources=", "dtype=bfloat16", "models=maia-1100,chess(elo=1, b=2),x"]
    assert fields_of(kind, "it", given) == {
        "positions": 10_000,
        "sources": (),
        "dtype": "bfloat16",
        "models": ("maia-1100", "chess(elo=1, b=2)", "x"),
    }
    assert fields_of(kind, "it", ["positions=none"]) == {"positions": None}
    with pytest.raises(InputError, match="is not one of float32, bfloat16"):
        fields_of(kind, "it", ["dtype=int8"])


def walked(command, context=None, name="kedge"):
    """Each command with the words that call it, groups apart."""
    if isinstance(command, LazyCommand):
        assert command.short_help
        command = command.loaded()
    context = command.make_context(name, [], parent=context, resilient_parsing=True)
    if not hasattr(command, "list_commands"):
        yield name, command
        return
    for child in command.list_commands(context):
        yield from walked(command.get_command(context, child), context, f"{name} {child}")


COMMANDS = dict(walked(typer.main.get_command(app)))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_begins_with_a_command_and_options_say_what_they_are(name):
    text = COMMANDS[name].help
    line = text.partition("\n")[0]
    assert line.endswith((".", ":"))
    assert line.split()[0] not in {"A", "An", "The", "What", "How", "Which", "One"}, line
    for parameter in COMMANDS[name].params:
        assert parameter.help, f"{name} {parameter.name}"


def test_help_names_every_model_that_takes_players():
    for game, option in (("chess", "told_ratings"), ("go", "told_ranks")):
        models = {name for name in shipped_models.names() if name.partition("-")[0] == game}
        takers = {name for name in models if shipped_models.load(name).player_options}
        [text] = [p.help for p in COMMANDS[f"kedge predict {game}"].params if p.name == option]
        assert {*re.findall(r"`([a-z-]+)`", text)} == takers


def test_help_of_training_go_names_the_people_it_learns_from():
    text = COMMANDS["kedge train go"].help
    assert "professional games" not in text
    assert all(server.lower() in text.lower() for server in SERVERS)


def test_late_commands_have_the_same_first_line():
    """Commands that are imported late have theirs in the list of commands, too."""
    for name, line in cli._LAZY.items():
        assert COMMANDS[f"kedge {name}"].help.partition("\n")[0] == line


def test_a_command_of_another_kind_is_named():
    for words, said in {
        ("match", "diplomacy"): "Diplomacy has no match; use kedge tournament diplomacy",
        ("selfplay", "chess"): "Chess has no selfplay; use kedge match chess",
        ("predict", "blotto"): "Blotto has no experiment that predicts people; these games do:",
        ("policy", "ches"): "unknown game 'ches'; did you mean chess?",
    }.items():
        done = kedge(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr


@pytest.mark.parametrize("words", [(), ("predict",), ("match",), ("policy",), ("train",)])
def test_lists_of_commands_import_no_game(words):
    assert not imports("numpy", *words, "--help")


def test_a_policy_imports_no_experiment():
    assert not imports("kedge.experiments", "policy", "chess", "--agent", "uniform", "--json")


def imports(module, *words):
    """Return whether a command imports a module."""
    program = "import sys; from kedge.__main__ import main; sys.argv[1:] = {}; main()"
    check = f"import atexit, sys; atexit.register(lambda: print('{module}' in sys.modules));"
    done = subprocess.run(
        [sys.executable, "-c", check + program.format([*words])],
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout.endswith("True\n")


@pytest.fixture
def broken(monkeypatch):
    """A game of another package, whose page and records do not exist."""
    entry = catalogue.GameEntry(
        "nim", "Nim", game="tiny_games:NimGame", page="tiny_games:NoPage", records="no_records:NIM"
    )
    monkeypatch.setattr(catalogue, "_installed", lambda: ([entry], {}))

    def run(*words):
        monkeypatch.setattr(cli, "_shown", set())
        for command in ("replay", "analyze"):  # else an earlier run has made their help
            monkeypatch.delitem(sys.modules, f"kedge.interfaces.commands.{command}", raising=False)
        return kedge(*words)

    return run


NO_RECORDS = "kedge: game nim: records = 'no_records:NIM': No module named 'no_records'"
NO_PAGE = "kedge: game nim: page = 'tiny_games:NoPage': module 'tiny_games' has no attribute"


def test_a_broken_game_does_not_stop_records_of_others(broken, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("games.sgf").write_text("(;B[aa])")
    done = broken("replay", "go", "games.sgf")
    assert (done.returncode, done.stderr) == (0, "")
    done = broken("replay", "--help")
    assert (done.returncode, done.stderr) == (0, f"{NO_RECORDS}; left out\n")
    assert "SGF" in done.stdout
    done = broken("analyze", "games.sgf", "--agent", "uniform", "--brief")
    assert (done.returncode, done.stderr) == (0, f"{NO_RECORDS}; left out\n")


def test_a_broken_game_is_an_error_where_it_is_named(broken):
    done = broken("replay", "nim", "games.txt")
    assert (done.returncode, done.stderr) == (2, f"{NO_RECORDS}\n")
    done = broken("play", "nim", "--port", 0, "--no-browser")
    assert done.returncode == 2
    assert done.stderr.startswith(NO_PAGE)
    assert done.stderr.count("\n") == 1


def test_the_page_offers_other_games_beside_a_broken_one(broken, monkeypatch):
    from kedge.interfaces.web import server

    def run(self, sockets):
        raise InputError("the server runs")

    monkeypatch.setattr(server._Server, "run", run)
    done = broken("play", "chess", "--port", 0, "--no-browser")
    warning, address, *_, end = done.stderr.splitlines()
    assert warning.startswith(NO_PAGE)
    assert warning.endswith("; left out")
    assert end == "kedge: the server runs"
    assert "#/chess" in address + done.stdout
