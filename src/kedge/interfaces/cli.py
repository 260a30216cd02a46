"""The command line. Commands import what they need when they run, so that help comes at once."""

import gc
import os
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer

from kedge.errors import ExperimentError, InputError
from kedge.interfaces.analyze_cli import analyze
from kedge.interfaces.chess_cli import policy_app
from kedge.interfaces.match_cli import match_app
from kedge.interfaces.models_cli import models_app
from kedge.interfaces.output import InterruptError, print_json, resumable
from kedge.interfaces.predict_cli import predict_app
from kedge.interfaces.records_cli import replay
from kedge.interfaces.train_cli import train_app

app = typer.Typer(
    name="kedge",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Players that are strong *and* play like people: KL-regularised search toward an anchor.",
)
experiments_app = typer.Typer(
    no_args_is_help=True,
    help="Look at, and clear away, the runs that are kept: papers and matches.",
)
app.add_typer(experiments_app, name="experiments")
app.add_typer(models_app, name="models")
app.add_typer(train_app, name="train")
app.add_typer(predict_app, name="predict")
app.add_typer(match_app, name="match")
app.command()(replay)
app.command()(analyze)
app.add_typer(policy_app, name="policy")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


# typer keeps its own copy of click and hides its base class for what a user typed wrong.
_UsageError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def main() -> None:
    """Run the command line: 0 done, 2 bad input, 1 a task failed, 130 interrupted."""
    if sys.stdout is None:  # closed: a file opened later would take its place
        _fail("cannot write: the output is closed", 1)
    try:
        code = app(prog_name="kedge", standalone_mode=False)
    except InputError as error:
        _fail(str(error), 2)
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            sys.exit(2)
        _fail(error.format_message(), 2)
    except typer.Abort:
        _fail("nothing was answered, so nothing was done", 2)
    except ExperimentError as error:  # those tasks that finished are kept
        _fail(str(error), 1)
    except InterruptError as error:
        _fail(str(error), 130)
    except OSError as error:
        _output_is_lost(error)
    if code == 130:  # what typer makes of Ctrl-C
        _fail("interrupted", 130)
    try:
        sys.stdout.flush()
    except OSError as error:
        _output_is_lost(error)
    gc.freeze()  # else Python looks through every object for garbage before it ends: 50 ms
    sys.exit(code)


