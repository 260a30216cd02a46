"""The backends against numpy's forward pass, and against lc0."""

import lzma
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import onnx
import pytest
import tiny_go
import tiny_lc0 as tiny

from kedge import _core
from kedge.errors import InputError
from kedge.machine import cores
from kedge.models.board import plain
from kedge.models.board.conditioning import for_players
from kedge.models.board.lanes import open_lanes
from kedge.models.board.network import to_onnx
from kedge.models.board.onnx_backends import OnnxNetwork, OpenVinoNetwork
from kedge.models.board.torch_backend import TorchNetwork, to_torch
from kedge.models.board.tower import TowerNetwork
from kedge.models.chess.encoding import CHESS
from kedge.models.chess.lc0 import parse_lc0, read_lc0
from kedge.models.go.encoding import GO
from kedge.models.shipped_models import load
from kedge.models.weight_files import read_model

SHAPES = {
    "maia's": {"blocks": 2},
    "no tower": {"blocks": 0},
    "no squeeze": {"se": 0, "structure": 3},
    "classical": {"structure": 3, "policy": 1, "value": 1, "se": 0, "norm": "means"},
    "classical policy": {"policy": 1, "norm": "full"},
    "classical value": {"value": 1, "planes": 73},
}


@pytest.fixture(params=SHAPES)
def weights(request):
    return parse_lc0(tiny.net(**SHAPES[request.param]), request.param)


def positions(count, seed=1):
    rng = np.random.default_rng(seed)
    planes = (rng.random((count, 112, 8, 8)) < 0.2).astype(np.float32)
    planes[:, CHESS.number_plane] = rng.integers(0, 100, count)[:, None, None]
    return planes


def same(found, expected, within=1e-5):
    scale = np.abs(expected.policy).max()
    np.testing.assert_allclose(found.policy, expected.policy, atol=within * scale)
    np.testing.assert_allclose(found.value, expected.value, atol=within)
    assert (found.draw is None) == (expected.draw is None)
    if found.draw is not None:
        np.testing.assert_allclose(found.draw, expected.draw, atol=within)


def test_openvino_is_the_specification(weights):
    pytest.importorskip("openvino")
    planes = positions(5)
    expected = plain.forward(weights, planes)
    for threads in (1, 2):
        exact = OpenVinoNetwork(weights, threads=threads, dtype="float32")
        same(exact.evaluate(planes), expected)
        same(exact.evaluate_packed(*CHESS.pack(planes[:1])), plain.forward(weights, planes[:1]))
    same(OpenVinoNetwork(weights, dtype="bfloat16").evaluate(planes), expected, within=0.1)


def test_onnx_is_the_specification(weights):
    planes = positions(5)
    expected = plain.forward(weights, planes)
    network = OnnxNetwork(weights)
    same(network.evaluate(planes), expected)
    same(network.evaluate_packed(*CHESS.pack(planes)), expected)
    assert found_dtypes(network.evaluate(planes)) == {np.dtype(np.float32)}


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_tower_is_the_specification(weights, threads):
    planes = positions(40)
    expected = plain.forward(weights, planes)
    network = TowerNetwork(weights, threads=threads)
    found = network.evaluate(planes)
    same(found, expected)
    assert found_dtypes(found) == {np.dtype(np.float32)}
    # An answer is the same to the bit, however many are asked at once and on whatever threads.
    for rows in (slice(0, 0), slice(3, 4), slice(3, 5), slice(7, 40)):
        for some in (
            network.evaluate(planes[rows]),
            network.evaluate_packed(*CHESS.pack(planes[rows])),
        ):
            np.testing.assert_array_equal(some.policy, found.policy[rows])
            np.testing.assert_array_equal(some.value, found.value[rows])


@pytest.mark.parametrize("instructions", _core.tower_instructions())
def test_whatever_the_machines_instructions(weights, monkeypatch, instructions):
    monkeypatch.setattr(_core, "Tower", partial(_core.Tower, instructions=instructions))
    planes = positions(13)
    same(TowerNetwork(weights).evaluate(planes), plain.forward(weights, planes))


def test_a_tower_that_several_ask_at_once():
    network = TowerNetwork(parse_lc0(tiny.net(filters=32), "net"), threads=2)
    planes = positions(24)
    expected = network.evaluate(planes).policy

    def ask(row):
        rows = slice(row, row + 1 + row % 3)
        return (network.evaluate(planes[rows]).policy == expected[rows]).all()

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(ask, [*range(24)] * 4))


