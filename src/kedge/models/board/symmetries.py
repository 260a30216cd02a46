"""A network that averages over the symmetries of the board."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kedge.games.symmetries import COUNT, symmetries
from kedge.models.board.backends import Evaluation, Network
from kedge.models.board.encoding import Encoding


@dataclass(frozen=True)
class SymmetricNetwork:
    """The mean of a network over the first `count` symmetries of the board.

    Logits are averaged, as in `MixedNetwork`. An evaluation costs `count` evaluations.
    """

    network: Network
    count: int = COUNT

    def on(self, side: int) -> "SymmetricNetwork":
        return replace(self, network=self.network.on(side))

    @property
    def name(self) -> str:
        return self.network.name

    @property
    def encoding(self) -> Encoding:
        return self.network.encoding

    def evaluate(self, planes: npt.ArrayLike) -> Evaluation:
        planes = self.encoding.check_planes(planes)
        side, rows = self.encoding.side, len(planes)
        turned = symmetries(side)[: self.count]
        points = planes.reshape(rows, -1, side**2)[:, :, turned]
        boards = np.moveaxis(points, 2, 0).reshape(-1, *self.encoding.shape)
        policy, value, draw = self.network.evaluate(boards)
        # Move q of a turned board is point turned[q]; what follows the points (the pass) stays.
        back = np.tile(np.arange(policy.shape[1]), (self.count, 1))
        back[:, : side**2] = np.argsort(turned, axis=1)
        logits = policy.reshape(self.count, rows, -1)
        upright = np.take_along_axis(logits, back[:, None], axis=2)
        return Evaluation(
            upright.mean(axis=0),
            value.reshape(self.count, rows).mean(axis=0),
            None if draw is None else draw.reshape(self.count, rows).mean(axis=0),
        )

    def evaluate_packed(self, masks: npt.ArrayLike, numbers: npt.ArrayLike) -> Evaluation:
        return self.evaluate(self.encoding.unpack(masks, numbers))
