"""The agents of experiments: made for a device, and known by their weights."""

import hashlib

from kedge.agents import Player, make_player
from kedge.agents.networks import Dtype, computing_on
from kedge.games.chess import ChessState
from kedge.models.store import is_path, resolve, stored_names
from kedge.specs import Spec


def player_on(device: str, dtype: Dtype, spec: Spec | str) -> Player:
    """The chess agent that `spec` names, for one task; an `InputError` if it is none."""
    # Tasks are the unit of parallelism, except beside a GPU. More threads would split batches in
    # other ways, which changes the last bits of what a network says, and so at times the move.
    with computing_on(device, dtype, threads=1 if device == "cpu" else None):
        return make_player(spec, ChessState)


def weights_of(spec: Spec) -> dict[str, str]:
    """The sha256 of each weight file that a spec names: tomorrow it may be another model."""
    found = {}
    names = [spec.name, *(value for value in spec.args if isinstance(value, str))]
    for name in names:
        if is_path(name) or name in stored_names():
            found[name] = hashlib.sha256(resolve(name).read_bytes()).hexdigest()
    for value in (*spec.args, *spec.kwargs.values()):
        if isinstance(value, Spec):
            found |= weights_of(value)
    return found
