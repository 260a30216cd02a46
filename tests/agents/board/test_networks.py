"""Networks by the names and files of models."""

import numpy as np
import onnx
import pytest
import tiny_lc0 as tiny

from kedge.agents import make_agent
from kedge.agents.board.networks import network
from kedge.errors import InputError
from kedge.models.board.network import to_onnx
from kedge.models.board.onnx_backends import OnnxNetwork
from kedge.models.board.tower import TowerNetwork
from kedge.models.chess.lc0 import parse_lc0

PLANES = (np.random.default_rng(0).random((3, 112, 8, 8)) < 0.2).astype(np.float32)


def of_others_making(model):
    """The same graph, its numbers by other names."""
    names = {array.name: f"w{i}" for i, array in enumerate(model.graph.initializer)}
    for array in model.graph.initializer:
        array.name = names[array.name]
    for node in model.graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
    return model


def test_the_backend_of_each_kind_of_file(tmp_path):
    content = tiny.net()
    weights = parse_lc0(content, "net")
    lc0 = tiny.write(tmp_path / "net.pb.gz", content)
    ours, others = tmp_path / "ours.onnx", tmp_path / "others.onnx"
    onnx.save(to_onnx(weights), ours)
    onnx.save(of_others_making(to_onnx(weights)), others)
    found = [network(str(path)) for path in (lc0, ours, others)]
    assert [type(each) for each in found] == [TowerNetwork, TowerNetwork, OnnxNetwork]
    expected, *rest = (each.evaluate(PLANES) for each in found)
    for each in rest:
        np.testing.assert_allclose(each.policy, expected.policy, atol=1e-4)
        np.testing.assert_allclose(each.value, expected.value, atol=1e-5)


@pytest.mark.parametrize("model", ["go", "go-modern"])
def test_a_model_without_ranks_names_the_one_with_them(model):
    known = "it takes temperature, symmetries; go-large takes rank$"
    for spec in (f"{model}(rank=3d)", f"puct({model}(rank=3d), c_puct=2)"):
        with pytest.raises(InputError, match=f"has no parameter 'rank'; {known}"):
            make_agent(spec)
    with pytest.raises(InputError, match=r"takes no players as input; go-large takes rank$"):
        network(f"{model}(rank=3d)")


def test_no_other_model_is_named_for_what_none_takes(tmp_path):
    path = tmp_path / "mine.onnx"
    onnx.save(to_onnx(parse_lc0(tiny.net(), "net")), path)
    with pytest.raises(InputError, match=r"players as input; chess takes elo and speed$"):
        network(f'"{path}"(elo=1500, speed=blitz)')
    for spec in ("go(rnk=3d)", "go(elo=1500)", "go-large(elo=1500)", f'"{path}"(rank=3d)'):
        with pytest.raises(InputError, match=r"has no parameter .*; it takes [a-z, ]+$"):
            make_agent(spec)


def test_files_that_are_none(tmp_path):
    path = tmp_path / "net.onnx"
    path.write_bytes(b"\x08 not a model")
    with pytest.raises(InputError, match=r"net\.onnx: not an ONNX model"):
        network(str(path))
    with pytest.raises(InputError, match="no such file"):
        network(str(tmp_path / "none.onnx"))
