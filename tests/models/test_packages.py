"""Models of a game from another package."""

import json
import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest
import tiny_games

from kedge import catalogue
from kedge.agents import make_agent
from kedge.errors import InputError
from kedge.models import named, shipped_models
from kedge.models.onnx_graph import Graph

PACKAGE = """
from dataclasses import dataclass, field
from pathlib import Path

from kedge.agents.uniform import UniformAgent
from kedge.catalogue import GameEntry

SHIPPED = Path(__file__).parent / "models"


@dataclass(frozen=True)
class NimWeights:
    bias: float
    sha256: str
    training: dict = field(default_factory=dict)
    game_name, kind, described = "nim", "nim", "a model of Nim"

    def companions(self, name):
        return ()

    def architecture(self):
        return {"parameters": 1}


def parse(file):
    return NimWeights(float(file.weights()["nim.bias"][0]), file.sha256)


class NimAgent(UniformAgent):
    def __init__(self, weights):
        self.weights = weights


def maker(name, weights):
    return lambda: NimAgent(weights)


PARSERS, MODEL_AGENTS = {"nim": parse}, {"nim": maker}
ENTRY = GameEntry(
    "nim", "Nim", game="tiny_games:NimGame", state="tiny_games:Nim", shipped="nim_package:SHIPPED",
    models="nim_package:PARSERS", model_agents="nim_package:MODEL_AGENTS",
)
"""
CACHES = (
    catalogue._installed,
    shipped_models._files,
    shipped_models.load,
)


def clear_caches():
    for cache in CACHES:
        cache.cache_clear()


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """The folder of the models that an installed package ships."""
    (tmp_path / "nim_package.py").write_text(PACKAGE)
    folder = tmp_path / "models"
    folder.mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "nim_package", raising=False)
    points = [EntryPoint("nim", "nim_package:ENTRY", catalogue.GROUP)]
    monkeypatch.setattr(catalogue, "entry_points", lambda group: points)
    clear_caches()
    yield folder
    clear_caches()
    sys.modules.pop("nim_package", None)


def write(folder, name, kind="nim"):
    graph = Graph()
    graph.input("x", ["n"])
    graph.add("Identity", ["x"], "y")
    graph.output("y", ["n"])
    graph.constant("nim.bias", np.array([0.5], np.float32))
    content = graph.made("nim", {"game": "nim", "network": kind}).SerializeToString()
    (folder / f"{name}.onnx").write_bytes(content)
    (folder / f"{name}.json").write_text(json.dumps({"name": name, "date": "2026-01-01"}))


def test_its_models_have_names_and_agents(shipped):
    write(shipped, "nim")
    assert "nim" in named.names()
    assert named.load("nim").bias == 0.5
    agent = make_agent("nim")
    assert agent.weights is named.load("nim")
    assert agent.policy(tiny_games.Nim(), 0).sum() == pytest.approx(1.0)
    info = named.info("nim")
    assert (info.source, info.path) == (f"ships in {shipped}", shipped / "nim.onnx")


def test_it_cannot_replace_a_model_of_kedge(shipped):
    write(shipped, "chess")
    assert named.load("chess").kind == "board"


def test_a_kind_that_no_game_has(shipped):
    write(shipped, "draughts", kind="draughts")
    with pytest.raises(InputError, match="no installed game has networks of the kind 'draughts'"):
        make_agent("draughts")
