"""The theory (section 4.2 and appendix A): measured regret and KL beside the paper's bounds.

The games are random two-player zero-sum games with random anchors. piKL-Hedge is the variant of the
proofs: t − 1 indexing, constant η = 1/(λβ + 2D), sampled actions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kedge.errors import InputError
from kedge.experiments import Column, Experiment, Report, Table, Task
from kedge.games.normal_form import NormalFormGame, regrets, regularized_regrets
from kedge.paper.checks import check_counts, check_distinct, check_positive
from kedge.paper.style import EXACT, PIKL, tidy
from kedge.search.regret import PiKLHedge, iterates

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class TheoryFigure(Experiment):
    """Measured regret, KL and exploitability beside Propositions 1 and 2, Theorems 1 and 2."""

    name: ClassVar[str] = "theory"

    games: int = 20
    actions: int = 10
    lambdas: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
    iterations: int = 100_000
    delta: float = 0.05

    def __post_init__(self) -> None:
        check_positive(lambdas=self.lambdas)
        check_distinct(lambdas=self.lambdas)
        check_counts(games=self.games, iterations=self.iterations)
        if self.actions < 2:
            raise InputError(f"actions: at least 2, not {self.actions}")
        if not 0.0 < self.delta < 1.0:
            raise InputError(f"delta: must be between 0 and 1, not {self.delta:g}")

    def tasks(self) -> list[Task]:
        return [
            Task(f"game {game} λ {lam:g}", {"game": game, "lam": lam})
            for game in range(self.games)
            for lam in self.lambdas
        ]

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        lam = task.params["lam"]
        # The game's number is its seed, so that every λ has the same games.
        own = np.random.default_rng([self.seed, task.params["game"]])
        payoffs = own.uniform(-1.0, 1.0, (self.actions, self.actions))
        anchors = own.dirichlet(np.ones(self.actions), size=2)
        game = NormalFormGame(np.stack([payoffs, -payoffs]))
        steps = iterates(
            game,
            PiKLHedge(lam, indexing="t-1"),
            anchors=list(anchors),
            feedback="sampled",
            checkpoints=self._checkpoints(),
            seed=int(rng.integers(2**63)),
            threads=1,
        )
        points = []
        for step in steps:
            gaps = regularized_regrets(game, step.policies, list(anchors), lam)
            points.append(
                {
                    "iteration": step.iteration,
                    "regret": step.regret.tolist(),
                    "regret_bound": step.regret_bound.tolist(),
                    "kl": step.kl_to_anchor.tolist(),
                    "kl_bound": step.kl_bound.tolist(),
                    "gap": float(gaps.max()),
                    "xi": step.xi(self.delta),
                    "exploitability": float(regrets(game, step.policies).max()),
                    "nash_bound": step.nash_bound,
                }
            )
        return {"points": points}

    def _checkpoints(self) -> list[int]:
        spread = np.geomspace(1, self.iterations, 31).round()
        return sorted({int(iteration) for iteration in spread})

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        curves: dict[float, list[list[dict[str, Any]]]] = {lam: [] for lam in self.lambdas}
        for task in self.tasks():
            curves[task.params["lam"]].append(results[task.key]["points"])
        rows = [{"lambda": lam, **_summary(games)} for lam, games in curves.items()]
        return Report(
            title="piKL-Hedge measured, beside the paper's bounds",
            table=Table(
                [
                    Column("lambda", "λ", "g"),
                    Column("regret", "R^T", ".3g"),
                    Column("regret_bound", "Prop. 1", ".3g"),
                    Column("kl", "KL(π̄‖τ)", ".3g"),
                    Column("kl_bound", "Thm 1", ".3g"),
                    Column("gap", "regularised gap", ".2g"),
                    Column("xi", "Prop. 2's ξ", ".2g"),
                    Column("exploitability", "exploitability", ".3g"),
                    Column("nash_bound", "Thm 2", ".3g"),
                    Column("broken", "broken"),
                ],
                rows,
            ),
            notes=[
                f"{self.games} random zero-sum games ({self.actions} × {self.actions}, payoffs in "
                f"±1, random anchors) after {self.iterations:,} iterations with sampled actions; "
                f"each value stands beside its bound, for the game and player where it is "
                f"closest to it.",
                f"Exploitability is the worse player's. broken: of all games, players and "
                f"checkpoints, how many measured values exceed their own bound (ξ holds with "
                f"probability {1 - self.delta:g}; Theorem 2 holds in the limit, so the regularised "
                f"gap that is left is added to its bound).",
            ],
            draw=lambda figure: _draw(figure, curves),
            figure_size=(9.0, 6.4),
        )


def _summary(games: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    ends = [points[-1] for points in games]
    pairs = [("regret", "regret_bound"), ("kl", "kl_bound"), ("gap", "xi")]
    broken = sum(
        int((np.asarray(point[measured]) > np.asarray(point[bound]) + 1e-12).sum())
        for points in games
        for point in points
        for measured, bound in pairs
    )
    broken += sum(end["exploitability"] > end["nash_bound"] + end["gap"] for end in ends)
    summary: dict[str, Any] = {"broken": broken}
    for measured, bound in [*pairs, ("exploitability", "nash_bound")]:
        values = np.ravel([end[measured] for end in ends])
        limits = np.ravel([end[bound] for end in ends])
        closest = int(np.argmax(values / limits))
        summary |= {measured: float(values[closest]), bound: float(limits[closest])}
    return summary


def _over_games(
    worst: Callable[..., Any], games: Sequence[Sequence[Mapping[str, Any]]], key: str
) -> Any:
    """The largest (or smallest) over games and players at every checkpoint."""
    return worst([[worst(point[key]) for point in points] for points in games], axis=0)


def _draw(figure: "Figure", curves: Mapping[float, Sequence[Sequence[Mapping[str, Any]]]]) -> None:
    panels = figure.subplots(2, 2)
    shown = [lam for k, lam in enumerate(curves) if k % 2 == 0]
    shades = dict(zip(shown, ("#9ecae1", "#4292c6", "#08519c", "#08306b"), strict=False))
    for lam, shade in shades.items():
        games = curves[lam]
        times = [point["iteration"] for point in games[0]]
        for axes, measured in ((panels[0, 0], "regret"), (panels[0, 1], "gap")):
            axes.plot(
                times, _over_games(np.max, games, measured), color=shade, label=f"λ = {lam:g}"
            )
        limit = _over_games(np.min, games, "regret_bound")
        panels[0, 0].plot(times, limit, color=shade, linestyle="--", linewidth=1.0)
    limit = _over_games(np.min, games, "xi")  # nearly the same at every λ
    panels[0, 1].plot(times, limit, color=EXACT, linestyle="--", linewidth=1.0)
    for axes in panels[0]:
        axes.set(xscale="log", yscale="log")
    tidy(panels[0, 0], "Regret R^T (dashed: Proposition 1)", "iterations T", "regret")
    tidy(panels[0, 1], "Gap to equilibrium (dashed: ξ, Prop. 2)", "iterations T", "gain in U")
    panels[0, 0].legend(frameon=False, fontsize=8.5)
    for axes, measured, bound, title in (
        (panels[1, 0], "kl", "kl_bound", "Distance from the anchor"),
        (panels[1, 1], "exploitability", "nash_bound", "Exploitability of the worse player"),
    ):
        lams = list(curves)
        ends = [[points[-1] for points in curves[lam]] for lam in lams]
        for game in range(len(ends[0])):
            values = [float(np.max(at[game][measured])) for at in ends]
            axes.plot(lams, values, color=PIKL, alpha=0.35, linewidth=1.0)
            limits = [float(np.min(at[game][bound])) for at in ends]
            axes.plot(lams, limits, color=EXACT, alpha=0.25, linestyle="--", linewidth=0.8)
        theorem = "Theorem 1" if measured == "kl" else "Theorem 2"
        axes.plot([], [], color=EXACT, linestyle="--", label=f"{theorem}, one line a game")
        axes.plot([], [], color=PIKL, label="measured, one line a game")
        axes.set(xscale="log", yscale="log")
        tidy(axes, title, "λ", "KL(π̄‖τ), nats" if measured == "kl" else "exploitability")
        axes.legend(frameon=False, fontsize=8.5)
