"""The dial of Blotto."""

from importlib.resources import files

from kedge.agents.ladder import Ladder

# There are no records of people playing Blotto, so the anchor is uniform, as in the paper.
BLOTTO = Ladder("uniform", "pikl-hedge", "lambda", files(__package__) / "dial.json")
