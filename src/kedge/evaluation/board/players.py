"""Models that take the players of a game as input."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from kedge.agents.agent import Predictor
from kedge.agents.board.networks import taken_by, with_inputs
from kedge.errors import InputError
from kedge.evaluation.prediction import SUMS, Prediction, scored, summed
from kedge.specs import Spec

#: Inputs of a model about the players of a position, by name.
Players = Mapping[str, Any]


def with_players(agent: Spec, players: Players, example: str | None = None) -> Spec:
    """Return `agent` with the players as input of its model, or of its anchor: see `with_inputs`.

    The spec must leave them open. An error names `example`, a model that takes players.
    """
    model = agent
    while not taken_by(model) and model.args and isinstance(model.args[0], Spec):
        model = model.args[0]
    taken = taken_by(model)
    if not taken:
        hint = f"; {example} does" if example else ""
        raise InputError(f"agent {model}: takes no players as input{hint}")
    if given := [name for name in taken if name in model.kwargs]:
        raise InputError(f"agent {model}: already sets {', '.join(given)}; leave that out")
    return with_inputs(agent, players)


def predict_players(
    positions: Sequence[Any],
    agent: Callable[[Players], Predictor],
    players_of: Callable[[Any], Sequence[Players]],
    boards_of: Callable[[Sequence[Any]], Sequence[Any]],
) -> Prediction:
    """Predict each position with the agent for its players; `players_of(game)` lists them."""
    rows_of: dict[tuple[Any, ...], list[int]] = {}
    row = 0
    for _, run in groupby(positions, key=lambda position: id(position.game)):
        group = list(run)
        players = players_of(group[0].game)
        for position in group:
            rows_of.setdefault(tuple(players[position.ply].items()), []).append(row)
            row += 1
    scores = np.empty((len(positions), len(SUMS)))
    for key, rows in rows_of.items():
        scores[rows] = scored([positions[row] for row in rows], agent(dict(key)), boards_of)
    return summed(positions, scores)
