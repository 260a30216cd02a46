"""Chess models that take the players of a game as input: ratings, speed and clock."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from kedge.agents.agent import Predictor
from kedge.agents.board.networks import taken_by
from kedge.errors import InputError
from kedge.evaluation.prediction import SUMS, Prediction, scored, summed
from kedge.games.chess.ratings import SPEEDS
from kedge.models.chess.conditioning import ONLINE, nearest_clock
from kedge.records import ChessGame, ChessPosition
from kedge.records.chess.positions import boards_of
from kedge.specs import Spec

#: What a model takes as input about the players of a position, by name.
Players = Mapping[str, Any]


def game_ratings(game: ChessGame, elo: int | None = None) -> tuple[int, int]:
    """Return White's and Black's rating as input of a model: hundreds, from 600 to 2800.

    A player without a rating gets the opponent's; two such players get 1500. `elo` replaces both.
    """
    white, black = elo or game.white_elo, elo or game.black_elo
    known = np.array([white or black or 1500, black or white or 1500])
    ratings = np.clip(known.round(-2), ONLINE[0], ONLINE[-1]).astype(int).tolist()
    return ratings[0], ratings[1]


def rated_search(elo: int, opponent: int) -> Spec:
    """Return the default agent of reviews: the paper's search over people of this rating."""
    people = Spec("chess", (), {"elo": elo, "opponent": opponent})
    return Spec("puct", (people,), {"c_puct": 2, "playouts": 50})


def players_of(game: ChessGame) -> list[Players]:
    """Return the players of each position of a game, as inputs of a model.

    Ratings are those of `game_ratings`, and clocks are the nearest of a few times, so that few
    networks serve many positions.
    """
    ratings = game_ratings(game)
    shared = {} if game.scale in (None, "lichess") else {"scale": game.scale}
    if game.time_class in SPEEDS:
        shared["speed"] = game.time_class
    players: list[Players] = []
    for ply, seconds in enumerate(game.seconds_left()):
        mover = game.mover(ply)
        rated = {"elo": ratings[mover], "opponent": ratings[1 - mover], **shared}
        if not np.isnan(seconds):
            rated["clock"] = float(nearest_clock(seconds))
        players.append(rated)
    return players


def with_players(agent: Spec, players: Players) -> Spec:
    """Return `agent` with the players as input of its model, or of its anchor.

    What the model does not take is left out.
    """
    taken = taken_by(agent)
    if "elo" in taken and not set(taken) & set(agent.kwargs):
        options = {name: value for name, value in players.items() if name in taken}
        return Spec(agent.name, agent.args, {**agent.kwargs, **options})
    if agent.args and isinstance(agent.args[0], Spec):
        anchor = with_players(agent.args[0], players)
        return Spec(agent.name, (anchor, *agent.args[1:]), agent.kwargs)
    raise InputError(
        f"agent {agent}: does not take ratings as input; use chess or puct(chess, …), without elo"
    )


def predict_players(
    positions: Sequence[ChessPosition], agent: Callable[[Players], Predictor]
) -> Prediction:
    """Predict each position with the agent for its `players_of`."""
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
