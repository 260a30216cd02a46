"""``kedge predict``: how well an agent predicts people."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from kedge.interfaces.output import print_json

predict_app = typer.Typer(no_args_is_help=True, help="How well an agent predicts what people play.")


@predict_app.callback()
def _root() -> None:
    """One command a game."""


@predict_app.command()
def chess(
    data: Annotated[list[Path], typer.Argument(help="PGN or JSON lines, plain or compressed.")],
    agent: Annotated[str, typer.Option("--agent", "-a", help="An agent for chess.")],
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only so many positions.", show_default=False)
    ] = None,
    bucket: Annotated[
        int | None,
        typer.Option(help="Only games of two players within 100 points above.", show_default=False),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Only games of this source (JSON lines).", show_default=False)
    ] = None,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="Only games that `kedge train` does not train on.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
) -> None:
    """Top-1, top-5 and cross-entropy on human moves, by rating, time control and phase.

    Positions are those of the paper and of Maia: rated games, no bullet, no bots, after ten plies,
    with thirty seconds left where clocks are known. Standard errors are clustered by game.

    **Examples**

    - `kedge predict chess lichess_2024-01.pgn.zst --agent maia-1900 --bucket 1900 --limit 20000`
    - `kedge predict chess games.pgn --agent "puct(chess, c_puct=2, playouts=50)"`
    """
    from itertools import chain, islice

    from kedge.agents import make_player
    from kedge.evaluation.prediction import predict
    from kedge.games.chess import ChessState
    from kedge.interfaces.tables import counted, print_prediction
    from kedge.records import read_games
    from kedge.records.filters import is_held_out, maia, positions

    player = make_player(agent, ChessState)
    games = (
        game
        for game in chain.from_iterable(read_games(path) for path in data)
        if source in (None, game.source) and (is_held_out(game) or not held_out)
    )
    chosen = islice(positions(games, maia(bucket)), limit)
    steps = predict(chosen, player)
    prediction = counted(steps, limit) if sys.stderr.isatty() and not as_json else list(steps)[-1]
    found = {"agent": agent, **prediction.to_json()}
    if as_json:
        print_json(found)
    else:
        print_prediction(found)
