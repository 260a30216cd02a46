"""``kedge replay``: records read, replayed, and checked against the rules."""

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kedge.errors import InputError
from kedge.interfaces.options import Json
from kedge.interfaces.output import print_json

if TYPE_CHECKING:
    from kedge.records import ReadReport

_STEP = 1000  # games between two looks at the bar


def replay(
    game: Annotated[Literal["chess"], typer.Argument(help="The game.", show_default=False)],
    files: Annotated[
        list[str],
        typer.Argument(
            help="PGN or JSON lines, plain or compressed (`.gz`, `.bz2`, `.xz`, `.zst`). "
            "`-` is standard input.",
            show_default=False,
        ),
    ],
    listed: Annotated[
        int | None,
        typer.Option(
            "--broken",
            min=0,
            metavar="N",
            help="How many broken games to list. [default: 20; 1000 with --json]",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Read records of games, replay them, and check them against the rules.

    Broken games are listed with the reason and left out; the others are counted. A position is
    counted for every move that was made.

    **Examples**

    - `kedge replay chess lichess_db_standard_rated_2019-12.pgn.zst`
    - `kedge replay chess games.pgn more.jsonl.xz --json`
    - `curl https://… | kedge replay chess -`
    """
    from kedge.records import ReadReport, read_games

    limit = (1000 if as_json else 20) if listed is None else listed
    total = ReadReport(limit=limit)
    with _progress(files, show=sys.stderr.isatty() and not as_json) as show:
        for name in files:
            known = total.games + total.broken_games - total.noise
            reason = total.broken_games
            for _ in read_games(sys.stdin.buffer if name == "-" else name, total):
                if total.games % _STEP == 0:
                    show(total)
            if total.games + total.broken_games - total.noise == known:
                seen = total.broken[reason:]
                why = f" ({seen[0].where}: {seen[0].reason})" if seen else ""
                raise InputError(f"{name}: holds no game{why}")
    if as_json:
        broken = [
            {"game": one.number, "where": one.where, "reason": one.reason} for one in total.broken
        ]
        counts = {"games": total.games, "positions": total.positions}
        line = {"game": game, **counts, "broken_games": total.broken_games, "broken": broken}
        print_json(line)
    else:
        _print(total)


def _print(report: "ReadReport") -> None:
    typer.echo(f"{report.games:,} games, {report.positions:,} positions")
    if report.broken_games:
        typer.echo(f"{report.broken_games:,} broken")
    for one in report.broken:
        typer.echo(f"  {one.where} (game {one.number}): {one.reason}")
    if report.broken_games > len(report.broken):
        typer.echo(f"  and {report.broken_games - len(report.broken):,} more")


@contextlib.contextmanager
def _progress(files: Sequence[str], *, show: bool) -> Iterator[Callable[["ReadReport"], None]]:
    """A bar over the bytes of all files, on a terminal; yields what to call now and then."""
    if not show:
        yield lambda report: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    sizes = [Path(name).stat().st_size for name in files if Path(name).is_file()]
    with Progress(
        TextColumn("{task.fields[games]:,} games"),
        BarColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
    ) as progress:
        bar = progress.add_task("", total=sum(sizes) or None, games=0)
        yield lambda report: progress.update(bar, completed=report.bytes_read, games=report.games)
