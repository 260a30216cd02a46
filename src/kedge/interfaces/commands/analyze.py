"""``kedge analyze``: games with how human each move was, and what search would have played.

Import this module only to run the command: its help lists the files of all games.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.errors import InputError
from kedge.interfaces.options import Json, svg_file, unfolded
from kedge.interfaces.output import KEPT, InterruptError, print_json
from kedge.records.formats import files_words

if TYPE_CHECKING:
    from kedge.evaluation.board.game_analysis import GameReport
    from kedge.evaluation.decision_reports import DecisionsReport
    from kedge.evaluation.review import Review
    from kedge.records import ReadReport

    AnyReport = GameReport | DecisionsReport


@dataclass(frozen=True)
class Reviewing:
    """Who reviews, and how."""

    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            "-a",
            metavar="SPEC",
            help="Agent that reviews, exactly as given. [default: a search over the game's model, "
            "which takes the players' ratings as input where it can]",
            show_default=False,
        ),
    ] = None
    elo: Annotated[
        int | None,
        typer.Option(
            min=100,
            max=4000,
            help="Review both players as people of this rating (chess).",
            show_default=False,
        ),
    ] = None
    fit: Annotated[
        bool | None,
        typer.Option(
            "--fit-rating/--no-fit-rating",
            help="Estimate the players' ratings from their moves (chess). [default: unless --agent "
            "is given]",
            show_default=False,
        ),
    ] = None

    def options(self, review: "Review", game: str) -> dict[str, Any]:
        """Return the options of the game's reviewer; raise `InputError` if it lacks one."""
        given = {"elo": self.elo, "fit": self.fit}
        options = {name: value for name, value in given.items() if value is not None}
        for name in options.keys() - set(review.options):
            flag = {"elo": "--elo", "fit": "--fit-rating"}[name]
            raise InputError(f"{flag}: reviews of {game} have no such option")
        return options


@dataclass(frozen=True)
class Games:
    """Which games of the file."""

    number: Annotated[
        int | None,
        typer.Option("--game", min=1, help="Only this game of the file.", show_default=False),
    ] = None
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first N games.", show_default=False)
    ] = None

    def read(self, file: Path, kind: str, report: "ReadReport") -> Iterator[Any]:
        """Yield the games; raise `InputError` if there are none."""
        from itertools import islice

        from kedge import records
        from kedge.records.formats import record_format

        games = record_format(kind).read(file, report)
        if self.number is not None:
            game = records.numbered_game(games, report, file, self.number)
            report.broken.clear()  # nobody asked about the others
            yield game
            return
        yield from islice(games, self.limit)
        if not report.games:
            faults = report.broken
            why = f" ({faults[0].where}: {faults[0].reason})" if faults else ""
            raise InputError(f"{file}: holds no game{why}")


@dataclass(frozen=True)
class Files:
    """What to write."""

    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the annotated games in the format of the input; `-` prints them instead of "
            "the report.",
            show_default=False,
        ),
    ] = None
    svg: Annotated[
        Path | None,
        typer.Option(
            callback=svg_file,
            help="Draw one game of a board game: its value, and how human its moves were.",
        ),
    ] = None

    def check(self, file: Path, *, as_json: bool) -> None:
        """Raise `InputError` if these files cannot be written."""
        from kedge.files import check_writable

        if self.out == "-" and as_json:
            raise InputError("--out -: with --json, name a file")
        record = None if self.out in (None, "-") else Path(str(self.out))
        if record is not None and record.exists() and file.exists() and record.samefile(file):
            raise InputError(f"{record}: holds the games themselves; name another file")
        if not file.exists():
            raise InputError(f"{file}: No such file or directory")
        if self.svg is not None:
            check_writable(self.svg)


