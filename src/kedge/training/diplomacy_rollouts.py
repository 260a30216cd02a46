"""Positions that the human model played on from, and what they are worth some phases later.

Appendix J: the value of a position some phases ahead is better known than its own, so a network
that learns it from itself gets better. Rollouts are kept in files, so that none is lost.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from kedge import _core
from kedge.agents.diplomacy_models import load, order_model
from kedge.agents.diplomacy_search import play_phase
from kedge.agents.networks import computing_on
from kedge.files import make_folder, whole_file
from kedge.games.diplomacy import POWERS, DiplomacyState
from kedge.models.diplomacy import OrderModel, ValueModel
from kedge.models.diplomacy_values import SmallValues, ValueWeights
from kedge.records.diplomacy_games import DiplomacyGame
from kedge.regularize import Array
from kedge.training.diplomacy_value import ValuedPositions, valued

_PHASES = 12  # that are played on
_AHEAD = (4, 8)  # how far positions look, both counted
_CHUNK = 256  # rollouts a file


class Rollouts:
    """Rollouts of the human model `policy` from positions of `games`; what their ends are worth
    the network `value` says.

    They are kept under `folder`, those of other models or games apart.
    """

    def __init__(
        self,
        folder: Path,
        games: Sequence[DiplomacyGame],
        policy: str,
        value: ValueWeights,
        device: str = "cpu",
    ) -> None:
        told = " ".join([load(policy).sha256, value.sha256, *(game.id for game in games)])
        digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
        self._folder = folder / "rollouts" / digest[:12]
        self._games, self._policy, self._device = games, policy, device
        self._value = SmallValues(value)

    def play(self, count: int) -> Iterator[int]:
        """Play on from `count` positions of the games; yields how many are done."""
        make_folder(self._folder)
        starts = [decision.state for game in self._games for decision in game.decisions()]
        with computing_on(self._device):
            model = order_model(self._policy)
        for chunk, size in self._chunks(count):
            path = self._path(chunk, size)
            if not path.exists():
                rng = np.random.default_rng(chunk)
                chosen = [starts[i].clone() for i in rng.integers(len(starts), size=size)]
                seen, shares = rolled(chosen, model, self._value, rng)
                with whole_file(path) as file:
                    np.savez_compressed(file, seen=seen, shares=shares)
            yield chunk * _CHUNK + size

    def positions(self, count: int) -> ValuedPositions:
        """Of so many rollouts that were played."""
        files = [np.load(self._path(chunk, size)) for chunk, size in self._chunks(count)]
        seen = np.concatenate([file["seen"] for file in files])
        return valued(seen, np.concatenate([file["shares"] for file in files]))

    def _path(self, chunk: int, size: int) -> Path:
        return self._folder / f"{chunk:05}-{size}.npz"

    def _chunks(self, count: int) -> list[tuple[int, int]]:
        return [
            (chunk, min(_CHUNK, count - first))
            for chunk, first in enumerate(range(0, count, _CHUNK))
        ]


def rolled(
    states: list[DiplomacyState], model: OrderModel, value: ValueModel, rng: np.random.Generator
) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.uint16]], Array]:
    """What powers see on the way, and the shares some phases later; the states are played on."""
    boards = [[state.board] for state in states]
    for _ in range(_PHASES):
        going = [i for i, state in enumerate(states) if not state.is_terminal()]
        if going:
            play_phase(model, [states[i] for i in going], rng)
        for i, state in enumerate(states):
            boards[i].append(state.board)
    every = _core.DiplomacyBatch([board for row in boards for board in row])
    over = every.winners() >= 0
    worth = np.where(over[:, None], every.shares(), value.values(every))
    worth = worth.reshape(len(states), _PHASES + 1, len(POWERS))
    near, far = _AHEAD
    now = np.arange(_PHASES - near + 1)
    ahead = rng.integers(near, far + 1, size=(len(states), len(now)))
    later = np.minimum(now + ahead, _PHASES)
    shares = np.take_along_axis(worth, later[..., None], axis=1)
    asked = ~over.reshape(len(states), -1)[:, : len(now)]
    rows = np.arange(len(over)).reshape(len(states), -1)[:, : len(now)][asked]
    return _core.diplomacy_seen(every.take(rows)), shares[asked].astype(np.float16)
