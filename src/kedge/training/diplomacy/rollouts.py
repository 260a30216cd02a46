"""Rollouts of the human model, as training positions for the value network.

Appendix J: the value of a position some phases ahead is known better than its own, so a network
that learns from its own later values improves. Alternatively rollouts go to the end of the game,
since people's own games are few. Rollouts are stored in files, so that an interrupted run loses
none.
"""

import hashlib
import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.agents.devices import computing_on
from kedge.agents.diplomacy.models import order_model
from kedge.agents.diplomacy.search import play_phase
from kedge.files import make_folder, whole_file
from kedge.games.diplomacy import POWERS, Diplomacy, DiplomacyState
from kedge.models.diplomacy.encoding import Facts
from kedge.models.diplomacy.model import OrderModel, ValueModel
from kedge.models.diplomacy.values import SmallValues, ValueWeights
from kedge.models.named import load
from kedge.records.diplomacy.games import DiplomacyGame
from kedge.training.diplomacy.value import ValuedPositions, pack_positions

_PHASES = 12  # length of a rollout
_AHEAD = (4, 8)  # phases from a position to its value, inclusive
_KEPT = 6  # positions kept of a game that is played to the end
_LIMITS = Diplomacy(last_year=1935, quiet_years=5)  # for games that are played to the end
_CHUNKS = {"cpu": 256, "cuda": 8192}  # rollouts per file, played in parallel


class Rollouts:
    """Rollouts of the human model `policy` from positions of `games`.

    The network `value` values their ends. Without one, rollouts go to the end of the game and the
    rules score them. Files are under `folder`, in a subfolder per model and set of games.
    """

    def __init__(
        self,
        folder: Path,
        games: Sequence[DiplomacyGame],
        policy: str,
        value: ValueWeights | None,
        device: str = "cpu",
    ) -> None:
        valuer = "the end" if value is None else value.sha256
        source = " ".join([load(policy).sha256, valuer, *(game.id for game in games)])
        digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
        self._folder = folder / "rollouts" / digest[:12]
        self._games, self._player = games, _Player(policy, value, device)
        self._chunk = _CHUNKS["cpu" if device == "cpu" else "cuda"]

    def play(self, count: int, workers: int = 1) -> Iterator[int]:
        """Play on from `count` positions of the games; yield how many are done.

        Several `workers` are processes with one thread each. One worker is this process, on all
        cores.
        """
        make_folder(self._folder)
        starts = [decision.state for game in self._games for decision in game.decisions()]
        parts = [
            _Part(starts, chunk, size, self._path(chunk, size))
            for chunk, size in self._chunks(count)
        ]
        left = [part for part in parts if not part.path.exists()]
        done = count - sum(part.size for part in left)
        for size in self._played(left, workers):
            done += size
            yield done

    def _played(self, parts: Sequence["_Part"], workers: int) -> Iterator[int]:
        """Yield the size of each part when it is finished."""
        if workers == 1:
            yield from (self._player.play(part) for part in parts)
            return
        context = multiprocessing.get_context("spawn")
        player = self._player._replace(threads=1)
        with ProcessPoolExecutor(workers, context, _leave_interrupts) as pool:
            try:
                for played in as_completed([pool.submit(player.play, part) for part in parts]):
                    yield played.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def positions(self, count: int) -> ValuedPositions:
        """Return the positions of `count` rollouts that were played."""
        files = [np.load(self._path(chunk, size)) for chunk, size in self._chunks(count)]
        seen = np.concatenate([file["seen"] for file in files])
        return pack_positions(seen, np.concatenate([file["shares"] for file in files]))

    def _path(self, chunk: int, size: int) -> Path:
        return self._folder / f"{chunk:05}-{size}.npz"

    def _chunks(self, count: int) -> list[tuple[int, int]]:
        return [
            (chunk, min(self._chunk, count - first))
            for chunk, first in enumerate(range(0, count, self._chunk))
        ]


class _Part:
    """The rollouts of one file; its number is the seed, so results do not depend on workers."""

    def __init__(
        self, starts: Sequence[DiplomacyState], number: int, size: int, path: Path
    ) -> None:
        self.rng = np.random.default_rng(number)
        self.states = [starts[i] for i in self.rng.integers(len(starts), size=size)]
        self.size, self.path = size, path


class _Player(NamedTuple):
    policy: str
    value: ValueWeights | None
    device: str
    threads: int | None = None

    def play(self, part: _Part) -> int:
        with computing_on(self.device, threads=self.threads):
            model = order_model(self.policy)
        states = [state.clone() for state in part.states]
        if self.value is None:
            seen, shares = targets_at_end(states, model, part.rng)
        else:
            seen, shares = targets_after_phases(states, model, SmallValues(self.value), part.rng)
        with whole_file(part.path) as file:
            np.savez_compressed(file, seen=seen, shares=shares)
        return part.size


def _leave_interrupts() -> None:
    """Ignore Ctrl-C in a worker; the parent process stops it after the current part."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


Worth = tuple[Facts, npt.NDArray[np.float16]]  #: The powers' inputs and their shares.


def targets_at_end(
    states: Sequence[DiplomacyState], model: OrderModel, rng: np.random.Generator
) -> Worth:
    """Play `states` to the end; return positions on the way and the final shares."""
    boards: list[list[_core.DiplomacyBoard]] = [[] for _ in states]
    for state in states:
        state.game = _LIMITS
    while going := [i for i, state in enumerate(states) if not state.is_terminal()]:
        for i in going:
            boards[i].append(states[i].board)
        play_phase(model, [states[i] for i in going], rng)
    kept: list[_core.DiplomacyBoard] = []
    shares = []
    for state, passed in zip(states, boards, strict=True):
        rows = rng.permutation(len(passed))[:_KEPT]
        kept += [passed[i] for i in rows]
        shares += [state.shares()] * len(rows)
    return _core.diplomacy_seen(_core.DiplomacyBatch(kept)), np.array(shares, np.float16)


def targets_after_phases(
    states: Sequence[DiplomacyState],
    model: OrderModel,
    value: ValueModel,
    rng: np.random.Generator,
) -> Worth:
    """Play `states` on; return positions on the way and their shares some phases later."""
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
    unfinished = ~over.reshape(len(states), -1)[:, : len(now)]
    rows = np.arange(len(over)).reshape(len(states), -1)[:, : len(now)][unfinished]
    return _core.diplomacy_seen(every.take(rows)), shares[unfinished].astype(np.float16)
