"""The Blotto figure (appendix B): the effect of λ in Colonel Blotto(10, 3).

It compares piKL-Hedge with the uniform anchor, for a range of λ, with RM, Hedge and the exact
equilibrium that it converges to. Payoffs are ±1, as in the paper's text. Its caption scales them to
[0, 1], which halves λ and exploitability.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kedge.experiments import Column, Experiment, Report, Table, Task
from kedge.games.normal_form import blotto, exploitability
from kedge.paper.checks import check_counts, check_distinct, check_positive
from kedge.paper.style import ANCHOR, EXACT, HEDGE, PIKL, RM, tidy
from kedge.regularize import kl_divergence
from kedge.search.regret import qre, solve
from kedge.search.regret.algorithms import by_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = {"rm": "RM", "hedge": "Hedge", "pikl-hedge": "piKL-Hedge"}
_CURVE = 97  # points of the exact curve, which has kinks where the best response changes


@dataclass(frozen=True, kw_only=True)
class BlottoFigure(Experiment):
    """Exploitability and KL to the uniform anchor over λ, in Colonel Blotto."""

    name: ClassVar[str] = "blotto"

    coins: int = 10
    fields: int = 3
    lambdas: tuple[float, ...] = tuple(float(f"{x:.3g}") for x in np.geomspace(1e-3, 10, 17))
    iterations: int = 100_000
    repeats: int = 5

    def __post_init__(self) -> None:
        check_positive(lambdas=self.lambdas)
        check_distinct(lambdas=self.lambdas)
        check_counts(iterations=self.iterations, repeats=self.repeats)
        blotto(self.coins, self.fields)

    def tasks(self) -> list[Task]:
        runs = [("rm", None), ("hedge", None)] + [("pikl-hedge", lam) for lam in self.lambdas]
        tasks = [
            Task(f"{algorithm} {lam} {repeat}", {"algorithm": algorithm, "lam": lam})
            for algorithm, lam in runs
            for repeat in range(self.repeats)
        ]
        dense = np.geomspace(min(self.lambdas), max(self.lambdas), _CURVE)
        exact = sorted({*self.lambdas, *(float(f"{lam:.6g}") for lam in dense)})
        return tasks + [Task(f"exact {lam}", {"algorithm": "exact", "lam": lam}) for lam in exact]

    def run(self, task: Task, rng: np.random.Generator) -> Mapping[str, Any]:
        game = blotto(self.coins, self.fields)
        algorithm, lam = task.params["algorithm"], task.params["lam"]
        if algorithm == "exact":
            policies = qre(game, lam).policies
        else:
            seed = int(rng.integers(2**63))
            minimiser = by_name(algorithm, lam=lam)
            policies = solve(
                game, minimiser, self.iterations, feedback="sampled", seed=seed, threads=1
            ).policies
        anchor = np.full(game.num_actions[0], 1.0 / game.num_actions[0])
        return {
            "exploitability": exploitability(game, policies),
            "kl": float(np.mean([kl_divergence(policy, anchor) for policy in policies])),
        }

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        runs: dict[tuple[str, float | None], list[dict[str, Any]]] = {}
        for task in self.tasks():
            where = (task.params["algorithm"], task.params["lam"])
            runs.setdefault(where, []).append(results[task.key])
        exact = [{"lambda": lam, **group[0]} for (a, lam), group in runs.items() if a == "exact"]
        known = {point["lambda"]: point for point in exact}
        rows = [
            {
                "algorithm": _NAMES[algorithm],
                "lambda": lam,
                **_mean("exploitability", group),
                **_mean("kl", group),
                **{f"exact_{key}": value for key, value in known.get(lam, {}).items()},
            }
            for (algorithm, lam), group in runs.items()
            if algorithm != "exact"
        ]
        name = f"Blotto({self.coins}, {self.fields})"
        game = blotto(self.coins, self.fields)
        anchor = exploitability(game, [np.full(n, 1.0 / n) for n in game.num_actions])
        return Report(
            title=f"{name}: exploitability and KL to the uniform anchor",
            table=Table(
                [
                    Column("algorithm"),
                    Column("lambda", "λ", "g"),
                    Column("exploitability", format=".5f", error="exploitability_se"),
                    Column("exact_exploitability", "exact", ".5f"),
                    Column("kl", "KL(π‖τ)", ".5f", error="kl_se"),
                    Column("exact_kl", "exact", ".5f"),
                ],
                rows,
            ),
            notes=[
                f"Average policies after {self.iterations:,} iterations with sampled actions, "
                f"payoffs ±1; mean ± standard error of {self.repeats} runs.",
                "Exploitability is the mean of the players' regrets (NashConv / 2). Exact: the "
                "equilibrium that piKL-Hedge converges to, by Newton's method.",
            ],
            data={"exact": exact},
            draw=lambda figure: _draw(figure, name, rows, exact, anchor),
            figure_size=(9.0, 3.8),
        )


def _mean(key: str, results: Sequence[Mapping[str, float]]) -> dict[str, float | None]:
    values = np.array([result[key] for result in results])
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    return {key: float(values.mean()), f"{key}_se": error}


def _draw(
    figure: "Figure",
    name: str,
    rows: Sequence[Mapping[str, Any]],
    exact: Sequence[Mapping[str, Any]],
    anchor: float,
) -> None:
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_name.setdefault(row["algorithm"], []).append(row)
    panels = figure.subplots(1, 2)
    titles = {
        "exploitability": "How much play can be exploited",
        "kl": "How far it is from the anchor",
    }
    for axes, (key, title) in zip(panels, titles.items(), strict=True):
        learned = by_name["piKL-Hedge"]
        axes.plot(
            [row["lambda"] for row in learned],
            [row[key] for row in learned],
            "o",
            markersize=4.5,
            color=PIKL,
            clip_on=False,
            label="piKL-Hedge",  # its standard errors are smaller than the dots
        )
        axes.plot(
            [row["lambda"] for row in exact],
            [row[key] for row in exact],
            color=EXACT,
            linewidth=1.2,
            zorder=1,
            label="exact equilibrium",
        )
        for other, colour, style in (("RM", RM, "--"), ("Hedge", HEDGE, ":")):
            axes.axhline(by_name[other][0][key], color=colour, linestyle=style, label=other)
        axes.set_xscale("log")
        tidy(axes, title, "λ", "exploitability" if key == "exploitability" else "KL(π‖τ), nats")
        axes.set_ylim(bottom=0.0)
    panels[0].axhline(anchor, color=ANCHOR, linewidth=1.0, label="the anchor itself")
    if anchor > 0.0:
        panels[0].set_ylim(top=1.08 * anchor)
    panels[0].legend(frameon=False, fontsize=8.5, loc="center left")
    figure.suptitle(f"{name}, uniform anchor", fontsize=11)
