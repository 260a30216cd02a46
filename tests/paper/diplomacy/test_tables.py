"""The Diplomacy tables: the paper's figures beside ours, and nothing computed twice."""

from dataclasses import replace

import pytest
from command import answer, kedge

from kedge.errors import InputError
from kedge.experiments import list_runs, run
from kedge.experiments.diplomacy.predict import DiplomacyPredict
from kedge.paper.diplomacy import published
from kedge.paper.diplomacy.pool import DiplomacyPool
from kedge.paper.diplomacy.prediction import DiplomacyByRating, DiplomacyCrossEntropy
from kedge.paper.diplomacy.settings import DiplomacySearchSettings
from kedge.paper.diplomacy.strength import DiplomacyOneVsSix
from kedge.paper.diplomacy.tradeoff import DiplomacyTradeoff
from kedge.records import read_diplomacy_games, write_diplomacy_games

SMALL = {
    "models": ("uniform-orders",), "lambdas": (1e-1, 1e-3), "iterations": 2, "candidates": 2,
    "samples": 4,
}  # fmt: skip
GAMES = {**SMALL, "games": 2, "last_year": 1901}


def report(experiment):
    return run(experiment, engine="inline", progress=False).report()


def by(rows, *keys):
    return {tuple(row[key] for key in keys): row for row in rows}


def test_the_paper_is_copied_right():
    assert published.AMONG_IL[published.pikl(1e-3)] == (0.527, 0.017)
    assert published.AMONG_IL["RM"] == (0.462, 0.017)
    assert published.IL_AMONG[published.pikl(1e-1)] == (0.083, 0.009)
    assert published.IL_AMONG["Hedge"] == (0.015, 0.002)
    assert published.AMONG_EARLIER["SearchBot"]["BRBot"] == (0.172, 0.013)
    assert published.AMONG_EARLIER["BRBot"]["SearchBot"] == (0.111, 0.011)
    assert published.AMONG_EARLIER["DipNet"]["Blueprint"] == (0.116, 0.001)
    assert published.AMONG_EARLIER[published.GRAY_PIKL]["SearchBot"] == (0.203, 0.014)
    assert published.POOLS[published.pikl(1e-3)]["piKL λ=0.001"] == (0.329, 0.007)
    assert published.POOLS[published.pikl(1e-1)]["SearchBot"] == (0.361, 0.008)
    assert published.POOLS[published.pikl(1e-5)]["IL"] == (0.089, 0.004)
    assert published.POOLS["Hedge"]["DipNet RL"] == (0.039, 0.003)
    # What a pool's eight have for a power sums to 8/7; the paper's first table has a slip.
    sums = {name: sum(mean for mean, _ in pool.values()) for name, pool in published.POOLS.items()}
    assert sums.pop(published.pikl(1e-1)) == pytest.approx(1.345)
    assert list(sums.values()) == pytest.approx([8 / 7] * 5, abs=0.007)


def test_one_against_six_both_ways_and_appendix_h():
    found = report(DiplomacyOneVsSix(**GAMES))
    rows = by(found.table.rows, "section", "one", "six")
    assert len(rows) == 4 + 4 + 30
    there = rows["one among six IL", "piKL λ=0.001", "IL"]
    back = rows["IL among six", "IL", "piKL λ=0.001"]
    assert (there["games"], there["paper"], back["paper"]) == (2, 0.527, 0.018)
    played = {pair[1:] for pair, row in rows.items() if row["kedge"] == "played"}
    assert ("SearchBot", "BRBot") in played
    assert (published.GRAY_PIKL, "SearchBot") in played
    lacking = rows["appendix H", "BRBot", "DipNet"]
    assert (lacking["kedge"], lacking["mean"], lacking["paper"]) == ("not available", None, 0.673)
    assert "rollout=2, preset=authors" in found.text()
    assert "DipNet" not in found.notes[-1]


def test_stand_ins_are_played_where_they_are_named():
    experiment = DiplomacyOneVsSix(**GAMES, dipnet="uniform-orders( temperature=0.1 )")
    part = experiment.parts()["SearchBot", "DipNet"]
    assert part.agents[1] == "uniform-orders(temperature=0.1)"
    assert ("SearchBot", "DipNet") in experiment.pairs()
    assert ("SearchBot", "DipNet RL") not in experiment.pairs()
    assert len(replace(experiment, earlier=False).pairs()) == 8


