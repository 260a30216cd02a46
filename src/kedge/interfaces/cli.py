"""The command line. Commands import what they need when they run, so that help comes at once."""

import contextlib
import errno
import gc
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from kedge.errors import ExperimentError, InputError, LeftOutWarning
from kedge.interfaces.commands.contests import (
    match_app,
    predict_app,
    selfplay_app,
    tournament_app,
)
from kedge.interfaces.commands.diplomacy import adjudicate, diplomacy_app
from kedge.interfaces.commands.experiments import experiments_app, paper
from kedge.interfaces.commands.groups import LazyCommand
from kedge.interfaces.commands.gtp import gtp
from kedge.interfaces.commands.models import models_app
from kedge.interfaces.commands.play import play
from kedge.interfaces.commands.policy import policy_app
from kedge.interfaces.commands.solve import solve
from kedge.interfaces.commands.train import train_app
from kedge.interfaces.commands.uci import uci
from kedge.interfaces.mistakes import in_our_words
from kedge.interfaces.output import InterruptError

# How ``kedge --help`` lists them; typer would put groups last.
_BY_USE = (
    "play", "policy", "analyze", "uci", "gtp", "diplomacy", "match", "tournament", "selfplay",
    "predict", "train", "models", "replay", "adjudicate", "solve", "paper", "experiments",
)  # fmt: skip


# Commands whose help asks all games, so that they are imported only to run.
_LAZY = {
    "analyze": "Show how human each move of a game was, and what people and search would play.",
    "replay": "Read records of games, replay them, and check them against the rules.",
}


class _Commands(TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, line in _LAZY.items():
            self.commands[name] = LazyCommand(name, line, partial(_load, name))

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(self.commands, key=_BY_USE.index)


def _load(name: str) -> Callable[..., None]:
    return getattr(import_module(f"kedge.interfaces.commands.{name}"), name)  # type: ignore[no-any-return]


app = typer.Typer(
    name="kedge",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Play, analyse and train agents that are strong *and* play like people.",
)
for _group, _name in (
    (policy_app, "policy"),
    (diplomacy_app, "diplomacy"),
    (match_app, "match"),
    (tournament_app, "tournament"),
    (selfplay_app, "selfplay"),
    (predict_app, "predict"),
    (train_app, "train"),
    (models_app, "models"),
    (experiments_app, "experiments"),
):
    app.add_typer(_group, name=_name)
for _command in (play, uci, gtp, adjudicate, solve, paper):
    app.command()(_command)


# typer keeps its own copy of click and hides its base class for what a user typed wrong.
_UsageError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def main() -> None:
    """Run the command line: 0 done, 2 bad input, 1 a task or the output failed, 130 interrupted."""
    if sys.stdout is None:  # closed: a file opened later would take its place
        _fail("cannot write: the output is closed", 1)
    with contextlib.suppress(AttributeError):  # another program's stream has another class
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    warnings.showwarning = _show_warning
    try:
        code = app(prog_name="kedge", standalone_mode=False)
    except InputError as error:
        _fail(str(error), 2)
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            sys.exit(2)
        _fail(in_our_words(error), 2)
    except typer.Abort:
        _fail("aborted", 2)
    except ExperimentError as error:  # those tasks that finished are kept
        _fail(str(error), 1)
    except InterruptError as error:
        _fail(str(error), 130)
    except OSError as error:
        if error.filename is not None:
            _fail(f"{error.filename}: {error.strerror}", 2)
        _output_is_lost(error)
    if code == 130:  # what typer makes of Ctrl-C
        _fail("interrupted", 130)
    try:
        sys.stdout.flush()
    except OSError as error:
        _output_is_lost(error)
    _end(code)


def _output_is_lost(error: OSError) -> NoReturn:
    """A full disk is one line, and nothing more when Python closes its files.

    A reader that left, such as ``head``, has what it wanted: no line at all.
    """
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    if error.errno == errno.EPIPE:
        sys.exit(1)
    _fail(f"cannot write: {error.strerror}", 1)


_show_others = warnings.showwarning
_shown: set[str] = set()


def _show_warning(
    message: Warning | str, category: type[Warning], *where: Any, **settings: Any
) -> None:
    """Print a warning about what is left out once, as one line."""
    if not issubclass(category, LeftOutWarning):
        _show_others(message, category, *where, **settings)
    elif (line := " ".join(str(message).split())) not in _shown:
        _shown.add(line)
        typer.echo(f"kedge: {line}", err=True)


def _fail(message: str, code: int) -> NoReturn:
    typer.echo(f"kedge: {' '.join(message.split())}", err=True)
    _end(code)


def _end(code: int) -> NoReturn:
    gc.freeze()  # else Python looks through every object for garbage before it ends: 50 ms
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
