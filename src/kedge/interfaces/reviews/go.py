"""Reviews of Go, annotated as SGF."""

from typing import cast

from kedge.evaluation.board.game_analysis import GameReport, frequent_players
from kedge.evaluation.go.review import default_agent, go_reviewer
from kedge.evaluation.review import Review
from kedge.games.go import parse_gtp
from kedge.interfaces.pictures.game import draw
from kedge.interfaces.reviews.anchor_words import percent
from kedge.interfaces.reviews.board import (
    ANNOTATOR,
    comment,
    lines_by_ply,
    print_game,
)
from kedge.records import GoGame, MoveNote, write_sgf


def _annotated(report: GameReport) -> str:
    game = cast(GoGame, report.game)
    return write_sgf(game, _notes(report, game.size), annotator=ANNOTATOR)


def _notes(report: GameReport, size: int) -> list[MoveNote]:
    """Return notes for SGF, with letters on the board for people's most frequent moves."""
    notes, lines = [], lines_by_ply(report)
    for move, value in zip(report.moves, report.values[1:], strict=True):
        others = [other for other in move.people if other.move not in (move.move, "pass")]
        lettered = list(zip("ABC", others, strict=False))
        shares = ", ".join(f"{letter} {percent(other.anchor)}" for letter, other in lettered)
        score = f"{report.game.sides[0]} {percent((1.0 + value) / 2.0)}"
        notes.append(
            MoveNote(
                "\n".join(
                    filter(None, (comment(report, move), shares and f"others: {shares}", score))
                ),
                labels={parse_gtp(other.move, size): letter for letter, other in lettered},
                glyph=move.mark,
                line=[parse_gtp(name, size) for name in lines.get(move.ply, ())],
            )
        )
    return notes


GO = Review(
    go_reviewer,
    default_agent,
    show=print_game,
    annotated=_annotated,
    frequent_players=frequent_players,
    draw=draw,
)
