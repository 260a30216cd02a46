"""Reviews of chess games."""

from collections.abc import Callable
from functools import cache, partial
from typing import Annotated, Any

from kedge.agents import make_player
from kedge.agents.chess.mates import forced_end
from kedge.errors import InputError
from kedge.evaluation.board.game_analysis import GameReport, analyse_game
from kedge.evaluation.board.rating_fit import fit_rating
from kedge.evaluation.chess.rating_fit import move_likelihoods, rating_networks
from kedge.evaluation.chess.ratings import game_ratings, model_rating, rated_search
from kedge.evaluation.review import FIT_RATING, Reviewer
from kedge.models.chess.conditioning import KNOTS
from kedge.options import Option

#: Spec of the agent that reviews by default; its model takes the players' ratings as input.
AGENT = "puct(chess, c_puct=2, playouts=50)"


def chess_reviewer(
    agent: str | None = None,
    elo: Annotated[
        int | None, Option("Review both players as people of this rating.", min=100, max=4000)
    ] = None,
    fit: Annotated[bool | None, FIT_RATING] = None,
) -> Reviewer:
    """Return a reviewer of chess games. `elo` counts whatever ratings the record has."""
    if agent is not None and elo is not None:
        raise InputError("--elo: has no effect with --agent; leave out one")
    given = None if agent is None else make_player(agent, "chess")
    is_fitted = given is None if fit is None else fit
    is_human = given is None or getattr(given, "imitates_people", False)
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
            fit=partial(fit_rating, knots=KNOTS),
            proven=forced_end,
            is_human=is_human,
            tell=tell,
        )

    return review


def default_agent(elo: int | None = None, **_: object) -> str:
    """Return the spec of the agent that reviews by default, for people of this rating if given."""
    return AGENT if elo is None else str(rated_search(*[model_rating(elo)] * 2))
