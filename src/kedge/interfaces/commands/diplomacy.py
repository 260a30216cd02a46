"""Commands of Diplomacy alone: ``kedge diplomacy join`` and ``kedge adjudicate diplomacy``."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kedge.errors import InputError
from kedge.interfaces.options import Json, unfolded
from kedge.interfaces.output import InterruptError, print_json
from kedge.words import counted

if TYPE_CHECKING:
    from kedge.interfaces.protocols.diplomacy.seats import Seats

diplomacy_app = typer.Typer(no_args_is_help=True, help="Play Diplomacy on a game server.")


@diplomacy_app.callback()
def _root() -> None:
    """Commands on a server."""


@dataclass(frozen=True)
class Server:
    """The server and game to play on, and the user to play as."""

    game: Annotated[str, typer.Option(help="ID of the game on the server.", show_default=False)]
    host: Annotated[str, typer.Option(help="Host of the server.")] = "localhost"
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the server.")] = 8432
    user: Annotated[str, typer.Option(help="User; registered if the name is free.")] = "kedge"
    password_file: Annotated[
        Path | None,
        typer.Option(
            help="File whose first line is the password. [default: the user's name]",
            show_default=False,
        ),
    ] = None
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds to reconnect after a lost connection.")
    ] = 600.0


@dataclass(frozen=True)
class Creation:
    """A game to create."""

    create: Annotated[bool, typer.Option("--create", help="Create the game first.")] = False
    players: Annotated[
        int, typer.Option(min=1, max=7, help="With `--create`: powers needed to start.")
    ] = 7
    deadline: Annotated[
        int,
        typer.Option(min=0, help="With `--create`: seconds per phase; 0 is no limit."),
    ] = 300


@dataclass(frozen=True)
class Role:
    """The powers to play, and the votes for a draw."""

    power: Annotated[
        str,
        typer.Option(
            "--power",
            "-p",
            metavar="POWERS",
            help="`FRANCE`, several separated by commas, `any` free one, or `all`.",
        ),
    ] = "any"
    draw: Annotated[
        Literal["yes", "no"], typer.Option(help="The answer when others vote for a draw.")
    ] = "yes"
    last_year: Annotated[
        int | None,
        typer.Option(
            min=1901, help="Vote for a draw after this year. [default: never]", show_default=False
        ),
    ] = None


ANY = Role()


@diplomacy_app.command()
@unfolded
def join(
    server: Server,
    creation: Creation,
    agent: Annotated[str, typer.Option(help="Who plays.")] = "diplomacy",
    role: Role = ANY,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the agent's random draws.")] = 0,
    as_json: Json = False,
) -> None:
    """Play on a running server of the `diplomacy` package until the game ends.

    The agent submits its orders at once and does not wait for the deadline. It reconnects after a
    lost connection. An agent that fails or is late loses a phase, in which its units hold, but not
    its seat. It does not answer messages.

    **Examples**

    - `kedge diplomacy join --game friends --power FRANCE`
    - `kedge diplomacy join --game test --create --power all --last-year 1910`
    - `kedge diplomacy join --host example.org --game 7 --user bot --password-file secret.txt`
    """
    import numpy as np

    from kedge.agents import make_player
    from kedge.interfaces.protocols.diplomacy.bot import DiplomacyBot

    seats = _seats(server, creation, role)

    def tell(phase: str, name: str, orders: list[str], centers: int) -> None:
        if not as_json:
            typer.echo(
                f"{phase} {name} ({counted(centers, 'centre')}): {', '.join(orders) or 'no orders'}"
            )

    bot = DiplomacyBot(
        seats,
        make_player(agent, "diplomacy"),
        np.random.default_rng(seed),
        tell,
        lambda line: typer.echo(f"kedge: {line}", err=True),
    )
    try:
        result = bot.play()
    except KeyboardInterrupt:
        kept = f"; --power {','.join(bot.powers)} resumes, without --create" if bot.powers else ""
        raise InterruptError(f"interrupted{kept}") from None
    if as_json:
        print_json({"agent": agent, **result})
        return
    for name, end in result["powers"].items():
        centres = counted(end["centers"], "centre")
        typer.echo(f"{name}: {end['outcome']}, {centres}, share {end['share']:.3f}")


def _seats(server: Server, creation: Creation, role: Role) -> "Seats":
    from kedge.interfaces.protocols.diplomacy.seats import NewGame, Seats

    file = server.password_file
    return Seats(
        powers=_powers(role.power),
        host=server.host,
        port=server.port,
        game=server.game,
        user=server.user,
        password=server.user if file is None else _password(file),
        patience=server.patience,
        new_game=NewGame(creation.players, creation.deadline) if creation.create else None,
        draw=role.draw,
        last_year=role.last_year,
    )


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
        raise InputError(f"{file}: not text") from None
    if not lines or not lines[0]:
        raise InputError(f"{file}: the first line is empty; write the password there")
    return lines[0]


def adjudicate(
    game: Annotated[Literal["diplomacy"], typer.Argument(help="The game.", show_default=False)],
    file: Annotated[
        str,
        typer.Argument(
            help="A JSON object, or one per line, with `name` (S1901M), `units`, `centers`, "
            "`orders`, and `dislodged` in R phases. `-` is standard input.",
            show_default=False,
        ),
    ],
    as_json: Json = False,
) -> None:
    """Carry out all powers' orders by the rules, and print the next position.

    Illegal orders, and later orders for the same unit, are named and left out. With `--json`, one
    position is the object itself; several are its `positions`.

    **Examples**

    - `kedge adjudicate diplomacy position.json`
    - `kedge adjudicate diplomacy positions.jsonl --json`
    """
    from kedge.records import read_positions

    positions: list[dict[str, Any]] = []
    source = sys.stdin.buffer if file == "-" else file
    for state, orders in read_positions(source, ordered=True):
        left_out = {"illegal": state.illegal(orders), "surplus": state.surplus(orders)}
        state.apply(orders)
        if as_json:
            positions.append({"dislodged": {}, **state.to_json(), **left_out})
            continue
        typer.echo(str(state))
        for why, given in zip(("not legal", "too many"), left_out.values(), strict=True):
            for power, texts in given.items():
                typer.echo(f"{why}, {power}: {', '.join(texts)}")
    if as_json:
        print_json(positions[0] if len(positions) == 1 else {"positions": positions})
