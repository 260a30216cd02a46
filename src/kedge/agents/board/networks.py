"""Networks by the names of models; each is loaded once per process and device."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kedge import catalogue
from kedge.agents.cache import cached
from kedge.agents.devices import device
from kedge.errors import InputError
from kedge.models.board.backends import Network
from kedge.models.board.conditioning import for_players
from kedge.models.board.onnx_backends import OnnxNetwork, OpenVinoNetwork
from kedge.models.board.torch_backend import TorchNetwork
from kedge.models.board.tower import TowerNetwork
from kedge.models.board.weights import Weights
from kedge.models.devices import Dtype, is_cpu
from kedge.models.named import is_known, load, load_as
from kedge.models.store import is_path
from kedge.specs import Spec, parse, word

_TOWER_MEMORY = 4  # bytes per byte of weights: see `TowerNetwork`


def network(name: Spec | str, threads: int | None = None) -> Network:
    """Return the network that `name` names.

    `name` is a shipped or stored model, or a path. A model that takes the players as input may
    have them as arguments: "chess(elo=1700)". A graph of another program runs as it is.
    """
    spec = model_spec(name)
    if spec.args:
        raise InputError(f"{spec}: a model takes arguments with names alone, such as elo=1700")
    try:
        weights = load_as(Weights, spec.name)
    except InputError:
        path = Path(spec.name)
        if spec.kwargs or path.suffix.lower() != ".onnx" or not path.is_file():
            raise
        stat, place = path.stat(), _place(threads)
        key = (path.resolve(), stat.st_mtime_ns, stat.st_size, *place)
        return cached(key, lambda: _compute(path, *place))
    return network_of(weights, spec.name, spec.kwargs, threads)


def network_of(
    weights: Weights, name: str, players: Mapping[str, Any], threads: int | None = None
) -> Network:
    """Return the network of these weights, for these players; `name` is used in errors."""
    plain = {
        key: word(key, value) if isinstance(value, Spec) else value
        for key, value in players.items()
    }
    place = _place(threads)
    key = (weights.sha256, *sorted(plain.items()), *place)
    size = sum(array.nbytes for array in weights.arrays.values())
    memory = _TOWER_MEMORY * size if is_cpu(place[0]) else size
    try:
        return cached(key, lambda: _compute(for_players(weights, name, **plain), *place), memory)
    except InputError as error:
        raise InputError(f"{error}{other_model(weights, plain)}") from None


def other_model(weights: Weights, options: Collection[str]) -> str:
    """Return the end of an error about `options`: the model that takes those that this one lacks.

    It is the model that the game's dial has for people: asking all models would load them.
    """
    entry, inputs = catalogue.find(weights.game_name), weights.encoding.players
    known = () if inputs is None or weights.player_options else inputs.options
    lacking = [option for option in options if option in known]
    ladder = entry.load_or_skip("dial") if lacking and entry.has("dial") else None
    if ladder is None or ladder.people is None:
        return ""
    return f"; {ladder.people.model or ladder.anchor} takes {' and '.join(lacking)}"


def _place(threads: int | None) -> tuple[str, Dtype, int]:
    """Return the device, the number type, and the CPU threads: 0 on other devices."""
    where, dtype, share = device()
    return where, dtype, (threads or share) if is_cpu(where) else 0


def _compute(model: Weights | Path, where: str, dtype: Dtype, threads: int) -> Network:
    if where == "openvino":
        return OpenVinoNetwork(model, threads=threads, dtype=dtype)
    if not is_cpu(where):
        return TorchNetwork(model, device=where, dtype=dtype, compile=True)
    return (OnnxNetwork if isinstance(model, Path) else TowerNetwork)(model, threads=threads)


def model_spec(name: Spec | str) -> Spec:
    """Return the spec of a model; a path without arguments is taken as it is."""
    if isinstance(name, Spec):
        return name
    return Spec(name) if is_path(name) and not name.endswith(")") else parse(name)


def with_inputs(agent: Spec, inputs: Mapping[str, Any]) -> Spec:
    """Return `agent` with those of `inputs` that its model, or its anchor, takes and does not have.

    What no model takes is left out.

    >>> str(with_inputs(parse("puct(chess(elo=1700), c_puct=2)"), {"elo": 1500, "clock": 45}))
    'puct(chess(elo=1700, clock=45), c_puct=2)'
    """
    taken = taken_by(agent) if inputs else ()
    if not taken and agent.args and isinstance(agent.args[0], Spec):
        anchor, *others = agent.args
        return replace(agent, args=(with_inputs(anchor, inputs), *others))
    more = {name: value for name, value in inputs.items() if name in taken}
    return replace(agent, kwargs={**more, **agent.kwargs})


def taken_by(name: Spec | str) -> tuple[str, ...]:
    """Return the names of what the model `name` takes as input about the players."""
    model = model_spec(name).name
    weights = load(model) if is_known(model) or is_path(model) else None
    return weights.player_options if isinstance(weights, Weights) else ()
