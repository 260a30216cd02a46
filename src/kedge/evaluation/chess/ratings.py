"""Chess models that take the ratings of a game's players as input."""

from collections.abc import Callable, Sequence

import numpy as np

from kedge.agents.agent import Predictor
from kedge.agents.board.networks import takes
from kedge.errors import InputError
from kedge.evaluation.prediction import SUMS, Prediction, scored, summed
from kedge.models.chess.conditioning import KNOTS
from kedge.records import ChessGame, ChessPosition
from kedge.records.chess.positions import boards_of
from kedge.specs import Spec


def game_ratings(game: ChessGame, elo: int | None = None) -> tuple[int, int]:
    """Return White's and Black's rating as input of a model: hundreds, from 800 to 2400.

    A player without a rating gets the opponent's; two such players get 1500. `elo` replaces both.
    """
    white, black = elo or game.white_elo, elo or game.black_elo
    known = np.array([white or black or 1500, black or white or 1500])
    ratings = np.clip(known.round(-2), KNOTS[0], KNOTS[-1]).astype(int).tolist()
    return ratings[0], ratings[1]


def rated_search(elo: int, opponent: int) -> Spec:
    """Return the default agent of reviews: the paper's search over people of this rating."""
    people = Spec("chess", (), {"elo": elo, "opponent": opponent})
    return Spec("puct", (people,), {"c_puct": 2, "playouts": 50})


def rated_spec(agent: Spec, elo: int, opponent: int) -> Spec:
    """Return `agent` with these ratings as input of its model, or of its anchor."""
    if takes(agent, "elo") and not {"elo", "opponent"} & set(agent.kwargs):
        return Spec(agent.name, agent.args, {**agent.kwargs, "elo": elo, "opponent": opponent})
    if agent.args and isinstance(agent.args[0], Spec):
        anchor = rated_spec(agent.args[0], elo, opponent)
        return Spec(agent.name, (anchor, *agent.args[1:]), agent.kwargs)
    raise InputError(
        f"agent {agent}: does not take ratings as input; use chess or puct(chess, …), without elo"
    )


def predict_rated(
    positions: Sequence[ChessPosition], agent: Callable[[int, int], Predictor]
) -> Prediction:
    """Predict each position with the agent for the mover's and the opponent's `game_ratings`."""
    pairs: dict[tuple[int, int], list[int]] = {}
    for row, position in enumerate(positions):
        white, black = game_ratings(position.game)
        pairs.setdefault((black, white) if position.mover else (white, black), []).append(row)
    scores = np.empty((len(positions), len(SUMS)))
    for pair, rows in pairs.items():
        scores[rows] = scored([positions[row] for row in rows], agent(*pair), boards_of)
    return summed(positions, scores)
