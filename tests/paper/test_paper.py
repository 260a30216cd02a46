"""The paper's tables and figures on small settings: what they show must be so."""

import json

import hanabi_players
import pytest

from kedge.errors import InputError
from kedge.experiments import run
from kedge.paper import EXPERIMENTS, experiment_class

SMALL = {
    "blotto": {"coins": 5, "lambdas": (0.01, 0.1, 1.0, 10.0), "iterations": 5000, "repeats": 2},
    "theory": {"games": 3, "actions": 4, "lambdas": (0.1, 1.0), "iterations": 2000},
}
SMALL_CHESS = {"models": ("chess(elo=1500)",), "playouts": 3}
SMALL |= {
    "chess-accuracy": {**SMALL_CHESS, "c_puct": (2.0,), "shards": 2},
    "chess-cross-entropy": {**SMALL_CHESS, "c_puct": (2.0,), "shards": 2},
    "chess-by-rating": {**SMALL_CHESS, "best": (2.0,), "buckets": (1400, 1500), "shards": 1},
    "chess-by-time-control": {**SMALL_CHESS, "best": (2.0,), "fewest": 3, "shards": 1},
    "chess-strength": {**SMALL_CHESS, "c_puct": (2.0,), "games": 2, "chunk": 2},
    "chess-tradeoff": {
        **SMALL_CHESS, "c_puct": (2.0,), "games": 2, "chunk": 2, "shards": 1,
    },
}  # fmt: skip
SHORT_MATCH = {"playouts": 3, "games": 2, "chunk": 2, "max_plies": 20, "judge": "playouts"}
SMALL |= {
    "go-accuracy": {"playouts": 3, "c_puct": (2.0,), "positions": 20},
    "go-cross-entropy": {"playouts": 3, "c_puct": (2.0,), "positions": 20},
    "go-rl-agents": {"positions": 20},
    "go-strength": {**SHORT_MATCH, "c_puct": (2.0,)},
    "go-tradeoff": {**SHORT_MATCH, "c_puct": (2.0,), "positions": 20},
}
SMALL_DIPLOMACY = {
    "models": ("uniform-orders",), "lambdas": (1e-1, 1e-3), "iterations": 2, "candidates": 2,
    "samples": 4,
}  # fmt: skip
TWO_GAMES = {**SMALL_DIPLOMACY, "games": 2, "last_year": 1901}
SMALL |= {
    "diplomacy-tradeoff": {**TWO_GAMES, "everything": True, "positions": 3},
    "diplomacy-cross-entropy": {**SMALL_DIPLOMACY, "everything": True, "positions": 3},
    "diplomacy-by-rating": {**SMALL_DIPLOMACY, "everything": True, "positions": None},
    "diplomacy-1v6": TWO_GAMES,
    "diplomacy-pool": TWO_GAMES,
    "diplomacy-search-settings": {**TWO_GAMES, "turns": 1},
}
SMALL_HANABI = {"lambdas": (0.0, 1.0), "rollouts": 5}
SMALL |= {
    "hanabi-prediction": {**SMALL_HANABI, "everything": True, "positions": 20},
    "hanabi-score": {**SMALL_HANABI, "games": 2},
    "hanabi-tradeoff": {**SMALL_HANABI, "games": 2, "everything": True, "positions": 20},
}


@pytest.fixture(scope="module", params=sorted(EXPERIMENTS))
def done(
    request,
    tmp_path_factory,
    human_games,
    go_games,
    diplomacy_games,
    hanabi_games,
    go_model,
    katago,
):
    kind = experiment_class(request.param)
    is_go = request.param.startswith("go-")
    fields = {"models": (go_model,)} if is_go else {}
    if hasattr(kind, "data"):
        games = {"go": go_games, "diplomacy": diplomacy_games, "hanabi": hanabi_games}
        fields["data"] = str(games.get(request.param.partition("-")[0], human_games))
    if hasattr(kind, "katago"):
        fields |= katago
    experiment = kind(**SMALL[request.param], **fields)
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:  # earlier than `own_home`
        patch.setenv("KEDGE_HOME", str(folder / "home"))
        hanabi_players.register(patch)
        return run(experiment, engine="inline", folder=folder / "folder")


def test_report_is_complete(done, tmp_path):
    files = {path.name: path for path in done.write_report(tmp_path / "report")}
    assert set(files) == {"report.txt", "report.csv", "report.tex", "report.json",
                          "figure.svg", "figure.png"}  # fmt: skip
    assert files["figure.png"].read_bytes().startswith(b"\x89PNG")
    assert json.loads(files["report.json"].read_text())["rows"]


def test_blotto_trades_exploitability_for_closeness():
    experiment = experiment_class("blotto")(**SMALL["blotto"])
    rows = [
        row
        for row in run(experiment, engine="inline").report().table.rows
        if row["algorithm"] == "piKL-Hedge"
    ]
    assert [row["lambda"] for row in rows] == [0.01, 0.1, 1.0, 10.0]
    kls = [row["kl"] for row in rows]
    assert kls == sorted(kls, reverse=True)
    assert rows[0]["exploitability"] < rows[-1]["exploitability"]
    for row in rows:
        assert row["exploitability"] == pytest.approx(row["exact_exploitability"], abs=0.05)
        assert row["kl"] == pytest.approx(row["exact_kl"], abs=0.05)


def test_no_bound_is_broken():
    experiment = experiment_class("theory")(**SMALL["theory"])
    rows = run(experiment, engine="inline").report().table.rows
    assert [row["broken"] for row in rows] == [0, 0]
    assert all(row["regret"] < row["regret_bound"] for row in rows)


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(InputError, match="did you mean blotto"):
        experiment_class("bloto")
