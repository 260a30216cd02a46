"""The Diplomacy network: the same in ONNX and in torch, order by order and all at once."""

from collections import Counter

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch")

from kedge import _core  # noqa: E402
from kedge.errors import InputError  # noqa: E402
from kedge.games.diplomacy import POWERS, Diplomacy, DiplomacyState  # noqa: E402
from kedge.models.board.backends import read_weights  # noqa: E402
from kedge.models.diplomacy import orders as order_networks  # noqa: E402
from kedge.models.diplomacy.backends import NetworkValues, OnnxOrderNetwork, TorchOrderNetwork  # noqa: E402
from kedge.models.diplomacy.encoding import facts_of  # noqa: E402
from kedge.models.diplomacy.network import (  # noqa: E402
    DiplomacyWeights,
    to_shipped_onnx,
    weight_names,
)
from kedge.models.diplomacy.orders import NetworkOrders, SampledOrders  # noqa: E402
from kedge.models.diplomacy.torch_network import DiplomacyModule, Shape  # noqa: E402
from kedge.models.torch_arrays import arrays_of  # noqa: E402
from kedge.models.weight_files import parse_model, read_model  # noqa: E402

FRANCE, ITALY = POWERS.index("FRANCE"), POWERS.index("ITALY")


@pytest.fixture(scope="module")
def weights():
    torch.manual_seed(0)
    module = DiplomacyModule(Shape(width=32, blocks=2, heads=2, layers=2)).eval()
    return DiplomacyWeights(arrays_of(module), 2, "test")


@pytest.fixture(scope="module", params=["onnx", "torch"])
def model(request, weights):
    network = (
        OnnxOrderNetwork(weights) if request.param == "onnx" else TorchOrderNetwork(weights, "cpu")
    )
    return NetworkOrders(network, batch=5)


@pytest.fixture(scope="module")
def winter():
    return DiplomacyState.from_json(
        {
            "name": "W1901A",
            "units": {"FRANCE": ["A SPA"], "ITALY": ["A ROM", "A VEN", "F NAP"]},
            "centers": {"FRANCE": ["PAR", "MAR", "BRE"], "ITALY": ["ROM"]},
        }
    )


def questions():
    state = Diplomacy().initial_state()
    later = state.clone()
    later.apply({"FRANCE": ["A PAR - BUR"], "GERMANY": ["A MUN - BUR", "F KIE - DEN"]})
    return [(one, power) for one in (state, later) for power in range(len(POWERS))]


def test_backends_agree(weights):
    asked = questions()
    orders = [one.orders[0] for one in _drawn(NetworkOrders(OnnxOrderNetwork(weights)), asked, 1)]
    scores = [
        np.concatenate(NetworkOrders(network, 3).score(asked, orders))
        for network in (OnnxOrderNetwork(weights, threads=2), TorchOrderNetwork(weights, "cpu"))
    ]
    np.testing.assert_allclose(*scores, atol=1e-5)
    boards = _core.DiplomacyBatch([state.board for state, _ in asked])
    models = NetworkValues(weights, batch=3), NetworkValues(weights, threads=2)
    shares = [model.values(boards) for model in models]
    np.testing.assert_allclose(*shares, atol=1e-6)
    np.testing.assert_allclose(shares[0].sum(1), 1.0)


def _drawn(model, asked, count, **how):
    return model.draw(asked, count, np.random.default_rng(1), **how)


def test_drawing_and_scoring_give_the_same_probability(model, winter):
    asked = [*questions(), (winter, FRANCE), (winter, ITALY), (winter, 0)]
    drawn = _drawn(model, asked, 40)
    for question, one in zip(asked, drawn, strict=True):
        assert one.counts.sum() == 40
        assert len({tuple(orders) for orders in one.orders}) == len(one.orders)
        scores = model.score([question] * len(one.orders), one.orders)
        np.testing.assert_allclose([s.sum() for s in scores], one.log_probability, atol=1e-5)
    assert [len(orders) for orders in drawn[-1].orders] == [0]  # Austria has nothing to do


def test_powers_without_orders_do_not_change_the_draws_of_others(model, winter):
    asked = [(winter, ITALY), (winter, FRANCE)]
    alone = _drawn(model, asked, 9, most=[2, 3])
    with_austria = _drawn(model, [(winter, 0), *asked, (winter, 0)], 9, most=[1, 2, 3, 1])
    for one, other in zip(alone, with_austria[1:3], strict=True):
        np.testing.assert_array_equal(one.orders, other.orders)
    assert [(drawn.counts.tolist(), len(drawn.orders[0])) for drawn in with_austria[::3]] == [
        ([9], 0)
    ] * 2


def test_the_set_of_builds_has_all_the_probability(model, winter):
    """Every set of builds, and of removals, in one way only."""
    for power, count in ((FRANCE, 14), (ITALY, 3)):
        [drawn] = _drawn(model, [(winter, power)], 20_000)
        assert len(drawn.orders) == count
        assert np.exp(drawn.log_probability).sum() == pytest.approx(1.0, abs=1e-4)
        np.testing.assert_allclose(
            drawn.counts / drawn.counts.sum(), np.exp(drawn.log_probability), atol=0.02
        )
        for orders in drawn.orders:
            texts = {"WAIVE"} | {_core.diplomacy_format_order(int(o)) for o in orders}
            legal = set().union(*winter.orders(POWERS[power]).values()) | {"WAIVE"}
            assert texts <= legal


