"""The dial of Blotto."""

from importlib.resources import files

from kedge.agents.ladder import Ladder

# No records say what people play in Blotto: the anchor is the paper's, the uniform one.
BLOTTO = Ladder("uniform", "pikl-hedge", "lambda", files(__package__) / "dial.json")