def _output_is_lost(error: OSError) -> NoReturn:
    """A full disk, a reader that left: one line, and nothing more when Python closes its files."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    _fail(f"cannot write: {error.strerror}", 1)


def _fail(message: str, code: int) -> NoReturn:
    typer.echo(f"kedge: {' '.join(message.split())}", err=True)
    sys.exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"kedge {version('kedge')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
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
    from kedge.evaluation import equilibria
    from kedge.games import load_game
    from kedge.interfaces import inputs
    from kedge.interfaces.tables import print_solution, tracked

    loaded = load_game(game)
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


@app.command()
def paper(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Which table or figure; without it, all are listed.", show_default=False
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            "-s",
            metavar="FIELD=VALUE",
            help="Change a field of the experiment; lists are written with commas.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Human games: PGN or JSON lines, plain or compressed. (--set data=…)",
            resolve_path=True,
            show_default=False,
        ),
    ] = None,
    positions: Annotated[
        int | None,
        typer.Option(
            min=1, help="At most so many a rating. (--set positions=…)", show_default=False
        ),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(min=1, help="To play. (--set games=…)", show_default=False),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(help="`cpu`, `cuda`, `cuda:1`, … (--set device=…)", show_default=False),
    ] = None,
    engine: Annotated[
        Literal["local", "ray", "inline"],
        typer.Option(help="Processes here, a Ray cluster, or this very process."),
    ] = "local",
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, help="Tasks at once. [default: all cores; 1 on a GPU]", show_default=False
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(help="Of a Ray cluster: `auto` or HOST:PORT. Without it, one is started."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Where to keep the run. [default: under kedge's home, by the config's hash]",
            show_default=False,
        ),
    ] = None,
    open_figure: Annotated[
        bool | None,
        typer.Option(
            "--open/--no-open",
            help="Show the figure when done. [default: on a desktop]",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """The paper's tables and figures, each one command.

    Finished tasks are kept: interrupt it, kill it, run it again, and it goes on from there.

    **Examples**

    - `kedge paper` lists what there is, with every field and its default
    - `kedge paper blotto`
    - `kedge paper blotto --set iterations=1000000 --set lambdas=0.01,0.1,1`
    - `kedge paper theory --engine ray --address auto`
    - `kedge paper chess-accuracy --data month.pgn.zst --positions 20000 --device cuda`
    - `kedge paper chess-accuracy --set "models=chess(elo=1500)" --set c_puct=5,2`
    """
    from kedge.experiments import run
    from kedge.interfaces import inputs
    from kedge.interfaces.tables import print_catalogue, show_figure
    from kedge.paper import EXPERIMENTS, experiment_class

    if name is None:
        catalogue = {known: experiment_class(known)() for known in EXPERIMENTS}
        if as_json:
            print_json({known: one.config() for known, one in catalogue.items()})
        else:
            print_catalogue(catalogue)
        return
    experiment = inputs.experiment(
        experiment_class(name),
        name,
        settings or [],
        data=None if data is None else str(data),
        positions=positions,
        games=games,
        device=device,
    )
    if engine == "local" and getattr(experiment, "device", "cpu") != "cpu":
        workers = workers or 1  # they would share the one GPU
    with resumable():
        done = run(experiment, engine=engine, workers=workers, address=address, folder=folder)
    files = done.write_report()
    if as_json:
        typer.echo(done.report().json(folder=done.folder, files=files), nl=False)
        return
    typer.echo(done.report().text())
    for file in files:
        typer.echo(str(file))
    show_figure(files, open_figure)


@app.command()
def uci() -> None:
    """A chess engine for any chess program: it speaks UCI on its input and output.

    Options: `Model` and `WeightsFile` say who to play like, `CPuct` and `Playouts` how far search
    may move from that, `Temperature` and `TopP` how moves are drawn, `UCI_LimitStrength` and
    `UCI_Elo` a rating, `HumanTime` to take about as long as people do.
    """
    from kedge.interfaces.uci import run

    run()


@experiments_app.command("list")
def list_experiments(as_json: Json = False) -> None:
    """The runs kept under kedge's home (`KEDGE_HOME`, or the platform's user data folder)."""
    from kedge.experiments import list_runs, runs_folder
    from kedge.interfaces.tables import print_runs

    runs = list_runs()
    if as_json:
        print_json({"folder": runs_folder(), "runs": runs})
    else:
        print_runs(runs, runs_folder())


@experiments_app.command("show")
def show_experiment(
    run: Annotated[str, typer.Argument(help="Its name-digest, the start of it, or its folder.")],
    as_json: Json = False,
) -> None:
    """One run: its config, where and when it was computed, and its report."""
    from kedge.experiments import load_run
    from kedge.interfaces.tables import print_run

    info = load_run(run)
    if as_json:
        print_json(info)
    else:
        print_run(info)


@experiments_app.command("clean")
def clean_experiments(
    runs: Annotated[
        list[str] | None, typer.Argument(help="Runs to delete.", show_default=False)
    ] = None,
    all_runs: Annotated[bool, typer.Option("--all", help="Every run.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Delete runs. What is not a run is never touched."""
    from kedge.experiments import list_runs, load_run, remove_run

    if bool(runs) == all_runs:
        raise InputError("name the runs to delete, or give --all")
    chosen = list_runs() if all_runs else [load_run(run) for run in runs or []]
    if not yes and not as_json and chosen:
        if not sys.stdin.isatty():
            raise InputError("nobody can be asked here: give --yes")
        names = ", ".join(info.folder.name for info in chosen)
        if not typer.confirm(f"Delete {names}?"):
            raise InputError("nothing was deleted")
    removed = [remove_run(info.folder) for info in chosen]
    if as_json:
        print_json({"removed": [info.folder for info in removed]})
    else:
        typer.echo(
            f"deleted {len(removed)} runs, {sum(info.size for info in removed) / 1e6:.1f} MB"
        )
