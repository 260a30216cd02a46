"""How well an agent predicts people: the share of moves it holds likeliest, and cross-entropy."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.agents.agent import Analysis, Player
from kedge.errors import InputError
from kedge.records import ChessGame
from kedge.records.filters import Position, boards_of
from kedge.regularize import Array

#: Where the phases of a game begin, in plies.
PHASES = {"plies 0-19": 0, "plies 20-39": 20, "plies 40-": 40}
#: What is summed up over the positions of a game.
SUMS = ("positions", "top1", "top5", "cross_entropy")


@dataclass(frozen=True)
class GameScore:
    """One game's `SUMS`, a row for each phase, and the groups that it belongs to."""

    groups: dict[str, str]
    sums: Array


@dataclass
class Prediction:
    """The games so far, summed up one by one, so that errors can be clustered by game."""

    games: list[GameScore] = field(default_factory=list)
    total: Array = field(default_factory=lambda: np.zeros(len(SUMS)))

    def to_json(self) -> dict[str, Any]:
        """All positions, and split by each of their groups."""
        labels: dict[str, dict[str, list[Array]]] = {}
        for game in self.games:
            for kind, label in game.groups.items():
                labels.setdefault(kind, {}).setdefault(label, []).append(game.sums.sum(axis=0))
        labels["phase"] = {
            phase: [game.sums[row] for game in self.games if game.sums[row, 0] > 0]
            for row, phase in enumerate(PHASES)
        }
        split = {
            kind: {label: summary(found[label]) for label in sorted(found) if found[label]}
            for kind, found in labels.items()
        }
        return {**summary([game.sums.sum(axis=0) for game in self.games]), "groups": split}


def summary(games: Sequence[npt.ArrayLike] | Array) -> dict[str, Any]:
    """Means over positions, and their standard errors, the games being what was drawn at random.

    `games` holds the `SUMS` of each.
    """
    sums = np.array(games, np.float64).reshape(-1, len(SUMS))
    count = sums[:, 0].sum()
    found: dict[str, Any] = {"games": len(sums), "positions": int(count)}
    for column, name in enumerate(SUMS[1:], 1):
        mean = sums[:, column].sum() / count if count else np.nan
        off = sums[:, column] - mean * sums[:, 0]
        spread = len(sums) / (len(sums) - 1) if len(sums) > 1 else np.nan
        error = np.sqrt(spread * (off**2).sum()) / count if count else np.nan
        found |= {name: float(mean), f"{name}_se": float(error)}
    return found


def predict(positions: Iterable[Position], agent: Player) -> Iterator[Prediction]:
    """Score `agent` on what people played; yields after every batch, the last time with all."""
    prediction = Prediction()
    ahead: deque[list[Position]] = deque()  # with the agent: it may take several before it answers
    current: ChessGame | None = None
    stream = iter(positions)

    def boards() -> Iterator[Sequence[Any]]:
        while batch := list(islice(stream, agent.batch_size)):
            ahead.append(batch)
            yield boards_of(batch)

    for found in agent.analyse_chunks(boards()):
        batch = ahead.popleft()
        scores = _scores(found, np.array([position.action for position in batch]))
        plies = np.array([position.ply for position in batch])
        phases = np.searchsorted(list(PHASES.values()), plies, side="right") - 1
        numbers = []
        for position in batch:
            if position.game is not current:  # positions of a game come one after the other
                current = position.game
                blank = np.zeros((len(PHASES), len(SUMS)))
                prediction.games.append(GameScore(position.groups, blank))
            numbers.append(len(prediction.games) - 1)
        sums = np.zeros((numbers[-1] - numbers[0] + 1, len(PHASES), len(SUMS)))
        np.add.at(sums, (np.array(numbers) - numbers[0], phases), scores)
        for number, more in enumerate(sums, numbers[0]):
            prediction.games[number].sums[:] += more
        prediction.total += scores.sum(axis=0)
        yield prediction
    if not prediction.games:
        raise InputError("no position is left by the filters")


def _scores(found: Analysis, played: npt.NDArray[np.int64]) -> Array:
    """The `SUMS` of single positions, one a row."""
    assert found.actions is not None
    rows = np.arange(len(played))
    is_played = found.actions == played[:, None]
    assert is_played.any(axis=1).all(), "what was played is legal"
    at = is_played.argmax(axis=1)
    smooth = found.policy if found.smooth is None else found.smooth
    loss = -np.log(np.maximum(smooth[rows, at], np.finfo(np.float64).tiny))
    # The agent's order: its best, then the likelier, then the anchor's, then the lower action.
    best = found.policy.argmax(axis=1) if found.best is None else found.best
    is_best = np.arange(found.policy.shape[1]) == best[:, None]
    order = np.lexsort((found.actions, -found.anchor, -found.policy, ~is_best))
    rank = (order == at[:, None]).argmax(axis=1)
    return np.stack([np.ones(len(rows)), rank == 0, rank < 5, loss], axis=1)