def test_claims_may_have_more_games():
    parts = DiplomacyOneVsSix(**{**GAMES, "lambdas": (1e-1, 1e-2)}, claim_games=9).parts()
    assert parts["piKL λ=0.1", "IL"].games == parts["IL", "piKL λ=0.1"].games == 9
    assert parts["RM", "IL"].games == parts["Hedge", "IL"].games == 9
    assert parts["piKL λ=0.01", "IL"].games == parts["IL", "RM"].games == 2


def test_a_pool_of_stand_ins():
    found = report(DiplomacyPool(**GAMES))
    rows = by(found.table.rows, "pool", "agent")
    assert {pool for pool, _ in rows} == {"piKL λ=0.1", "piKL λ=0.001", "Hedge"}
    mine = rows["piKL λ=0.001", "piKL λ=0.001"]
    assert (mine["kedge"].split("(")[0], mine["paper"]) == ("pikl-hedge", 0.329)
    assert rows["Hedge", "SearchBot"]["paper"] == 0.141
    assert rows["Hedge", "IL at 0.1"]["paper"] is None
    assert rows["Hedge", "Blueprint"]["kedge"] == "not available"
    assert "DORA (29.1%), HumanDNVI-NPU (37.8%)" in found.text()


def test_a_pool_has_seven_beside_the_one_that_it_is_about():
    experiment = DiplomacyPool()
    assert len(experiment.pool) == 7
    assert "diplomacy-bots(temperature=0.1)" in experiment.pool
    named = DiplomacyPool(**GAMES, pool=("uniform-orders", "rm( uniform-orders )"))
    assert list(named.members()) == ["uniform-orders", "rm(uniform-orders)"]


def test_settings_are_timed_and_played():
    experiment = DiplomacySearchSettings(
        models=("uniform-orders",), samples=4, iterations=2, games=1, last_year=1901, turns=1
    )
    found = report(experiment)
    ours, authors, searchbot, gray, paper = found.table.rows
    assert all(row["seconds"] > 0.0 and row["games"] == 1 for row in (ours, authors, searchbot))
    assert (ours["candidates"], ours["rollout"], ours["paper"]) == (30, 0, 0.527)
    assert (authors["candidates"], authors["top_p"]) == (30, 1.0)
    assert (searchbot["candidates"], searchbot["rollout"]) == (50, 2)
    assert (gray["candidates"], gray["iterations"], gray["rollout"]) == (50, 256, 2)
    assert (paper["candidates"], paper["iterations"], paper["top_p"]) == (30, 512, 0.95)


def test_tables_share_what_they_compute(diplomacy_games):
    people = {"data": str(diplomacy_games), "everything": True, "positions": 3}
    found = report(DiplomacyTradeoff(**GAMES, **people))
    rows = by(found.table.rows, "agent")
    assert rows["IL",]["mean"] == 1 / 7
    assert (rows["RM",]["matches"], rows["RM",]["paper"]) == (2, 0.462)
    assert rows["DORA (not available)",]["paper_top1"] == 0.291
    before = {info.folder.name for info in list_runs()}
    predictions = {name for name in before if name.startswith("predict")}
    assert (len(predictions), len(before)) == (5, 5 + 4 + 1)

    report(DiplomacyCrossEntropy(**SMALL, **people))
    [new] = {info.folder.name for info in list_runs()} - before
    assert new.startswith("diplomacy-cross-entropy")
    report(DiplomacySearchSettings(**GAMES, turns=1))
    played = [info for info in list_runs() if info.name == "tournament"]
    assert len(played) == 4 + 4, "those by the paper's settings were there"


def test_cross_entropy_says_what_it_is(diplomacy_games):
    fields = {"data": str(diplomacy_games), "everything": True, "positions": None, "tier": "A"}
    found = report(DiplomacyCrossEntropy(**SMALL, **fields))
    first, *others = found.table.rows
    assert (first["agent"], first["games"], first["gain"]) == ("IL", 2, None)
    assert others[0]["gain"] == others[0]["cross_entropy"] - first["cross_entropy"]
    assert "with 0.001 of the anchor's probability" in found.text()
    assert "All movement phases of all games of tier A" in found.text()


