"""``kedge play``: the page."""

from typing import Annotated

import typer


def play(
    game: Annotated[
        str | None,
        typer.Argument(help="Game to open. [default: choose on the page]", show_default=False),
    ] = None,
    host: Annotated[
        str,
        typer.Option(help="Address to listen on; outside this machine the URL needs a token."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes any free one.")] = 8477,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in your browser.")
    ] = True,
) -> None:
    """Play in your browser, against a dial from human to strong.

    The page works with the models that ship with kedge; nothing leaves this machine. Games are
    kept: the same address shows them again after a restart. Ctrl-C stops the server.

    Programs can use the HTTP API at the same address; `/api/docs` describes it.

    **Examples**

    - `kedge play`: choose a game on the page
    - `kedge play chess --no-browser --port 9000`: open <http://localhost:9000/> yourself
    - `kedge play --host 0.0.0.0`: others on your network can play with the printed token
    """
    from kedge.interfaces.web.pages.games import page_game
    from kedge.interfaces.web.server import serve

    if game is not None:
        page_game(game)  # raises if there is none
    serve(game, host, port, browser=browser)
