"""The anchor of an agent, and whether it is a model of people."""

import pytest

from kedge.agents.anchors import anchor_of, imitates_people
from kedge.specs import parse


@pytest.mark.parametrize(
    ("spec", "anchor"),
    [
        ("chess", "chess"),
        ("chess(elo=1200)", "chess(elo=1200)"),
        ("puct", "chess"),
        ("puct(maia-1900(temperature=0.5), c_puct=1)", "maia-1900(temperature=0.5)"),
        ('puct("./some folder/net.onnx")', '"./some folder/net.onnx"'),
        ("puct(anchor=go)", "go"),
        ("searchbot", "diplomacy"),
        ("pikl-hedge", "uniform"),
        ("sparta(conventions)", "conventions"),
    ],
)
def test_anchor(spec, anchor):
    assert anchor_of(parse(spec)) == parse(anchor)


@pytest.mark.parametrize(
    ("spec", "is_human"),
    [
        ("chess", True),
        ("puct(go, playouts=5)", True),
        ("searchbot(diplomacy)", True),
        ("sparta", True),
        ('puct("./net.onnx")', True),
        ("uniform", False),
        ("puct(uniform)", False),
        ("pikl-hedge(uniform-orders)", False),
        ("sparta(uniform-hanabi)", False),
        ("conventions", False),
        ("sparta(hanabi-smartbot)", False),
        ("diplomacy-bots", False),
    ],
)
def test_models_of_people(spec, is_human):
    assert imitates_people(spec) == is_human
