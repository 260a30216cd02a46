"""Thinking under limits, with a search that only counts."""

import threading

import numpy as np
import pytest

from kedge.agents.agent import Analysis
from kedge.agents.board.engine import Choice, Control, Limits, choose, nucleus, think


class Counting:
    """A search of three actions that counts its playouts."""

    def __init__(self, playouts=0):
        self.playouts = playouts

    def run(self, playouts=None):
        while self.playouts < playouts:
            self.playouts += 1
            yield self.playouts

    def analysis(self):
        policy = np.array([0.2, 0.5, 0.3])
        return Analysis(policy, policy, np.zeros(3), 0.0, lines=[[7], [8, 4], [9]])


@pytest.mark.parametrize(
    ("limits", "usual", "wanted"),
    [
        (Limits(), 50, 50),
        (Limits(), 0, 1000),
        (Limits(), 5000, 1000),
        (Limits(depth=3), 50, 50),
        (Limits(depth=3), 0, 150),
        (Limits(playouts=7, seconds=1.0), 50, 7),
        (Limits(seconds=1.0), 50, 1000),
        (Limits(playouts=7, infinite=True), 50, 1000),
    ],
)
def test_playouts(limits, usual, wanted):
    assert limits.wanted(usual, 1000) == wanted


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [
        (Limits(), None),
        (Limits(seconds=2.0), 1.9),
        (Limits(seconds=0.2), 0.15),
        (Limits(remaining=60.0), 1.9),
        (Limits(remaining=60.0, moves_to_go=10, increment=1.0), 6.7),
        (Limits(remaining=1.0, increment=9.0), 0.7),
        (Limits(remaining=60.0, seconds=1.0), 0.9),
    ],
)
def test_seconds(limits, seconds):
    found = limits.enough(0.1)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_thoughts():
    thoughts = list(think(Counting(2), Limits(), Control(), playouts=5))
    assert [(thought.playouts, thought.kept) for thought in thoughts] == [(3, 2), (4, 2), (5, 2)]
    control = Control()
    control.stop()
    assert len(list(think(Counting(), Limits(infinite=True), control, playouts=5))) == 1
    assert len(list(think(Counting(), Limits(seconds=0.0), Control(), playouts=5))) == 1


def test_it_waits_until_the_move_is_to_be_played():
    control = Control()
    list(think(Counting(), Limits(), control, playouts=5, pause=lambda _: 0.1))
    assert control.seconds >= 0.1
    control = Control(pondering=True)
    threading.Timer(0.1, control.ponderhit).start()
    list(think(Counting(), Limits(), control, playouts=5))
    assert control.seconds >= 0.1


def test_choices():
    found, rng = Counting().analysis(), np.random.default_rng(0)
    assert choose(found, [7, 8, 9], rng, best=True) == Choice(8, 4)
    assert {choose(found, [7, 8, 9], rng).action for _ in range(50)} == {7, 8, 9}
    assert {choose(found, [7, 8, 9], rng, top_p=0.6).action for _ in range(50)} == {8, 9}


def test_nucleus():
    policy, anchor = np.array([0.1, 0.45, 0.45, 0.0]), np.array([0.3, 0.2, 0.4, 0.1])
    np.testing.assert_allclose(nucleus(policy, 0.45, anchor), [0, 0, 1, 0])
    np.testing.assert_allclose(nucleus(policy, 0.6, anchor), [0, 0.5, 0.5, 0])
    np.testing.assert_allclose(nucleus(policy, 1e-9, anchor), [0, 0, 1, 0])
    np.testing.assert_allclose(nucleus(policy, 0.9999, anchor), policy)
