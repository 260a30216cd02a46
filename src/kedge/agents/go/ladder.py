"""The dial of Go."""

from importlib.resources import files

from kedge.agents.ladder import Ladder, People
from kedge.games.go.ranks import RANKS

RANKED = "go-large"  #: shipped model that takes ranks as input

LADDER = Ladder(
    "go",
    "puct",
    "c_puct",
    files(__package__) / "dial.json",
    people=People(
        "rank",
        "Like people of the rank",
        RANKS,
        model=RANKED,
        anyone="professionals, by the smaller model",
        hint="A larger model plays, which takes over twice as long for a move. Ranks are KGS's.",
    ),
)
