"""Appendix H: the cost and gain of search settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from kedge.agents.diplomacy.players import OrdersAgent, OrderSearch
from kedge.agents.diplomacy.search import ROLLOUT_TEMPERATURE
from kedge.experiments import Column, Report, Table, Task
from kedge.experiments.players import player_on
from kedge.games.diplomacy import POWERS, Diplomacy
from kedge.models.devices import is_cpu
from kedge.paper.checks import check_counts
from kedge.paper.diplomacy.figures import draw_shares
from kedge.paper.diplomacy.published import AMONG_IL, IL, SEARCH_SETTINGS, pikl
from kedge.paper.diplomacy.strength import SHARES, OneAmongSix, Pair
from kedge.paper.table_parts import beside_paper, titled
from kedge.specs import Spec


@dataclass(frozen=True, kw_only=True)
class DiplomacySearchSettings(OneAmongSix):
    """Appendix H: piKL-Hedge under several settings of its search, among six IL."""

    name: ClassVar[str] = "diplomacy-search-settings"

    lambdas: tuple[float, ...] = (1e-3,)
    turns: int = 3
    """Number of timed turns from the start of a game."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counts(turns=self.turns)

    def names(self) -> dict[str, dict[str, Any]]:
        """The measured agents by name: for each λ the paper's settings, and variants."""
        return {
            f"{pikl(lam)}{words}": {"lambda": lam, **settings}
            for lam in self.lambdas
            for words, settings in self._settings().items()
        }

    def _settings(self) -> Mapping[str, Mapping[str, Any]]:
        """Settings by name suffix: the paper's, the authors' released code's, and Gray et al.'s."""
        return {
            "": {},
            ", authors": {"preset": Spec("authors")},
            ", searchbot": self.as_searchbot(),
        }

    def own_specs(self) -> dict[str, Spec]:
        ours = {
            name: self.search("pikl-hedge", **options) for name, options in self.names().items()
        }
        return super().own_specs() | ours

    def pairs(self) -> list[Pair]:
        return [Pair(name, IL) for name in self.names()]

    def tasks(self) -> list[Task]:
        timed = [Task(_timed(name), {"timed": name}) for name in self.names()]
        return [*timed, *super().tasks()]

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        agent = player_on(self.device, self.dtype, self.specs[task.params["timed"]], "diplomacy")
        assert isinstance(agent, OrderSearch)
        settings, rollout = agent.candidate_settings, agent.rollout
        return {
            "seconds": seconds_per_turn(agent, self.turns, rng),
            "candidates": settings.candidates,
            "per_unit": settings.per_unit,
            "iterations": agent.search_settings.iterations,
            "top_p": settings.top_p,
            "rollout": rollout,
            "rollout_temperature": ROLLOUT_TEMPERATURE if rollout else None,
        }

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        rows = []
        for (name, _), share in self.shares(results).items():
            timed = results[_timed(name)]
            rows.append(
                {
                    "agent": name,
                    **timed,
                    "seconds": float(np.mean(timed["seconds"])),
                    **share,
                    **beside_paper(AMONG_IL.get(name)),
                }
            )
        paper = [
            {"agent": f"the paper: {who}", **settings} for who, settings in SEARCH_SETTINGS.items()
        ]
        where = "one core" if is_cpu(self.device) else self.device
        return Report(
            title=titled(self),
            table=Table(
                [
                    Column("agent"),
                    Column("candidates", "N_c"),
                    Column("per_unit", "a unit", "g"),
                    Column("iterations"),
                    Column("top_p", "top-p", "g"),
                    Column("rollout"),
                    Column("rollout_temperature", "at temperature", "g"),
                    *SHARES,
                    Column("seconds", "s a turn", ".2f"),
                ],
                [*rows, *paper],
            ),
            notes=[
                f"Seconds: to search a movement phase for all "
                f"seven powers at once, the mean of {self.turns} from the start on, on {where}.",
                *self.game_notes(),
                *self.agent_notes(list(self.names())),
            ],
            draw=lambda figure: draw_shares(figure, {"Among six IL": rows}),
            figure_size=(6.4, 1.4 + 0.4 * len(rows)),
        )


def _timed(name: str) -> str:
    return f"seconds of {name}"


def seconds_per_turn(agent: OrdersAgent, turns: int, rng: np.random.Generator) -> list[float]:
    """Seconds of each of `turns` movement phases for an agent that plays all seven powers."""
    seconds: list[float] = []
    state = Diplomacy().initial_state()
    agent.act_many([(state, 0)], rng)  # warm up
    while len(seconds) < turns and not state.is_terminal():
        powers = [power for power in range(len(POWERS)) if state.due[power]]
        start = perf_counter()
        orders = agent.act_many([(state, power) for power in powers], rng)
        if state.board.moving:
            seconds.append(perf_counter() - start)
        state.apply_packed(np.concatenate(orders))
    return seconds
