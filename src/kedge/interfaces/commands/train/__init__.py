"""``kedge train``: human models from human games."""

from collections.abc import Callable
from functools import partial

import typer

from kedge.interfaces.commands.groups import LazyCommand, LazyGroup


class _Trainers(LazyGroup):
    part = "train"

    def commands_by_name(self) -> dict[str, LazyCommand]:
        """Return the commands of all games; their modules import torch only to train."""
        from kedge import catalogue

        commands: dict[str, Callable[..., None]] = {}
        for trainers in catalogue.loaded(self.part).values():
            commands |= trainers
        return {name: _command(name, function) for name, function in commands.items()}


def _command(name: str, function: Callable[..., None]) -> LazyCommand:
    line = (function.__doc__ or "").partition("\n")[0]
    return LazyCommand(name, line, partial(_same, function))


def _same(function: Callable[..., None]) -> Callable[..., None]:
    return function


train_app = typer.Typer(
    cls=_Trainers, no_args_is_help=True, help="Train human models from human games."
)
