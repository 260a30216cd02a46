"""``kedge solve``: normal-form games toward an anchor."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kedge.errors import InputError
from kedge.interfaces.options import Json, unfolded
from kedge.interfaces.output import print_json

if TYPE_CHECKING:
    from kedge.evaluation.normal_form.equilibria import Solution


@dataclass(frozen=True)
class Solver:
    """How a game is solved."""

    algorithm: Annotated[
        Literal["pikl-hedge", "hedge", "rm", "rm+", "mmd", "dil-pikl", "qre"],
        typer.Option(
            "--algorithm", "-a", help="`qre` is exact, for small games; the others learn."
        ),
    ] = "pikl-hedge"
    lam: Annotated[
        str | None,
        typer.Option(
            "--lambda",
            "-l",
            metavar="X[,Y…]",
            help="The dial: one λ for all players, or one per player. 0 ignores the anchor, inf "
            "plays it. [default: 0.1]",
            show_default=False,
        ),
    ] = None
    lambda_types: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,…",
            help="For `dil-pikl`: the λs of a player's types. [default: 1e-4,1e-3,1e-2,1e-1]",
            show_default=False,
        ),
    ] = None
    eta: Annotated[
        str | None,
        typer.Option(
            metavar="theory|paper|X",
            help="Step size: `theory` 1/(λβ+2D), `paper` c/(σ√t), or a number. For `mmd` a "
            "number; its default is safe. [default: theory]",
            show_default=False,
        ),
    ] = None
    weighting: Annotated[
        Literal["uniform", "linear"] | None,
        typer.Option(
            help="Weight of iteration t in learning: 1, or t (faster where players chase each "
            "other). [default: uniform]",
            show_default=False,
        ),
    ] = None
    feedback: Annotated[
        Literal["full", "sampled"] | None,
        typer.Option(
            help="Learn from expected utilities, or from sampled joint actions. [default: full]",
            show_default=False,
        ),
    ] = None
    average: Annotated[
        Literal["uniform", "linear", "last"] | None,
        typer.Option(
            help="Which policies to return: an average or the last. [default: last for mmd, else "
            "uniform]",
            show_default=False,
        ),
    ] = None
    iterations: Annotated[
        int | None,
        typer.Option(
            "--iterations",
            "-n",
            min=1,
            max=10**15,
            help="How many iterations. [default: 10000]",
            show_default=False,
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed of the sampling. [default: 0]", show_default=False),
    ] = None

    def solve(self, game: Any, anchors: list[Any] | None, *, is_watched: bool) -> "Solution":
        """Solve the game; show progress if somebody watches."""
        from kedge.evaluation.normal_form import equilibria
        from kedge.interfaces import inputs
        from kedge.interfaces.text_tables import tracked

        lams = inputs.numbers(self.lam, "--lambda")
        if self.algorithm == "qre":
            self._check_exact()
            return equilibria.solve_exactly(game, lams, anchors)
        types = inputs.numbers(self.lambda_types, "--lambda-types")
        count = self.iterations or equilibria.ITERATIONS
        steps = equilibria.solve_by_learning(
            game,
            inputs.algorithm(self.algorithm, lams, types, self.eta, self.weighting),
            count,
            anchors=anchors,
            feedback=self.feedback or "full",
            average=self.average,
            seed=self.seed or 0,
            reports=100 if is_watched else 1,
        )
        return tracked(steps, count)

    def _check_exact(self) -> None:
        for name, value in vars(self).items():
            if name not in ("algorithm", "lam") and value is not None:
                raise InputError(f"--{name.replace('_', '-')}: qre has no such option")


@unfolded
def solve(
    game: Annotated[
        str,
        typer.Argument(
            help="A game spec, a Gambit `.nfg` or JSON file, or `openspiel:NAME`.",
            show_default=False,
        ),
    ],
    solver: Solver,
    anchor: Annotated[
        str,
        typer.Option(
            metavar="FILE|uniform", help="The anchor: a JSON list with one policy per player."
        ),
    ] = "uniform",
    as_json: Json = False,
) -> None:
    """Solve a normal-form game toward an anchor.

    Each policy is a best answer to the others, and pays λ·KL(π‖τ) for leaving the anchor τ.

    **Examples**

    - `kedge solve "blotto(coins=10, fields=3)" --lambda 0.1`
    - `kedge solve game.nfg --anchor people.json --lambda 0.5,2 --algorithm qre`
    - `kedge solve openspiel:kuhn_poker --algorithm rm+ --average linear --json`

    **What is printed**

    - `exploitability`: the mean of the players' unregularised regrets (NashConv / players)
    - `kl_to_anchor`: KL(π‖τ) in nats, one per player
    - `residual`: max |π − F(π)| of the regularised fixed point; none at λ = 0
    """
    from kedge.games import load_normal_form
    from kedge.interfaces import inputs
    from kedge.interfaces.text_tables import print_solution

    loaded = load_normal_form(game)
    anchors = inputs.read_anchors(anchor)
    is_watched = sys.stderr.isatty() and not as_json
    solution = solver.solve(loaded, anchors, is_watched=is_watched)
    if as_json:
        print_json({"game": loaded.name, "algorithm": solver.algorithm, **solution.to_json()})
    else:
        print_solution(loaded, anchors, solution)
