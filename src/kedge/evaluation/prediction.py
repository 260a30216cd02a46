"""How well an agent predicts people: the share of moves it holds likeliest, and cross-entropy."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from kedge.agents.agent import Analysis, Predictor
from kedge.records.chess.positions import boards_of
from kedge.regularize import Array

#: The share of the anchor in what is scored by cross-entropy, and the least that is left of that,
#: where an agent may give what people did no chance at all.
ANCHOR_SHARE, LEAST = 1e-3, 1e-9
#: What is summed up over the positions of a game.
SUMS = ("positions", "top1", "top5", "cross_entropy")
SHARES = ("top1", "top5")
#: Fewer games than this say little of how games differ.
FEW = 20


class HumanMove(Protocol):
    """A position of a recorded game, and what a person played in it."""

    phases: ClassVar[Mapping[str, int]]
    """Where those of a game begin, in plies."""

    @property
    def game(self) -> object: ...
    @property
    def ply(self) -> int: ...
    @property
    def action(self) -> int: ...
    @property
    def groups(self) -> dict[str, str]:
        """By what figures are split."""
        ...


@dataclass(frozen=True)
class GameScore:
    """One game's `SUMS` in each phase, and the groups that it belongs to.

    Where groups overlap, a game has a list of them.
    """

    groups: Mapping[str, str | list[str]]
    phases: dict[str, Array]
    cluster: str | None = None
    """Whose game it is, where one person's games belong together."""

    @property
    def sums(self) -> Array:
        """Of the whole game."""
        total: Array = np.array(list(self.phases.values())).sum(axis=0)
        return total

    def split(self, column: int) -> dict[str, Array]:
        """By one of the words between commas that phases are named with; the empty one left out."""
        found: dict[str, Array] = {}
        for phase, sums in self.phases.items():
            if label := phase.split(",")[column]:
                found[label] = found[label] + sums if label in found else sums
        return found

    def to_json(self) -> dict[str, Any]:
        phases = {phase: sums.tolist() for phase, sums in self.phases.items()}
        whose = {} if self.cluster is None else {"cluster": self.cluster}
        return {"groups": self.groups, "phases": phases, **whose}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "GameScore":
        phases = {phase: np.array(sums) for phase, sums in found["phases"].items()}
        return cls(dict(found["groups"]), phases, found.get("cluster"))


@dataclass
class Prediction:
    """Games summed up one by one, so that errors can be clustered by game, or by player."""

    games: list[GameScore] = field(default_factory=list)
    kinds: tuple[str, ...] = ("phase",)
    """What the names of a game's phases say, between commas: by each of it figures are split."""

    def to_json(self) -> dict[str, Any]:
        """All positions, and split by each of their groups."""
        labels: dict[str, dict[str, list[tuple[Array, str | None]]]] = {}
        for game in self.games:
            for kind, of_game in game.groups.items():
                for label in [of_game] if isinstance(of_game, str) else of_game:
                    found = labels.setdefault(kind, {}).setdefault(label, [])
                    found.append((game.sums, game.cluster))
        for column, kind in enumerate(self.kinds):
            by_label = labels.setdefault(kind, {})
            for game in self.games:
                for label, sums in game.split(column).items():
                    one = [(sums, game.cluster)] if sums[0] else []
                    by_label.setdefault(label, []).extend(one)
        split = {
            kind: {
                label: summary(*zip(*by_label[label], strict=True))
                for label in _ordered(kind, by_label)
                if by_label[label]
            }
            for kind, by_label in labels.items()
        }
        clusters = [game.cluster for game in self.games]
        return {**summary([game.sums for game in self.games], clusters), "groups": split}


def _ordered(kind: str, labels: Iterable[str]) -> Iterable[str]:
    """Phases have an order of their own; in others 900 comes before 1000."""
    return labels if kind == "phase" else sorted(labels, key=_numbers_apart)


def _numbers_apart(label: str) -> list[str | int]:
    return [int(part) if i % 2 else part for i, part in enumerate(re.split("([0-9]+)", label))]


