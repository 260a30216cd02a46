"""Networks and their agents, by the names of models."""

from pathlib import Path
from typing import Any

from kedge.agents.board.puct import NetworkAgent
from kedge.agents.devices import device, thread_limit
from kedge.agents.kept import kept
from kedge.errors import InputError
from kedge.models import embedded
from kedge.models.board.backends import Network
from kedge.models.board.conditioning import for_players, takes_players
from kedge.models.board.onnx_backends import OnnxNetwork, OpenVinoNetwork
from kedge.models.board.torch_backend import TorchNetwork
from kedge.models.board.tower import TowerNetwork
from kedge.models.board.weights import Weights
from kedge.models.devices import is_cpu
from kedge.models.named import is_known, load
from kedge.models.store import is_path, resolve
from kedge.specs import Spec, number, parse


def network(name: Spec | str, threads: int | None = None) -> Network:
    """Return the network that `name` names; it is loaded once per process and device.

    `name` is a shipped or stored model, or a path. A model that takes the players as input may
    have them as arguments: "chess(elo=1700)".
    """
    spec = model_spec(name)
    if spec.args:
        raise InputError(f"{spec}: a model takes arguments with names alone, such as elo=1700")
    players = {key: _plain(value) for key, value in spec.kwargs.items()}
    path = None if spec.name in embedded.names() else resolve(spec.name).resolve()
    where, dtype, share = device()
    threads = threads or share
    place = (where, dtype, threads if is_cpu(where) else 0)
    return kept(
        (str(spec), path and _version(path), *place),
        lambda: _compute(_weights(spec.name, players, path), threads),
    )


def _plain(value: Any) -> Any:
    """A word without quotes is parsed as a spec."""
    return str(value) if isinstance(value, Spec) else value


def _version(path: Path) -> tuple[object, ...]:
    try:
        stat = path.stat()
    except OSError as error:
        raise InputError(f"{path}: cannot read ({error.strerror})") from None
    return path, stat.st_mtime_ns, stat.st_size


def model_spec(name: Spec | str) -> Spec:
    """Return the spec of a model; a path without arguments is taken as it is."""
    if isinstance(name, Spec):
        return name
    return Spec(name) if is_path(name) and not name.endswith(")") else parse(name)


def taken_by(name: Spec | str) -> tuple[str, ...]:
    """Return the names of what the model `name` takes as input about the players."""
    model = model_spec(name).name
    weights = load(model) if is_known(model) or is_path(model) else None
    return takes_players(weights) if isinstance(weights, Weights) else ()


def _weights(name: str, players: dict[str, Any], path: Path | None) -> Path | Weights:
    """Return the weights of a model for these players; for graphs of other programs, the path."""
    try:
        weights = load(name)
    except InputError:
        if path is None or players:
            raise
        return path
    if not isinstance(weights, Weights):
        raise InputError(f"{name} is not a model of a board game")
    return for_players(weights, name, **players)


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
