"""``kedge tournament``, ``predict`` and ``policy`` of Diplomacy as a user meets them."""

import json

import pytest
from command import answer, kedge
from diplomacy_players import registered  # noqa: F401

from kedge.games.diplomacy import Diplomacy
from kedge.records import read_diplomacy_games

pytestmark = pytest.mark.usefixtures("registered")
SHORT = ["--last-year", 1901, "--engine", "inline"]


def tournament(*arguments):
    return answer("tournament", "diplomacy", *arguments, *SHORT)


@pytest.fixture
def position(tmp_path):
    path = tmp_path / "position.json"
    path.write_text(json.dumps(Diplomacy().initial_state().to_json()))
    return path


@pytest.fixture
def games(tmp_path):
    """Return games of programs as if people had played them."""
    path = tmp_path / "games.jsonl"
    tournament("--one", "random-orders", "--six", "random-orders", "-n", 3, "--jsonl", path)
    played = [json.loads(line) for line in path.read_text().splitlines()]
    for game in played:
        game["human_powers"] = ["FRANCE", "ITALY"]
    path.write_text("".join(json.dumps(game) + "\n" for game in played))
    return path


def test_a_tournament(tmp_path):
    path = tmp_path / "games.jsonl.gz"
    found = tournament("--one", "random-orders", "--six", "holds", "--games", 3, "--jsonl", path)
    assert [one["agent"] for one in found["agents"]] == ["random-orders", "holds"]
    assert all({"games", "mean", "se"} <= one.keys() for one in found["agents"])
    assert (found["game"], found["seating"], found["jsonl"]) == ("diplomacy", "1v6", str(path))
    assert answer("replay", "diplomacy", path)["games"] == 3
    assert [game.players.index("random-orders") for game in read_diplomacy_games(path)] == [0, 1, 2]


def test_a_pool():
    pool = "random-orders(candidates=2), holds"
    found = tournament("--pool", pool, "-n", 2)
    assert [one["agent"] for one in found["agents"]] == ["random-orders(candidates=2)", "holds"]
    done = kedge("tournament", "diplomacy", "--pool", pool, "-n", 2, *SHORT)
    assert done.stdout.startswith("a pool of 2 agents\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "agents: give either --one A --six B, or --pool A,B"),
        (["--one", "holds"], "agents: give either --one"),
        (["--one", "holds", "--six", "holds", "--pool", "holds"], "agents: give either --one"),
        (["--pool", "holds, 7"], "'holds, 7': expected comma-separated names or specs"),
        (["--pool", "holds"], "a pool needs two or more"),
        (["--one", "holds", "--six", "nobody"], "unknown agent 'nobody'"),
        (["--one", "holds", "--six", "chess"], "agent chess: does not play diplomacy"),
        (["--one", "holds", "--six", "holds", "--chunk", 3], "chunk: a multiple of 7"),
        (["--one", "holds", "--six", "holds", "--games", 0], "--games"),
        (["--one", "holds", "--six", "holds", "--jsonl", "no/games"], "no/games: cannot write"),
    ],
)
def test_bad_tournaments_are_reported_before_play(arguments, said, own_home):
    done = kedge("tournament", "diplomacy", *arguments, *SHORT)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (own_home / "runs").exists()


def test_predictions(games):
    asked = ["predict", "diplomacy", games, "--agent", "random-orders", "--engine", "inline"]
    found = answer(*asked, "--all")
    assert {"agent", "games", "positions", "top1", "top1_se", "cross_entropy"} <= found.keys()
    # Two people in three games, with three units each in two movement phases.
    assert (found["games"], found["positions"]) == (3, 36)
    assert {label: one["positions"] for label, one in found["groups"]["power"].items()} == {
        "FRANCE": 18,
        "ITALY": 18,
    }
    assert answer(*asked, "--all", "--limit", 3)["positions"] == 18
    text = kedge(*asked, "--all").stdout
    assert "season fall" in text
    assert "Powers that ordered nothing at all in a phase are left out." in text
    assert "with 0.001 of the anchor's probability" in text
    none = kedge(*asked)
    assert none.returncode == 2
    assert "3 games read, 3 not for testing; --all keeps every game" in none.stderr


