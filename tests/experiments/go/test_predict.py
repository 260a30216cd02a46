"""Prediction of Go moves with the players as input of the model."""

import pytest

from kedge.errors import InputError
from kedge.experiments import run
from kedge.experiments.go.predict import GoPredict

SGF = "(;GM[1]SZ[19]KM[6.5]PC[KGS]DT[2016-01-01]PB[a]PW[b]BR[3d]WR[7d];B[pd];W[dp];B[pp];W[dd])"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("KEDGE_HOME", str(tmp_path))
    path = tmp_path / "game.sgf"
    path.write_text(SGF)
    return path


def predicted(file, agent, **fields):
    experiment = GoPredict(agent=agent, data=(str(file),), split="all", **fields)
    return run(experiment, engine="inline", progress=False).report().data


def test_each_side_has_its_own_rank(file):
    both = predicted(file, "go-large", told_ranks=True)
    assert both["positions"] == 4
    entropy = 0.0
    for rank, opponent in (("3d", "7d"), ("7d", "3d")):
        agent = f"go-large(rank={rank}, opponent={opponent}, server=board)"
        alone = predicted(file, agent, rank=rank)
        assert alone["positions"] == 2
        entropy += alone["cross_entropy"] / 2
    assert both["cross_entropy"] == pytest.approx(entropy, abs=1e-6)


def test_what_cannot_be(file):
    with pytest.raises(InputError, match="takes no players as input"):
        GoPredict(agent="go", data=(str(file),), told_ranks=True)
    with pytest.raises(InputError, match=r"already sets rank"):
        GoPredict(agent="puct(go-large(rank=3d))", data=(str(file),), told_ranks=True)
    with pytest.raises(InputError, match="no position left: 1 game read, 1 of other ranks"):
        predicted(file, "go-large", rank="9d")
    with pytest.raises(InputError, match="no position left: 1 game read, 1 not for testing"):
        predicted(file, "go-large", held_out=True)
