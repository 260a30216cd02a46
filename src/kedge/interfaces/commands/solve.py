"""``kedge solve``: normal-form games toward an anchor."""

import sys
from typing import Annotated, Literal

import typer

from kedge.errors import InputError
from kedge.interfaces.options import Json
from kedge.interfaces.output import print_json


def solve(
    game: Annotated[
        str,
        typer.Argument(
            help="A game spec, a Gambit `.nfg` or JSON file, or `openspiel:NAME`.",
            show_default=False,
        ),
    ],
    algorithm: Annotated[
        Literal["pikl-hedge", "hedge", "rm", "rm+", "mmd", "dil-pikl", "qre"],
        typer.Option("--algorithm", "-a", help="`qre` is exact (small games); the others learn."),
    ] = "pikl-hedge",
    lam: Annotated[
        str | None,
        typer.Option(
            "--lambda",
            "-l",
            metavar="X[,Y…]",
            help="The dial: one λ for all players, or one a player. 0 ignores the anchor, inf "
            "plays it. [default: 0.1]",
            show_default=False,
        ),
    ] = None,
    lambda_types: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,…",
            help="For `dil-pikl`: the λs of a player's types. [default: 1e-4,1e-3,1e-2,1e-1]",
            show_default=False,
        ),
    ] = None,
    anchor: Annotated[
        str,
        typer.Option(metavar="FILE|uniform", help="A JSON list with one policy a player."),
    ] = "uniform",
    eta: Annotated[
        str | None,
        typer.Option(
            metavar="theory|paper|X",
            help="Step size: `theory` 1/(λβ+2D), `paper` c/(σ√t), or a number. For `mmd` a "
            "number; its default is safe. [default: theory]",
            show_default=False,
        ),
    ] = None,
    weighting: Annotated[
        Literal["uniform", "linear"] | None,
        typer.Option(
            help="What iteration t counts for in what players learn from: 1, or t (faster where "
            "players chase each other). [default: uniform]",
            show_default=False,
        ),
    ] = None,
    feedback: Annotated[
        Literal["full", "sampled"] | None,
        typer.Option(
            help="Learn from expected utilities, or from sampled joint actions. [default: full]",
            show_default=False,
        ),
    ] = None,
    average: Annotated[
        Literal["uniform", "linear", "last"] | None,
        typer.Option(
            help="Which policies to answer with. [default: last for mmd, else uniform]",
            show_default=False,
        ),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            "--iterations", "-n", min=1, max=10**15, help="[default: 10000]", show_default=False
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Of the sampling. [default: 0]", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Solve a normal-form game toward an anchor.

    Everyone's policy is a best answer to the others' that pays λ·KL(π‖τ) for leaving the anchor τ.

    **Examples**

    - `kedge solve "blotto(coins=10, fields=3)" --lambda 0.1`
    - `kedge solve game.nfg --anchor people.json --lambda 0.5,2 --algorithm qre`
    - `kedge solve openspiel:kuhn_poker --algorithm rm+ --average linear --json`

    **What is printed**

    - `exploitability`: the mean of the players' unregularised regrets (NashConv / players)
    - `kl_to_anchor`: KL(π‖τ) in nats, one a player
    - `residual`: max |π − F(π)| of the regularised fixed point; none at λ = 0
    """
    from kedge.evaluation.normal_form import equilibria
    from kedge.games import load_normal_form
    from kedge.interfaces import inputs
    from kedge.interfaces.text_tables import print_solution, tracked

    loaded = load_normal_form(game)
    anchors = inputs.read_anchors(anchor)
    lams = inputs.numbers(lam, "--lambda")
    if algorithm == "qre":
        learning = {
            "eta": eta,
            "lambda-types": lambda_types,
            "average": average,
            "weighting": weighting,
            "feedback": feedback,
            "iterations": iterations,
            "seed": seed,
        }
        for name, value in learning.items():
            if value is not None:
                raise InputError(f"--{name}: qre has no such option")
        solution = equilibria.solve_exactly(loaded, lams, anchors)
    else:
        types = inputs.numbers(lambda_types, "--lambda-types")
        chosen = inputs.algorithm(algorithm, lams, types, eta, weighting)
        count = iterations or equilibria.ITERATIONS
        steps = equilibria.solve_by_learning(
            loaded,
            chosen,
            count,
            anchors=anchors,
            feedback=feedback or "full",
            average=average,
            seed=seed or 0,
            reports=100 if sys.stderr.isatty() and not as_json else 1,
        )
        solution = tracked(steps, count)
    if as_json:
        print_json({"game": loaded.name, "algorithm": algorithm, **solution.to_json()})
    else:
        print_solution(loaded, anchors, solution)