@pytest.mark.parametrize("side", [4, 5, 9, 13, 18, 19])
@pytest.mark.parametrize("threads", [1, 3])
def test_towers_on_boards_that_tiles_do_and_do_not_fill(side, threads):
    weights = tiny_go.weights(filters=48, policy="points").on(side)
    shape = weights.encoding.shape
    planes = (np.random.default_rng(0).random((13, *shape)) < 0.3).astype(np.float32)
    network = TowerNetwork(weights, threads=threads)
    # Winograd's transforms round in float32: by a little more the more planes there are.
    same(network.evaluate(planes), plain.forward(weights, planes), within=2e-5)
    same(network.evaluate(planes[:1]), plain.forward(weights, planes[:1]), within=2e-5)


def test_towers_for_other_players_share_their_layers():
    weights = replace(load("chess"), tower_layers={})
    planes = positions(2)
    known = {}
    for elo in (1000, 2000):
        told = for_players(weights, "chess", elo=elo)
        same(TowerNetwork(told).evaluate(planes), plain.forward(told, planes), within=2e-5)
        layer = weights.tower_layers["blocks.0.conv1"][-1]
        assert known.setdefault("layer", layer) is layer
    scaled = {"blocks.0.conv1.weight": 2.0 * weights.arrays["blocks.0.conv1.weight"]}
    other = replace(told, arrays={**told.arrays, **scaled})
    same(TowerNetwork(other).evaluate(planes), plain.forward(other, planes), within=2e-5)


def test_blocks_may_squeeze_by_turns_much_and_little():
    weights = tiny_go.weights(squeezed=600, policy="points").on(9)
    few = {
        f"blocks.1.se.fc1.{part}": weights.arrays[f"blocks.1.se.fc1.{part}"][:3]
        for part in ("weight", "bias")
    }
    few["blocks.1.se.fc2.weight"] = weights.arrays["blocks.1.se.fc2.weight"][:, :3]
    weights = replace(weights, arrays={**weights.arrays, **few})
    planes = (np.random.default_rng(0).random((3, *weights.encoding.shape)) < 0.3).astype(
        np.float32
    )
    same(TowerNetwork(weights).evaluate(planes), plain.forward(weights, planes))


def test_layers_that_do_not_fit_are_refused(weights):
    wrong = {**weights.arrays, "value.fc2.weight": weights.arrays["value.fc2.weight"][:, :-1]}
    with pytest.raises(InputError, match="weights: a layer's inputs differ"):
        TowerNetwork(replace(weights, arrays=wrong))


def found_dtypes(found):
    return {array.dtype for array in found if array is not None}


def test_onnx_model(weights):
    model = to_onnx(weights)
    onnx.checker.check_model(model, full_check=True)
    assert model.opset_import[0].version >= 17
    outputs = {output.name for output in model.graph.output}
    assert outputs == {"policy", "value"} | ({"wdl"} if weights.value == "wdl" else set())


def test_torch_is_the_specification(weights):
    pytest.importorskip("torch")
    planes = positions(5)
    expected = plain.forward(weights, planes)
    network = TorchNetwork(weights)
    same(network.evaluate(planes), expected)
    masks, rule50 = CHESS.pack(planes)
    same(network.evaluate_packed(masks, rule50), expected)
    same(network.evaluate_packed(masks.view(np.int64), rule50), expected)
    assert set(to_torch(weights).state_dict()) == set(weights.arrays)


def test_torch_in_half_the_bits(weights):
    pytest.importorskip("torch")
    found = TorchNetwork(weights, dtype="bfloat16").evaluate_packed(*CHESS.pack(positions(5)))
    same(found, plain.forward(weights, positions(5)), within=0.1)
    assert found_dtypes(found) == {np.dtype(np.float32)}


def test_torch_compiled_pads_and_cuts(monkeypatch):
    torch = pytest.importorskip("torch")
    sizes = []

    def compiled(call, **_):
        def run(first, *rest):
            sizes.append(len(first))
            return call(first, *rest)

        return run

    monkeypatch.setattr(torch, "compile", compiled)
    weights = parse_lc0(tiny.net(), "net")
    network = TorchNetwork(weights, compile=True)
    same(network.evaluate(positions(5)), plain.forward(weights, positions(5)))
    network.evaluate_packed(*CHESS.pack(positions(3)))
    assert sizes == [16, 16]


@pytest.mark.parametrize("backend", ["onnx", "torch"])
def test_lanes_answer_for_legal_moves_alone(backend):
    weights = parse_lc0(tiny.net(), "net")
    if backend == "torch":
        pytest.importorskip("torch")
    network = OnnxNetwork(weights) if backend == "onnx" else TorchNetwork(weights)
    masks, rule50 = CHESS.pack(positions(5))
    places = np.array([3, 1857, 1858, 4 * 1858 + 7])
    for lane in open_lanes(network, 8):
        lane.masks[:5], lane.numbers[:5], lane.moves[:4] = masks, rule50, places
        logits, values = lane.evaluate(5, 4)
        expected = network.evaluate_packed(masks, rule50)
        np.testing.assert_allclose(logits, expected.policy.ravel()[places], rtol=1e-5)
        np.testing.assert_allclose(values, expected.value, rtol=1e-5)


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "kedge.models.board.torch_network", raising=False)
    with pytest.raises(InputError, match=r"kedge\[train\]"):
        TorchNetwork(parse_lc0(tiny.net(), "net"))


