"""Two networks as one: a mixture of players, or one's policy with the other's value."""

from dataclasses import dataclass, replace

import numpy.typing as npt

from kedge.models.board.backends import Evaluation, Network
from kedge.models.board.encoding import Encoding


@dataclass(frozen=True)
class MixedNetwork:
    """The geometric mixture π ∝ τ₁^(1−w)·τ₂^w of two policies, and the mean of the values.

    For example, players rated 1500 and 1700 mix to one rated 1600. Logits are averaged, so the
    mixture over legal moves does not depend on the probabilities of illegal ones.
    """

    first: Network
    second: Network
    share: float
    """The weight w of the second network."""

    def on(self, side: int) -> "MixedNetwork":
        return replace(self, first=self.first.on(side), second=self.second.on(side))

    def evaluate(self, planes: npt.ArrayLike) -> Evaluation:
        return self._mix(self.first.evaluate(planes), self.second.evaluate(planes))

    @property
    def name(self) -> str:
        return f"{self.first.name} and {self.second.name}"

    @property
    def encoding(self) -> Encoding:
        return self.first.encoding

    def evaluate_packed(self, masks: npt.ArrayLike, numbers: npt.ArrayLike) -> Evaluation:
        return self._mix(
            self.first.evaluate_packed(masks, numbers), self.second.evaluate_packed(masks, numbers)
        )

    def _mix(self, a: Evaluation, b: Evaluation) -> Evaluation:
        first, second = 1.0 - self.share, self.share
        draw = None if a.draw is None or b.draw is None else first * a.draw + second * b.draw
        return Evaluation(
            first * a.policy + second * b.policy, first * a.value + second * b.value, draw
        )


@dataclass(frozen=True)
class SplitNetwork:
    """The policy of one network with the value and draws of another."""

    prior: Network
    value: Network

    def on(self, side: int) -> "SplitNetwork":
        return replace(self, prior=self.prior.on(side), value=self.value.on(side))

    def evaluate(self, planes: npt.ArrayLike) -> Evaluation:
        return self._join(self.prior.evaluate(planes), self.value.evaluate(planes))

    @property
    def name(self) -> str:
        return f"{self.prior.name} and {self.value.name}"

    @property
    def encoding(self) -> Encoding:
        return self.prior.encoding

    def evaluate_packed(self, masks: npt.ArrayLike, numbers: npt.ArrayLike) -> Evaluation:
        return self._join(
            self.prior.evaluate_packed(masks, numbers), self.value.evaluate_packed(masks, numbers)
        )

    def _join(self, prior: Evaluation, value: Evaluation) -> Evaluation:
        return value._replace(policy=prior.policy)
