"""Runs of earlier versions are found again: what names their folders stays as it is."""

from pathlib import Path

import pytest

from kedge.experiments import Experiment
from kedge.experiments.chess.match import ChessMatch
from kedge.experiments.chess.predict import ChessPredict
from kedge.experiments.diplomacy.predict import DiplomacyPredict
from kedge.experiments.diplomacy.tournament import Tournament
from kedge.experiments.go.match import GoMatch
from kedge.experiments.go.predict import GoPredict
from kedge.experiments.hanabi.predict import HanabiPredict
from kedge.experiments.hanabi.selfplay import CrossPlay, SelfPlay

DATA = ("games.txt",)
SEVERAL = ("diplomacy", "rm(diplomacy)", "hedge(diplomacy)")
KNOWN = [
    ("d718f4d5b49e", ChessPredict, {"agent": "chess", "data": DATA}),
    (
        "38c4731f346b",
        ChessPredict,
        {"agent": "chess", "data": DATA, "bucket": 1900, "limit": 5, "told_ratings": True},
    ),
    ("f5b6cef8308a", GoPredict, {"agent": "puct(go, c_puct=2)", "data": DATA, "split": "all"}),
    (
        "00ca26a76f8d",
        DiplomacyPredict,
        {"agent": "diplomacy", "data": DATA, "seed": 3},
    ),
    ("02d8884d0040", HanabiPredict, {"agent": "hanabi", "data": DATA, "bots": True}),
    (
        "19abea5146a5",
        ChessMatch,
        {"a": "chess", "b": "chess", "games": 4, "temperature": 0.3},
    ),
    ("6210d9e97e73", GoMatch, {"a": "go", "b": "go", "judge": "playouts", "komi": 5.5, "size": 9}),
    ("642588abc849", Tournament, {"agents": SEVERAL[:2]}),
    ("65cbcf63506d", Tournament, {"agents": SEVERAL, "seating": "pool", "seed": 2}),
    ("930063a7abf2", SelfPlay, {"agents": ("hanabi",), "bomb": "stack"}),
    ("6c783833998d", CrossPlay, {"agents": ("hanabi", "conventions")}),
]


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("games.txt").write_text("some games")
    # Weights of models that ship may change, and are no question of fields.
    for module in ("predict", "board.match", "diplomacy.tournament", "hanabi.selfplay"):
        monkeypatch.setattr(f"kedge.experiments.{module}.weight_hashes", lambda *specs: {})


@pytest.mark.parametrize(("digest", "kind", "fields"), KNOWN)
def test_digest(digest: str, kind: type[Experiment], fields: dict[str, object]) -> None:
    assert kind(**fields).digest == digest
