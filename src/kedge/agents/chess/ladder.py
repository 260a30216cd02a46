"""The dial of chess."""

from importlib.resources import files

from kedge.agents.ladder import Ladder

LADDER = Ladder(
    "chess", "puct", "c_puct", files(__package__) / "dial.json", anchor_settings=("elo",)
)