def test_accuracy_by_rating(diplomacy_games):
    fields = {"data": str(diplomacy_games), "everything": True, "positions": None}
    found = report(DiplomacyByRating(**SMALL, **fields))
    rows = by(found.table.rows, "agent", "rating")
    assert [rating for agent, rating in rows if agent == "IL"] == [
        "900-999", "1000-1099", "1100-1199",
    ]  # fmt: skip
    assert {agent for agent, _ in rows} == {"IL", "RM", "piKL λ=0.1", "piKL λ=0.001"}
    assert {row["games"] for row in rows.values()} == {2}


def test_games_without_ratings_are_told_of(diplomacy_games, tmp_path):
    path = tmp_path / "unrated.jsonl"
    games = [replace(game, ratings=None) for game in read_diplomacy_games(diplomacy_games)]
    write_diplomacy_games(games, path)
    words = ("--set", "everything=true", "--set", "models=uniform-orders", "--engine", "inline")
    done = kedge("paper", "diplomacy-by-rating", "--data", path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert f"{path}: no game has ratings" in line


def test_phases_are_drawn_from_all_games(diplomacy_games):
    def drawn(limit, seed=0):
        experiment = DiplomacyPredict(
            agent="uniform-orders", data=(str(diplomacy_games),), everything=True, drawn=True,
            limit=limit, seed=seed,
        )  # fmt: skip
        taken = [pair for task in experiment.tasks() for pair in experiment.chosen(task)]
        return {(game.id, phase) for game, phases in taken for phase in phases}

    everything, some, fewer = drawn(None), drawn(6), drawn(3)
    assert len(everything) == 12  # two years, three games
    assert (len(some), len(fewer)) == (6, 3)
    assert fewer < some < everything
    assert drawn(3, seed=1) != fewer


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        (DiplomacyOneVsSix, {"models": ("a", "b")}, "models: exactly one human model, not 2"),
        (DiplomacyOneVsSix, {"lambdas": (0.0,)}, "lambdas: above 0 and finite, not 0"),
        (DiplomacyOneVsSix, {"lambdas": (0.1, 0.1)}, "lambdas: a value is given twice"),
        (DiplomacyOneVsSix, {"iterations": 0}, "iterations: at least 1, not 0"),
        (DiplomacyOneVsSix, {"games": 0}, "games: at least 1, not 0"),
        (DiplomacyOneVsSix, {"claim_games": 0}, "claim_games: at least 1, not 0"),
        (DiplomacyTradeoff, {"chunk": 8}, "chunk: a multiple of 7"),
        (DiplomacyTradeoff, {"positions": 0}, "positions: at least 1, not 0"),
        (DiplomacyPool, {"pool": ()}, "pool: none given"),
        (DiplomacyPool, {"pool": ("rm(diplomacy)",) * 2}, "pool: a value is given twice"),
        (DiplomacyPool, {"pool": ("hedge(diplomacy)",)}, "two or more different agents"),
        (DiplomacySearchSettings, {"turns": 0}, "turns: at least 1, not 0"),
    ],
)
def test_bad_settings(kind, fields, said):
    with pytest.raises(InputError, match=said):
        kind(**fields)


def test_the_command(diplomacy_games):
    found = answer(
        "paper", "diplomacy-cross-entropy", "--data", diplomacy_games, "--anchor", "uniform-orders",
        "--positions", 2, "--set", "everything=true", "--set", "lambdas=0.1", "--set",
        "iterations=2", "--set", "samples=4", "--engine", "inline",
    )  # fmt: skip
    assert [row["agent"] for row in found["rows"]] == ["IL", "piKL λ=0.1", "Hedge", "RM"]
    done = kedge("paper", "diplomacy-1v6", "--anchor", "uniform-orders", "--set", "blueprint=none(")
    assert done.returncode == 2
    assert "ends too early" in done.stderr
