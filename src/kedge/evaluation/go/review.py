"""Reviews of Go games."""

from kedge.agents import make_player
from kedge.agents.anchors import imitates_people
from kedge.evaluation.board.game_analysis import analyse_game
from kedge.evaluation.review import Reviewer

#: Spec of the agent that reviews by default.
AGENT = "puct(go, c_puct=2, playouts=50)"


def go_reviewer(agent: str | None = None) -> Reviewer:
    """Return a reviewer of Go games."""
    spec = agent or AGENT
    player, is_human = make_player(spec, "go"), imitates_people(spec)
    return lambda game, tell: analyse_game(game, [player, player], is_human=is_human, tell=tell)
