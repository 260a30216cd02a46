"""The dial: who plays at each x, and what is said to have been measured there."""

import json
from dataclasses import replace

import numpy as np
import pytest

from kedge import catalogue
from kedge.agents import make_agent
from kedge.agents.dial import SNAP, dial, people_of, stops, strongest
from kedge.agents.ladder import LIMITS, Ladder
from kedge.errors import InputError
from kedge.games import load_game

GAMES = catalogue.names("dial")
ENDS = {  # as the paper has them
    "chess": ("chess", {"c_puct": 0.5, "playouts": 50}),
    "go": ("go", {"c_puct": 0.5, "playouts": 50}),
    "diplomacy": ("diplomacy", {"lambda": 1e-3}),
    "hanabi": ("hanabi", {"lambda": 0.5}),
    "blotto": ("uniform", {"lambda": 0.01}),
}
FAST = {"playouts": 2, "rollouts": 40, "iterations": 8}


def number(game):
    return "c_puct" if game in ("chess", "go") else "lambda"


@pytest.mark.parametrize(("game", "x"), [(game, at.x) for game in GAMES for at in stops(game)])
def test_every_stop_plays(game, x):
    fast = {name: few for name, few in FAST.items() if name in stops(game)[-1].settings}
    agent, state = make_agent(dial(game, x, **fast).spec), load_game(game).initial_state()
    everyone_moves = state.current_player() < 0
    player = 0 if everyone_moves else state.current_player()
    policy = agent.policy(state, player)
    assert policy.sum() == pytest.approx(1.0)
    agent.act(state, player, np.random.default_rng(0))


@pytest.mark.parametrize("game", GAMES)
def test_from_the_anchor_to_the_strongest(game):
    anchor, strongest = ENDS[game]
    first, *_, last = stops(game)
    assert (first.x, last.x) == (0.0, 1.0)
    assert first.spec.partition("(")[0] == anchor
    assert number(game) not in first.settings
    assert strongest.items() <= last.settings.items()


@pytest.mark.parametrize("game", GAMES)
def test_the_farther_the_smaller(game):
    found = [dial(game, x) for x in np.linspace(0.0, 1.0, 51)]
    numbers = [at.settings.get(number(game), np.inf) for at in found]
    assert numbers == sorted(numbers, reverse=True)
    assert [at.x for at in found] == sorted(at.x for at in found)


def test_between_stops():
    low, high = stops("chess")[1:3]
    x = (low.x + high.x) / 2
    at = dial("chess", x)
    assert at.settings["c_puct"] == pytest.approx(50**0.5, rel=1e-2)  # between 10 and 5
    assert [one.x for one in at.likeness] == [low.x, high.x]
    assert not any(one.is_exact for one in (*at.likeness, *at.strength))
    # Toward the anchor, which is the limit.
    assert dial("chess", low.x / 2).settings["c_puct"] == pytest.approx(20.0)


@pytest.mark.parametrize("game", GAMES)
def test_near_a_stop_it_is_the_stop(game):
    for stop in stops(game):
        for x in (stop.x - SNAP, stop.x + SNAP):
            if 0.0 <= x <= 1.0:
                assert dial(game, x) == stop
    assert dial(game, 1.5 * SNAP).x == 1.5 * SNAP


def test_told_numbers():
    stop = dial("chess", 1)
    at = dial("chess", 1, elo=1800, playouts=200)
    assert at.spec == "puct(chess(elo=1800), c_puct=0.5, playouts=200, temperature=1)"
    assert [one.value for one in at.likeness] == [one.value for one in stop.likeness]
    assert all(one.is_exact for one in stop.likeness)
    assert not any(one.is_exact for one in at.likeness)
    assert dial("chess", 1, elo=1500) == stop
    # Where nobody searches it is not heard.
    assert dial("chess", 0, playouts=200) == dial("chess", 0)


def test_told_the_people():
    at = dial("go", 0.6, rank="3d")
    assert at.spec == 'puct(go-large(rank="3d"), c_puct=2, playouts=50, temperature=1)'
    assert (at.people, dial("go", 0.6).people) == ("3d", None)
    assert (at.likeness, at.strength) == ((), ()), "measured with the smaller model"
    assert str(at).endswith("likeness: not measured\nstrength: not measured")
    assert dial("go", 0.6).likeness
    assert dial("go", 0, rank="pro").spec == 'go-large(rank="pro", temperature=1)'
    assert (dial("chess", 0).people, dial("chess", 0, elo=1800).people) == (1500, 1800)
    assert dial("hanabi", 0).people is None
    for game in GAMES:
        people = people_of(game)
        for value in () if people is None else people.choices:
            make_agent(dial(game, 0, **{people.name: value}).spec)


def test_every_rating_of_the_dial_plays():
    for elo in (0, 100, 4000):
        make_agent(dial("chess", 0, elo=elo).spec)