def test_predictions_of_people(shared):
    path = shared("data/diplomacy/cicero40.jsonl.xz")
    asked = ["predict", "diplomacy", path, "--agent", "random-orders(candidates=1)", "--all"]
    found = answer(*asked, "--limit", 20, "--engine", "inline")
    assert 0.0 < found["top1"] < 0.25
    assert found["games"] == 2


def test_a_policy(position, tmp_path):
    svg = tmp_path / "map.svg"
    asked = ["policy", "diplomacy", position, "--power", "france", "--agent", "random-orders"]
    found = answer(*asked, "--svg", svg)
    assert (found["agent"], found["power"], found["phase"]) == ("random-orders", "FRANCE", "S1901M")
    assert found["value"] == 0.25
    assert [round(one["policy"], 3) for one in found["moves"]] == [0.5, 0.333, 0.167]
    best = found["moves"][0]
    assert best.keys() == {"move", "anchor", "policy", "q", "visits"}
    assert len(best["move"]) == 3
    assert svg.read_text().startswith("<svg")
    text = kedge(*asked, "--top", 2).stdout
    assert "and 1 more move, 16.7% together" in text
    assert "value 0.2500 of a game" in text
    assert best["move"][0] in text.replace("\n", " ")
    assert answer(*asked, "--seed", 1)["moves"] != found["moves"]


def test_an_order_stays_on_its_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    asked = ["policy", "diplomacy", "-p", "RUSSIA", "-a", "random-orders", "--top", 1]
    rows = [line[24:] for line in kedge(*asked).stdout.splitlines()[2:-3]]
    assert len(rows) > 1
    assert all(row.startswith(("A ", "F ")) for row in rows)
    monkeypatch.setenv("COLUMNS", "20")
    assert kedge(*asked).returncode == 0


@pytest.mark.parametrize(
    ("fields", "arguments", "said"),
    [
        ({}, ["--power", "SPAIN"], "'SPAIN' is not a power"),
        ({}, ["--power", "FRANCE", "--agent", "chess"], "does not play diplomacy"),
        ({"name": "S1901"}, ["--power", "FRANCE"], "line 1: position:"),
        ({"name": "W1901A"}, ["--power", "FRANCE"], "FRANCE has nothing to order in"),
        ({"previous_orders": {"FRANCE": ["A PAR"]}}, ["--power", "FRANCE"], "line 1:"),
        ({"previous_orders": []}, ["--power", "FRANCE", "--top", "0"], "--top"),
        ({"previous_orders": [1]}, ["--power", "FRANCE"], '"previous_orders" is not of the form'),
    ],
)
def test_bad_policies(fields, arguments, said, position):
    position.write_text(json.dumps({**json.loads(position.read_text()), **fields}))
    done = kedge("policy", "diplomacy", position, "--agent", "random-orders", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_start_and_a_phase_of_a_game(games, position):
    asked = ["policy", "diplomacy", "-p", "FRANCE", "-a", "random-orders"]
    assert answer(*asked) == answer(*asked, position)
    one = games.with_name("one.jsonl")
    one.write_text(games.read_text().splitlines()[0])
    assert answer(*asked, one, "--phase", "f1901m")["phase"] == "F1901M"
    for words, said in (
        (["--phase", "F1901M"], "there is no game; name its file"),
        ([one], "line 1: this is a game, not a position"),
        ([one, "--phase", "S1950M"], "nobody has a choice in S1950M; the game goes from S1901M"),
        ([games, "--phase", "F1901M"], "several games; pass a file with one game"),
        ([position, "--phase", "F1901M"], 'no game found; "phases" is not a list of phases'),
    ):
        done = kedge(*asked, *words)
        assert done.returncode == 2
        [line] = done.stderr.splitlines()
        assert said in line


def test_one_position_with_what_came_before(position):
    found = json.loads(position.read_text())
    found["previous_orders"] = {"FRANCE": ["A PAR - BUR"], "ITALY": None}
    position.write_text(json.dumps(found))
    asked = ["policy", "diplomacy", position, "-p", "ITALY", "-a", "random-orders"]
    assert len(answer(*asked)["moves"]) == 3
    position.write_text(f"{json.dumps(found)}\n" * 2)
    assert "holds several positions" in kedge(*asked).stderr
