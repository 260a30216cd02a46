"""Networks that are averaged over the symmetries of the board."""

import numpy as np
import pytest
import tiny_go

from kedge.agents import make_player
from kedge.agents.board.puct import NetworkAgent
from kedge.errors import InputError
from kedge.games.go import GoState
from kedge.games.symmetries import COUNT, symmetries
from kedge.models.board.onnx_backends import OnnxNetwork
from kedge.models.board.symmetries import SymmetricNetwork


@pytest.fixture(scope="module")
def network():
    return OnnxNetwork(tiny_go.weights(policy="points"))


def planes_of(network, count=3):
    rng = np.random.default_rng(0)
    planes = (rng.random((count, *network.encoding.shape)) < 0.3).astype(np.float32)
    planes[:, network.encoding.number_plane] = 0.65
    return planes


def turned_by(symmetry, planes, side):
    points = planes.reshape(*planes.shape[:2], -1)[:, :, symmetries(side)[symmetry]]
    return points.reshape(planes.shape)


@pytest.mark.parametrize("side", [19, 9])
def test_turned_boards_have_turned_policies(network, side):
    mean = SymmetricNetwork(network).on(side)
    planes = planes_of(mean)
    policy, value, draw = mean.evaluate(planes)
    assert draw is None
    for symmetry in range(COUNT):
        there = mean.evaluate(turned_by(symmetry, planes, side))
        points = symmetries(side)[symmetry]
        np.testing.assert_allclose(there.policy[:, :-1], policy[:, points], atol=1e-5)
        np.testing.assert_allclose(there.policy[:, -1], policy[:, -1], atol=1e-5)
        np.testing.assert_allclose(there.value, value, atol=1e-5)


def test_the_mean_is_that_of_single_symmetries(network):
    side, planes = network.encoding.side, planes_of(network)
    one = SymmetricNetwork(network, 1).evaluate(planes)
    alone = network.evaluate(planes)
    np.testing.assert_allclose(one.policy, alone.policy, atol=1e-6)
    two = SymmetricNetwork(network, 2).evaluate(planes)
    other = network.evaluate(turned_by(1, planes, side))
    back = np.append(np.argsort(symmetries(side)[1]), side**2)
    np.testing.assert_allclose(two.policy, (alone.policy + other.policy[:, back]) / 2, atol=1e-5)
    np.testing.assert_allclose(two.value, (alone.value + other.value) / 2, atol=1e-5)
    masks, numbers = network.encoding.pack(planes)
    packed = SymmetricNetwork(network, 2).evaluate_packed(masks, numbers)
    np.testing.assert_allclose(packed.policy, two.policy, atol=1e-5)


def test_the_corners_are_alike_to_its_agent(network):
    state = GoState(komi=6.5)
    (analysis,) = NetworkAgent(SymmetricNetwork(network)).analyse_many([state])
    corners = [60, 72, 288, 300]  # the four 4-4 points
    np.testing.assert_allclose(analysis.policy[corners], analysis.policy[corners[0]], rtol=1e-4)


def test_how_many(network):
    player = make_player("puct(go(symmetries=8), playouts=2)", "go")
    assert isinstance(player.network, SymmetricNetwork)
    for bad in ("0", "9", "1.5", "all"):
        with pytest.raises(InputError, match="symmetries"):
            make_player(f"go(symmetries={bad})", "go")
    with pytest.raises(InputError, match="has no parameter 'symmetries'"):
        make_player("chess(symmetries=8)", "chess")