def test_told_the_number_of_the_dial():
    assert dial("chess", 0, c_puct=0.5) == dial("chess", 1)
    assert dial("diplomacy", 1, lam=0.1) == stops("diplomacy")[1]
    assert dial("diplomacy", 1, **{"lambda": 0.1}) == stops("diplomacy")[1]
    for x in (0.1, 0.5, 0.9):
        there = dial("hanabi", x)
        back = dial("hanabi", 0, lam=there.settings["lambda"])
        assert back.x == pytest.approx(x, abs=2e-3)
        assert back.spec == there.spec
    beyond = dial("go", 0, c_puct=0.1)
    assert (beyond.x, beyond.settings["c_puct"]) == (1.0, 0.1)
    assert not any(one.is_exact for one in beyond.likeness)


@pytest.mark.parametrize(
    ("game", "x", "settings", "said"),
    [
        ("ches", 0, {}, "did you mean chess"),
        ("chess", 1.1, {}, "x: a number from 0"),
        ("chess", float("nan"), {}, "x: a number from 0"),
        ("chess", "1", {}, "x: a number from 0"),
        ("chess", True, {}, "x: a number from 0"),
        ("chess", 1, {"rollouts": 10}, "it takes elo"),
        ("go", 1, {"elo": 1500}, "it takes temperature"),
        ("chess", 0.5, {"elo": -1}, "^elo: a rating from 100 to 4000, or 0 if unknown, not -1"),
        ("chess", 0.5, {"elo": 50}, "^elo: a rating from 100 to 4000, or 0 if unknown, not 50"),
        ("chess", 0, {"elo": 9999}, "^elo: a rating from 100 to 4000, or 0 if unknown, not 9999"),
        ("chess", 1, {"elo": float("nan")}, "elo: a rating from 100 to 4000"),
        ("chess", 1, {"elo": True}, "elo: a rating from 100 to 4000"),
        ("chess", 1, {"playouts": 0}, "playouts: a whole number from 1"),
        ("chess", 1, {"playouts": 2.5}, "playouts: a whole number from 1"),
        ("chess", 1, {"c_puct": float("inf")}, "c_puct: a number from"),
        ("chess", 1, {"c_puct": "2"}, "c_puct: a number from"),
        ("diplomacy", 1, {"lam": 0}, "lambda: a number from"),
        ("go", 1, {"rank": "10d"}, "rank: one of kyu, 1d, .*, pro, not '10d'"),
        ("go", 1, {"rank": 3}, "rank: one of kyu"),
        ("go", 1, {"rank": ""}, "rank: one of kyu, 1d, .*, pro, not ''"),
        ("chess", 1, {"elo": "3d"}, "elo: a rating from 100"),
    ],
)
def test_bad_input(game, x, settings, said):
    with pytest.raises(InputError, match=said):
        dial(game, x, **settings)


def test_the_cards():
    assert {"chess", "go", "diplomacy", "hanabi", "blotto"} <= set(GAMES)
    ladders = [entry.load("dial") for entry in catalogue.entries("dial")]
    words = {"metric", "value", "error", "sample", "counted", "command", "is_share"}
    for ladder in ladders:
        found = json.loads(ladder.cards.read_text(encoding="utf-8"))
        places = [stop["x"] for stop in found]
        assert places == sorted(set(places))
        for stop in found:
            assert set(stop) == {"x", "settings", "likeness", "strength"}
            for card in (stop["likeness"], stop["strength"]):
                if card is None:  # not measured
                    continue
                assert set(card) == words
                assert np.isfinite([card["value"], card["error"]]).all()
                assert card["error"] >= 0.0
                assert card["sample"] >= 1
                assert card["command"].startswith("kedge ")


def test_in_words():
    at = dial("blotto", 1)
    assert str(at).startswith(f"{at.spec}\nlikeness: KL")
    assert "nearest" not in str(at)
    assert "nearest" in str(dial("blotto", 0.9))
    assert str(replace(at, strength=())).endswith("strength: not measured")


def test_between_stops_that_were_not_measured_the_nearest_that_were_are_told():
    for game in ("chess", "go", "diplomacy", "hanabi", "blotto"):
        known = stops(game)
        for kind in ("likeness", "strength"):
            places = [stop.x for stop in known if any(one.is_exact for one in getattr(stop, kind))]
            found = [one.x for one in getattr(dial(game, 0.5), kind)]
            below, above = [x for x in places if x <= 0.5], [x for x in places if x >= 0.5]
            assert set(found) <= {*below[-1:], *above[:1]}
            assert bool(found) == bool(places)


@pytest.mark.parametrize("game", GAMES)
def test_the_strongest_was_measured_to_be(game):
    best = strongest(game)
    values = [stop.strength[0].value for stop in stops(game) if stop.strength]
    if not values:
        assert best == stops(game)[-1]
    else:
        assert best.strength[0].is_exact
        assert best.strength[0].value == max(values)


def test_a_game_of_another_package_has_settings_of_its_own(tmp_path):
    cards = tmp_path / "dial.json"
    settings = {"depth": 2}
    cards.write_text(
        json.dumps([{"x": 0.0, "settings": settings, "likeness": None, "strength": None}])
    )
    ladder = Ladder("theirs", "search", "depth", cards, limits={"depth": (1, 9)})
    assert ladder.limits_of("depth") == (1, 9)
    assert ladder.limits_of("playouts") == LIMITS["playouts"]
    assert ladder.limits_of("width") == (-np.inf, np.inf)
