"""Self-play as an experiment: chunks, decks, seats, and its report."""

from dataclasses import replace

import pytest
from hanabi_players import registered  # noqa: F401

from kedge.agents import AGENTS
from kedge.agents.hanabi.specs import sparta
from kedge.errors import InputError
from kedge.experiments import list_runs, run
from kedge.experiments.hanabi.selfplay import CrossPlay, SelfPlay, table_games
from kedge.records import replayed_hanabi_games, write_hanabi_games

pytestmark = pytest.mark.usefixtures("registered")


def quick(*agents, **fields):
    return SelfPlay(**{"agents": agents or ("sparta",), "games": 5, "chunk": 3, **fields})


def played(experiment, folder=None):
    return run(experiment, engine="inline", progress=False, folder=folder)


def test_one_agent_has_all_seats(tmp_path):
    done = played(quick(), tmp_path / "run")
    assert list(done.results) == ["games 1-3", "games 4-5"]
    found = done.report().data
    assert (found["game"], found["players"], found["games"]) == ("hanabi", 2, 5)
    assert found["agents"] == [
        {"agent": "sparta", **{key: found[key] for key in
         ("games", "mean", "se", "perfect", "bombs", "moves")}}
    ]  # fmt: skip
    assert found["mean"] == sum(i * n for i, n in enumerate(found["histogram"])) / 5
    assert found["bombs"] == 0
    lines = done.report().text().splitlines()
    assert lines[0] == "sparta"
    assert lines[4].split()[:2] == ["all", "5"]
    bars = [line for line in lines if "█" in line]
    assert sum(int(line.split()[-1]) for line in bars) == 5


def test_two_change_seats_and_decks_are_the_same():
    one, two = (played(quick(*agents)) for agents in (("sparta",), ("sparta", "hanabi")))
    first, second = table_games(one.results), table_games(two.results)
    assert [game.deck for game in first] == [game.deck for game in second]
    assert [game.seats for game in second] == [(0, 1), (1, 0), (0, 1), (1, 0), (0, 1)]
    found = two.report().data
    assert [(one["seats"], one["games"]) for one in found["seatings"]] == [
        (["sparta", "hanabi"], 3), (["hanabi", "sparta"], 2),
    ]  # fmt: skip
    assert [row["at"] for row in two.report().table.rows] == [
        "all", "sparta – hanabi", "hanabi – sparta",
    ]  # fmt: skip
    chunks = played(quick(chunk=5))
    assert [game.deck for game in table_games(chunks.results)] == [game.deck for game in first]


def test_records(tmp_path):
    experiment = quick("sparta", "hanabi", players=3)
    done = played(experiment, tmp_path / "run")
    path = tmp_path / "games.jsonl.gz"
    write_hanabi_games(experiment.records(done.results), path)
    games = list(replayed_hanabi_games(path))
    assert [game.score for game in games] == [game.score for game in table_games(done.results)]
    assert games[1].players == ("ai:hanabi", "ai:sparta", "ai:hanabi")
    assert games[1].humans == ()


def test_bombs_may_count(tmp_path):
    zero, stack = (quick("uniform-hanabi", games=12, bomb=bomb) for bomb in ("zero", "stack"))
    none, some = played(zero), played(stack)
    assert none.report().data["bombs"] == some.report().data["bombs"] > 8
    assert none.report().data["mean"] < some.report().data["mean"]
    assert "scores 0" in none.report().text()
    assert "most games are lost; --bomb stack" in none.report().text()
    assert "scores what was built" in some.report().text()
    write_hanabi_games(stack.records(some.results), tmp_path / "games.jsonl")
    games = list(replayed_hanabi_games(tmp_path / "games.jsonl"))
    assert {game.bomb for game in games} == {"stack"}


def test_the_engine_does_not_matter(tmp_path):
    experiment = quick("uniform-hanabi", players=4)  # workers know nothing of this test's agents
    one = played(experiment, tmp_path / "inline")
    two = run(experiment, workers=2, progress=False, folder=tmp_path / "local")
    assert one.results == two.results


def test_what_was_finished_is_kept(tmp_path):
    whole = played(quick(), tmp_path / "run")
    [last] = (tmp_path / "run" / "tasks").glob("games_4-5*")
    last.unlink()
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "tasks").iterdir()}
    assert played(quick(), tmp_path / "run").results == whole.results
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_the_digest_of_a_run():
    assert quick(" sparta( ) ", "sparta").digest == quick().digest
    assert quick(seed=1).digest != quick().digest
    assert (quick(chunk=None).chunk, quick(chunk=None, device="cuda").chunk) == (4, 64)


def test_a_matrix():
    agents = ("sparta", "hanabi", "sparta(lambda=1)")
    alone = played(quick("sparta", "hanabi"))
    experiment = CrossPlay(agents=agents, games=5, chunk=3)
    done = played(experiment)
    report = done.report()
    assert len(report.data["pairs"]) == 6
    rows = report.table.rows
    assert rows[0]["with 2"] == rows[1]["with 1"]
    [pair] = [one for one in report.data["pairs"] if one["agents"] == ["sparta", "hanabi"]]
    assert pair["mean"] == rows[0]["with 2"] == alone.report().data["mean"]
    assert report.figure("svg").startswith(b"<?xml")
    played(replace(experiment, agents=agents[:2]))
    assert sum(info.name == "selfplay" for info in list_runs()) == 6, "runs are shared"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"games": 0}, "games: at least 1, not 0"),
        ({"chunk": 0}, "chunk: at least 1, not 0"),
        ({"agents": ()}, "agents: at least one"),
        ({"agents": ("sparta", "hanabi", "uniform-hanabi")}, "3 agents for 2 seats"),
        ({"agents": ("sparta(",)}, "ends too early"),
        ({"players": 6}, "players"),
    ],
)
def test_bad_fields(fields, said):
    with pytest.raises(InputError, match=said):
        quick(**fields)


def test_bad_matrices():
    for agents in (("sparta",), ("sparta", "sparta( )")):
        with pytest.raises(InputError, match="two or more different agents"):
            CrossPlay(agents=agents)


@pytest.mark.parametrize(
    ("spec", "said"),
    [("chess", "agent chess: does not play hanabi"), ("uniform-hanab", "did you mean uniform-")],
)
def test_bad_players(spec, said, tmp_path):
    with pytest.raises(InputError, match=said):
        played(quick(spec), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_search_that_is_to_end_early_needs_a_value(tmp_path, monkeypatch):
    monkeypatch.setitem(AGENTS._makers, "sparta", sparta)  # the real one
    with pytest.raises(InputError, match="depth"):
        played(quick("sparta(conventions, rollouts=9, depth=3)"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_model_of_two_players_is_no_use_to_three(tmp_path):
    match = "^hanabi-smartbot: the model plays Hanabi for 2 players, not this game; for 3 players "
    with pytest.raises(InputError, match=match):
        played(quick("hanabi-smartbot", players=3), tmp_path / "run")