@unfolded
def analyze(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="GAME",
            help=f"Recorded games, plain or compressed. {files_words()}",
            show_default=False,
        ),
    ],
    reviewing: Reviewing,
    games: Games,
    files: Files,
    brief: Annotated[bool, typer.Option("--brief", help="Print no table of moves.")] = False,
    as_json: Json = False,
) -> None:
    """Show how human each move of a game was, and what people and search would play.

    The anchor gives the share of people who play a move. A move is worth the agent's value of the
    position after it. Its loss is the difference in expected score (a win is 1, a draw ½) to the
    agent's own choice.

    **Marks**

    - `?` and `??`: a loss of at least 0.1, or 0.2
    - `!`: the agent plays it too, and fewer than one in ten people do

    In Hanabi and Diplomacy, search itself values decisions, in points or as a share of the game
    (Sum of Squares): `?` and `??` are losses of 1 and 2 points, or of 0.05 and 0.1 of the game. In
    Diplomacy, only movement phases are reviewed.

    **Players**

    - `top-1`: the share of moves that people play most; in Diplomacy, of all orders of a power
      together (`kedge predict` counts them unit by unit). `likely`: how likely moves were for
      people, on average. `nats`: cross-entropy. In chess the first ten half-moves are shown (dim)
      and not scored, because people play them from memory.
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
    from kedge.evaluation.review import review_of
    from kedge.interfaces.progress import counting_moves
    from kedge.records import ReadReport
    from kedge.records.formats import recorded_game

    if reviewing.agent is not None and reviewing.elo is not None:
        raise InputError("--elo: has no effect with --agent; leave out one")
    files.check(file, as_json=as_json)
    kind, read = recorded_game(file), ReadReport()
    review = review_of(kind)
    options = reviewing.options(review, kind)
    if files.svg is not None and not review.is_drawn:
        raise InputError(f"--svg: games of {kind} are not drawn")
    reports: dict[int, AnyReport] = {}  # by the games' numbers
    is_interrupted = False
    with _writer(files.out) as write, counting_moves(quiet=as_json) as begin:
        reviewed = _reviewed(
            file,
            games.read(file, kind, read),
            read,
            lambda: review.reviewer(reviewing.agent, **options),
            begin,
            is_drawn=files.svg is not None,
        )
        try:
            _keep(reviewed, reports, write)
        except KeyboardInterrupt:
            if not reports:  # nor is a file of older ones overwritten
                raise
            is_interrupted = True
    _draw(files.svg, reports)
    if as_json:
        print_json(_json(reviewing.agent or review.agent(), reports, read))
    else:
        _print(reports, read, files, brief=brief)
    if is_interrupted:
        raise InterruptError(KEPT)


def _reviewed(
    file: Path,
    games: Iterator[Any],
    read: "ReadReport",
    make: Callable[[], Any],
    begin: Callable[[int, int], Any],
    *,
    is_drawn: bool,
) -> "Iterator[tuple[int, AnyReport]]":
    """Yield each game's number and its review; a picture shows only one."""
    reviewer = None  # made once there is a game: a file that holds none is not the agent's fault
    for game in games:
        number = read.games + read.broken_games
        if is_drawn and reviewer is not None:
            raise InputError("--svg: draws one game; choose it with --game")
        reviewer = reviewer or make()
        try:
            yield number, reviewer(game, begin(number, len(game)))
        except InputError as error:
            raise InputError(f"{file}: game {number}: {error}") from None


def _keep(
    reviewed: "Iterator[tuple[int, AnyReport]]",
    reports: "dict[int, AnyReport]",
    write: "Callable[[AnyReport], None]",
) -> None:
    """Write the reviews and add them to `reports`, each whole or not at all."""
    from kedge.experiments.engines.jobs import deferred_interrupt

    for number, report in reviewed:
        with deferred_interrupt():
            write(report)
            reports[number] = report


def _draw(svg: Path | None, reports: "dict[int, AnyReport]") -> None:
    if svg is not None:
        from kedge.files import write_atomic
        from kedge.interfaces.pictures.game import draw

        write_atomic(svg, draw(*_of_moves(reports)))


@contextlib.contextmanager
def _writer(out: str | None) -> "Iterator[Callable[[AnyReport], None]]":
    """Yield a function that writes a review; the file appears only when it is complete."""
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
            {"game": fault.number, "where": fault.where, "reason": fault.reason}
            for fault in read.broken
        ],
    }


def _of_moves(reports: "dict[int, AnyReport]") -> "list[GameReport]":
    """Return the reports of board games."""
    from kedge.evaluation.board.game_analysis import GameReport

    return [report for report in reports.values() if isinstance(report, GameReport)]


def _print(
    reports: "dict[int, AnyReport]", read: "ReadReport", files: Files, *, brief: bool
) -> None:
    is_printed = files.out == "-"
    if not is_printed:
        _print_reports(reports, brief=brief)
    for fault in read.broken:
        typer.echo(f"{fault.where} (game {fault.number}) is broken: {fault.reason}", err=True)
    for written in (None if is_printed else files.out, files.svg):
        if written is not None:
            typer.echo(str(written), err=is_printed)


def _print_reports(reports: "dict[int, AnyReport]", *, brief: bool) -> None:
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