def summary(
    games: Sequence[npt.ArrayLike] | Array, clusters: Sequence[str | None] = ()
) -> dict[str, Any]:
    """Means over positions, and their standard errors, the games being what was drawn at random.

    `games` holds the `SUMS` of each. A few games may agree by chance: of fewer than `FEW` the
    errors of shares are not taken for less than those of as many independent positions. `clusters`
    says which games belong together, and count as one that was drawn.
    """
    found = clustered(games, clusters)
    if 0 < drawn_of(found) < FEW and found["positions"]:
        for name in SHARES:
            binomial = math.sqrt(found[name] * (1.0 - found[name]) / found["positions"])
            error = found[f"{name}_se"]
            found[f"{name}_se"] = binomial if math.isnan(error) else max(error, binomial)
    return found


def few_games(counts: Iterable[int]) -> list[str]:
    """What a report has to say if some of its rows are of few games."""
    if min(counts, default=FEW) >= FEW:
        return []
    return [
        f"few games: the standard errors of fewer than {FEW} are rough. Those of shares are at "
        f"least the binomial ones; those of cross-entropy and of differences may be too small."
    ]


def drawn_of(found: Mapping[str, Any]) -> int:
    """How many games, or clusters of them, a summary is of."""
    return int(found.get("clusters", found["games"]))


def clustered(
    games: Sequence[npt.ArrayLike] | Array, clusters: Sequence[str | None] = ()
) -> dict[str, Any]:
    """Means over positions of sums, or differences of sums, and errors clustered by game.

    Games of one cluster are taken together; where that is None, a game is by itself.
    """
    sums = np.array(games, np.float64).reshape(-1, len(SUMS))
    found: dict[str, Any] = {"games": len(sums), "positions": int(sums[:, 0].sum())}
    if any(cluster is not None for cluster in clusters):
        keys = [number if name is None else name for number, name in enumerate(clusters)]
        places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        together = np.zeros((len(places), len(SUMS)))
        np.add.at(together, [places[key] for key in keys], sums)
        found["clusters"], sums = len(places), together
    for column, name in enumerate(SUMS[1:], 1):
        found[name], found[f"{name}_se"] = mean_by_game(sums[:, 0], sums[:, column])
    return found


def mean_by_game(counts: Array, sums: Array) -> tuple[float, float]:
    """The mean of what games have `counts` of, and `sums`; its standard error, clustered by game.

    >>> [round(number, 3) for number in mean_by_game(np.array([1, 3]), np.array([0.5, 0.5]))]
    [0.25, 0.125]
    """
    count = counts.sum()
    if not count:
        return math.nan, math.nan
    mean = sums.sum() / count
    off = sums - mean * counts
    spread = len(sums) / (len(sums) - 1) if len(sums) > 1 else math.nan
    return float(mean), float(np.sqrt(spread * (off**2).sum()) / count)


def predict(
    positions: Sequence[HumanMove],
    agent: Predictor,
    boards: Callable[[Sequence[Any]], Sequence[Any]] = boards_of,
) -> Prediction:
    """Score `agent` on what people played; positions of a game come one after the other.

    `boards` makes of positions what `agent` takes: the native boards of chess, if not told.
    """
    return summed(positions, scored(positions, agent, boards))


def scored(
    positions: Sequence[HumanMove],
    agent: Predictor,
    boards: Callable[[Sequence[Any]], Sequence[Any]] = boards_of,
) -> Array:
    """The `SUMS` of single positions, one a row."""
    size = agent.batch_size
    batches = [positions[first : first + size] for first in range(0, len(positions), size)]
    # An agent may take several before it answers.
    found = agent.analyse_chunks(boards(batch) for batch in batches)
    scores = [
        move_scores(one, np.array([position.action for position in batch]))
        for batch, one in zip(batches, found, strict=True)
    ]
    return np.concatenate(scores) if scores else np.empty((0, len(SUMS)))


def summed(positions: Sequence[HumanMove], scores: Array) -> Prediction:
    """What `scored` says of positions, game by game and phase by phase."""
    prediction, end = Prediction(), 0
    for _, run in groupby(positions, key=lambda position: id(position.game)):
        group = list(run)
        start, end = end, end + len(group)
        phases, plies = group[0].phases, np.array([position.ply for position in group])
        sums = np.zeros((len(phases), len(SUMS)))
        rows = np.searchsorted(list(phases.values()), plies, side="right") - 1
        np.add.at(sums, rows, scores[start:end])
        by_phase = dict(zip(phases, sums, strict=True))
        prediction.games.append(GameScore(group[0].groups, by_phase))
    return prediction


def move_scores(found: Analysis, played: npt.NDArray[np.int64]) -> Array:
    """The `SUMS` of each decision of an analysis of many, in which `played` were made."""
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
