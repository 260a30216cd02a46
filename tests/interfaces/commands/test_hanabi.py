"""``kedge selfplay``, ``predict`` and ``policy`` of Hanabi as a user meets them."""

import json
import subprocess
from dataclasses import replace

import pytest
from command import KEDGE, answer, kedge
from hanabi_players import people, registered  # noqa: F401

from kedge.games.hanabi import Hanabi
from kedge.records import read_hanabi_games, write_hanabi_games

pytestmark = pytest.mark.usefixtures("registered")
INLINE = ["--engine", "inline"]


def selfplay(*arguments):
    return answer("selfplay", "hanabi", *arguments, *INLINE)


@pytest.fixture
def games(tmp_path):
    path = tmp_path / "games.jsonl"
    write_hanabi_games(people(4), path)
    return path


def test_selfplay(tmp_path):
    path, live = tmp_path / "games.jsonl.gz", tmp_path / "watch"
    found = selfplay("--agents", "sparta, hanabi", "-n", 3, "--jsonl", path, "--hanab-live", live)
    assert [one["agent"] for one in found["agents"]] == ["sparta", "hanabi"]
    assert all({"games", "mean", "se"} <= one.keys() for one in found["agents"])
    assert {"perfect", "bombs", "histogram", "moves"} <= found.keys()
    assert (found["jsonl"], found["hanab_live"]) == (str(path), str(live))
    assert answer("replay", "hanabi", path)["games"] == 3
    files = sorted(live.iterdir())
    assert [len(list(read_hanabi_games(file))) for file in files] == [1, 1, 1]
    assert json.loads(files[0].read_text())["players"] == ["ai:sparta", "ai:hanabi"]
    text = kedge("selfplay", "hanabi", "--agents", "sparta, hanabi", "-n", 3, *INLINE).stdout
    assert "hanabi – sparta" in text
    assert "█" in text


def test_a_matrix():
    found = selfplay("--agents", "sparta, hanabi", "--cross", "-n", 2)
    assert [pair["agents"] for pair in found["pairs"]] == [
        ["sparta", "sparta"], ["sparta", "hanabi"], ["hanabi", "hanabi"],
    ]  # fmt: skip
    done = kedge("selfplay", "hanabi", "--agents", "sparta, hanabi", "--cross", "-n", 2, *INLINE)
    assert done.stdout.startswith("2 agents, each with each\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--agents", "sparta, hanabi, sparta(lambda=1)"], "3 agents for 2 seats"),
        (["--agents", "sparta, 7"], "expected comma-separated names or specs"),
        (["--agents", "nobody"], "unknown agent 'nobody'"),
        (["--agents", "chess"], "agent chess: does not play hanabi; hanabi and sparta(hanabi, …)"),
        (["--agents", "uniform"], "agent uniform: does not play hanabi"),
        (["--agents", "sparta", "--cross"], "two or more"),
        (
            ["--agents", "sparta, hanabi", "--cross", "--jsonl", "x"],
            "--jsonl: crossplay writes",
        ),
        (["--agents", "sparta", "--games", 0], "--games"),
        (["--agents", "sparta", "--players", 6], "--players"),
        (["--agents", "sparta", "--jsonl", "no/games"], "no/games: cannot write"),
    ],
)
def test_bad_tables_are_reported_before_play(arguments, said, own_home):
    done = kedge("selfplay", "hanabi", *arguments, *INLINE)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert said in line
    assert not (own_home / "runs").exists()


def test_predictions(games):
    asked = ["predict", "hanabi", games, "--agent", "sparta(lambda=1)", *INLINE]
    found = answer(*asked, "--all")
    assert {"agent", "games", "positions", "top1", "top1_se", "cross_entropy"} <= found.keys()
    assert (found["games"], found["clusters"]) == (4, 2)
    assert found["groups"].keys() == {"score", "participant", "move"}
    bots = answer(*asked, "--all", "--bots")
    assert bots["positions"] + found["positions"] == sum(map(len, read_hanabi_games(games)))
    assert bots["top1"] < found["top1"]
    assert answer(*asked, "--all", "--limit", 3)["positions"] == 3
    text = kedge(*asked, "--all").stdout
    assert "move play" in text
    assert "clustered by participant" in text


def test_errors_say_why_no_game_is_left(games):
    asked = ["predict", "hanabi", games, "--agent", "hanabi", *INLINE]
    write_hanabi_games([replace(game, participant="3") for game in people(2)], games)
    done = kedge(*asked)
    assert done.returncode == 2
    assert "2 games read, 2 not for testing; --all keeps every game" in done.stderr
    write_hanabi_games([replace(game, players=("ai:a", "ai:b")) for game in people(2)], games)
    done = kedge(*asked, "--all")
    assert done.returncode == 2
    assert "2 without moves of people; --bots predicts programs" in done.stderr


