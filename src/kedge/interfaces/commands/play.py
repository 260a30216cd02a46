"""``kedge play``: the page."""

from typing import Annotated

import typer

from kedge.errors import InputError


def play(
    game: Annotated[
        str | None,
        typer.Argument(help="Which game to open. [default: all are offered]", show_default=False),
    ] = None,
    host: Annotated[
        str,
        typer.Option(help="Where to listen; beyond this machine, the address gets a token."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8477,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in your browser.")
    ] = True,
) -> None:
    """Play on a page in your browser, against a dial from human to strong, and see why.

    It works with the models that ship with kedge; nothing leaves this machine. Games are kept as
    they are played: the same address shows them again after a restart. Ctrl-C ends it.

    Programs have an HTTP API at the same address, which `/api/docs` there describes.

    **Examples**

    - `kedge play`: all games are offered
    - `kedge play chess --no-browser --port 9000`: open <http://localhost:9000/> yourself
    - `kedge play --host 0.0.0.0`: others on your network play, too, with the token that it prints
    """
    from kedge.interfaces.web.pages.games import page_games
    from kedge.interfaces.web.server import serve
    from kedge.specs import suggest

    known = list(page_games())
    if game is not None and game not in known:
        raise InputError(f"game {game}: {suggest(game, known)}")
    serve(game, host, port, browser=browser)
