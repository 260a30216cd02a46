"""Groups with one command per game, from the catalogue; a command is imported when it runs."""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from kedge.errors import LeftOutWarning

if TYPE_CHECKING:
    from kedge.catalogue import GameEntry

#: Makes the function of a command.
Maker = Callable[[], Callable[..., None]]


class LazyCommand(TyperCommand):
    """A command that is imported when it runs; until then it has a name and one line of help."""

    def __init__(self, name: str, line: str, make: Maker) -> None:
        super().__init__(name, short_help=line)
        self._make = make

    def loaded(self) -> Any:
        """Return the command itself."""
        app = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        app.command(self.name)(self._make())
        return typer.main.get_command(app)

    def make_context(self, info_name: Any, args: list[str], *more: Any, **settings: Any) -> Any:
        with warnings.catch_warnings():
            if not {"--help", "-h"}.intersection(args):
                # Its help lists all games; a run warns only of what it uses.
                warnings.simplefilter("ignore", LeftOutWarning)
            command = self.loaded()
        return command.make_context(info_name, args, *more, **settings)


class LazyGroup(TyperGroup):
    """A group that finds its commands when they are listed or run."""

    part: str
    """The part of games that the commands use."""

    def commands_by_name(self) -> dict[str, LazyCommand]:
        """Return the commands by name."""
        raise NotImplementedError

    def list_commands(self, ctx: Any) -> list[str]:
        self._find()
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        self._find()
        command = super().get_command(ctx, cmd_name)
        if command is None and not cmd_name.startswith("-"):
            from kedge import catalogue

            catalogue.find(cmd_name, self.part)  # which explains why there is none
        return command

    def _find(self) -> None:
        if not self.commands:
            self.commands.update(self.commands_by_name())


class GameGroup(LazyGroup):
    """A group with a command for each game that has a certain part."""

    line: str
    """One line of help on a game's command, from its title."""
    contest: str | None = None
    """If set, only the games with this `GameEntry.contest` have a command."""

    def maker(self, entry: "GameEntry") -> Maker:
        """Return the function that makes the command of a game."""
        return lambda: entry.load(self.part)

    def commands_by_name(self) -> dict[str, LazyCommand]:
        from kedge import catalogue

        return {
            entry.name: LazyCommand(
                entry.name, self.line.format(title=entry.title), self.maker(entry)
            )
            for entry in catalogue.entries(self.part)
            if self.contest in (None, entry.contest)
        }
