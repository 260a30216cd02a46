"""``kedge match``: which of two agents is stronger, and by how much."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kedge.interfaces.options import HERE, Device, Dtype, Json, Running, unfolded
from kedge.interfaces.output import finished, print_json

if TYPE_CHECKING:
    from kedge.experiments.board.match import Match

Games = Annotated[int, typer.Option("--games", "-n", min=1, max=10**6, help="How many.")]
Opponent = Annotated[str, typer.Argument(help="Its opponent.")]
Temperature = Annotated[
    float | None,
    typer.Option(
        "--temperature",
        "-t",
        help="Both draw their moves at this one. [default: each at its own]",
        show_default=False,
    ),
]
Record = typer.Option(help="Write the games to this file; .gz and the like compress it.")
Seed = Annotated[int, typer.Option(min=0, help="The same seed plays the same games.")]
Resign = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="A game is won once both agents have put its value beyond ±X for four moves. "
        "[default: play on]",
        show_default=False,
    ),
]
Chunk = Annotated[
    int | None,
    typer.Option(
        min=2,
        help="Games side by side in one task. [default: 8 of chess, 2 of Go; 256 on a GPU]",
        show_default=False,
    ),
]

match_app = typer.Typer(no_args_is_help=True, help="Games between two agents: who is stronger?")


@match_app.callback()
def _root() -> None:
    """One command a game."""


@match_app.command()
@unfolded
def chess(
    a: Annotated[str, typer.Argument(help="An agent for chess: the score is its.")],
    b: Opponent,
    games: Games = 100,
    temperature: Temperature = None,
    pgn: Annotated[Path | None, Record] = None,
    seed: Seed = 0,
    max_plies: Annotated[int, typer.Option(min=1, help="A game as long as this is a draw.")] = 400,
    resign: Resign = None,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    chunk: Chunk = None,
    running: Running = HERE,
    as_json: Json = False,
) -> None:
    """A match: the score of A against B, its standard error, and the difference in Elo.

    Each has white equally often. Agents draw their moves from their policies, so that games differ;
    draws count as half a win. Games end by the rules of chess, draws claimed.

    Finished chunks of games are kept: interrupt it, run it again, and it goes on from there.

    **Examples**

    - `kedge match chess "puct(chess, c_puct=2, playouts=50)" chess --games 20`
    - `kedge match chess "puct(maia-1900, c_puct=0.5)" maia-1900 -n 1000 -t 0.3 --device cuda`
    - `kedge match chess "chess(elo=1900)" "chess(elo=1100)" --pgn games.pgn --json`
    """
    from kedge.experiments.chess.match import ChessMatch

    match = ChessMatch(
        a=a,
        b=b,
        games=games,
        temperature=temperature,
        max_plies=max_plies,
        resign=resign,
        device=device,
        dtype=dtype,
        chunk=chunk,
        seed=seed,
    )
    _report(match, "pgn", pgn, running, as_json)


@match_app.command()
@unfolded
def go(
    a: Annotated[str, typer.Argument(help="An agent for Go: the score is its.")],
    b: Opponent,
    games: Games = 100,
    temperature: Temperature = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help="Who scores the games: `gnugo`, `katago:PROGRAM,NETWORK`, or `playouts`. "
            "[default: GNU Go where it is installed, else playouts]",
            show_default=False,
        ),
    ] = None,
    komi: Annotated[float, typer.Option(min=-60, max=60, help="White's points.")] = 6.5,
    size: Annotated[int, typer.Option(min=2, max=19, help="Of the board.")] = 19,
    sgf: Annotated[Path | None, Record] = None,
    seed: Seed = 0,
    max_plies: Annotated[int, typer.Option(min=1, help="A game as long as this ends.")] = 722,
    resign: Resign = None,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    chunk: Chunk = None,
    running: Running = HERE,
    as_json: Json = False,
) -> None:
    """A match, as of chess: score, standard error, and the difference in Elo.

    Each has black equally often. A game ends with two passes in a row. As models that learnt from
    people pass before the board could be counted by rule, a judge says which stones are dead, and
    territory is counted as in Japan. No board may come again. A judge that fails is asked again,
    then kedge's own is; the table says how often.

    Finished chunks of games are kept: interrupt it, run it again, and it goes on from there.

    **Examples**

    - `kedge match go "puct(go, c_puct=2, playouts=50)" go --games 20 --sgf games.sgf`
    - `kedge match go "puct(go, c_puct=0.5)" go -n 1000 -t 0.3 --device cuda`
    - `kedge match go "puct(go, c_puct=0.5)" go --size 9 --komi 7`
    - `kedge match go go "go(temperature=0.3)" --judge katago:./katago,b15.bin.gz --json`
    """
    from kedge.experiments.go.match import GoMatch

    match = GoMatch(
        a=a,
        b=b,
        games=games,
        temperature=temperature,
        judge=judge,
        komi=komi,
        size=size,
        max_plies=max_plies,
        resign=resign,
        device=device,
        dtype=dtype,
        chunk=chunk,
        seed=seed,
    )
    _report(match, "sgf", sgf, running, as_json)


def _report(
    match: "Match",
    kind: Literal["pgn", "sgf"],
    record: Path | None,
    running: Running,
    as_json: bool,
) -> None:
    from kedge.files import check_writable
    from kedge.records import write_pgn, write_sgf_file

    if record is not None:
        check_writable(record)
    done, _ = finished(match, running)
    if record is not None:
        write = write_pgn if kind == "pgn" else write_sgf_file
        write(match.records(done.results), record)
    if as_json:
        print_json({**(done.report().data or {}), "folder": done.folder, kind: record})
        return
    typer.echo(done.report().text(), nl=False)
    typer.echo(f"{record or done.folder}")