def test_predictions_of_people(shared):
    path = shared("data/hanabi/human_ai_2p.jsonl.xz")
    found = answer("predict", "hanabi", path, "-a", "uniform-hanabi", "--limit", 300, *INLINE)
    assert found["positions"] == 300
    assert 2.4 < found["cross_entropy"] < 2.9  # some fifteen legal moves


def test_a_policy(games, tmp_path):
    svg = tmp_path / "table.svg"
    asked = ["policy", "hanabi", games, "--game", 2, "--turn", 5, "-a", "sparta(lambda=1)"]
    found = answer(*asked, "--svg", svg)
    assert (found["agent"], found["turn"], found["player"]) == ("sparta(lambda=1)", 5, 1)
    best = found["moves"][0]
    assert best.keys() == {"move", "anchor", "policy", "q", "visits", "answer"}
    assert best["answer"] is None  # who peeks has not thought of it
    shares = [one["policy"] for one in found["moves"]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1.0)
    assert len(found["cards"]) == 5
    assert found["cards"][0].keys() == {"told", "beliefs"}
    assert next(iter(found["cards"][0]["beliefs"].values())) >= 0.75
    assert svg.read_text().startswith("<svg")
    text = kedge(*asked, "--top", 2).stdout
    assert best["move"] in text
    assert "more moves" in text
    assert "believed" in text
    assert "points" in text
    raw = answer("policy", "hanabi", games, "--agent", "hanabi")
    assert (raw["cards"], raw["value"], raw["moves"][0]["q"]) == (None, None, None)
    assert "believed" not in kedge("policy", "hanabi", games, "--agent", "hanabi").stdout


def test_what_the_next_player_is_expected_to_do(games):
    """Run a search in its own process."""
    asked = ["policy", "hanabi", str(games), "-a", "sparta(hanabi-smartbot, rollouts=40)"]
    told, text = (
        subprocess.run([KEDGE, *asked, *more], capture_output=True, text=True, check=True).stdout
        for more in (["--json"], [])
    )
    best = json.loads(told)["moves"][0]
    assert 0.0 < best["answer"]["probability"] <= 1.0
    assert f"{best['answer']['move']} (" in text
    assert answer("policy", "hanabi", games, "--bomb", "stack", "-a", "hanabi")["player"] == 0


@pytest.mark.parametrize("command", ["policy", "train"])
def test_models_of_another_number_of_players(command, tmp_path):
    if command == "train":
        pytest.importorskip("torch")
        told = ["hanabi-belief", "--blueprint", "hanabi", "--folder", str(tmp_path / "belief")]
        asked = [*told, "--game", "hanabi(players=3)"]
    else:
        path = tmp_path / "three.jsonl"
        write_hanabi_games(people(1, players=3), path)
        asked = ["hanabi", str(path), "--agent", "hanabi"]
    done = subprocess.run([KEDGE, command, *asked], capture_output=True, text=True, check=False)
    assert done.stderr == (
        "kedge: the model plays Hanabi for 2 players, not this game; "
        "for 3 players there is hanabi-smartbot-3, conventions\n"
    )
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--turn", 999], "moves, no turn 999"),
        (["--game", 9], "no game 9; the file has 4 games"),
        (["--game", 0], "--game"),
        (["--turn", -1], "--turn"),
        (["--agent", "chess"], "does not play hanabi"),
        (["--agent", "nobody"], "unknown agent"),
    ],
)
def test_bad_questions(arguments, said, games):
    done = kedge("policy", "hanabi", games, "--agent", "hanabi", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert said in line


def test_nobody_moves_after_the_end(games):
    length = len(next(read_hanabi_games(games)))
    done = kedge("policy", "hanabi", games, "--turn", length, "--agent", "hanabi")
    assert done.returncode == 2
    assert f"game 1 is over after {length} moves" in done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"deck": [[0, 1]] * 50}, "game 1 is invalid: the deck has too many of (0, 1)"),
        ({"deck": [*Hanabi().cards[1:]]}, "game 1 is invalid: the deck has 49 cards, expected 50"),
        ({"actions": [[0, "discard", 0, -1]]}, "game 1 is invalid: move 1: discard card 1: all"),
        ({"actions": [[0, "rank", 2, 1]]}, "game 1 is invalid: move 1: hint to seat 2"),
    ],
)
def test_bad_games(change, said, tmp_path):
    path = tmp_path / "game.json"
    game = {"id": "a", "seats": ["Ann", "Bob"], "deck": Hanabi().cards, "actions": []}
    path.write_text(json.dumps({**game, **change}))
    for words in (["policy", "hanabi", path], ["predict", "hanabi", path, "--all", *INLINE]):
        done = kedge(*words, "--agent", "hanabi")
        assert (done.returncode, done.stdout) == (2, "")
        [line] = done.stderr.splitlines()
        assert said.removeprefix("game 1 is invalid: ") in line
