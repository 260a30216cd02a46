"""The agents of experiments, made for a device."""

from contextlib import AbstractContextManager

from kedge.agents import Player, make_diplomacy_player, make_hanabi_player, make_player
from kedge.agents.board.networks import computing_on, is_cpu
from kedge.agents.diplomacy.players import DiplomacyPlayer
from kedge.agents.hanabi.players import HanabiPlayer
from kedge.models.board.backends import Dtype
from kedge.specs import Spec


def player_on(device: str, dtype: Dtype, spec: Spec | str, states: type) -> Player:
    """The agent for such states that `spec` names, for one task; an `InputError` if it is none."""
    with _for_a_task(device, dtype):
        return make_player(spec, states)


def diplomacy_player_on(device: str, dtype: Dtype, spec: Spec | str) -> DiplomacyPlayer:
    """The agent for Diplomacy that `spec` names, for one task; an `InputError` if it is none."""
    with _for_a_task(device, dtype):
        return make_diplomacy_player(spec)


def hanabi_player_on(device: str, dtype: Dtype, spec: Spec | str) -> HanabiPlayer:
    """The agent for Hanabi that `spec` names, for one task; an `InputError` if it is none."""
    with _for_a_task(device, dtype):
        return make_hanabi_player(spec)


def _for_a_task(device: str, dtype: Dtype) -> AbstractContextManager[None]:
    # Tasks are the unit of parallelism, except beside a GPU. More threads would split batches in
    # other ways, which changes the last bits of what a network says, and so at times the move.
    return computing_on(device, dtype, threads=1 if is_cpu(device) else None)
