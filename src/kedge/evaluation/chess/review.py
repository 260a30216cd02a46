"""Reviews of chess games."""

from collections.abc import Callable
from functools import cache
from typing import Any

from kedge.agents import make_player
from kedge.agents.anchors import imitates_people
from kedge.agents.chess.mates import forced_end
from kedge.evaluation.board.game_analysis import GameReport, analyse_game
from kedge.evaluation.chess.rating_fit import move_likelihoods, rating_networks
from kedge.evaluation.chess.ratings import game_ratings, rated_search
from kedge.evaluation.review import Reviewer
from kedge.models.chess.conditioning import KNOTS

#: Spec of the agent that reviews by default; its model takes the players' ratings as input.
AGENT = "puct(chess, c_puct=2, playouts=50)"


def chess_reviewer(
    agent: str | None = None, elo: int | None = None, fit: bool | None = None
) -> Reviewer:
    """Return a reviewer of chess games.

    `elo` is the rating that the model assumes for both players, whatever the record says. `fit`
    estimates the players' ratings from their moves; by default it does so without an `agent`.
    """
    given = None if agent is None else make_player(agent, "chess")
    is_fitted = given is None if fit is None else fit
    is_human = agent is None or imitates_people(agent)
    networks = cache(rating_networks)  # loaded when there is a game

    def review(game: Any, tell: Callable[[int], None]) -> GameReport:
        if given is not None:
            ratings, agents = None, [given, given]
        else:
            ratings = game_ratings(game, elo)
            specs = rated_search(*ratings), rated_search(*ratings[::-1])
            agents = [make_player(spec, "chess") for spec in specs]
        likelihoods = None if not is_fitted else move_likelihoods(game, networks())
        return analyse_game(
            game,
            agents,
            ratings=ratings,
            likelihoods=likelihoods,
            knots=KNOTS if is_fitted else None,
            proven=forced_end,
            is_human=is_human,
            tell=tell,
        )

    return review