@pytest.mark.parametrize("at_once", [1, 3, 128])
def test_the_likeliest_are_those_of_all(model, winter, at_once, monkeypatch):
    """Whatever is not followed: of many draws the very same, of few as often the same."""
    monkeypatch.setattr(order_networks, "_AT_ONCE", at_once)
    asked = [(winter, FRANCE), (winter, ITALY)]
    for one, all_, most in zip(
        _drawn(model, asked, 20_000, most=[5, 2]), _drawn(model, asked, 20_000), [5, 2], strict=True
    ):
        assert most <= len(one.orders) <= len(all_.orders)
        best, expected = ranked(one)[:most], ranked(all_)[:most]
        assert [orders for _, orders in best] == [orders for _, orders in expected]
        np.testing.assert_allclose([p for p, _ in best], [p for p, _ in expected], atol=1e-6)
    firsts = [
        Counter(ranked(one)[0][1] for one in _drawn(model, asked[:1] * 400, 3, **how))
        for how in ({"most": [1] * 400}, {})
    ]
    for orders in firsts[0] | firsts[1]:
        assert firsts[0][orders] / 400 == pytest.approx(firsts[1][orders] / 400, abs=0.12)


def ranked(drawn):
    pairs = zip(drawn.log_probability.tolist(), map(tuple, drawn.orders), strict=True)
    return sorted(pairs, reverse=True)


def test_temperature_and_top_p(model):
    asked = questions()[:1]
    [greedy] = _drawn(model, asked, 100, temperature=0.0)
    assert len(greedy.orders) == 1
    [wide] = _drawn(model, asked, 3000)
    [cold] = _drawn(model, asked, 3000, temperature=0.2)
    [few] = _drawn(model, asked, 3000, top_p=0.3)
    assert len(cold.orders) < len(wide.orders) > len(few.orders)
    with pytest.raises(InputError, match="temperature"):
        _drawn(model, asked, 1, temperature=-1.0)
    with pytest.raises(InputError, match="top_p"):
        _drawn(model, asked, 1, top_p=0.0)


@pytest.mark.parametrize(("temperature", "top_p"), [(1.0, 1.0), (0.5, 0.9), (0.0, 1.0)])
def test_everyone_draws_as_one_power_does(weights, winter, temperature, top_p):
    """All powers at once, on a board with nothing to order for some: the same shares of orders."""
    model = SampledOrders(TorchOrderNetwork(weights, "cpu"), batch=500)
    how, count = {"temperature": temperature, "top_p": top_p}, 4000
    spring = questions()[0][0]
    rng = np.random.default_rng(1)
    drawn = model.draw_everyone([spring, *[winter] * count], rng, **how)
    assert len(drawn) == count + 1
    assert len(drawn[0]) == 22
    spring.clone().apply_packed(drawn[0])
    for power, own in ((FRANCE, slice(0, 2)), (ITALY, slice(2, 4))):
        [alone] = _drawn(model, [(winter, power)], count, **how)
        expected = {
            tuple(orders.tolist()): times / count
            for orders, times in zip(alone.orders, alone.counts, strict=True)
        }
        found = Counter(tuple(orders[own].tolist()) for orders in drawn[1:])
        for orders in expected.keys() | found.keys():
            assert found[orders] / count == pytest.approx(expected.get(orders, 0.0), abs=0.035)


def test_units_without_orders_hold_and_illegal_ones_are_impossible(model):
    state = Diplomacy().initial_state()
    hold = state.pack({"FRANCE": ["A PAR H", "A MAR H", "F BRE H"]})
    nothing = hold[:0]
    np.testing.assert_allclose(*model.score([(state, FRANCE)] * 2, [hold, nothing]))
    far = np.array([_core.diplomacy_parse_order("A PAR - MOS")], np.uint32)
    [scores] = model.score([(state, FRANCE)], [far])
    assert np.isneginf(scores).tolist() == [False, False, True]


def test_the_file_comes_back(weights, tmp_path):
    content = to_shipped_onnx(weights).SerializeToString()
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    back = read_model(path)
    assert back.architecture() == weights.architecture()
    for name, array in weights.arrays.items():
        scale = np.abs(array).max() / 127
        np.testing.assert_allclose(back.arrays[name], array, atol=scale)
    with pytest.raises(InputError, match="not a model of a board game"):
        read_weights(path)


def test_the_names_of_weights(weights):
    assert weight_names(weights.blocks, weights.layers) == weights.arrays.keys()


def test_files_that_are_not_whole(weights):
    model = to_shipped_onnx(weights)
    kept = [one for one in model.graph.initializer if not one.name.startswith("lstm.1.hidden")]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    with pytest.raises(InputError, match="not a network trained by kedge"):
        parse_model(model.SerializeToString(), "broken.onnx")
    model = to_shipped_onnx(weights)
    onnx.helper.set_model_props(model, {"game": "diplomacy", "heads": "many"})
    with pytest.raises(InputError, match="not a network trained by kedge"):
        parse_model(model.SerializeToString(), "broken.onnx")


def test_facts_of_a_state_tell_the_orders_before():
    (start, _), *_, (later, _) = questions()
    before, after = facts_of([start, later])[:, :81, 7:]
    assert not before.any()
    assert after.any()
