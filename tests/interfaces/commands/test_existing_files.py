"""Files that exist: kedge replaces only its own."""

import io
import os
from pathlib import Path

import pytest
from command import kedge
from made_hanabi import made_game

from kedge.agents.go.engine import GoEngine
from kedge.errors import InputError
from kedge.files import whole_file
from kedge.interfaces.protocols.gtp.engine import Gtp
from kedge.records import write_hanabi_games

GAME = '[Event "?"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n'
SGF = "(;GM[1]SZ[9];B[cc];W[gg])"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("game.pgn").write_text(GAME)
    Path("game.sgf").write_text(SGF)
    write_hanabi_games([made_game(1)], "hanabi.jsonl")


def _kept(done, path, said):
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"kedge: {path}: exists")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert Path(path).read_text() == "mine"


POLICIES = [
    ("chess", "-a", "chess"),
    ("go", "-a", "go"),
    ("diplomacy", "-p", "FRANCE", "-a", "diplomacy"),
    ("hanabi", "hanabi.jsonl", "-a", "conventions"),
]


@pytest.mark.parametrize("words", POLICIES)
def test_pictures_replace_only_pictures_of_kedge(words):
    Path("it.svg").write_text("mine")
    _kept(kedge("policy", *words, "--svg", "it.svg"), "it.svg", "and kedge did not draw it; give")
    Path("it.svg").unlink()
    for _ in range(2):
        done = kedge("policy", *words, "--svg", "it.svg")
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "out"),
    [
        (("game.pgn", "-a", "chess"), "out.pgn"),
        (("game.pgn", "-a", "chess"), "out.pgn.xz"),
        (("hanabi.jsonl", "-a", "conventions"), "out.jsonl"),
    ],
)
def test_reviews_replace_only_reviews(words, out):
    Path(out).write_text("mine")
    _kept(kedge("analyze", *words, "--out", out), out, "its games are not from kedge analyze; give")
    Path(out).unlink()
    for _ in range(2):
        done = kedge("analyze", *words, "--brief", "--out", out)
        assert done.returncode == 0, done.stderr


def test_a_picture_of_a_review_replaces_no_other():
    Path("it.svg").write_text("mine")
    _kept(kedge("analyze", "game.pgn", "-a", "chess", "--svg", "it.svg"), "it.svg", "draw it")


def test_a_mean_replaces_nothing():
    Path("it.onnx").write_text("mine")
    _kept(kedge("models", "mean", "go", "go", "--out", "it.onnx"), "it.onnx", "give another")


def test_printsgf_replaces_only_files_of_its_session():
    said = io.StringIO()
    session = Gtp(said, GoEngine("uniform"))
    Path("mine.sgf").write_text("mine")
    for line in ("printsgf mine.sgf", "printsgf new.sgf", "play b D4", "printsgf new.sgf"):
        session._obey(line)
    answers = said.getvalue().split("\n\n")
    assert answers[0] == "? mine.sgf: exists; give another file name, or move it"
    assert [answer.strip() for answer in answers[1:4]] == ["="] * 3
    assert Path("mine.sgf").read_text() == "mine"
    assert "B[" in Path("new.sgf").read_text()


def test_training_takes_no_folder_of_other_files():
    pytest.importorskip("torch")
    Path("trained").mkdir()
    Path("trained/model.onnx").write_text("mine")
    done = kedge("train", "hanabi", "hanabi.jsonl", "--folder", "trained")
    assert done.stderr == (
        "kedge: trained: contains 'model.onnx' but no checkpoint.pt; "
        "choose an empty folder or a training's folder\n"
    )
    assert done.returncode == 2
    assert os.listdir("trained") == ["model.onnx"]


def test_a_value_replaces_no_model():
    Path("valued").mkdir()
    Path("valued/model.onnx").write_text("mine")
    done = kedge("train", "hanabi-value", "--model", "hanabi", "--folder", "valued")
    _kept(done, "valued/model.onnx", "choose another folder, or move it")


def test_a_pipe_is_no_file_to_write():
    os.mkfifo("pipe")
    with pytest.raises(InputError, match="it is not a file"), whole_file(Path("pipe")):
        pass
    done = kedge("analyze", "game.pgn", "-a", "chess", "--out", "pipe")
    assert done.stderr == "kedge: pipe: cannot write (it is not a file)\n"
