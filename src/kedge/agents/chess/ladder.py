"""The dial of chess."""

from importlib.resources import files

from kedge.agents.ladder import Ladder, People
from kedge.models.chess.conditioning import given_rating

LADDER = Ladder(
    "chess",
    "puct",
    "c_puct",
    files(__package__) / "dial.json",
    people=People("elo", "Like people rated", tuple(range(800, 2401, 100)), usual=1500),
    checks={"elo": given_rating},
)
