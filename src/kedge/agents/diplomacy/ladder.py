"""The dial of Diplomacy."""

from importlib.resources import files

from kedge.agents.ladder import Ladder

LADDER = Ladder("diplomacy", "pikl-hedge", "lambda", files(__package__) / "dial.json")
