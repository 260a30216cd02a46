"""OpenSpiel's games as normal-form games: ``openspiel:matrix_rps``, ``openspiel:kuhn_poker``.

A game of several moves is converted to its normal form, in which an action is a whole plan, so only
tiny games fit.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from kedge.errors import InputError, needs
from kedge.games.normal_form.game import NormalFormGame
from kedge.specs import suggest

_LARGEST = 10**7  # payoff entries
_MAX_STATES = 20_000


def load_openspiel(text: str) -> NormalFormGame:
    """Return the normal form of the OpenSpiel game `text`, in OpenSpiel's own syntax."""
    try:
        import pyspiel
    except ImportError:
        raise InputError(f"openspiel: not installed; {needs('openspiel')}") from None
    name = text.partition("(")[0].strip()
    if name not in pyspiel.registered_names():
        near = suggest(name, sorted(pyspiel.registered_names()), "pyspiel.registered_names()")
        raise InputError(f"openspiel: no game {name!r}; {near}")
    try:
        with _quiet_stderr():
            game = pyspiel.load_game(text)
            one_shot = game.get_type().information == pyspiel.GameType.Information.ONE_SHOT
            sizes = _one_shot_sizes(game) if one_shot else _plan_counts(game)
            if game.num_players() * prod(sizes) > _LARGEST:
                raise InputError(
                    f"openspiel:{text}: its normal form is too large, "
                    f"more than {_LARGEST:.0e} payoffs"
                )
            tensor = pyspiel.extensive_to_tensor_game(game)
    except pyspiel.SpielError as error:
        raise InputError(f"openspiel:{text}: {str(error).splitlines()[0]}") from None
    payoffs = np.array([tensor.player_utilities(player) for player in range(tensor.num_players())])
    return NormalFormGame(
        payoffs.reshape(tensor.num_players(), *tensor.shape()), name=f"openspiel:{text}"
    )


def _one_shot_sizes(game: Any) -> list[int]:
    state = game.new_initial_state()
    if not state.is_simultaneous_node():
        return _plan_counts(game)
    return [len(state.legal_actions(player)) for player in range(game.num_players())]


def _plan_counts(game: Any) -> list[int]:
    """Count the pure strategies of each player: one choice per information state."""
    choices: list[dict[str, int]] = [{} for _ in range(game.num_players())]
    waiting, seen = [game.new_initial_state()], 0
    while waiting:
        state = waiting.pop()
        seen += 1
        if seen > _MAX_STATES:
            raise InputError(f"openspiel:{game}: too large for a normal form")
        if state.is_terminal():
            continue
        if state.is_simultaneous_node():
            raise InputError(
                f"openspiel:{game}: games with several simultaneous moves are not supported"
            )
        if not state.is_chance_node():
            player = state.current_player()
            choices[player][state.information_state_string()] = len(state.legal_actions())
        waiting += [state.child(action) for action in state.legal_actions()]
    return [prod(mine.values()) for mine in choices]


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Hide stderr: OpenSpiel prints its errors before it raises them."""
    sys.stderr.flush()
    saved = os.dup(2)
    with open(os.devnull, "w") as null:
        os.dup2(null.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
