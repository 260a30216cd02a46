"""A game report in words: tables for a terminal, annotations for PGN."""

from collections.abc import Iterable, Sequence
from math import isnan

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kedge.evaluation.game_analysis import GameReport, MoveReport, PlayerReport
from kedge.interfaces.uci import centipawns
from kedge.records import Annotation

_LINE = 6  # half-moves
_NAME = 22  # letters of a player's name, so that a row fits 80 columns
_STYLES = {"??": "bold red", "?": "yellow", "!": "bold green", "": ""}


def annotations(report: GameReport) -> list[Annotation]:
    """What to write beside each move."""
    values, shown = report.values, [*report.mistakes, *report.disagreements]
    return [
        Annotation(
            comment=_comment(report, move),
            glyph=move.mark,
            # A mate says enough by itself.
            centipawns=None if abs(values[ply + 1]) == 1.0 else centipawns(values[ply + 1]),
            line=move.line[:_LINE] if move in shown and move.line[0] != move.san else (),
        )
        for ply, move in enumerate(report.moves)
    ]


def _comment(report: GameReport, move: MoveReport) -> str:
    words = [f"{percent(move.anchor)} of {_people(report, move.player)}"]
    if move.choice.move != move.move:
        prefers = "search prefers" if report.searched else "most play"
        words.append(f"{prefers} {move.choice.san} ({percent(move.choice.policy)})")
    if "?" in move.mark:
        words.append(f"costs {move.loss:.2f} of a point")
    return "; ".join(words)


def _people(report: GameReport, player: int) -> str:
    return "people" if report.ratings is None else f"{report.ratings[player]}s"


def percent(share: float) -> str:
    """Whole percents; neither 0 nor 100 where there is a little more or less."""
    if isnan(share):
        return "-"
    if 0.0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1.0 else f"{share:.0%}"


def print_game(report: GameReport, number: int, *, brief: bool) -> None:
    console = Console()
    console.print(_title(report, number), soft_wrap=True)
    if report.moves and not brief:
        console.print(_moves_table(report))
        console.print()
    console.print(players_table(report.players, ("White", "Black")))
    mistakes = [(move, _comment(report, move)) for move in report.mistakes]
    _print_moments(console, "Mistakes", mistakes)
    far = [(move, _disagreement(report, move)) for move in report.disagreements]
    _print_moments(console, "Where search and people disagree most", far)
    console.print()


def _title(report: GameReport, number: int) -> Text:
    game = report.game
    names = [
        f"{name or '?'}{'' if elo is None else f' ({elo})'}"
        for name, elo in ((game.white, game.white_elo), (game.black, game.black_elo))
    ]
    rest = [part for part in (game.result, game.date, game.site) if part]
    return Text.assemble(
        (f"{number}. {names[0]} – {names[1]}", "bold"), ("  " + ", ".join(rest), "dim")
    )


def _moves_table(report: GameReport) -> Table:
    table = Table(box=None, pad_edge=False)
    told = report.ratings
    people = "people" if told is None or told[0] != told[1] else f"{told[0]}s"
    headings = ["move", people, "rank", "what they play", *(["search"] if report.searched else [])]
    for heading in (*headings, "loss", "white"):
        left = heading in ("move", "what they play", "search")
        table.add_column(heading, justify="left" if left else "right", no_wrap=True)
    for move, value in zip(report.moves, report.values[1:], strict=True):
        choice = f"{move.choice.san} {percent(move.choice.policy)}"
        table.add_row(
            Text(_numbered(move), style=_STYLES[move.mark]),
            percent(move.anchor),
            str(move.rank),
            ", ".join(f"{one.san} {percent(one.anchor)}" for one in move.people),
            *([choice] if report.searched else []),
            f"{move.loss:.2f}" if move.loss >= 0.005 else "",
            percent((1.0 + value) / 2.0),
            style="dim" if move.opening else "",
        )
    return table


def players_table(players: Sequence[PlayerReport], labels: Sequence[str] = ()) -> Table:
    """One row a player; `labels` stand for those who have no name."""
    table = Table(box=None, pad_edge=False)
    fitted = any(player.fit is not None for player in players)
    several = any(player.games > 1 for player in players)
    headings = ["games"] if several else []
    headings += ["moves", "top-1", "likely", "nats", "loss", "?", "??"]
    table.add_column("", max_width=_NAME, no_wrap=True)
    for heading in (*headings, *(["plays like"] if fitted else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    for player, label in zip(players, labels or [""] * len(players), strict=True):
        table.add_row(
            Text(" ".join(part for part in (label, player.name or "") if part)),
            *([str(player.games)] if several else []),
            f"{player.scored} of {player.moves}",
            percent(player.top1),
            percent(player.probability),
            *(_number(value) for value in (player.cross_entropy, player.loss)),
            str(player.mistakes),
            str(player.blunders),
            *(["-" if player.fit is None else _fit(player)] if fitted else []),
        )
    return table


def _fit(player: PlayerReport) -> str:
    assert player.fit is not None
    return f"{round(player.fit.rating, -1):.0f} ± {round(player.fit.error, -1):.0f}"


def _number(value: float) -> str:
    return "-" if isnan(value) else f"{value:.2f}"


def _print_moments(console: Console, heading: str, moves: Iterable[tuple[MoveReport, str]]) -> None:
    rows = list(moves)
    if not rows:
        return
    console.print(f"\n[bold]{heading}[/bold]")
    for move, words in rows:
        played = (f"{_numbered(move):<10}", _STYLES[move.mark])
        line = (f"  {' '.join(move.line[:_LINE])}", "dim")
        console.print(Text.assemble("  ", played, f" {words}", line), soft_wrap=True)


def _disagreement(report: GameReport, move: MoveReport) -> str:
    choice, favourite, people = move.choice, move.people[0], _people(report, move.player)
    return (
        f"search plays {choice.san} ({percent(choice.policy)}), as {percent(choice.anchor)} of "
        f"{people} do; most play {favourite.san} ({percent(favourite.anchor)})"
    )


def _numbered(move: MoveReport) -> str:
    return f"{move.number}{'…' if move.player else '.'} {move.san}{move.mark}"
