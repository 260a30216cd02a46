"""Wrong input, over all commands: one line that says what to do, and exit code 2."""

import errno
import lzma
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from command import kedge

GAME = '[Event "?"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEDGE_HOME", str(tmp_path / "home"))
    Path("folder").mkdir()
    for name, content in {
        "game.pgn": GAME.encode(),
        "empty.pgn": b"",
        "garbage.pgn": b"garbage \0\xff [[[ 1. e4",
        "bad.pgn": GAME.replace("e5", "e4").encode(),
        "cut.pgn.xz": lzma.compress(GAME.encode())[:40],
        "game.sgf": b"(;GM[1]SZ[19];B[pd];W[dp])",
        "noise.onnx": bytes(range(256)) * 9,
        "noise.bin": bytes(range(256)) * 9,
        "hanabi.json": b'{"deck": 3, "actions": []}',
        "position.json": b'{"moves": ["e4", "e5"]}',
        "small.sgf": b"(;GM[1]SZ[9];B[dd];W[ff])",
        "diplomacy.json": b'{"id": "x", "phases": [{"name": "S1901M"}]}',
    }.items():
        Path(name).write_bytes(content)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("analyze blotto", "Blotto has no reviews; these games do: chess, go"),
        ("analyze blotto game.pgn", "Blotto has no reviews; these games do: chess, go"),
        ("analyze chess", "chess: the name of a game; give only a file: kedge analyze FILE"),
        ('policy go --agent "noise.bin"', "write ./noise.bin for the file"),
        ("selfplay hanabi --agents conventions,,hanabi", "a name is missing beside a comma"),
        (f"paper blotto --set iterations={10**20}", f"iterations: less than 2^62, not {10**20}"),
        ("analyze game.pgn other.pgn", "other.pgn: give one file at a time"),
        ("analyze empty.pgn", "empty.pgn: holds no game"),
        ("analyze position.json", '"moves" is not text); kedge reads Chess: PGN or JSON lines. Go'),
        ("analyze -", "-: reviews do not read standard input; name a file"),
        ("analyze game.pgn -a zzz", "'zzz'; agents of Chess: puct, uniform; models: kedge models"),
        ("analyze game.pgn -a puct(ches)", "unknown agent 'ches'; did you mean chess or chess-"),
        ("match diplomacy zzz zzz", "Diplomacy has no match"),
        (
            "predict go small.sgf --split all -a go",
            "no position left: 1 game read, 1 not on 19×19",
        ),
        ("solve missing.json", "kedge: missing.json: No such file or directory"),
        ("solve missing.nfg", "kedge: missing.nfg: No such file or directory"),
        ("solve blotto --eta abc", "--eta: 'abc' is not a number; give a number, theory or paper"),
        ("solve blotto --lambda abc", "--lambda: 'abc' is not a number; separate several by"),
        (
            "policy chess -a chess(elo=5000)",
            "elo: a rating from 100 to 4000, or 0 if unknown, not 50",
        ),
        ("policy diplomacy diplomacy.json -p TURKEY", "add --phase S1901M\n"),
        ("analyze garbage.pgn", "holds no game (garbage.pgn, line 1: has NUL bytes)"),
        ("analyze cut.pgn.xz", "cut.pgn.xz: cannot read"),
        ("analyze folder", "folder: holds no game"),
        ("analyze game.pgn --limit -1", "invalid value for '--limit'"),
        ("analyze game.pgn -a ''", "a spec is empty; give a name"),
        ("analyze game.pgn -a noise.onnx", "noise.onnx: not an"),
        ("analyze game.pgn -a go", "agent go: does not play chess"),
        ("analyze game.pgn -a puct(chess,foo=1)", "has no parameter 'foo'; it takes anchor"),
        ("replay chess game.sgf", "game.sgf: holds no game"),
        ("replay go game.pgn", "game.pgn: holds no game"),
        ("replay chess folder", "folder: Is a directory"),
        ("replay blotto game.pgn", "Blotto has no reader of records"),
        ("predict chess game.pgn", "'--agent' / '-a'; see kedge predict chess --help\n"),
        (
            "match chess chess",
            "missing argument 'b' (the second agent, its opponent); see kedge match",
        ),
        ("train go", "missing argument 'data' (SGF files, folders and archives of them"),
        ("uci --zzz", "no such option: --zzz; see kedge uci --help\n"),
        ("experiments list zzz", "extra argument(s) (zzz); see kedge experiments list --help\n"),
        ("match chess chess chess -n 0", "for '--games' / '-n': at least 1, not 0\n"),
        ("match chess chess chess -t warm", "'--temperature' / '-t': a number, not warm\n"),
        ("analyze game.pgn --elo abc", "invalid value for '--elo': a whole number, not abc\n"),
        ("predict go game.sgf -a go --split x", "for '--split': 'x' is not one of 'train', 'test'"),
        ("play --port 99999", "invalid value for '--port': at most 65535, not 99999\n"),
        ("gtp --rank ''", "1d to 9d, 1p to 9p or pro, or unknown, not ''\n"),
        ("gtp --opponent-rank 6d", "set a rank too, such as 3d\n"),
        ("gtp --agent go", "no such option: --agent; see kedge gtp --help\n"),
        ("analyze game.pgn --limits 3", "no such option: --limits; did you mean --limit?\n"),
        ("adjudicate", "; choose from: diplomacy; see kedge adjudicate --help\n"),
        ("models add mine game.pgn", "; kedge reads lc0's .pb.gz and .pb, and the .onnx of kedge"),
        ("experiments lst", "no such command 'lst'; did you mean list?\n"),
        ("policy chess -a puct(chess", "ends too early; is a ) missing?\n"),
        ("policy chess -a chess(clock=-3)", "clock: seconds from 0 to 9999, not -3\n"),
        ("policy chess -a rm(chess)", "use one of diplomacy or blotto\n"),
        ("policy chess -a noise.onnx", "give weights of kedge train, or of lc0\n"),
        ("predict go game.pgn -a go", "kedge replay go FILE says what is in a file\n"),
        ("solve chess", "only games in normal form can be solved, such as blotto\n"),
        ("solve blotto(coins=99,fields=9)", "too many to tabulate; use fewer coins or fields\n"),
        ("predict chess game.sgf -a chess", "1 invalid"),
        ("policy zzz", "unknown game 'zzz'; known: chess"),
        ("policy diplomacy hanabi.json -p FRANCE", '"units" is missing'),
        ("match chess chess noise.onnx", "noise.onnx: not an"),
        ("models add mine folder", "folder: not a file"),
        ("solve openspiel:zzz", "; all: pyspiel.registered_names()"),
        ("paper zzz", "; all: kedge paper"),
        ("adjudicate diplomacy game.pgn", "game.pgn, line 1: not JSON"),
        ("zzz", "; all: kedge --help\n"),
    ],
)
def test_one_line(words, said):
    if "openspiel" in words:
        pytest.importorskip("pyspiel")
    _check(words, said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("hanabi hanabi.json", 'holds no game (hanabi.json, line 1: "seats" is missing)'),
        ("diplomacy diplomacy.json", "holds no game (diplomacy.json, line 1: phase 'S1901M'"),
        ("diplomacy-value diplomacy.json", "holds no game (diplomacy.json, line 1: phase"),
        ("chess bad.pgn", "holds no game (bad.pgn, line 1: half-move 2"),
        ("chess game.pgn", "too few games"),
        ("go game.pgn", "holds no game (game.pgn: no game found)"),
        ("hanabi game.pgn", "holds no game (game.pgn, line 1: not JSON"),
    ],
)
def test_training_says_why_there_is_no_game(words, said):
    pytest.importorskip("torch")
    _check(f"train {words} --folder trained", said)
    assert not Path("trained").exists()


