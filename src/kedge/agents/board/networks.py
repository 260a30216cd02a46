"""Networks and their agents, by the names of models."""

import threading
from collections.abc import Callable
from pathlib import Path

from kedge.agents.board.puct import NetworkAgent
from kedge.agents.devices import device, thread_limit
from kedge.errors import InputError
from kedge.models import embedded
from kedge.models.board.backends import Network
from kedge.models.board.onnx_backends import OnnxNetwork, OpenVinoNetwork
from kedge.models.board.torch_backend import TorchNetwork
from kedge.models.board.tower import TowerNetwork
from kedge.models.board.weights import Weights
from kedge.models.chess.conditioning import for_players, takes_ratings
from kedge.models.devices import is_cpu
from kedge.models.named import is_known, load
from kedge.models.store import is_path, resolve
from kedge.specs import Spec, number, parse

_KEPT = 64  # networks; a file of many games has many pairs of ratings
_networks: dict[tuple[object, ...], Network] = {}
_loading = threading.Lock()


def network(name: Spec | str, threads: int | None = None) -> Network:
    """Return the network that `name` names; it is loaded once per process and device.

    `name` is a shipped or stored model, or a path. A model that takes ratings as input may have
    them as arguments: "chess(elo=1700)".
    """
    spec = model_spec(name)
    ratings = {key: number(key, value) for key, value in spec.kwargs.items()}
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
    where, dtype, share = device()
    threads = threads or share
    place = (where, dtype, threads if is_cpu(where) else 0)
    with _loading:
        if (*key, *place) not in _networks:
            while len(_networks) >= _KEPT:
                del _networks[next(iter(_networks))]  # the oldest; its agents keep it
            _networks[(*key, *place)] = _compute(model(), threads)
        return _networks[(*key, *place)]


def _compute(model: Path | Weights, threads: int) -> Network:
    where, dtype, _ = device()
    if where == "cpu":
        try:
            return TowerNetwork(model, threads=threads)
        except InputError:
            if isinstance(model, Weights) or model.suffix.lower() != ".onnx":
                raise
            return OnnxNetwork(model, threads=threads)
    if where == "openvino":
        return OpenVinoNetwork(model, threads=threads, dtype=dtype)
    return TorchNetwork(model, device=where, dtype=dtype, compile=True)


def network_agent(name: Spec | str, temperature: float = 1.0) -> NetworkAgent:
    """Return the model `name` alone."""
    return NetworkAgent(network(name), number("temperature", temperature), thread_limit() or 0)
