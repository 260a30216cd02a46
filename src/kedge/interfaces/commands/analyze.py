"""``kedge analyze``: games with how human each move was, and what search would have played."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.errors import InputError
from kedge.interfaces.options import Json, svg_file
from kedge.interfaces.output import KEPT, InterruptError, print_json

if TYPE_CHECKING:
    from kedge.evaluation.board.game_analysis import GameReport
    from kedge.evaluation.decision_reports import DecisionsReport
    from kedge.records import ReadReport

    AnyReport = GameReport | DecisionsReport


def analyze(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="GAME",
            help="Games of chess (PGN, JSON lines), Go (SGF, archives of it, tables), Hanabi or "
            "Diplomacy (JSON, JSON lines), plain or compressed.",
            show_default=False,
        ),
    ],
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            "-a",
            metavar="SPEC",
            help="Who judges, as it stands. [default: `puct(chess, c_puct=2, playouts=50)`, told "
            "both players' ratings; in Go `puct(go, c_puct=2, playouts=50)`; in Hanabi and "
            "Diplomacy the strongest on the dial]",
            show_default=False,
        ),
    ] = None,
    elo: Annotated[
        int | None,
        typer.Option(
            min=100,
            max=4000,
            help="Judge both players as people of this rating; in chess.",
            show_default=False,
        ),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option("--game", min=1, help="Only this game of the file.", show_default=False),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only so many games.", show_default=False)
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the games annotated, PGN, SGF or JSON; `-` prints them instead of the "
            "report.",
            show_default=False,
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            callback=svg_file,
            help="Draw one game of chess or Go: its value, and how human moves were.",
        ),
    ] = None,
    fit: Annotated[
        bool | None,
        typer.Option(
            "--fit-rating/--no-fit-rating",
            help="Estimate the players' ratings from their moves. [default: in chess without "
            "--agent]",
            show_default=False,
        ),
    ] = None,
    brief: Annotated[bool, typer.Option("--brief", help="No table of the moves.")] = False,
    as_json: Json = False,
) -> None:
    """How human each move of a game was, what people of that rating play, and what search would.

    The anchor says how many people play a move. A move is worth what the agent makes of the
    position after it; the loss is the expected score (a win is 1, a draw ½) by which the agent's
    own choice is better.

    **Marks**

    - `?` and `??`: a loss of at least 0.1, or 0.2
    - `!`: what the agent would play too, and fewer than one in ten people do

    In Hanabi and Diplomacy search itself says what a decision is worth, in points or as a share of
    the game (Sum of Squares): `?` and `??` are losses of 1 and 2 points, or of 0.05 and 0.1 of the
    game. Of Diplomacy, movement phases are judged.

    **Players**

    - `top-1`: the share of moves that people play most, in Diplomacy of all a power's orders
      together (`kedge predict` counts them unit by unit); `likely`: how likely moves were for
      people, on average; `nats`: cross-entropy. In chess the first ten half-moves are shown (dim)
      and not scored: people play them from memory.
    - `plays like`: a rating estimated from all the player's moves, with its standard deviation

    **Examples**

    - `kedge analyze game.pgn`
    - `kedge analyze games.pgn --game 3 --out annotated.pgn --svg game.svg`
    - `kedge analyze games.pgn --agent "puct(maia-1900, c_puct=1, playouts=400)" --brief`
    - `kedge analyze games.pgn --elo 1200 --json`
    - `kedge analyze game.sgf --agent go --out annotated.sgf`
    - `kedge analyze hanabi.jsonl --game 2 --out reviewed.jsonl`
    - `kedge analyze diplomacy.json --brief`
    """
    if agent is not None and elo is not None:
        raise InputError("--elo: an agent that is given says itself who it is; leave out one")
    if out == "-" and as_json:
        raise InputError("--out -: with --json, name a file")
    record = None if out in (None, "-") else Path(str(out))
    if record is not None and record.exists() and file.exists() and record.samefile(file):
        raise InputError(f"{record}: holds the games themselves; name another file")
    if not file.exists():
        raise InputError(f"{file}: No such file or directory")
    from kedge.evaluation.game_judges import default_judge
    from kedge.experiments.engines.jobs import deferred_interrupt
    from kedge.files import check_writable, write_atomic
    from kedge.interfaces.progress import counting_moves
    from kedge.records import ReadReport
    from kedge.records.kinds import game_of

    if svg is not None:
        check_writable(svg)

    read = ReadReport()
    reports: dict[int, AnyReport] = {}  # by the games' numbers
    kind = game_of(file)
    if kind != "chess" and (elo is not None or fit):
        raise InputError(f"--elo, --fit-rating: are for chess; models of {kind} are told no rating")
    if kind in ("hanabi", "diplomacy") and svg is not None:
        raise InputError("--svg: draws games of chess and Go")
    judge = None  # made once there is a game: a file that holds none is not the agent's fault
    is_interrupted = False
    with _writer(out) as write, counting_moves(quiet=as_json) as begin:
        try:
            for game in _chosen(file, read, number, limit, kind):
                if svg and reports:
                    raise InputError("--svg: draws one game; choose it with --game")
                at = read.games + read.broken_games
                judge = judge or _judge(kind, agent, elo, fit)
                try:
                    report = judge(game, begin(at, len(game)))
                except InputError as error:
                    raise InputError(f"{file}: game {at}: {error}") from None
                with deferred_interrupt():  # a game is kept whole, or not at all
                    write(report)
                    reports[at] = report
        except KeyboardInterrupt:
            if not reports:  # nor is a file of older ones overwritten
                raise
            is_interrupted = True
    if svg is not None:
        from kedge.interfaces.pictures.game import draw

        write_atomic(svg, draw(*_of_moves(reports)))
    if as_json:
        print_json(_json(agent or default_judge(kind), reports, read))
    else:
        if out != "-":
            _print(reports, brief=brief)
        for one in read.broken:
            typer.echo(f"{one.where} (game {one.number}) is broken: {one.reason}", err=True)
        for written in (None if out == "-" else out, svg):
            if written is not None:
                typer.echo(str(written), err=out == "-")
    if is_interrupted:
        raise InterruptError(KEPT)


def _judge(
    kind: str, agent: str | None, elo: int | None, fit: bool | None
) -> "Callable[[Any, Callable[[int], None]], AnyReport]":
    from kedge.evaluation import game_judges

    if kind == "chess":
        return game_judges.chess_judge(agent, elo, fit)
    judges: dict[str, Callable[[str | None], Callable[..., AnyReport]]] = {
        "go": game_judges.go_judge,
        "hanabi": game_judges.hanabi_judge,
        "diplomacy": game_judges.diplomacy_judge,
    }
    return judges[kind](agent)


def _chosen(
    file: Path, read: "ReadReport", number: int | None, limit: int | None, kind: str
) -> Iterator[Any]:
    """The games to analyse; bad input if there is none."""
    from itertools import islice

    from kedge import records

    readers: dict[str, Callable[..., Iterator[Any]]] = {
        "chess": records.read_chess_games,
        "go": records.legal_games,
        "hanabi": records.replayed_hanabi_games,
        "diplomacy": records.replayed_games,
    }
    games = readers[kind](file, read)
    if number is not None:
        game = records.numbered_game(games, read, file, number)
        read.broken.clear()  # nobody asked about the others
        yield game
        return
    yield from islice(games, limit)
    if not read.games:
        why = f" ({read.broken[0].where}: {read.broken[0].reason})" if read.broken else ""
        raise InputError(f"{file}: holds no game{why}")


@contextlib.contextmanager
def _writer(out: str | None) -> "Iterator[Callable[[AnyReport], None]]":
    """Yields what writes a game annotated; a file is there only when it is whole."""
    if out is None:
        yield lambda report: None
        return
    from kedge.interfaces.reviews.decisions import annotated_record
    from kedge.records.streams import create

    if out == "-":
        yield lambda report: typer.echo(annotated_record(report), nl=False)
        return
    with create(out) as file:

        def write(report: "AnyReport") -> None:
            file.write(annotated_record(report).encode())

        yield write


def _json(agent: str, reports: "dict[int, AnyReport]", read: "ReadReport") -> dict[str, Any]:
    from kedge.evaluation.board.game_analysis import frequent_players

    return {
        "agent": agent,
        "games": [{"game": number, **report.to_json()} for number, report in reports.items()],
        "players": [player.to_json() for player in frequent_players(_of_moves(reports))],
        "broken": [
            {"game": one.number, "where": one.where, "reason": one.reason} for one in read.broken
        ],
    }


def _of_moves(reports: "dict[int, AnyReport]") -> "list[GameReport]":
    """Those of chess or Go."""
    from kedge.evaluation.board.game_analysis import GameReport

    return [report for report in reports.values() if isinstance(report, GameReport)]


def _print(reports: "dict[int, AnyReport]", *, brief: bool) -> None:
    from rich.console import Console

    from kedge.evaluation.board.game_analysis import GameReport, frequent_players
    from kedge.interfaces.reviews.decisions import print_decisions
    from kedge.interfaces.reviews.games import players_table, print_game

    for number, report in reports.items():
        if isinstance(report, GameReport):
            print_game(report, number, brief=brief)
        else:
            print_decisions(report, number, brief=brief)
    if everyone := frequent_players(_of_moves(reports)):
        Console().print("[bold]Over several games[/bold]", players_table(everyone), sep="\n")
