"""Reviews of Go games."""

from typing import Annotated, Any

from kedge.agents import make_player
from kedge.agents.go.ladder import RANKED
from kedge.errors import InputError
from kedge.evaluation.board.game_analysis import GameReport, analyse_game
from kedge.evaluation.go.rank_fit import fit_rank, move_likelihoods
from kedge.evaluation.review import FIT_RATING, Reviewer, Tell
from kedge.games.go.ranks import rank_name
from kedge.options import Option
from kedge.specs import Spec

#: Spec of the agent that reviews people of any rank.
AGENT = "puct(go, c_puct=2, playouts=50)"
_PLAYOUTS = 16  # with the model that takes ranks, for a review of the same length


def go_reviewer(
    agent: str | None = None,
    rank: Annotated[
        str | None, Option("Review both players as people of this rank: kyu, 1d to 9d, or pro.")
    ] = None,
    fit: Annotated[bool | None, FIT_RATING] = None,
) -> Reviewer:
    """Return a reviewer of Go games."""
    if agent is not None and rank is not None:
        raise InputError("--rank: has no effect with --agent; leave out one")
    name = None if rank is None else rank_name("--rank", rank)
    player = make_player(agent or default_agent(rank), "go")
    is_human = getattr(player, "imitates_people", False)
    is_fitted = agent is None if fit is None else fit

    def review(game: Any, tell: Tell) -> GameReport:
        def tell_fit(done: int, total: int) -> None:
            tell(0, f"rank fit: {done} of {total}")

        return analyse_game(
            game,
            [player, player],
            ratings=None if name is None else (name, name),
            likelihoods=move_likelihoods(game, tell_fit) if is_fitted else None,
            fit=fit_rank,
            is_human=is_human,
            tell=tell,
        )

    return review


def default_agent(rank: str | None = None, **_: object) -> str:
    """Return the spec of the agent that reviews by default, for people of this rank if given."""
    if rank is None:
        return AGENT
    people = Spec(RANKED, (), {"rank": rank_name("--rank", rank)})
    return str(Spec("puct", (people,), {"c_puct": 2, "playouts": _PLAYOUTS}))