def test_torch_devices_that_are_not_there():
    torch = pytest.importorskip("torch")
    weights = parse_lc0(tiny.net(), "net")
    with pytest.raises(InputError, match="device 'nonsense'"):
        TorchNetwork(weights, device="nonsense")
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="device 'cuda'"):
            TorchNetwork(weights, device="cuda")
    with pytest.raises(InputError, match="dtype"):
        TorchNetwork(weights, dtype="int8")


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 300])
def test_batches_of_any_size_on_any_threads(threads, count):
    weights = parse_lc0(tiny.net(filters=2, se=1), "net")
    planes = positions(count)
    found = OnnxNetwork(weights, threads=threads).evaluate(planes)
    assert found.policy.shape == (count, 1858)
    assert found.value.shape == found.draw.shape == (count,)
    one = OnnxNetwork(weights)
    for row in range(0, count, 60):
        same(
            type(found)(*(array[row : row + 1] for array in found)),
            one.evaluate(planes[row : row + 1]),
        )


def test_packing():
    planes = positions(4)
    masks, rule50 = CHESS.pack(planes)
    np.testing.assert_array_equal(CHESS.unpack(masks, rule50), planes)
    assert masks.dtype == np.uint64
    one = np.zeros((1, 112), np.uint64)
    one[0, 3] = 1 << 63 | 1 << 8  # h8 and a2
    found = CHESS.unpack(one, [12.0])
    assert found[0, 3].sum() == 2
    assert found[0, 3, 7, 7] == found[0, 3, 1, 0] == 1
    assert (found[0, CHESS.number_plane] == 12).all()


@pytest.mark.parametrize("shape", [(), (112, 8, 8), (2, 111, 8, 8), (2, 112, 64)])
def test_shapes_are_checked(shape):
    network = OnnxNetwork(parse_lc0(tiny.net(), "net"))
    with pytest.raises(InputError, match="shape"):
        network.evaluate(np.zeros(shape, np.float32))
    with pytest.raises(InputError, match="masks are"):
        network.evaluate_packed(np.zeros((2, 111), np.uint64), [0, 0])
    with pytest.raises(InputError, match="masks are float"):
        network.evaluate_packed(np.zeros((2, 112)), [0, 0])
    with pytest.raises(InputError, match="numbers"):
        network.evaluate_packed(np.zeros((2, 112), np.uint64), [0])


@pytest.mark.parametrize("backend", [TowerNetwork, OnnxNetwork])
def test_overflow_is_seen(backend):
    weights = parse_lc0(tiny.net(), "net")
    arrays = {name: array * np.float32(1e18) for name, array in weights.arrays.items()}
    with pytest.raises(InputError, match="not finite"):
        backend(replace(weights, arrays=arrays)).evaluate(positions(1))


def test_compressed_models_are_to_be_unpacked(tmp_path):
    (tmp_path / "net.onnx.xz").write_bytes(lzma.compress(b"\x08anything"))
    with pytest.raises(InputError, match=r"net\.onnx\.xz: compressed; decompress it first: xz -d"):
        read_model(tmp_path / "net.onnx.xz")


def test_onnx_files(tmp_path):
    weights = parse_lc0(tiny.net(), "net")
    path = tmp_path / "net.onnx"
    path.write_bytes(to_onnx(weights).SerializeToString())
    same(OnnxNetwork(path).evaluate(positions(2)), plain.forward(weights, positions(2)))
    path.write_bytes(b"rubbish")
    with pytest.raises(InputError, match=r"net\.onnx: not an ONNX model") as caught:
        OnnxNetwork(path)
    assert "\n" not in str(caught.value)
    nodes = [onnx.helper.make_node("Relu", ["x"], ["y"])]
    ports = [onnx.helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    graph = onnx.helper.make_graph(nodes, "g", ports[:1], ports[1:])
    opset = [onnx.helper.make_opsetid("", 17)]
    model = onnx.helper.make_model(graph, opset_imports=opset, ir_version=8)
    path.write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match="not a model of chess or go"):
        OnnxNetwork(path)


