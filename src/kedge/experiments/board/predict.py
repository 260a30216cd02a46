"""How well an agent predicts people in a board game."""

from dataclasses import dataclass

from kedge.agents.agent import Predictor
from kedge.errors import InputError
from kedge.experiments.predict import Predict


@dataclass(frozen=True, kw_only=True)
class BoardPredict(Predict):
    """Base of predictions whose agents take native boards, many at once."""

    def check(self) -> None:
        if not isinstance(self.player(), Predictor):
            raise InputError(
                f"agent {self.agent}: only models and searches over models predict people"
            )
