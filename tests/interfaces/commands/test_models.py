"""``kedge models`` as a user meets it."""

import re
from dataclasses import replace
from pathlib import Path

import command
import numpy as np
import pytest
import tiny_go
import tiny_lc0 as tiny

from kedge.interfaces.cards import print_card
from kedge.models import shipped_models
from kedge.models.board.backends import read_weights
from kedge.models.board.network import to_shipped_onnx


def kedge(*arguments):
    return command.kedge("models", *arguments)


def answer(*arguments):
    return command.answer("models", *arguments)


@pytest.fixture
def weights(tmp_path):
    return tiny.write(tmp_path / "net.pb.gz", tiny.net())


def test_a_model_comes_and_goes(weights, own_home):
    assert answer("list")["models"] == []
    added = answer("add", "mine", weights)
    assert added["format"] == "lc0"
    assert added["architecture"]["filters"] == 8
    assert Path(added["path"]).is_relative_to(own_home)
    assert answer("info", "mine") == added
    listed = answer("list")
    assert listed["models"] == [added]
    assert "maia-1900" in listed["public"]
    assert "mine" in kedge("list").stdout
    assert "other agents: best-response, conventions" in kedge("list").stdout
    assert added["sha256"] in kedge("info", "mine").stdout
    assert answer("remove", "mine") == {"removed": "mine"}
    assert answer("list")["models"] == []


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("info", "mine"), "unknown model"),
        (("info", "goo"), "did you mean go or go-modern?"),
        (("card", "maia-1900"), "maia-1900: only shipped models have cards: chess,"),
        (("remove", "go"), "go ships with kedge"),
        (("info", "maia-1900"), "kedge models pull maia-1900"),
        (("remove", "../x"), "invalid model name"),
        (("remove", "chess"), "chess ships with kedge"),
        (("add", "mine", "none.pb.gz"), "none.pb.gz: no such file"),
        (("add", "mine", "."), "not a file"),
        (("pull", "nothing"), "no public model"),
        (("add", "puct", "net.pb.gz"), "puct is the name of an agent"),
        (("add", "chess", "net.pb.gz"), "chess is the name of a shipped model"),
        (("add", "diplomacy-value", "net.pb.gz"), "diplomacy-value is the name of a shipped model"),
    ],
)
def test_bad_input_is_one_line(arguments, match):
    done = kedge(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert match in done.stderr


def test_shipped_models_are_shown(own_home):
    listed = answer("list")["shipped"]
    assert listed == [answer("info", model["name"]) for model in listed]
    names = ["chess", "chess-large", "diplomacy", "diplomacy-bots", "diplomacy-value", "go"]
    names += [
        "go-large",
        "go-modern",
        "hanabi",
        "hanabi-belief",
        "hanabi-belief-greedy",
    ]
    names += ["hanabi-smartbot", *(f"hanabi-smartbot-{players}" for players in (3, 4, 5))]
    names += ["hanabi-smartbot-belief", "hanabi-smartbot-belief-greedy"]
    assert [model["name"] for model in listed] == names
    shipped = listed[0]
    assert (shipped["name"], shipped["format"]) == ("chess", "onnx")
    assert Path(shipped["path"]).stat().st_size == shipped["size"]
    assert shipped["training"]["licence"].startswith("GPL")
    listed = kedge("list").stdout
    assert re.search(r"chess +8 × 64.* MB +shipped", listed)
    assert re.search(r"diplomacy-value +128 × 32 .* MB +shipped", listed)
    assert "maia-1900" in listed
    top1 = shipped["training"]["metrics"]["as_shipped"]["top1"]
    assert f"top1 {top1}" in kedge("info", "chess").stdout


def test_a_mean_lies_between(own_home, tmp_path):
    net, other, mean = tiny_go.weights(), tmp_path / "other.onnx", tmp_path / "mean.onnx"
    one = tmp_path / "one.onnx"
    twice = {name: 2.0 * array for name, array in net.arrays.items()}
    for file, weights in ((one, net), (other, replace(net, arrays=twice))):
        file.write_bytes(to_shipped_onnx(weights).SerializeToString())
    told = answer("mean", str(one), str(other), "--out", str(mean))
    assert told == {"models": [str(one), str(other)], "file": str(mean)}
    found = read_weights(mean).arrays
    for name, array in net.arrays.items():
        # A byte has half a 127th of the largest weight to be wrong by, in each of the files.
        np.testing.assert_allclose(found[name], 1.5 * array, atol=0.02 * np.abs(array).max())


@pytest.mark.parametrize(
    ("models", "said"),
    [
        (["go"], "name two or more"),
        (["go", "go-large"], "different games or shapes"),
        (["go", "chess"], "different games or shapes"),
        (["hanabi", "hanabi"], "hanabi is not a model of a board game"),
        (["go", "gone"], "gone"),
    ],
)
def test_there_is_no_mean(own_home, tmp_path, models, said):
    done = kedge("mean", *models, "--out", str(tmp_path / "mean.onnx"))
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "mean.onnx").exists()


def test_help():
    assert "lc0" in kedge("--help").stdout
    assert "Example" in kedge("pull", "--help").stdout


def test_cards():
    card = answer("card", "hanabi-smartbot")
    assert card == shipped_models.card("hanabi-smartbot")
    printed = kedge("card", "hanabi-smartbot").stdout
    assert "top1 92.55% ± 0.26%" in printed
    for command_line in card["remake"]:
        assert f"  {command_line}\n" in printed, "in one piece, to be copied"
    for name in shipped_models.names():
        printed = kedge("card", name).stdout
        assert printed.startswith(f"{name}\nwhat: ")
        for by in ("chosen by", "judged by"):
            assert re.search(rf"^  {by} *\n    part: [a-z0-9]", printed, re.MULTILINE)


def test_alike_measures_are_a_table(capsys):
    print_card(
        {"name": "x", "metrics": {"3d": {"top1": 0.5, "n": 1200}, "4d": {"top1": 0.6, "n": 7}}}
    )
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[2:] == [["top1", "n"], ["3d", "50.00%", "1,200"], ["4d", "60.00%", "7"]]
