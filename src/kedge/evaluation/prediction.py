"""How well an agent predicts people: the share of moves it holds likeliest, and cross-entropy."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

import numpy as np

from kedge.agents.agent import Analysis
from kedge.errors import InputError
from kedge.games.chess import ChessState
from kedge.records import ChessGame
from kedge.records.filters import Position

_BATCH = 512


class Predictor(Protocol):
    """An agent that analyses many states at once."""

    def analyse_many(self, states: Sequence[ChessState]) -> list[Analysis]: ...


@dataclass
class Tally:
    """Hits and losses, summed game by game, so that errors can be clustered by game."""

    games: dict[int, list[float]] = field(default_factory=dict)  # positions, hits, hits5, loss

    def add(self, game: int, rank: int, loss: float) -> None:
        sums = self.games.setdefault(game, [0.0, 0.0, 0.0, 0.0])
        for index, value in enumerate((1.0, float(rank == 0), float(rank < 5), loss)):
            sums[index] += value

    def summary(self) -> dict[str, Any]:
        """Means and their standard errors, the games being what was drawn at random."""
        sums = np.array(list(self.games.values())).reshape(-1, 4)
        count = sums[:, 0].sum()
        found: dict[str, Any] = {"games": len(sums), "positions": int(count)}
        for column, name in ((1, "top1"), (2, "top5"), (3, "cross_entropy")):
            mean = sums[:, column].sum() / count if count else np.nan
            off = sums[:, column] - mean * sums[:, 0]
            spread = len(sums) / (len(sums) - 1) if len(sums) > 1 else np.nan
            error = np.sqrt(spread * (off**2).sum()) / count if count else np.nan
            found |= {name: float(mean), f"{name}_se": float(error)}
        return found


@dataclass
class Prediction:
    """All positions so far, and split by each of their groups."""

    all: Tally = field(default_factory=Tally)
    groups: dict[str, dict[str, Tally]] = field(default_factory=dict)

    def add(self, game: int, groups: Mapping[str, str], rank: int, loss: float) -> None:
        self.all.add(game, rank, loss)
        for kind, label in groups.items():
            self.groups.setdefault(kind, {}).setdefault(label, Tally()).add(game, rank, loss)

    def to_json(self) -> dict[str, Any]:
        split = {
            kind: {label: tally.summary() for label, tally in sorted(labels.items())}
            for kind, labels in self.groups.items()
        }
        return {**self.all.summary(), "groups": split}


def predict(positions: Iterable[Position], agent: Predictor) -> Iterator[Prediction]:
    """Score `agent` on what people played; yields after every batch, the last time with all."""
    prediction = Prediction()
    current: ChessGame | None = None  # positions of a game come one after the other
    number = -1
    stream = iter(positions)
    while batch := list(islice(stream, _BATCH)):
        states = [position.state() for position in batch]
        for position, state, found in zip(batch, states, agent.analyse_many(states), strict=True):
            if position.game is not current:
                current, number = position.game, number + 1
            played = state.board.legal_actions().index(position.action)
            smooth = found.policy if found.smooth is None else found.smooth
            loss = -float(np.log(max(smooth[played], np.finfo(np.float64).tiny)))
            groups = {**position.groups, "phase": _phase(position.ply)}
            prediction.add(number, groups, _rank(found, played), loss)
        yield prediction
    if number < 0:
        raise InputError("no position is left by the filters")


def _rank(found: Analysis, played: int) -> int:
    """How many moves the agent holds likelier."""
    if found.top1 == played:
        return 0
    order = np.lexsort((-found.anchor, -found.policy))
    return max(1, int(np.flatnonzero(order == played)[0]))


def _phase(ply: int) -> str:
    return "plies 0-19" if ply < 20 else "plies 20-39" if ply < 40 else "plies 40-"
