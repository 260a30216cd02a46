"""The dial of Go."""

from importlib.resources import files

from kedge.agents.ladder import Ladder

LADDER = Ladder("go", "puct", "c_puct", files(__package__) / "dial.json")
