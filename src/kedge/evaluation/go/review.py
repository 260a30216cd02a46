"""Reviews of Go games."""

from kedge.agents import make_player
from kedge.evaluation.board.game_analysis import analyse_game
from kedge.evaluation.review import Reviewer

#: Spec of the agent that reviews by default.
AGENT = "puct(go, c_puct=2, playouts=50)"


def go_reviewer(agent: str | None = None) -> Reviewer:
    """Return a reviewer of Go games."""
    player = make_player(agent or AGENT, "go")
    is_human = getattr(player, "imitates_people", False)
    return lambda game, tell: analyse_game(game, [player, player], is_human=is_human, tell=tell)
