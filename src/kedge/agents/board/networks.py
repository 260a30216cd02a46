"""From the names of models to networks and the agents that play them."""

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
    """Networks that are loaded within compute here.

    "cpu" is kedge's own, and ONNX Runtime for graphs of others' making; "openvino" is OpenVINO's;
    the others are torch's.
    Agents made within use so many threads of the CPU; all cores, if None.
    """
    if device == "cpu" and dtype != "float32":
        raise InputError("the CPU computes in float32; --device openvino knows bfloat16")
    token = _device.set((device, dtype, threads))
    try:
        yield
    finally:
        _device.reset(token)


def network(name: Spec | str, threads: int | None = None) -> Network:
    """The network that `name` stands for; loaded once a process and device.

    It is a model that ships with kedge, a stored one, or a path's; one that is told who plays, for
    players of some rating: "chess(elo=1700)".
    """
    spec = model_spec(name)
    told = {key: _number(key, value) for key, value in spec.kwargs.items()}
    if spec.args or not set(told) <= {"elo", "opponent"}:
        raise InputError(f"{spec}: a model is told elo and opponent, and nothing else")
    if spec.name in embedded.names():
        return _loaded((str(spec),), lambda: _for(spec.name, told), threads)
    path = resolve(spec.name).resolve()
    try:
        stat = path.stat()
    except OSError as error:
        raise InputError(f"{path}: cannot read ({error.strerror})") from None
    key = (path, stat.st_mtime_ns, stat.st_size, *told.items())
    return _loaded(key, lambda: _for(spec.name, told, path), threads)


def model_spec(name: Spec | str) -> Spec:
    """The name of a model, and what it is told."""
    if isinstance(name, Spec):
        return name
    return Spec(name) if is_path(name) and not name.endswith(")") else parse(name)


def is_rated(name: Spec | str) -> bool:
    """Whether it is a model that is told who plays."""
    model = model_spec(name).name
    weights = load(model) if is_known(model) or is_path(model) else None
    return isinstance(weights, Weights) and takes_ratings(weights)


def _for(name: str, told: dict[str, float], path: Path | None = None) -> Path | Weights:
    """The weights of a model for the players it is told of; of others' graphs, the path."""
    try:
        weights = load(name)
    except InputError:
        if path is None or told:
            raise
        return path
    if not isinstance(weights, Weights):
        raise InputError(f"{name} is not a model of a board game")
    return for_players(weights, name, **told)  # type: ignore[arg-type]


def _loaded(
    key: tuple[object, ...], model: Callable[[], Path | Weights], threads: int | None
) -> Network:
    device, dtype, share = _device.get()
    threads = threads or share or cores()
    where = (device, dtype, threads if is_cpu(device) else 0)
    with _loading:
        if (*key, *where) not in _networks:
            while len(_networks) >= _KEPT:
                del _networks[next(iter(_networks))]  # the oldest; who plays it keeps it
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
    """Where networks are to compute, and on how many threads of the CPU."""
    where, dtype, threads = _device.get()
    return where, dtype, threads or cores()


def is_cpu(device: str) -> bool:
    """Whether cores compute there, and not something beside them."""
    return device in ("cpu", "openvino")


def network_agent(name: Spec | str, temperature: float = 1.0) -> NetworkAgent:
    """The model `name` by itself."""
    threads = _device.get()[2] or 0
    return NetworkAgent(network(name), _number("temperature", temperature), threads)


def rated_agent(name: str, elo: float, opponent: float | None, temperature: float) -> NetworkAgent:
    """The model `name`, which is told who plays, as a player of rating `elo` by itself."""
    told = {"elo": elo} if opponent is None else {"elo": elo, "opponent": opponent}
    return network_agent(Spec(name, (), told), temperature)


def _number(what: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{what}: a number, not {value}")
    return float(value)
