"""The Hanabi tables: the paper's figures beside ours, and no position searched twice."""

from math import inf

import pytest
from command import answer, kedge
from hanabi_players import people, registered  # noqa: F401

from kedge.errors import InputError
from kedge.experiments import list_runs, run
from kedge.paper.hanabi import published
from kedge.paper.hanabi.prediction import HanabiPrediction
from kedge.paper.hanabi.score import HanabiScore
from kedge.paper.hanabi.tradeoff import HanabiTradeoff
from kedge.records import write_hanabi_games

pytestmark = pytest.mark.usefixtures("registered")
SMALL = {"lambdas": (0.0, 1.0), "rollouts": 5}
GAMES = {**SMALL, "games": 2}


@pytest.fixture
def moves(hanabi_games):
    """The fields that name human games."""
    return {"data": str(hanabi_games), "everything": True}


def report(experiment):
    return run(experiment, engine="inline", progress=False).report()


def by(rows, *keys):
    return {tuple(row[key] for key in keys): row for row in rows}


def test_the_paper_is_copied_right():
    assert published.PREDICTION[published.ALL][0.0] == (0.253, 0.0016)
    assert published.PREDICTION[published.ALL][20.0] == (0.6371, 0.0018)
    assert published.PREDICTION[published.GAMES_OF_10][0.5] == (0.5886, 0.0025)
    assert published.PREDICTION[published.GAMES_OF_20][10.0] == (0.6754, 0.0019)
    assert published.PREDICTION[published.GAMES_OF_20][inf] == (0.6739, 0.0019)
    assert published.SCORES["2p", False][0.5] == (23.11, 0.03)
    assert published.SCORES["1p", False][10.0] == (11.04, 0.17)
    assert published.SCORES["1p", True][0.0] == (22.78, 0.03)
    assert published.SCORES["2p", True][0.0] == (19.98, 0.04)
    assert published.IL_SCORES == {False: (8.81, 0.15), True: (19.72, 0.10)}
    assert published.EXACT_SPARTA == (23.49, 0.02)


def test_predictions_by_score(moves):
    found = report(HanabiPrediction(**SMALL, **moves, positions=None))
    rows = by(found.table.rows, "subset", "agent")
    assert [subset for subset, agent in rows if agent == "IL"] == [
        "all games", "score ≥ 10", "score ≥ 20",
    ]  # fmt: skip
    best = rows["all games", "SPARTA"]
    assert (best["games"], best["top1"], best["paper"]) == (4, 1.0, 0.253)
    raw = rows["score ≥ 20", "IL"]
    assert (raw["games"], raw["gain"], raw["paper"]) == (2, None, 0.6739)
    assert best["gain"] == pytest.approx(1.0 - rows["all games", "IL"]["top1"])
    assert "never released" in found.text()
    assert "played with programs (1,910 games" in found.text()
    assert "Before 0 of the moves the belief was empty" in found.text()
    assert found.figure("svg").startswith(b"<?xml")


def test_subsets_without_a_game_are_left_out(tmp_path):
    path = tmp_path / "games.jsonl"
    write_hanabi_games(people(2, score=11, legal=False), path)
    found = report(HanabiPrediction(**SMALL, data=str(path), everything=True))
    assert {row["subset"] for row in found.table.rows} == {"all games", "score ≥ 10"}
    found.figure("svg")


def test_scores_of_one_who_searches_and_of_two():
    found = report(HanabiScore(**GAMES))
    rows = by(found.table.rows, "searchers", "play", "agent", "belief")
    assert len(rows) == 2 * (2 + 2 + 1) + 1
    both = rows["2p", "sampled", "piKL-SPARTA λ=1", "learned"]
    assert (both["games"], both["paper"], both["paper_se"]) == (2, 22.6, 0.03)
    raw = rows["none", "greedy", "IL", None]
    assert (raw["paper"], raw["gain"]) == (19.72, None)
    exact = rows["1p", "greedy", "SPARTA", "exact"]
    assert exact["paper"] == 23.49
    alone, pair = (rows[who, "sampled", "SPARTA", "learned"] for who in ("1p", "2p"))
    assert pair["mean"] > alone["mean"]
    assert pair["gain"] == pair["mean"] - rows["none", "sampled", "IL", None]["mean"]
    assert "never released" in found.text()
    assert found.figure("svg").startswith(b"<?xml")


def test_agents_of_the_table():
    tables = HanabiScore(**GAMES, models=("hanabi( temperature=0.5 )",)).tables()
    model = "hanabi(temperature=0.5)"
    assert tables["2p piKL-SPARTA λ=1"].agents == (
        f"sparta({model}, lambda=1.0, rollouts=5, belief=learned)",
    )
    assert tables["1p-G SPARTA, exact beliefs"].agents == (
        f"sparta({model}, lambda=0.0, rollouts=5, belief=exact, greedy=true)",
        "hanabi(temperature=0.5, greedy=true)",
    )
    assert tables["none IL"].agents == (model,)
    assert len(HanabiScore(**GAMES, exact=False).tables()) == 10


def test_tables_share_what_they_compute(moves):
    found = report(HanabiTradeoff(**GAMES, **moves))
    rows = by(found.table.rows, "agent")
    assert (rows["IL",]["paper"], rows["IL",]["paper_score"]) == (0.6363, 8.81)
    assert (rows["SPARTA",]["top1"], rows["SPARTA",]["matches"]) == (1.0, 2)
    assert found.figure("svg").startswith(b"<?xml")
    before = {info.folder.name for info in list_runs()}
    assert len(before) == 1 + 1 + 3  # itself, what was searched, and tables
    report(HanabiPrediction(**SMALL, **moves))
    [new] = {info.folder.name for info in list_runs()} - before
    assert new.startswith("hanabi-prediction")
    report(HanabiScore(**GAMES))
    assert sum(info.name == "selfplay" for info in list_runs()) == 11


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        (HanabiScore, {"models": ("a", "b")}, "models: exactly one imitation policy, not 2"),
        (HanabiScore, {"lambdas": (-1.0,)}, "lambdas: at least 0 and finite, not -1"),
        (HanabiScore, {"lambdas": (inf,)}, "lambdas: at least 0 and finite, not inf"),
        (HanabiScore, {"lambdas": (1.0, 1.0)}, "lambdas: a value is given twice"),
        (HanabiScore, {"rollouts": 0}, "rollouts: at least 1, not 0"),
        (HanabiScore, {"games": 0}, "games: at least 1, not 0"),
        (HanabiTradeoff, {"positions": 0}, "positions: at least 1, not 0"),
    ],
)
def test_bad_settings(kind, fields, said):
    with pytest.raises(InputError, match=said):
        kind(**fields)


def test_the_command(moves):
    words = ["--data", moves["data"], "--set", "everything=true", "--set", "lambdas=0,2"]
    words += ["--positions", 20, "--set", "rollouts=5", "--engine", "inline"]
    found = answer("paper", "hanabi-prediction", *words)
    assert [row["agent"] for row in found["rows"][:3]] == ["SPARTA", "piKL-SPARTA λ=2", "IL"]
    done = kedge("paper", "hanabi-prediction", *words, "--anchor", "chess")
    assert done.returncode == 2
    assert "does not play hanabi" in done.stderr
    done = kedge("paper", "hanabi-score", "--set", "belief=guessed")
    assert done.returncode == 2
    assert "'guessed' is not one of learned, exact" in done.stderr
