"""``kedge diplomacy join``: an agent as a player on a game server."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from kedge.errors import InputError
from kedge.interfaces.options import Json
from kedge.interfaces.output import InterruptError, print_json

diplomacy_app = typer.Typer(no_args_is_help=True, help="Diplomacy on a game server.")


@diplomacy_app.callback()
def _root() -> None:
    """One command a deed."""


@diplomacy_app.command()
def join(
    game: Annotated[str, typer.Option(help="The game's ID on the server.", show_default=False)],
    agent: Annotated[str, typer.Option(help="Who plays.")] = "diplomacy",
    power: Annotated[
        str,
        typer.Option(
            "--power",
            "-p",
            metavar="POWERS",
            help="`FRANCE`, or several between commas; `any` that is free, or `all` of them.",
        ),
    ] = "any",
    host: Annotated[str, typer.Option(help="Of the server.")] = "localhost",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Of the server.")] = 8432,
    user: Annotated[str, typer.Option(help="Registered if nobody has the name.")] = "kedge",
    password_file: Annotated[
        Path | None,
        typer.Option(
            help="Its first line is the password. [default: the user's name]", show_default=False
        ),
    ] = None,
    create: Annotated[bool, typer.Option("--create", help="Make the game first.")] = False,
    players: Annotated[
        int, typer.Option(min=1, max=7, help="With `--create`: how many powers start it.")
    ] = 7,
    deadline: Annotated[
        int,
        typer.Option(min=0, help="With `--create`: seconds that a phase may take; 0 is no bound."),
    ] = 300,
    draw: Annotated[
        Literal["yes", "no"], typer.Option(help="The answer when others vote for a draw.")
    ] = "yes",
    last_year: Annotated[
        int | None,
        typer.Option(
            min=1901, help="Vote for a draw after this year. [default: never]", show_default=False
        ),
    ] = None,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds to try to come back after a lost connection.")
    ] = 600.0,
    seed: Annotated[int, typer.Option(min=0, help="Of the agent's draws.")] = 0,
    as_json: Json = False,
) -> None:
    """Play on a running server of the `diplomacy` package, until the game ends.

    It says at once what it orders, and does not wait for the deadline. A lost connection is made
    anew. An agent that fails or is late costs a phase, in which its units hold, and never the seat.
    It leaves messages unanswered.

    **Examples**

    - `kedge diplomacy join --game friends --power FRANCE`
    - `kedge diplomacy join --game test --create --power all --last-year 1910`
    - `kedge diplomacy join --host example.org --game 7 --user bot --password-file secret.txt`
    """
    import numpy as np

    from kedge.agents import make_player
    from kedge.interfaces.protocols.diplomacy.bot import DiplomacyBot, NewGame, Seats

    powers = _powers(power)
    player = make_player(agent, "diplomacy")

    def tell(phase: str, name: str, orders: list[str], centers: int) -> None:
        if not as_json:
            typer.echo(f"{phase} {name} ({centers} centres): {', '.join(orders) or 'no orders'}")

    bot = DiplomacyBot(
        Seats(
            host=host,
            port=port,
            game=game,
            user=user,
            password=user if password_file is None else _password(password_file),
            powers=powers,
            new_game=NewGame(players, deadline) if create else None,
            draw=draw,
            last_year=last_year,
            patience=patience,
        ),
        player,
        np.random.default_rng(seed),
        tell,
        lambda line: typer.echo(f"kedge: {line}", err=True),
    )
    try:
        result = bot.play()
    except KeyboardInterrupt:
        kept = f"; --power {','.join(bot.powers)} goes on, without --create" if bot.powers else ""
        raise InterruptError(f"interrupted{kept}") from None
    if as_json:
        print_json({"agent": agent, **result})
        return
    for name, end in result["powers"].items():
        typer.echo(f"{name}: {end['outcome']}, {end['centers']} centres, share {end['share']:.3f}")


def _powers(text: str) -> tuple[str, ...] | Literal["any", "all"]:
    from kedge.games.diplomacy import POWERS, player

    if text == "any":
        return "any"
    if text == "all":
        return "all"
    numbers = dict.fromkeys(player(word.strip().upper()) for word in text.split(","))
    return tuple(POWERS[number] for number in numbers)


def _password(file: Path) -> str:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: is not text") from None
    if not lines or not lines[0]:
        raise InputError(f"{file}: has no password in its first line")
    return lines[0]
