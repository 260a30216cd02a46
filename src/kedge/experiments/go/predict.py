"""How well an agent predicts people in Go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from kedge.agents.agent import Predictor
from kedge.evaluation.prediction import Prediction, predict
from kedge.experiments.options import Option, agent_option, data_option
from kedge.experiments.predict import Predict
from kedge.records.go.games import SPLITS, GoGame
from kedge.records.go.positions import GoPosition, GoSplit, boards_of, go_sieve, not_in
from kedge.records.sieve import Sieve


@dataclass(frozen=True, kw_only=True)
class GoPredict(Predict):
    """Predict people's Go moves, and report top-1, top-5 and cross-entropy.

    The report also groups moves by year, komi and phase. By default the games are those of the
    paper: even games between people on the full board, of 2015 and 2016. Your own games may need
    `--split all`. Standard errors are clustered by game.

    Finished games are kept: interrupt the command, run it again, and it resumes.

    **Examples**

    - `kedge predict go games.sgf --split all --agent "puct(go, c_puct=2)"`
    - `kedge predict go games.tsv.xz --agent '"mine/model.onnx"' --limit 20000`
    - `kedge predict go sgf/ --split all --agent 'puct("mine/model.onnx", c_puct=2)' --device cuda`
    """

    advice: ClassVar[Mapping[str, str]] = {
        not_in(split): "--split all keeps every game on 19×19" for split in SPLITS
    }

    predictor: ClassVar[type] = Predictor

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

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sieve()

    def sieve(self) -> Sieve:
        return go_sieve(self.split)

    def predict(
        self, games: Sequence[tuple[GoGame, list[int]]], rng: np.random.Generator
    ) -> Prediction:
        positions = [GoPosition(game, ply) for game, plies in games for ply in plies]
        return predict(positions, self.player(), boards_of)
