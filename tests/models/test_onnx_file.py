"""Weights in ONNX files, read without the package onnx."""

import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from kedge.errors import InputError
from kedge.models.onnx_file import read_onnx
from kedge.models.onnx_graph import Graph
from kedge.models.weight_files import parse_model


def model(*arrays, metadata=None):
    """A model with the input ``x`` and constants called after their types."""
    graph = Graph()
    graph.input("x", ["n", 3, 2])
    graph.add("Identity", ["x"], "y")
    graph.output("y", ["n", 3, 2])
    for array in arrays:
        graph.constant(array.dtype.name, array)
    return graph.made("test", metadata)


def test_it_reads_what_the_package_onnx_reads():
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(2, 3)).astype(kind) for kind in ("f4", "f2", "i1", "i8")]
    whole = model(*arrays, metadata={"network": "test", "heads": "4"})
    content = whole.SerializeToString()
    graph = read_onnx(content, "test.onnx")
    assert graph.metadata == {"network": "test", "heads": "4"}
    assert graph.inputs == {"x": (0, 3, 2)}
    constants = graph.constants()
    assert list(constants) == [each.name for each in whole.graph.initializer]
    for each in whole.graph.initializer:
        expected = numpy_helper.to_array(each)
        assert constants[each.name].dtype == expected.dtype
        np.testing.assert_array_equal(constants[each.name], expected)


def test_sizes_may_be_packed():
    tensor = onnx.TensorProto(name="a", data_type=1, raw_data=np.ones(6, "f4").tobytes())
    packed = tensor.SerializeToString() + bytes([1 << 3 | 2, 2, 2, 3])  # field 1: bytes 2, 3
    graph = bytes([5 << 3 | 2, len(packed)]) + packed
    content = bytes([7 << 3 | 2, len(graph)]) + graph
    assert read_onnx(content, "test.onnx").constants()["a"].shape == (2, 3)


@pytest.mark.parametrize("kind", ["f8", "i4"])
def test_constants_of_other_types_are_not_kedges(kind):
    content = model(np.ones(3, kind)).SerializeToString()
    with pytest.raises(KeyError):
        read_onnx(content, "test.onnx").constants()
    with pytest.raises(InputError, match="not a network trained by kedge"):
        parse_model(content, "test.onnx")


def test_a_truncated_file_is_refused():
    content = model(np.ones(3, "f4")).SerializeToString()
    with pytest.raises(InputError, match="not an ONNX model"):
        parse_model(content[:-2], "test.onnx")


def test_a_board_games_model_loads_without_onnx_and_other_games_networks():
    code = """
import sys
from kedge.models.named import load
load("chess")
print([name for name in ("onnx", "kedge.models.diplomacy", "kedge.models.hanabi", "http.client")
       if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
