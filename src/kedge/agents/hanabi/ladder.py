"""The dial of Hanabi."""

from importlib.resources import files

from kedge.agents.ladder import Ladder

LADDER = Ladder("hanabi", "sparta", "lambda", files(__package__) / "dial.json")
