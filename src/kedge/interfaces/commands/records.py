"""``kedge replay`` and ``kedge adjudicate``: records and positions, played on by the rules."""

import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kedge.errors import InputError
from kedge.interfaces.options import Json
from kedge.interfaces.output import print_json

if TYPE_CHECKING:
    from kedge.records import ReadReport

_STEP = 1000  # games between two looks at the bar


def replay(
    game: Annotated[
        Literal["chess", "go", "diplomacy", "hanabi"],
        typer.Argument(help="The game.", show_default=False),
    ],
    files: Annotated[
        list[str],
        typer.Argument(
            help="Chess: PGN or JSON lines. Go: SGF, archives and folders of it, tables. "
            "Diplomacy: JSON lines, games that the `diplomacy` package saved. Hanabi: JSON lines, "
            "games that hanab.live exports. Plain or compressed (`.gz`, `.bz2`, `.xz`, `.zst`). "
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

    Broken games are counted by what is wrong with them, listed, and left out; the others are
    counted. A position is counted for every move that was made; in Diplomacy for every phase.

    **Examples**

    - `kedge replay chess lichess_db_standard_rated_2019-12.pgn.zst`
    - `kedge replay chess games.pgn more.jsonl.xz --json`
    - `curl https://… | kedge replay chess -`
    - `kedge replay go games.tar.xz folder/`
    - `kedge replay diplomacy standard_no_press.jsonl`
    - `kedge replay hanabi export.json games.jsonl.xz`
    """
    from kedge.interfaces.progress import counting_games
    from kedge.records import (
        ReadReport,
        legal_games,
        read_chess_games,
        replayed_games,
        replayed_hanabi_games,
    )

    limit = (1000 if as_json else 20) if listed is None else listed
    total = ReadReport(limit=limit)
    read: Any = {
        "chess": read_chess_games,
        "go": legal_games,
        "diplomacy": replayed_games,
        "hanabi": replayed_hanabi_games,
    }[game]
    sizes = [Path(name).stat().st_size for name in files if Path(name).is_file()]
    start = perf_counter()
    with counting_games(sum(sizes) or None, quiet=as_json) as show:
        for name in files:
            known = total.games + total.broken_games - total.noise
            reason = total.broken_games
            for _ in read(sys.stdin.buffer if name == "-" else name, total):
                if total.games % _STEP == 0:
                    show(total.games, total.bytes_read)
            if total.games + total.broken_games - total.noise == known:
                seen = total.broken[reason:]
                why = f" ({seen[0].where}: {seen[0].reason})" if seen else ""
                raise InputError(f"{name}: holds no game{why}")
    if as_json:
        broken = [
            {"game": one.number, "where": one.where, "reason": one.reason} for one in total.broken
        ]
        print_json(
            {
                "game": game,
                "games": total.games,
                "positions": total.positions,
                "broken_games": total.broken_games,
                "kinds": dict(total.kinds.most_common()),
                "broken": broken,
                "seconds": perf_counter() - start,
            }
        )
    else:
        _print(total, perf_counter() - start)


def _print(report: "ReadReport", seconds: float) -> None:
    speed = (report.games + report.broken_games) / seconds
    typer.echo(f"{report.games:,} games, {report.positions:,} positions; {speed:,.0f} games/s")
    if report.broken_games:
        typer.echo(f"{report.broken_games:,} broken")
    if len(report.kinds) > 1:
        for kind, count in report.kinds.most_common():
            typer.echo(f"  {count:,} × {kind}")
    for one in report.broken:
        typer.echo(f"  {one.where} (game {one.number}): {one.reason}")
    if report.broken_games > len(report.broken):
        typer.echo(f"  and {report.broken_games - len(report.broken):,} more")


def adjudicate(
    game: Annotated[Literal["diplomacy"], typer.Argument(help="The game.", show_default=False)],
    file: Annotated[
        str,
        typer.Argument(
            help="A JSON object, or one a line, with `name` (S1901M), `units`, `centers`, "
            "`orders`, and `dislodged` in R phases. `-` is standard input.",
            show_default=False,
        ),
    ],
    as_json: Json = False,
) -> None:
    """Carry out everyone's orders by the rules, and print the position they lead to.

    Orders that are not legal, or come after another for the same unit, are named and left out. With
    `--json`, one position is the object itself; several are its `positions`.

    **Examples**

    - `kedge adjudicate diplomacy position.json`
    - `kedge adjudicate diplomacy positions.jsonl --json`
    """
    from kedge.records import read_positions

    found: list[dict[str, Any]] = []
    source = sys.stdin.buffer if file == "-" else file
    for state, orders in read_positions(source, ordered=True):
        left_out = {"illegal": state.illegal(orders), "surplus": state.surplus(orders)}
        state.apply(orders)
        if as_json:
            found.append({"dislodged": {}, **state.to_json(), **left_out})
            continue
        typer.echo(str(state))
        for why, given in zip(("not legal", "too many"), left_out.values(), strict=True):
            for power, texts in given.items():
                typer.echo(f"{why}, {power}: {', '.join(texts)}")
    if as_json:
        print_json(found[0] if len(found) == 1 else {"positions": found})
