"""How well an agent predicts people: top-1 and top-5 accuracy, and cross-entropy."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from kedge.agents.agent import Analysis, Predictor
from kedge.regularize import Array

#: In Hanabi and Diplomacy: share of the anchor in the policy that cross-entropy scores, and least
#: probability of it. They keep cross-entropy finite if an agent gives people's move no probability.
#: Board games score `Analysis.smooth` as it is.
ANCHOR_SHARE, LEAST = 1e-3, 1e-9
#: Columns of the sums over the positions of a game.
SUMS = ("positions", "top1", "top5", "cross_entropy")
SHARES = ("top1", "top5")
#: Fewer games than this say little about how games differ.
FEW = 20


class HumanMove(Protocol):
    """A position of a recorded game, and the move that a person played in it."""

    phases: ClassVar[Mapping[str, int]]
    """First ply of each phase of a game."""

    @property
    def game(self) -> object: ...
    @property
    def ply(self) -> int: ...
    @property
    def action(self) -> int: ...
    @property
    def groups(self) -> dict[str, str]:
        """Groups by which figures are split: a label per kind."""
        ...


@dataclass(frozen=True)
class GameScore:
    """One game's `SUMS` in each cell, such as a phase or a kind of move, and its groups."""

    groups: Mapping[str, str | list[str]]
    """Label by kind; a list of labels where groups overlap."""
    cells: dict[str, Array]
    """Sums by cell: its labels, joined by commas, one of each of `Prediction.kinds`."""
    cluster: str | None = None
    """The person whose games count as one cluster; None if the game is its own."""

    @property
    def sums(self) -> Array:
        """`SUMS` of the whole game."""
        total: Array = np.array(list(self.cells.values())).sum(axis=0)
        return total

    def split(self, column: int) -> dict[str, Array]:
        """Sum by one label of the cells; skip empty labels."""
        totals: dict[str, Array] = {}
        for labels, sums in self.cells.items():
            if label := labels.split(",")[column]:
                totals[label] = totals[label] + sums if label in totals else sums
        return totals

    def to_json(self) -> dict[str, Any]:
        cells = {labels: sums.tolist() for labels, sums in self.cells.items()}
        cluster = {} if self.cluster is None else {"cluster": self.cluster}
        return {"groups": self.groups, "phases": cells, **cluster}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "GameScore":
        cells = {labels: np.array(sums) for labels, sums in document["phases"].items()}
        return cls(dict(document["groups"]), cells, document.get("cluster"))


@dataclass
class Prediction:
    """Scores of single games, so that errors can be clustered by game, or by player."""

    games: list[GameScore] = field(default_factory=list)
    kinds: tuple[str, ...] = ("phase",)
    """Meaning of each label of a cell; figures are split by each."""

    def to_json(self) -> dict[str, Any]:
        """Return the summary of all positions, and of each group."""
        labels: dict[str, dict[str, list[tuple[Array, str | None]]]] = {}
        totals = [(game.sums, game.cluster) for game in self.games]
        for game, row in zip(self.games, totals, strict=True):
            for kind, own in game.groups.items():
                for label in [own] if isinstance(own, str) else own:
                    labels.setdefault(kind, {}).setdefault(label, []).append(row)
        for column, kind in enumerate(self.kinds):
            by_label = labels.setdefault(kind, {})
            for game in self.games:
                for label, sums in game.split(column).items():
                    rows = [(sums, game.cluster)] if sums[0] else []
                    by_label.setdefault(label, []).extend(rows)
        split = {
            kind: {
                label: summary(*zip(*by_label[label], strict=True))
                for label in sorted(by_label, key=_numbers_apart)
                if by_label[label]
            }
            for kind, by_label in labels.items()
        }
        total = summary([sums for sums, _ in totals], [cluster for _, cluster in totals])
        return {**total, "groups": split}


def _numbers_apart(label: str) -> list[str | int]:
    """Return a key that sorts 900 before 1000, and "moves 51-150" before "moves 151-"."""
    return [int(part) if i % 2 else part for i, part in enumerate(re.split("([0-9]+)", label))]


def summary(
    games: Sequence[npt.ArrayLike] | Array, clusters: Sequence[str | None] = ()
) -> dict[str, Any]:
    """Return means over positions, and standard errors that treat the games as the sample.

    `games` holds the `SUMS` of each game; games of one cluster count as one. A few games may agree
    by chance, so below `FEW` games the errors of shares are at least those of independent
    positions.
    """
    row = clustered(games, clusters)
    if 0 < drawn_of(row) < FEW and row["positions"]:
        for name in SHARES:
            binomial = _binomial_error(row[name], row["positions"])
            error = row[f"{name}_se"]
            row[f"{name}_se"] = binomial if math.isnan(error) else max(error, binomial)
    return row


