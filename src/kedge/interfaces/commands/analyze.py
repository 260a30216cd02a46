"""``kedge analyze``: games with how human each move was, and what search would have played.

Import this module only to run the command: its help lists the files of all games.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.errors import InputError
from kedge.interfaces.options import Json, function_options, option_parameter, unfolded
from kedge.interfaces.output import (
    KEPT,
    InterruptError,
    check_replaceable,
    print_json,
    svg_file,
    write_picture,
)
from kedge.options import Option
from kedge.records.formats import files_words, recognised_game, recorded_game

if TYPE_CHECKING:
    from kedge.evaluation.review import Review, Reviewer, ReviewReport, Tell
    from kedge.records import ReadReport

GameFile = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help=f"One file of recorded games, plain or compressed. {files_words()}",
        show_default=False,
    ),
]
Brief = Annotated[bool, typer.Option("--brief", help="Print no table of moves.")]


Agent = Annotated[
    str | None,
    typer.Option(
        "--agent",
        "-a",
        metavar="SPEC",
        help="Agent that reviews, exactly as given. [default: a search over the game's model, "
        "which takes the players' ratings as input where it can]",
        show_default=False,
    ),
]


def _review_options() -> dict[str, tuple[Any, Option, Any]]:
    """Return type, option and default of all that the games' reviewers take, by name."""
    from kedge import catalogue

    options: dict[str, tuple[Any, Option, Any]] = {}
    games: dict[str, list[str]] = {}
    for entry, review in catalogue.loaded("review").items():
        for name, *row in function_options(review.reviewer):
            options.setdefault(name, tuple(row))
            games.setdefault(name, []).append(entry.name)
    return {
        name: (kind, replace(option, help=_of(option.help, games[name])), default)
        for name, (kind, option, default) in options.items()
    }


def _of(help: str, games: list[str]) -> str:
    return f"{help.removesuffix('.')} ({', '.join(games)})."


_OPTIONS = _review_options()


