"""Appendix D (text): networks trained by self-play predict people far worse."""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kedge.agents.go.katago import KataGo
from kedge.errors import InputError
from kedge.evaluation.prediction import Prediction, predict
from kedge.experiments import Column, Report, Table
from kedge.experiments.fingerprints import file_hashes, record_hashes
from kedge.experiments.go.predict import GoPredict
from kedge.paper.board import published
from kedge.paper.board.figures import draw_agents
from kedge.paper.board.prediction import Cell
from kedge.paper.checks import check_distinct
from kedge.paper.go.prediction import GoPrediction
from kedge.paper.table_parts import beside, short_name, titled
from kedge.records.go.games import GoGame
from kedge.records.go.positions import GoPosition


@dataclass(frozen=True, kw_only=True)
class KataGoPredict(GoPredict):
    """One of KataGo's networks, without search, on people's Go moves."""

    name: ClassVar[str] = "predict-katago"
    places: ClassVar[tuple[str, ...]] = (*GoPredict.places, "katago", "network")

    agent: str = "katago"
    katago: str
    network: str
    chunk: int | None = 1024  # each task starts the program

    def inputs(self) -> dict[str, Any]:
        return {
            "files": record_hashes(self.data, self.game),
            "weights": file_hashes([self._program(), self.network]),
        }

    def check(self) -> None:
        """Check nothing: `inputs` reads the program and the network."""

    def predict(
        self, games: Sequence[tuple[GoGame, list[int]]], rng: np.random.Generator
    ) -> Prediction:
        positions = [GoPosition(game, ply) for game, plies in games for ply in plies]
        with KataGo(self._program(), self.network) as katago:
            return predict(positions, katago, lambda chosen: chosen)

    def _program(self) -> str:
        path = shutil.which(self.katago)
        if path is None:
            raise InputError(f"{self.katago}: no such program; give KataGo with --katago PATH")
        return path


@dataclass(frozen=True, kw_only=True)
class GoRlAgents(GoPrediction):
    """Appendix D: top-1 accuracy of KataGo's networks, without search, beside a human model's."""

    name: ClassVar[str] = "go-rl-agents"

    katago: str = "katago"
    """The KataGo program, version 1.9 or later."""
    networks: tuple[str, ...] = ()
    """KataGo's network files."""
    positions: int | None = 2000

    def __post_init__(self) -> None:
        super().__post_init__()
        # Workers may run in another folder.
        networks = tuple(str(Path(network).resolve()) for network in self.networks)
        object.__setattr__(self, "networks", networks)
        if networks:
            check_distinct(networks=networks)

    def cells(self) -> list[Cell]:
        return [Cell(model, self.years, None) for model in (*self.models, *self.networks)]

    def check(self) -> None:
        super().check()
        if not self.networks:
            raise InputError("networks: none given; add KataGo's with --network FILE")

    def prediction(self, cell: Cell) -> GoPredict:
        if cell.model not in self.networks:
            return super().prediction(cell)
        moves = self.moves() | {"device": "cpu", "dtype": "float32"}  # the program has its own
        return KataGoPredict(katago=self.katago, network=cell.model, **moves)

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        cells = self.gather(results)
        person, *_ = cells.values()
        rows = []
        for cell, scores in cells.items():
            is_katago = cell.model in self.networks
            gain = {} if scores is person else scores.gain(person)
            rows.append(
                {
                    "agent": network_name(cell.model) if is_katago else short_name(cell.model),
                    "learnt_from": "self-play" if is_katago else "people",
                    **scores.summary(),
                    "gain": gain.get("top1"),
                    "gain_se": gain.get("top1_se"),
                    "paper": self._published(cell.model),
                }
            )
        known = any(row["paper"] is not None for row in rows)
        return Report(
            title=titled(self),
            table=Table(
                [
                    Column("agent"),
                    Column("learnt_from", "learnt from"),
                    Column("top1", "top-1", ".1%", error="top1_se"),
                    *beside(known, Column("paper", "paper top-1", ".1%")),
                    Column("gain", f"against {rows[0]['agent']}", "+.1%", error="gain_se"),
                    Column("cross_entropy", "nats", ".3f", error="cross_entropy_se"),
                ],
                rows,
            ),
            notes=[
                *self.notes(cells, rows),
                "Policies of networks without search; KataGo's rules are Japanese. ± is one "
                "standard error, clustered by game; differences are paired: the same moves.",
                *(['The paper\'s figures for KataGo are rounded ("about").'] if known else []),
            ],
            draw=lambda figure: draw_agents(figure, rows),
            figure_size=(6.4, 1.4 + 0.4 * len(rows)),
        )

    def _published(self, model: str) -> float | None:
        if self.split != "test":
            return None
        if model not in self.networks:
            return published.ACCURACY["go"][None]
        blocks = re.search(r"-b(\d+)c\d+-", Path(model).name)
        return published.KATAGO.get(int(blocks[1])) if blocks else None


def network_name(network: str) -> str:
    """The name of a KataGo network in tables: without steps and data, if it has them.

    >>> network_name("/nets/g170-b6c96-s175395328-d26788732.bin.gz"), network_name("mine.bin.gz")
    ('g170-b6c96', 'mine')
    """
    name = Path(network).name.partition(".")[0]
    return re.sub(r"(-b\d+c\d+\w*)-s\d+-d\d+$", r"\1", name)
