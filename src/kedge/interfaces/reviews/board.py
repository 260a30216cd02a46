"""Reviews of board games as text: tables for a terminal, comments for PGN and SGF."""

from collections.abc import Iterable, Sequence
from math import isnan

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kedge.evaluation.board.game_analysis import GameReport, MoveReport, PlayerReport
from kedge.interfaces.reviews.anchor_words import AnchorWords, percent

_LINE = 6  # half-moves shown of a line
_NAME = 22  # letters of a player's name, so that a row fits 80 columns
ANNOTATOR = "kedge analyze"
STYLES = {"??": "bold red", "?": "yellow", "!": "bold green", "": ""}


def lines_by_ply(report: GameReport) -> dict[int, tuple[str, ...]]:
    """Return search's lines by ply, for mistakes and disagreements."""
    shown = [*report.mistakes, *report.disagreements]
    return {move.ply: move.line[:_LINE] for move in shown if move.line[0] != move.name}


def comment(report: GameReport, move: MoveReport) -> str:
    """Return the comment on a move."""
    anchor = _words(report, move.player)
    words = [anchor.share(move.anchor)]
    if move.choice.move != move.move:
        prefers = "search prefers" if report.searched else anchor.prefers
        words.append(f"{prefers} {move.choice.name} ({percent(move.choice.policy)})")
    if "?" in move.mark:
        words.append(f"costs {move.loss:.2f} of a win")
    return "; ".join(words)


def _words(report: GameReport, player: int) -> AnchorWords:
    rating = None if report.ratings is None else report.ratings[player]
    return AnchorWords(report.is_human, rating)


def print_game(report: GameReport, number: int, *, brief: bool) -> None:
    """Print the review of game `number`; if `brief`, without the table of moves."""
    console = Console()
    console.print(_title(report, number), soft_wrap=True)
    if report.moves and not brief:
        console.print(_moves_table(report))
        console.print()
    console.print(players_table(report.players, report.game.sides))
    for caveat in sorted({player.fit.caveat for player in report.players if player.fit} - {""}):
        console.print(caveat, style="dim", soft_wrap=True)
    mistakes = [(move, comment(report, move)) for move in report.mistakes]
    _print_moments(console, report, "Mistakes", mistakes)
    far = [(move, _disagreement(report, move)) for move in report.disagreements]
    _print_moments(console, report, AnchorWords(report.is_human).disagreements_heading, far)
    console.print()


def _title(report: GameReport, number: int) -> Text:
    game = report.game
    rest = [part for part in (game.result, game.date, game.place) if part]
    return Text.assemble(
        (f"{number}. {both_players(report)}", "bold"), ("  " + ", ".join(rest), "dim")
    )


def both_players(report: GameReport) -> str:
    """Return the names of both players, with known ratings."""
    game = report.game
    names = [
        f"{game.name(player) or '?'}{'' if rating is None else f' ({rating})'}"
        for player, rating in enumerate((game.rating(0), game.rating(1)))
    ]
    return " – ".join(names)


def _moves_table(report: GameReport) -> Table:
    table = Table(box=None, pad_edge=False)
    ratings = report.ratings
    rating = None if ratings is None or ratings[0] != ratings[1] else ratings[0]
    anchor = AnchorWords(report.is_human, rating)
    texts = ["move", anchor.moves_heading, "search"]
    headings = ["move", anchor.heading, "rank", *texts[1 : 3 if report.searched else 2]]
    for heading in (*headings, "loss", report.game.sides[0].lower()):
        left = heading in texts
        table.add_column(heading, justify="left" if left else "right", no_wrap=True)
    for move, value in zip(report.moves, report.values[1:], strict=True):
        choice = f"{move.choice.name} {percent(move.choice.policy)}"
        table.add_row(
            Text(_numbered(report, move), style=STYLES[move.mark]),
            percent(move.anchor),
            str(move.rank),
            ", ".join(f"{other.name} {percent(other.anchor)}" for other in move.people),
            *([choice] if report.searched else []),
            f"{move.loss:.2f}" if move.loss >= 0.005 else "",
            percent((1.0 + value) / 2.0),
            style="dim" if move.opening else "",
        )
    return table


def players_table(players: Sequence[PlayerReport], labels: Sequence[str] = ()) -> Table:
    """Return a table with one row per player; `labels` go before the names."""
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
            *(["-" if player.fit is None else str(player.fit)] if fitted else []),
        )
    return table


def _number(value: float) -> str:
    return "-" if isnan(value) else f"{value:.2f}"


def _print_moments(
    console: Console, report: GameReport, heading: str, moves: Iterable[tuple[MoveReport, str]]
) -> None:
    rows = list(moves)
    if not rows:
        return
    console.print(f"\n[bold]{heading}[/bold]")
    for move, words in rows:
        played = (f"{_numbered(report, move):<12}", STYLES[move.mark])
        # A model alone has no line after its choice, which the comment names.
        line = (f"  {' '.join(move.line[:_LINE])}" if len(move.line) > 1 else "", "dim")
        console.print(Text.assemble("  ", played, f" {words}", line), soft_wrap=True)


def _disagreement(report: GameReport, move: MoveReport) -> str:
    choice, favourite, anchor = move.choice, move.people[0], _words(report, move.player)
    share = anchor.share(choice.anchor)
    return (
        f"search plays {choice.name} ({percent(choice.policy)}), "
        f"{f'as {share} do' if report.is_human else f'with {share}'}; "
        f"{anchor.prefers} {favourite.name} ({percent(favourite.anchor)})"
    )


def _numbered(report: GameReport, move: MoveReport) -> str:
    return f"{report.game.label(move.number, move.player)} {move.name}{move.mark}"