def _given(review: "Review", game: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given; raise `InputError` if the reviewer lacks one."""
    given = {name: value for name, value in options.items() if value is not None}
    known = {name for name, *_ in function_options(review.reviewer)}
    for name in given.keys() - known:
        flag = (_OPTIONS[name][1].flags or (f"--{name.replace('_', '-')}",))[0].split("/")[0]
        raise InputError(f"{flag}: reviews of {game} have no such option")
    return given


@dataclass(frozen=True)
class GameChoice:
    """The games of the file to review."""

    number: Annotated[
        int | None,
        typer.Option("--game", min=1, help="Only this game of the file.", show_default=False),
    ] = None
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first N games.", show_default=False)
    ] = None

    def read(self, file: Path, kind: str, report: "ReadReport") -> Iterator[Any]:
        """Yield the games; raise `InputError` if there are none."""
        from kedge import records
        from kedge.records.formats import record_format
        from kedge.records.report import first_games, no_game

        games = record_format(kind).read(file, report)
        if self.number is not None:
            game = records.numbered_game(games, report, file, self.number)
            report.broken.clear()  # nobody asked about the others
            yield game
            return
        yield from first_games(games, self.limit)
        if report.games:
            return
        fault = no_game(file, report.broken)
        if os.path.isfile(file) and recognised_game(file) is None:
            raise InputError(f"{fault}; kedge reads {files_words().removesuffix('.')}")
        raise fault


@dataclass(frozen=True)
class WrittenFiles:
    """The files to write."""

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
        """Raise `InputError` if these files cannot be written, or would replace others."""
        if self.out == "-" and as_json:
            raise InputError("--out -: with --json, name a file")
        record = None if self.out in (None, "-") else Path(str(self.out))
        if record is not None and os.path.exists(record) and record.samefile(file):
            raise InputError(f"{record}: holds the games themselves; name another file")
        if record is not None:
            check_replaceable(record, "reviewed")

    def check_picture(self, review: "Review", game: str) -> None:
        """Raise `InputError` if a picture is wanted and the game has none."""
        if self.svg is not None and review.draw is None:
            raise InputError(f"--svg: games of {game} are not drawn")

    def draw(self, review: "Review", reports: "Iterable[ReviewReport]") -> None:
        """Draw the game, if a picture is wanted."""
        if self.svg is not None and review.draw is not None:
            write_picture(self.svg, review.draw(*reports))

    @contextlib.contextmanager
    def writer(
        self, annotated: "Callable[[ReviewReport], str]"
    ) -> "Iterator[Callable[[ReviewReport], object]]":
        """Yield a function that writes a game; the file appears only when it is complete."""
        from kedge.records.streams import create

        if self.out is None:
            yield lambda report: None
        elif self.out == "-":
            yield lambda report: typer.echo(annotated(report), nl=False)
        else:
            with create(self.out) as file:
                yield lambda report: file.write(annotated(report).encode())


@dataclass
class Reviews:
    """The reviews of the games of a file."""

    file: Path
    review: "Review"
    agent: str
    """The spec of the agent that reviews."""
    read: "ReadReport"
    reports: "dict[int, ReviewReport]" = field(default_factory=dict)
    """Reports by the games' numbers."""
    is_interrupted: bool = False
    """Whether games are missing because the user stopped the command."""

    def add(
        self,
        games: Iterable[Any],
        make_reviewer: "Callable[[], Reviewer]",
        files: WrittenFiles,
        *,
        quiet: bool,
    ) -> None:
        """Review the games and write each to its file, until the user interrupts."""
        from kedge.interfaces.progress import counting_moves

        with files.writer(self.review.annotated) as write, counting_moves(quiet=quiet) as begin:
            # Made at the first game: a file without games is reported before a bad agent.
            reviewer = None
            try:
                for number, game in self._numbered(games, only_one=files.svg is not None):
                    reviewer = reviewer or make_reviewer()
                    self._add_game(number, game, reviewer, begin, write)
            except KeyboardInterrupt:
                if not self.reports:  # raising also keeps a file of older reviews
                    raise
                self.is_interrupted = True

    def _numbered(self, games: Iterable[Any], *, only_one: bool) -> Iterator[tuple[int, Any]]:
        """Yield the numbered games; with `only_one`, raise `InputError` if there are more."""
        numbered = ((self.read.games + self.read.broken_games, game) for game in games)
        first = list(islice(numbered, 2 if only_one else 0))
        if len(first) > 1:
            raise InputError("--svg: draws one game; choose it with --game")
        yield from chain(first, numbered)

    def _add_game(
        self,
        number: int,
        game: Any,
        reviewer: "Reviewer",
        begin: "Callable[[int, int], Tell]",
        write: "Callable[[ReviewReport], object]",
    ) -> None:
        from kedge.experiments.engines.jobs import deferred_interrupt

        with _located(self.file, number):
            report = reviewer(game, begin(number, len(game)))
        with deferred_interrupt():  # a game is kept whole or not at all
            write(report)
            self.reports[number] = report


@partial(unfolded, more=[option_parameter(name, *row) for name, row in _OPTIONS.items()])
def analyze(
    file: GameFile,
    games: GameChoice,
    written: WrittenFiles,
    agent: Agent = None,
    brief: Brief = False,
    as_json: Json = False,
    **options: Any,
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
    - `plays like`: a rating, or in Go a rank, estimated from all the player's moves, with its
      error. In Go this takes some 20 seconds per game; `--no-fit-rating` leaves it out.

    **Examples**

    - `kedge analyze game.pgn`
    - `kedge analyze games.pgn --game 3 --out annotated.pgn --svg game.svg`
    - `kedge analyze games.pgn --agent "puct(maia-1900, c_puct=1, playouts=400)" --brief`
    - `kedge analyze games.pgn --elo 1200 --json`
    - `kedge analyze game.sgf --rank 3d --out annotated.sgf`
    - `kedge analyze hanabi.jsonl --game 2 --out reviewed.jsonl`
    - `kedge analyze diplomacy.json --brief`
    """
    path = _one_file(*file)
    written.check(path, as_json=as_json)
    reviews = _reviewed(path, games, written, agent, options, quiet=as_json)
    written.draw(reviews.review, reviews.reports.values())
    if as_json:
        print_json(_json(reviews))
    else:
        _print(reviews, written, brief=brief)
    if reviews.is_interrupted:
        raise InterruptError(KEPT)


def _reviewed(
    path: Path,
    games: GameChoice,
    written: WrittenFiles,
    agent: str | None,
    options: dict[str, Any],
    *,
    quiet: bool,
) -> Reviews:
    """Return the reviews of the chosen games, each of which is written when it is done."""
    from kedge.evaluation.review import review_of
    from kedge.records import ReadReport

    game = recorded_game(path)
    review, read = review_of(game), ReadReport()
    given = _given(review, game, options)
    written.check_picture(review, game)
    reviews = Reviews(path, review, agent or review.agent(**given), read)
    make_reviewer = partial(review.reviewer, agent, **given)
    reviews.add(games.read(path, game, read), make_reviewer, written, quiet=quiet)
    return reviews


def _one_file(file: Path, *rest: Path) -> Path:
    """Return the only file, which must exist; raise `InputError` if it is a game, or not alone."""
    from kedge import catalogue
    from kedge.evaluation.review import review_of

    try:
        file.stat()
    except OSError as error:
        if str(file) in catalogue.names():
            review_of(str(file))  # raises if the game has no reviews
            raise InputError(
                f"{file}: the name of a game; give only a file: kedge analyze FILE"
            ) from None
        if str(file) == "-":
            raise InputError("-: reviews do not read standard input; name a file") from None
        raise InputError(f"{file}: {error.strerror}") from None
    if rest:
        raise InputError(f"{rest[0]}: give one file at a time")
    return file


@contextlib.contextmanager
def _located(file: Path, number: int) -> Iterator[None]:
    """Add the file and the number of the game to an error."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{file}: game {number}: {error}") from None


def _json(reviews: Reviews) -> dict[str, Any]:
    reports = reviews.reports
    players = reviews.review.frequent_players([*reports.values()])
    return {
        "agent": reviews.agent,
        "games": [{"game": number, **report.to_json()} for number, report in reports.items()],
        "players": [player.to_json() for player in players],
        "broken": [
            {"game": fault.number, "where": fault.where, "reason": fault.reason}
            for fault in reviews.read.broken
        ],
    }


def _print(reviews: Reviews, files: WrittenFiles, *, brief: bool) -> None:
    from rich.console import Console

    from kedge.interfaces.reviews.board import players_table

    review, reports = reviews.review, reviews.reports
    is_printed = files.out == "-"
    if not is_printed:
        for number, report in reports.items():
            review.show(report, number, brief=brief)
        if players := review.frequent_players([*reports.values()]):
            Console().print("[bold]Over several games[/bold]", players_table(players), sep="\n")
    for fault in reviews.read.broken:
        typer.echo(f"{fault.where}: {fault.reason} (game {fault.number} skipped)", err=True)
    for written in (None if is_printed else files.out, files.svg):
        if written is not None:
            typer.echo(str(written), err=is_printed)