@pytest.mark.parametrize(("policy", "side"), [("classical", 19), ("points", 19), ("points", 9)])
@pytest.mark.parametrize("backend", ["tower", "onnx", "torch", "openvino"])
def test_networks_of_go(backend, policy, side):
    weights = tiny_go.weights(policy=policy)
    if backend in ("tower", "onnx"):
        network = (OnnxNetwork if backend == "onnx" else TowerNetwork)(weights)
    else:
        pytest.importorskip(backend)
        kind = TorchNetwork if backend == "torch" else OpenVinoNetwork
        network = kind(weights, dtype="float32")
    assert network.encoding is GO
    network, weights = network.on(side), weights.on(side)
    encoding, count = network.encoding, 15
    rng = np.random.default_rng(0)
    planes = (rng.random((count, *encoding.shape)) < 0.3).astype(np.float32)
    planes[:, GO.number_plane] = rng.choice([-0.75, 0.65], count)[:, None, None]
    masks, numbers = encoding.pack(planes)
    assert masks.shape == (count, GO.words), "whatever the board"
    np.testing.assert_array_equal(encoding.unpack(masks, numbers), planes)
    expected = plain.forward(weights, planes)
    assert expected.policy.shape == (count, side**2 + 1)
    same(network.evaluate(planes), expected)
    same(network.evaluate_packed(masks, numbers), expected)


def test_boards_that_a_network_does_not_know(weights):
    with pytest.raises(InputError, match="plays on 8×8, not on 9×9"):
        OnnxNetwork(weights).on(9)
    points = OnnxNetwork(tiny_go.weights(policy="points"))
    for side in (1, 20):
        with pytest.raises(InputError, match=f"does not play on {side}×{side}"):
            points.on(side)
    assert points.on(9).on(19).encoding == GO


def test_threads_are_checked():
    with pytest.raises(InputError, match="threads"):
        OnnxNetwork(parse_lc0(tiny.net(), "net"), threads=0)
    assert cores() >= 1


# ------------------------------------------------------------------------------ lc0's own answers


def plane_floats(planes):
    """The oracle's planes: a hex mask, or a mask and a value."""
    masks = np.zeros((1, 112), np.uint64)
    rule50 = 0.0
    for plane, content in planes.items():
        mask, value = content if isinstance(content, list) else (content, 1.0)
        masks[0, int(plane)] = int(mask, 16)
        if int(plane) == CHESS.number_plane:
            rule50 = value
        else:
            assert value == 1.0
    return CHESS.unpack(masks, [rule50])[0]


@pytest.mark.parametrize("backend", [TowerNetwork, OnnxNetwork, TorchNetwork])
@pytest.mark.parametrize("name", ["maia-1100", "maia-1500", "maia-1900"])
def test_equal_to_lc0(oracle, shared, name, backend):
    path = shared(f"weights/maia/{name}.pb.gz")
    positions = oracle("lc0_maia.json")["positions"]
    if backend is TorchNetwork:
        pytest.importorskip("torch")
    network = backend(path)
    rows = [
        (position["final_fen"], answers[name], answers["planes"])
        for position in positions
        for answers in position["eval"].values()
    ]
    found = network.evaluate(np.stack([plane_floats(planes) for *_, planes in rows]))
    worst = 0.0
    for (fen, answer, _), logits, value, draw in zip(rows, *found, strict=True):
        board = _core.ChessBoard.from_fen(fen)
        moves = [board.policy_index(board.parse_uci(move)) for move in answer["policy"]]
        chances = np.exp(logits[moves].astype(np.float64))
        chances /= chances.sum() if moves else 1.0
        differences = np.abs(chances - list(answer["policy"].values()))
        worst = max([worst, *differences, abs(value - answer["q"]), abs(draw - answer["d"])])
    assert len(rows) == 52
    assert worst < 1e-4


def test_maia_says_what_it_is(shared):
    found = read_lc0(shared("weights/maia/maia-1500.pb.gz"))
    assert found.architecture() == {
        "filters": 64,
        "blocks": 6,
        "se_ratio": 8,
        "policy": "convolution",
        "value": "wdl",
        "parameters": 865571,
    }
    assert found.training["accuracy"] == pytest.approx(52.0247, abs=1e-4)


def test_go_files_from_before_the_planes_of_tactics(tmp_path):
    first = replace(GO, planes=GO.first_planes, first_planes=None)
    weights = tiny_go.weights(policy="points")
    kernels = weights.arrays["input.weight"][:, : GO.first_planes]
    earlier = replace(weights, encoding=first, arrays={**weights.arrays, "input.weight": kernels})
    path = tmp_path / "earlier.onnx"
    path.write_bytes(to_onnx(earlier).SerializeToString())
    planes = (np.random.default_rng(0).random((3, *GO.shape)) < 0.3).astype(np.float32)
    expected = plain.forward(earlier, planes[:, : GO.first_planes])
    read = read_model(path)
    assert read.encoding == GO
    assert not read.arrays["input.weight"][:, GO.first_planes :].any()
    same(TowerNetwork(read).evaluate(planes), expected, within=2e-5)
    same(OnnxNetwork(path).evaluate(planes), expected)  # the graph as it is