def _binomial_error(share: float, count: int) -> float:
    """Return the standard error of a share of independent positions.

    At 0 or 1 its estimate is 0, however few they are. There it is that of the share with one more
    position that differs.

    >>> round(_binomial_error(0.5, 100), 3), round(_binomial_error(1.0, 3), 3)
    (0.05, 0.25)
    """
    if share in (0.0, 1.0):
        share = 1.0 / (count + 1)
    return math.sqrt(share * (1.0 - share) / count)


def few_games(counts: Iterable[int]) -> list[str]:
    """Return the note of a report if one of its rows has few games."""
    if min(counts, default=FEW) >= FEW:
        return []
    return [
        f"few games: the standard errors of fewer than {FEW} are rough. Those of shares are at "
        f"least the binomial ones; those of cross-entropy and of differences may be too small."
    ]


def drawn_of(row: Mapping[str, Any]) -> int:
    """Return the sample size of a summary: its games, or clusters of games."""
    return int(row.get("clusters", row["games"]))


def clustered(
    games: Sequence[npt.ArrayLike] | Array, clusters: Sequence[str | None] = ()
) -> dict[str, Any]:
    """Return means over positions of sums or differences of sums, and errors clustered by game.

    Games of one cluster count as one; a game whose cluster is None stands alone.
    """
    sums = np.array(games, np.float64).reshape(-1, len(SUMS))
    row: dict[str, Any] = {"games": len(sums), "positions": int(sums[:, 0].sum())}
    if any(cluster is not None for cluster in clusters):
        keys = [number if name is None else name for number, name in enumerate(clusters)]
        places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        together = np.zeros((len(places), len(SUMS)))
        np.add.at(together, [places[key] for key in keys], sums)
        row["clusters"], sums = len(places), together
    for column, name in enumerate(SUMS[1:], 1):
        row[name], row[f"{name}_se"] = mean_by_game(sums[:, 0], sums[:, column])
    return row


def mean_by_game(counts: Array, sums: Array) -> tuple[float, float]:
    """Return Σ sums / Σ counts over games, and its standard error, clustered by game.

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
    boards: Callable[[Sequence[Any]], Sequence[Any]],
) -> Prediction:
    """Score `agent` on people's moves; the positions of a game must follow each other.

    `boards` converts positions to the agent's input.
    """
    return summed(positions, scored(positions, agent, boards))


def scored(
    positions: Sequence[HumanMove],
    agent: Predictor,
    boards: Callable[[Sequence[Any]], Sequence[Any]],
) -> Array:
    """Return the `SUMS` of single positions, one per row."""
    size = agent.batch_size
    batches = [positions[first : first + size] for first in range(0, len(positions), size)]
    # An agent may take several batches before it answers.
    analyses = agent.analyse_chunks(boards(batch) for batch in batches)
    scores = [
        move_scores(analysis, np.array([position.action for position in batch]))
        for batch, analysis in zip(batches, analyses, strict=True)
    ]
    return np.concatenate(scores) if scores else np.empty((0, len(SUMS)))


def summed(positions: Sequence[HumanMove], scores: Array) -> Prediction:
    """Sum the scores of positions by game and phase."""
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


def move_scores(analysis: Analysis, played: npt.NDArray[np.int64]) -> Array:
    """Return the `SUMS` of each decision of an analysis, given the actions that were `played`."""
    assert analysis.actions is not None
    policy = analysis.policy
    rows = np.arange(len(played))
    is_played = analysis.actions == played[:, None]
    assert is_played.any(axis=1).all(), "played actions are legal"
    at = is_played.argmax(axis=1)
    smooth = policy if analysis.smooth is None else analysis.smooth
    loss = -np.log(np.maximum(smooth[rows, at], np.finfo(np.float64).tiny))
    # The agent's order: its best, then by policy, by anchor, and by number of the action.
    best = policy.argmax(axis=1) if analysis.best is None else analysis.best
    is_best = np.arange(policy.shape[1]) == best[:, None]
    order = np.lexsort((analysis.actions, -analysis.anchor, -policy, ~is_best))
    rank = (order == at[:, None]).argmax(axis=1)
    return np.stack([np.ones(len(rows)), rank == 0, rank < 5, loss], axis=1)
