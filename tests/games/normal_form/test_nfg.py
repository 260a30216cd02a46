"""Gambit's files and JSON, in and out."""

import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kedge.errors import InputError
from kedge.games import load_game
from kedge.games.normal_form import NormalFormGame, read_json, read_nfg, write_nfg

# From Gambit's documentation of the format: two players, the payoff form.
PAYOFF_FORM = """NFG 1 R "Selten (IJGT, 75), Figure 2, normal form"
{ "Player 1" "Player 2" } { 3 2 }

1 1 0 2 0 2 1 1 0 3 2 0
"""
# ... and the outcome form, with named strategies, a comment and 0 for no outcome.
OUTCOME_FORM = """NFG 1 R "A game" { "P1" "P2" }

{ { "1" "2" "3" }
{ "1" "2" }
}
"a comment"

{
{ "" 1, 1 }
{ "both" 1/2, -2.5e1 }
}
1 2 0 0 1 2
"""


def write(folder, text, name="game.nfg"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_payoff_form(tmp_path):
    game = read_nfg(write(tmp_path, PAYOFF_FORM))
    assert game.name.startswith("Selten")
    assert game.players == ["Player 1", "Player 2"]
    # The first player's strategy varies fastest.
    np.testing.assert_array_equal(game.payoffs[0], [[1, 1], [0, 0], [0, 2]])
    np.testing.assert_array_equal(game.payoffs[1], [[1, 1], [2, 3], [2, 0]])


def test_outcome_form(tmp_path):
    game = read_nfg(write(tmp_path, OUTCOME_FORM))
    np.testing.assert_array_equal(game.payoffs[0], [[1, 0], [0.5, 1], [0, 0.5]])
    np.testing.assert_array_equal(game.payoffs[1], [[1, 0], [-25, 1], [0, -25]])
    assert game.actions == [["1", "2", "3"], ["1", "2"]]


@settings(deadline=None, max_examples=25)
@given(shape=st.lists(st.integers(1, 4), min_size=1, max_size=4), seed=st.integers(0, 99))
def test_round_trip_keeps_every_digit(tmp_path_factory, shape, seed):
    payoffs = np.random.default_rng(seed).normal(size=(len(shape), *shape)) ** 9
    names = [[f'{i} "{a}" \\' for a in range(count)] for i, count in enumerate(shape)]
    path = tmp_path_factory.mktemp("nfg") / "game.nfg"
    write_nfg(NormalFormGame(payoffs, name="t", actions=names), path)
    np.testing.assert_array_equal(read_nfg(path).payoffs, payoffs)


def test_openspiel_reads_what_we_write(tmp_path):
    pytest.importorskip("pyspiel")
    game = load_game("random(players=3, actions=3, seed=4)")
    path = tmp_path / "game.nfg"
    write_nfg(game, path)
    theirs = load_game(f"openspiel:nfg_game(filename={path})")
    np.testing.assert_allclose(theirs.payoffs, game.payoffs)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: expected NFG, found the end"),
        ("NFG 1 R", "expected a quoted name"),
        ('NFG 2 R "t" { "a" } { 1 } 1', "expected 1, found 2"),
        ('NFG 1 R "t { "a" } { 1 } 1', "line"),
        ('NFG 1 R "t" { "a" "b" } { 2 } 1 2 3 4', "actions for 1 players, but there are 2"),
        ('NFG 1 R "t" { "a" "b" }\n{ 2 2 }\n1 2 3', "line 3: the file ends after 3 of 8 payoffs"),
        ('NFG 1 R "t" { "a" "b" } { 1 1 } 1 2 3', "unexpected text after"),
        ('NFG 1 R "t" { "a" "b" } { 1 1 } 1 two', "'two' is not a number"),
        ('NFG 1 R "t" { "a" "b" } { 1 1 } 1 1/0', "'1/0' is not a number"),
        ('NFG 1 R "t" { "a" "b" } { 1 1 } 1 inf', "not a finite number"),
        ('NFG 1 R "t" { "a" "b" } { 1 0 } 1 2', "0 is not a number of actions"),
        ('NFG 1 R "t" { "a" "b" } { 99999999 99999999 } 1 2', "the file ends after 2 of"),
        ('NFG 1 R "t" { "a" "b" } { 1 1 } { { "x" 1 2 } } 7', "7 is not an outcome of this file"),
        ('NFG 1 R "t" { "a" "b" } { 1 1 } { { "x" 1 } } 1', "expected a number"),
        ('NFG 1 R "t" { } { } ', "0 players"),
        ('NFG 1 R "t" { "a" "b" } { nan 2 } 1', "nan is not a number of actions"),
        ('NFG 1 R "t" { "a" "b" } { inf 2 } 1', "inf is not a number of actions"),
        ('NFG 1 R "t" { "a" "b" } { 1 1 } { { "x" 1 2 } } nan', "nan is not an outcome"),
        ('NFG 1 R "t" { "a" "b" } { 1 1 } 1e308 -1e308', "a payoff is too large"),
    ],
)
def test_broken_files_say_where(tmp_path, text, said):
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=said) as error:
        read_nfg(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@settings(deadline=None, max_examples=200)
@given(cut=st.integers(0, 400), junk=st.text(max_size=6), place=st.integers(0, 300))
@example(cut=83, junk='"', place=74)  # a name with the lines up to the next quote in it
def test_damaged_files_are_read_or_refused(tmp_path_factory, cut, junk, place):
    for whole in (PAYOFF_FORM, OUTCOME_FORM):
        text = (whole[:place] + junk + whole[place:])[:cut]
        path = tmp_path_factory.getbasetemp() / "damaged.nfg"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        said = ""
        try:
            read_nfg(path)
        except InputError as error:
            said = str(error)
        assert "\n" not in said


def test_json(tmp_path):
    content = {"payoffs": [[[1, 2]], [[3, 4]]], "name": "mine", "actions": [["a"], ["b", "c"]]}
    game = read_json(write(tmp_path, json.dumps(content), "game.json"))
    assert game.name == "mine"
    assert game.action_name(1, 1) == "c"
    np.testing.assert_array_equal(game.payoffs, content["payoffs"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]",
        "{}",
        '{"payoffs": 3}',
        '{"payoffs": [[[1]], [["x"]]]}',
        "[" * 100_000,
        '{"payoffs": [[[' + "1" * 5000 + "]]]}",
        '{"payoffs": [[[1]],[[1]]], "players": [1, 2]}',
        '{"payoffs": [[[1' + "0" * 400 + "]]]}",
        '{"payoffs": [[[1]],[[1]]], "actions": 3}',
        '{"payoffs": [[[1]],[[1]]], "players": ["a"]}',
    ],
)
def test_broken_json(tmp_path, text):
    with pytest.raises(InputError) as error:
        read_json(write(tmp_path, text, "game.json"))
    assert "game.json" in str(error.value)
    assert "\n" not in str(error.value)


def test_unreadable_files(tmp_path):
    binary = tmp_path / "game.nfg"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (binary, tmp_path / "none.nfg", tmp_path):
        with pytest.raises(InputError):
            read_nfg(path)
