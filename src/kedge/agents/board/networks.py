"""Networks and their agents, by the names of models."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from kedge.agents.board.puct import NetworkAgent
from kedge.errors import InputError
from kedge.machine import cores
from kedge.models import embedded
from kedge.models.board.backends import Dtype, Network
from kedge.models.board.onnx_backends import OnnxNetwork, OpenVinoNetwork
from kedge.models.board.torch_backend import TorchNetwork
from kedge.models.board.tower import TowerNetwork
from kedge.models.board.weights import Weights
from kedge.models.chess.conditioning import for_players, takes_ratings
from kedge.models.named import is_known, load
from kedge.models.store import is_path, resolve
from kedge.specs import Spec, parse

_KEPT = 64  # networks; a file of many games has many pairs of ratings
_networks: dict[tuple[object, ...], Network] = {}
_loading = threading.Lock()
_device: ContextVar[tuple[str, Dtype, int | None]] = ContextVar(
    "device", default=("cpu", "float32", None)
)


@contextmanager
def computing_on(
    device: str, dtype: Dtype = "float32", threads: int | None = None
) -> Iterator[None]:
    """Set the device of networks that are loaded inside the ``with`` block.

    "cpu" means kedge's own kernels, or ONNX Runtime for graphs of other programs. "openvino" means
    OpenVINO, any other device torch. Agents that are made inside use `threads` CPU threads, or all
    cores.
    """
    if device == "cpu" and dtype != "float32":
        raise InputError("--device cpu computes in float32 only; --device openvino has bfloat16")
    token = _device.set((device, dtype, threads))
    try:
        yield
    finally:
        _device.reset(token)


def network(name: Spec | str, threads: int | None = None) -> Network:
    """Return the network that `name` names; it is loaded once per process and device.

    `name` is a shipped or stored model, or a path. A model that takes ratings as input may have
    them as arguments: "chess(elo=1700)".
    """
    spec = model_spec(name)
    ratings = {key: _number(key, value) for key, value in spec.kwargs.items()}
    if spec.args or not set(ratings) <= {"elo", "opponent"}:
        raise InputError(f"{spec}: a model takes no parameters but elo and opponent")
    if spec.name in embedded.names():
        return _loaded((str(spec),), lambda: _weights(spec.name, ratings), threads)
    path = resolve(spec.name).resolve()
    try:
        stat = path.stat()
    except OSError as error:
        raise InputError(f"{path}: cannot read ({error.strerror})") from None
    key = (path, stat.st_mtime_ns, stat.st_size, *ratings.items())
    return _loaded(key, lambda: _weights(spec.name, ratings, path), threads)


def model_spec(name: Spec | str) -> Spec:
    """Return the spec of a model; a path without arguments is taken as it is."""
    if isinstance(name, Spec):
        return name
    return Spec(name) if is_path(name) and not name.endswith(")") else parse(name)


def is_rated(name: Spec | str) -> bool:
    """Whether `name` names a model that takes ratings as input."""
    model = model_spec(name).name
    weights = load(model) if is_known(model) or is_path(model) else None
    return isinstance(weights, Weights) and takes_ratings(weights)


def _weights(name: str, ratings: dict[str, float], path: Path | None = None) -> Path | Weights:
    """Return the weights of a model for these ratings; for graphs of other programs, the path."""
    try:
        weights = load(name)
    except InputError:
        if path is None or ratings:
            raise
        return path
    if not isinstance(weights, Weights):
        raise InputError(f"{name} is not a model of a board game")
    return for_players(weights, name, **ratings)  # type: ignore[arg-type]


def _loaded(
    key: tuple[object, ...], model: Callable[[], Path | Weights], threads: int | None
) -> Network:
    device, dtype, share = _device.get()
    threads = threads or share or cores()
    where = (device, dtype, threads if is_cpu(device) else 0)
    with _loading:
        if (*key, *where) not in _networks:
            while len(_networks) >= _KEPT:
                del _networks[next(iter(_networks))]  # the oldest; its agents keep it
            _networks[(*key, *where)] = _compute(model(), threads)
        return _networks[(*key, *where)]


def _compute(model: Path | Weights, threads: int) -> Network:
    device, dtype, _ = _device.get()
    if device == "cpu":
        try:
            return TowerNetwork(model, threads=threads)
        except InputError:
            if isinstance(model, Weights) or model.suffix.lower() != ".onnx":
                raise
            return OnnxNetwork(model, threads=threads)
    if device == "openvino":
        return OpenVinoNetwork(model, threads=threads, dtype=dtype)
    return TorchNetwork(model, device=device, dtype=dtype, compile=True)


def device() -> tuple[str, Dtype, int]:
    """Return the device of networks, their number type, and the number of CPU threads."""
    where, dtype, threads = _device.get()
    return where, dtype, threads or cores()


def is_cpu(device: str) -> bool:
    """Whether the device is the CPU."""
    return device in ("cpu", "openvino")


def network_agent(name: Spec | str, temperature: float = 1.0) -> NetworkAgent:
    """Return the model `name` alone."""
    threads = _device.get()[2] or 0
    return NetworkAgent(network(name), _number("temperature", temperature), threads)


def rated_agent(name: str, elo: float, opponent: float | None, temperature: float) -> NetworkAgent:
    """Return the model `name` alone as a player of rating `elo` against `opponent`."""
    ratings = {"elo": elo} if opponent is None else {"elo": elo, "opponent": opponent}
    return network_agent(Spec(name, (), ratings), temperature)


def _number(what: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{what}: a number, not {value}")
    return float(value)
