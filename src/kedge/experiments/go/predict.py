"""How well an agent predicts people in Go."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from kedge.evaluation.go.ranks import players_of
from kedge.experiments.board.predict import BoardPredict
from kedge.experiments.options import agent_option, data_option
from kedge.experiments.predict import DrawnPredict
from kedge.options import Option
from kedge.records.go.games import SPLITS
from kedge.records.go.people import held_out_moves, moves_of_rank
from kedge.records.go.positions import GoPosition, GoSplit, boards_of, go_sieve, not_in
from kedge.records.sieve import Filter, Sieve
from kedge.records.splits import NOT_FOR_TESTING


@dataclass(frozen=True, kw_only=True)
class GoPredict(DrawnPredict, BoardPredict):
    """Predict people's Go moves, and report top-1, top-5 and cross-entropy.

    The report also groups moves by year, komi and phase. By default the games are those of the
    paper: even games between people on the full board, of 2015 and 2016. Your own games may need
    `--split all`. Standard errors are clustered by game.

    Finished games are kept: interrupt the command, run it again, and it resumes.

    **Examples**

    - `kedge predict go games.sgf --split all --agent "puct(go, c_puct=2)"`
    - `kedge predict go games.tsv.xz --agent '"mine/model.onnx"' --limit 20000`
    - `kedge predict go games.sgf --split all --rank 3d --agent go-large --told-ranks`
    - `kedge predict go sgf/ --split all --agent 'puct("mine/model.onnx", c_puct=2)' --device cuda`
    """

    advice: ClassVar[Mapping[str, str]] = {
        not_in(split): "--split all keeps every game on 19×19 (of a table: --set split=all)"
        for split in SPLITS
    }
    newer: ClassVar[tuple[str, ...]] = ("held_out", "rank", "told_ranks", "drawn")
    example = "go-large"
    position = GoPosition
    boards_of = boards_of
    players_of = players_of

    agent: Annotated[str, agent_option("Go")]
    data: Annotated[
        tuple[str, ...], data_option("SGF files, folders and archives of them, or a table")
    ]
    game: Literal["go"] = "go"
    split: Annotated[
        GoSplit,
        Option(
            "Which games: the paper's `test` (2015 and 2016) or `train` (1900 to 2014); `modern` "
            "(later years); `modern-test`, the twentieth of them that `kedge train go --modern` "
            "holds out; or `all`."
        ),
    ] = "test"
    held_out: Annotated[
        bool,
        Option("Use only the moves of people on servers that `kedge train` keeps for testing."),
    ] = False
    rank: Annotated[
        str | None, Option("Use only the moves of players of this rank: kyu, 1d to 9d, or pro.")
    ] = None
    told_ranks: Annotated[
        bool,
        Option(
            "Pass the players to the model in every position: ranks, server and year. The agent "
            "must be `go-large`, a model that you trained, or a search over one."
        ),
    ] = False
    seed: int = 0  # no option: agents of Go predict without random draws

    @property
    def keeps_games(self) -> bool:
        return self.drawn or self.split == "test"  # two years have few games

    @property
    def passes_players(self) -> bool:
        return self.told_ranks

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sieve()

    def sieve(self) -> Sieve:
        filters: dict[str, Filter] = {}
        if self.held_out:
            filters[NOT_FOR_TESTING] = held_out_moves
        if self.rank is not None:
            filters["of other ranks"] = moves_of_rank(self.rank)
        return Sieve({**filters, **go_sieve(self.split).filters})
