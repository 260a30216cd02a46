"""The agents of experiments, made for a device."""

from typing import Any

from kedge.agents.devices import computing_on
from kedge.agents.registry import make_player
from kedge.models.devices import Dtype, is_cpu
from kedge.specs import Spec


def player_on(device: str, dtype: Dtype, spec: Spec | str, game: str) -> Any:
    """Return the `Player` of `game` that `spec` names, for one task on a device."""
    # Tasks are the unit of parallelism, except beside a GPU. More threads would split batches in
    # other ways, which changes the last bits of what a network says, and so at times the move.
    with computing_on(device, dtype, threads=1 if is_cpu(device) else None):
        return make_player(spec, game)
