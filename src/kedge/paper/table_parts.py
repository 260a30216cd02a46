"""Shared parts of all games' tables: scores, the file of games, titles and columns."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from kedge.errors import InputError
from kedge.evaluation.prediction import SUMS, GameScore, clustered, summary
from kedge.experiments import Column
from kedge.regularize import Array
from kedge.specs import Spec, parse


@dataclass(frozen=True)
class Scores:
    """The scores of one agent on each game, and the labels of the games."""

    sums: Array  # (games, 4): `SUMS` of each
    labels: Mapping[str, Sequence[Any]]
    clusters: Sequence[str | None] = ()
    """A name per game: games of one name count as one. Empty if each game counts alone."""

    @classmethod
    def from_shards(cls, parts: Sequence[Mapping[str, Any]]) -> "Scores":
        def column(name: str) -> list[Any]:
            return [value for part in parts for value in part[name]]

        sums = np.array([column(name) for name in SUMS], np.float64).T
        labels = {name: column(name) for name in parts[0] if name not in SUMS}
        return cls(sums, labels)

    @classmethod
    def of(cls, games: Sequence[GameScore]) -> "Scores":
        """The scores of predicted games, without labels."""
        return cls(np.array([game.sums for game in games]), {}, [game.cluster for game in games])

    def summary(self) -> dict[str, Any]:
        """Means and their standard errors, clustered by game, or by `clusters`."""
        return summary(self.sums, self.clusters)

    def gain(self, raw: "Scores") -> dict[str, Any]:
        """Mean differences to `raw` on the same positions, and their standard errors."""
        if not np.array_equal(self.sums[:, 0], raw.sums[:, 0]):
            raise InputError(
                "the games changed between tasks; run kedge experiments clean, then try again"
            )
        off = self.sums - raw.sums
        off[:, 0] = raw.sums[:, 0]
        return clustered(off, self.clusters)

    def only(self, numbers: Sequence[int]) -> "Scores":
        """The scores of these games."""
        labels = {name: [values[k] for k in numbers] for name, values in self.labels.items()}
        clusters = [self.clusters[k] for k in numbers] if self.clusters else ()
        return Scores(self.sums[list(numbers)], labels, clusters)


def find_games(data: str, usual: Path, kinds: str) -> Path:
    """The file `data`, or the default games under ``$KEDGE_DATA``."""
    advice = f"give human games ({kinds}) with --data FILE"
    if data:
        path = Path(data)
    elif root := os.environ.get("KEDGE_DATA"):
        path = Path(root) / usual
    else:
        raise InputError(f"KEDGE_DATA is not set; {advice}")
    if not os.path.isfile(path):
        raise InputError(f"{path}: no such file; {advice}")
    return path


def short_name(model: str) -> str:
    """A model's name in tables: for a path, the name of the file."""
    spec = parse(model)
    stem = PurePath(spec.name).name.partition(".")[0]
    return str(Spec(stem, spec.args, spec.kwargs))


def titled(experiment: Any) -> str:
    """The title of a report: its class's docstring, with the measured models instead of Maia."""
    title = (type(experiment).__doc__ or "").strip()

    def measured(_: re.Match[str]) -> str:
        names = [short_name(model) for model in experiment.models]
        if all(re.fullmatch(r"maia-\d+", name) for name in names):
            names = [name.capitalize() for name in names] if "Maia-" in title else ["Maia"]
        return ", ".join(names)

    return re.sub(r"Maia(-\d+)?", measured, title)


def beside(known: bool, column: Column) -> list[Column]:
    """A column for the paper's figures, if any is known."""
    return [column] if known else []


def beside_paper(known: tuple[float, float] | None) -> dict[str, float | None]:
    """The paper's figure and its standard error, for a row."""
    mean, error = known or (None, None)
    return {"paper": mean, "paper_se": error}
