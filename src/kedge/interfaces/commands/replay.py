"""``kedge replay``: records of games, checked against the rules.

Import this module only to run the command: its help lists the files of all games.
"""

import os
import sys
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.errors import InputError
from kedge.interfaces.options import Json
from kedge.interfaces.output import print_json
from kedge.records.formats import files_words
from kedge.words import counted

if TYPE_CHECKING:
    from kedge.records import ReadReport

_STEP = 1000  # games between two looks at the bar


def replay(
    game: Annotated[str, typer.Argument(help="The game, such as chess.", show_default=False)],
    files: Annotated[
        list[str],
        typer.Argument(
            help=f"{files_words()} Plain or compressed (`.gz`, `.bz2`, `.xz`, `.zst`). "
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
            help="How many invalid games to list. [default: 20; 1000 with --json]",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Read records of games, replay them, and check them against the rules.

    The command counts games and positions, and lists invalid games with the reason. A position is
    counted for every move, in Diplomacy for every phase. If no game is valid, the exit code is 2.

    **Examples**

    - `kedge replay chess lichess_db_standard_rated_2019-12.pgn.zst`
    - `kedge replay chess games.pgn more.jsonl.xz --json`
    - `curl https://… | kedge replay chess -`
    - `kedge replay go games.tar.xz folder/`
    - `kedge replay diplomacy standard_no_press.jsonl`
    - `kedge replay hanabi export.json games.jsonl.xz`
    """
    from kedge.interfaces.progress import counting_games
    from kedge.records import ReadReport
    from kedge.records.formats import record_format

    report = ReadReport(limit=(1000 if as_json else 20) if listed is None else listed)
    read = record_format(game).read
    sizes = [os.path.getsize(name) for name in files if os.path.isfile(name)]
    start = perf_counter()
    with counting_games(sum(sizes) or None, quiet=as_json) as show:
        for name in files:
            _read_file(name, read, report, show)
    seconds = perf_counter() - start
    if as_json:
        print_json({"game": game, **_json(report), "seconds": seconds})
    else:
        _print(report, seconds)
    if not report.games:
        raise InputError(f"{', '.join(files)}: no game is valid")


def _read_file(
    name: str,
    read: Callable[[Any, "ReadReport"], Iterator[Any]],
    report: "ReadReport",
    show: Callable[[int, int], None],
) -> None:
    """Replay the games of a file; raise `InputError` if there are none."""
    from kedge.records.report import no_game

    before, invalid = report.games + report.broken_games - report.noise, report.broken_games
    for _ in read(sys.stdin.buffer if name == "-" else name, report):
        if report.games % _STEP == 0:
            show(report.games, report.bytes_read)
    if report.games + report.broken_games - report.noise == before:
        raise no_game(name, report.broken[invalid:])


def _json(report: "ReadReport") -> dict[str, Any]:
    return {
        "games": report.games,
        "positions": report.positions,
        "broken_games": report.broken_games,
        "kinds": dict(report.kinds.most_common()),
        "broken": [
            {"game": fault.number, "where": fault.where, "reason": fault.reason}
            for fault in report.broken
        ],
    }


def _print(report: "ReadReport", seconds: float) -> None:
    speed = (report.games + report.broken_games) / seconds
    games, positions = counted(report.games, "game"), counted(report.positions, "position")
    typer.echo(f"{games}, {positions}; {speed:,.0f} games/s")
    if report.broken_games:
        typer.echo(f"{report.broken_games:,} invalid")
    if len(report.kinds) > 1:
        for kind, count in report.kinds.most_common():
            typer.echo(f"  {count:,} × {kind}")
    for fault in report.broken:
        typer.echo(f"  {fault.where} (game {fault.number}): {fault.reason}")
    if report.broken_games > len(report.broken):
        typer.echo(f"  and {report.broken_games - len(report.broken):,} more")