@pytest.mark.parametrize(
    "words",
    [
        "analyze {}.pgn",
        "replay go {}.sgf",
        "replay hanabi {}",
        "predict go -a go {}.sgf",
        "predict hanabi -a conventions {}",
        "train chess game.pgn --folder {}",
        "train go {}.sgf --folder trained",
        "paper blotto --folder {}",
    ],
)
def test_a_name_that_is_too_long(words):
    if words.startswith("train"):
        pytest.importorskip("torch")
    _check(words.format("x" * 300), "ile name too long")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("experiments show {}", "not a run"),
        ("solve {}", "unknown game"),
        ("paper chess-accuracy --data {}", "no such file"),
    ],
)
def test_a_name_that_is_too_long_names_no_file(words, said):
    _check(words.format("x" * 300), said)


def test_a_file_that_fails_is_not_the_output(monkeypatch):
    def fail(*_):
        raise PermissionError(errno.EACCES, "Permission denied", "locked")

    monkeypatch.setattr("kedge.experiments.list_runs", fail)
    _check("experiments list", "kedge: locked: Permission denied\n")


@pytest.mark.parametrize("command", ["show", "clean"])
def test_a_run_of_no_such_name_lists_the_nearest(monkeypatch, command):
    runs = [SimpleNamespace(folder=Path(f"predict-go-{number}")) for number in range(20)]
    monkeypatch.setattr("kedge.experiments.list_runs", lambda: runs)
    _check(f"experiments {command} zzz", "zzz: not a run; nearest: predict-go-")
    _check(f"experiments {command} zzz", "; all: kedge experiments list\n")
    _check(f"experiments {command} predikt-go-7", "did you mean predict-go-7 or ")


@pytest.mark.parametrize("seconds", ["0", "-3", "nan", "inf"])
def test_training_takes_some_time(seconds):
    _check(
        f"train chess bad.pgn --folder trained --seconds {seconds}",
        f"--seconds: a finite number above 0, not {seconds}\n",
    )


def _check(words, said):
    done = kedge(*(word.strip("'") for word in words.split()))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "cannot write: " not in done.stderr
    assert done.stderr.startswith("kedge: ")
    assert done.stderr.count("\n") == 1


def test_output_in_another_encoding_has_question_marks():
    done = subprocess.run(
        [sys.executable, "-m", "kedge", "policy", "chess", "--agent", "chess", "--top", "1"],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=True,
    )
    assert b"64.0%  ????" in done.stdout
    assert done.stderr == b""


def test_a_huge_limit_takes_all_games():
    done = kedge("analyze", "game.pgn", "--agent", "chess", "--brief", "--limit", 10**20)
    assert (done.returncode, done.stderr) == (0, "")
