"""Who plays chess here? A model told the ratings of the players of a game."""

from collections.abc import Callable, Sequence

import numpy as np

from kedge.agents.agent import Predictor
from kedge.agents.board.networks import is_rated
from kedge.errors import InputError
from kedge.evaluation.prediction import SUMS, Prediction, scored, summed
from kedge.models.chess.conditioning import KNOTS
from kedge.records import ChessGame, ChessPosition
from kedge.specs import Spec


def told_ratings(game: ChessGame, elo: int | None = None) -> tuple[int, int]:
    """White's and black's rating as a model is told them: hundreds, from 800 to 2400.

    Who has none is taken for the opponent's equal, and two of them for 1500. `elo` is for both.
    """
    white, black = elo or game.white_elo, elo or game.black_elo
    known = np.array([white or black or 1500, black or white or 1500])
    told = np.clip(known.round(-2), KNOTS[0], KNOTS[-1]).astype(int).tolist()
    return told[0], told[1]


def told_agent(elo: int, opponent: int) -> Spec:
    """The agent that is asked by default: the paper's search over people of that rating."""
    people = Spec("chess", (), {"elo": elo, "opponent": opponent})
    return Spec("puct", (people,), {"c_puct": 2, "playouts": 50})


def told_spec(agent: Spec, elo: int, opponent: int) -> Spec:
    """The agent told these, where it is a model that is told who plays or has one as its anchor."""
    if is_rated(agent) and not {"elo", "opponent"} & set(agent.kwargs):
        return Spec(agent.name, agent.args, {**agent.kwargs, "elo": elo, "opponent": opponent})
    if agent.args and isinstance(agent.args[0], Spec):
        anchor = told_spec(agent.args[0], elo, opponent)
        return Spec(agent.name, (anchor, *agent.args[1:]), agent.kwargs)
    raise InputError(
        f"agent {agent}: cannot be told ratings; chess and puct(chess, …) can, without elo"
    )


def predict_told(
    positions: Sequence[ChessPosition], agent: Callable[[int, int], Predictor]
) -> Prediction:
    """`predict`, each position by the agent for the mover's and the opponent's rating.

    The ratings are those of `told_ratings`.
    """
    pairs: dict[tuple[int, int], list[int]] = {}
    for row, position in enumerate(positions):
        white, black = told_ratings(position.game)
        pairs.setdefault((black, white) if position.mover else (white, black), []).append(row)
    scores = np.empty((len(positions), len(SUMS)))
    for pair, rows in pairs.items():
        told = [positions[row] for row in rows]
        scores[rows] = scored(told, agent(*pair))
    return summed(positions, scores)
