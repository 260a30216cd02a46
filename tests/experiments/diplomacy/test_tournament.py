"""A tournament as an experiment: chunks, seeds, and its report."""

import pytest
from diplomacy_players import registered  # noqa: F401

from kedge.errors import InputError
from kedge.experiments import run
from kedge.experiments.diplomacy.tournament import Tournament
from kedge.games.diplomacy import POWERS
from kedge.records import replayed_games, write_diplomacy_games

pytestmark = pytest.mark.usefixtures("registered")


def quick(**fields):
    agents = ("random-orders", "holds")
    return Tournament(**{"agents": agents, "games": 9, "last_year": 1902, "chunk": 7, **fields})


def played(tournament, folder):
    return run(tournament, engine="inline", progress=False, folder=folder)


def test_one_against_six(tmp_path):
    tournament = quick()
    done = played(tournament, tmp_path / "run")
    assert list(done.results) == ["games 1-7", "games 8-9"]
    found = done.report().data
    one, six = found["agents"]
    assert (one["agent"], one["games"], one["seats"]) == ("random-orders", 9, 9)
    assert (six["agent"], six["games"], six["seats"]) == ("holds", 9, 54)
    assert one["mean"] + 6 * six["mean"] == pytest.approx(1.0)
    assert six["se"] == pytest.approx(one["se"] / 6)
    assert {power: by["games"] for power, by in one["powers"].items()} == {
        power: 2 if power in POWERS[:2] else 1 for power in POWERS
    }
    assert (found["games"], found["solos"] + found["draws"], found["mean_years"]) == (9, 9, 2.0)
    lines = done.report().text().splitlines()
    assert lines[0] == "random-orders – 6 × holds"
    assert [line.split()[:2] for line in lines[4:6]] == [["random-orders", "all"], ["AUSTRIA", "2"]]
    assert lines[12].split()[:3] == ["holds", "all", "9"]
    assert "2.0 years a game; 0 solos, 9 draws" in lines
    assert "not a multiple of 7 games: powers were not played equally often" in lines


def test_a_pool_and_its_records(tmp_path):
    tournament = quick(agents=("random-orders", "holds", "random-orders(candidates=1)"),
                       seating="pool", games=5, chunk=3)  # fmt: skip
    done = played(tournament, tmp_path / "run")
    found = done.report().data["agents"]
    assert sum(one["seats"] for one in found) == 35
    assert sum(one["seats"] * one["mean"] for one in found) == pytest.approx(5.0)
    assert [row["power"] for row in done.report().table.rows] == ["all"] * 3
    path = tmp_path / "games.jsonl.gz"
    write_diplomacy_games(tournament.records(done.results), path)
    games = list(replayed_games(path))
    assert [game.id.rsplit("-", 1)[1] for game in games] == list("12345")
    seats = [name for game in games for name in game.players]
    assert [seats.count(spec) for spec in tournament.agents] == [one["seats"] for one in found]


def test_the_engine_does_not_matter(tmp_path):
    agents = ("rm(uniform-orders, iterations=4, samples=16)", "uniform-orders")
    tournament = quick(agents=agents, last_year=1901)
    one = played(tournament, tmp_path / "inline")
    two = run(tournament, workers=2, progress=False, folder=tmp_path / "local")
    assert one.results == two.results


def test_what_was_finished_is_kept(tmp_path):
    whole = played(quick(), tmp_path / "run")
    [last] = (tmp_path / "run" / "tasks").glob("games_8-9*")
    last.unlink()
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "tasks").iterdir()}
    again = played(quick(), tmp_path / "run")
    assert again.results == whole.results
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_the_digest_of_a_tournament():
    assert quick(agents=(" random-orders ", "holds")).digest == quick().digest
    assert quick(seed=1).digest != quick().digest
    assert quick(chunk=None).chunk == 7
    assert quick(chunk=None, device="cuda").chunk == 21


def test_the_network_that_values_positions_counts():
    found = quick(agents=("rm(diplomacy)", "uniform-orders")).inputs()["weights"]
    assert found.keys() == {"diplomacy", "diplomacy-value"}
    assert quick(agents=("uniform-orders", "holds")).inputs()["weights"] == {}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"games": 0}, "games: at least 1"),
        ({"chunk": 8}, "chunk: a multiple of 7"),
        ({"seating": "pool", "chunk": 0}, "chunk: at least 1"),
        ({"last_year": 1900}, "last_year: 1901 or later"),
        ({"quiet_years": 0}, "quiet_years must be a positive whole number"),
        ({"agents": ("holds",)}, "agents: one against six takes two agents, not 1"),
        ({"agents": ("holds",), "seating": "pool"}, "agents: a pool needs two or more"),
        ({"agents": ("holds", "holds"), "seating": "pool"}, "two or more different agents"),
        ({"agents": ("holds", "holds(")}, "ends too early"),
        ({"seating": "2v5"}, "seating: one of 1v6, pool, not 2v5"),
    ],
)
def test_bad_fields(fields, said):
    with pytest.raises(InputError, match=said):
        quick(**fields)


@pytest.mark.parametrize(
    ("spec", "said"),
    [("chess", "agent chess: does not play diplomacy"), ("hold", "did you mean holds")],
)
def test_bad_players(spec, said, tmp_path):
    with pytest.raises(InputError, match=said):
        played(quick(agents=("holds", spec)), tmp_path / "run")
    assert not (tmp_path / "run").exists()
