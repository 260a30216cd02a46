"""Network evaluations per second: kedge's kernels, ONNX Runtime, OpenVINO and torch, in one run.

    python benchmarks/models.py WEIGHTS.pb.gz          (pip install 'kedge[openvino,train]')
    python benchmarks/models.py go --device cuda

On the CPU, float planes go in and policy, value and draw come out; the best of several repeats
counts, as a ratio to ONNX Runtime on one thread. With several threads, each has a share of the
batch; the row "ONNX Runtime's threads" uses ONNX Runtime's own threads instead. On a GPU, packed
masks go in and numpy arrays come out, so the transfers count.
"""

import argparse
import os
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from kedge.errors import InputError
from kedge.models.board.conditioning import for_players
from kedge.models.board.network import to_onnx
from kedge.models.board.onnx_backends import OnnxNetwork, OpenVinoNetwork
from kedge.models.board.torch_backend import TorchNetwork
from kedge.models.board.tower import TowerNetwork
from kedge.models.board.weights import Weights
from kedge.models.named import load_as

CPU_SIZES = (1, 8, 64, 256)
GPU_SIZES = (1, 64, 1024, 8192)


def rate(call: Callable[[], object], size: int, seconds: float) -> float:
    """Positions per second, the best of several repeats."""
    call()
    call()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        repeats = max(1, 64 // size)
        for _ in range(repeats):
            call()
        best = min(best, (time.perf_counter() - start) / repeats)
    return size / best


def row(name: str, rates: list[float], base: list[float] | None) -> None:
    cells = [
        f"{value:10,.0f}" + (f" ({value / other:4.2f}×)" if base else " " * 8)
        for value, other in zip(rates, base or rates, strict=True)
    ]
    print(f"{name:34}" + "".join(cells))


def onnx_runtime_threads(weights, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    model = to_onnx(weights).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda planes: session.run(None, {"planes": planes})


def cpu(weights, planes, threads, seconds):
    def rates(evaluate):
        return [rate(partial(evaluate, planes[:size]), size, seconds) for size in CPU_SIZES]

    print(f"{'positions/s at batch':34}" + "".join(f"{size:10}        " for size in CPU_SIZES))
    base = None
    for count in threads:
        speeds = rates(OnnxNetwork(weights, threads=count).evaluate)
        base = base or speeds
        row(f"ONNX Runtime, {count} thread(s)", speeds, base)
        if count > 1:
            speeds = rates(onnx_runtime_threads(weights, count))
            row(f"  ONNX Runtime's threads, {count}", speeds, base)
    for count in threads:
        network = TowerNetwork(weights, threads=count)
        row(f"kedge, {count} thread(s)", rates(network.evaluate), base)
    print_error(network.evaluate(planes[:256]), OnnxNetwork(weights).evaluate(planes[:256]))
    for dtype in ("float32", "bfloat16"):
        try:
            network = OpenVinoNetwork(weights, threads=max(threads), dtype=dtype)
        except InputError as error:
            print(error)
            break
        row(f"OpenVINO {dtype}, {max(threads)} threads", rates(network.evaluate), base)
        print_error(network.evaluate(planes[:256]), OnnxNetwork(weights).evaluate(planes[:256]))
    try:
        import torch

        for count in threads:
            torch.set_num_threads(count)
            row(
                f"torch float32, {count} thread(s)",
                rates(TorchNetwork(weights).evaluate),
                base,
            )
    except (ImportError, InputError):
        print("torch is not installed")


def print_error(network, exact):
    value = np.abs(network.value - exact.value).max()
    top = (network.policy.argmax(1) == exact.policy.argmax(1)).mean()
    print(f"  against ONNX Runtime: value within {value:.1e}, same top move in {top:.1%}")


def gpu(weights, planes, device, seconds):
    print(f"{'positions/s at batch':34}" + "".join(f"{size:10}        " for size in GPU_SIZES))
    masks, numbers = weights.encoding.pack(planes)
    exact = OnnxNetwork(weights).evaluate(planes[:256])
    base = None
    for dtype in ("float32", "bfloat16"):
        for compiled in (False, True):
            network = TorchNetwork(weights, device=device, dtype=dtype, compile=compiled)
            speeds = [
                rate(partial(network.evaluate_packed, masks[:size], numbers[:size]), size, seconds)
                for size in GPU_SIZES
            ]
            base = base or speeds
            row(f"torch {dtype}{', compiled' if compiled else ''}", speeds, base)
            print_error(network.evaluate_packed(masks[:256], numbers[:256]), exact)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="a weight file, or the name of a stored model")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", default="1,2", help="numbers of CPU threads, with commas")
    parser.add_argument("--seconds", type=float, default=2.0, help="seconds per measurement")
    options = parser.parse_args()
    weights = for_players(load_as(Weights, options.model), options.model)
    encoding = weights.encoding
    rng = np.random.default_rng(0)
    most = max(CPU_SIZES if options.device == "cpu" else GPU_SIZES)
    planes = (rng.random((most, *encoding.shape), np.float32) < 0.1).astype(np.float32)
    planes[:, encoding.number_plane] = rng.uniform(size=len(planes))[:, None, None]
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "?"
    print(f"{options.model}: {weights.blocks} × {weights.filters}, load before: {load}")
    if options.device == "cpu":
        cpu(weights, planes, [int(count) for count in options.threads.split(",")], options.seconds)
    else:
        gpu(weights, planes, options.device, options.seconds)


if __name__ == "__main__":
    main()
