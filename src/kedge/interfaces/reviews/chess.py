"""Reviews of chess, annotated as PGN."""

from typing import cast

from kedge.evaluation.board.game_analysis import GameReport, frequent_players
from kedge.evaluation.chess.review import chess_reviewer, default_agent
from kedge.evaluation.review import Review
from kedge.interfaces.pictures.game import draw
from kedge.interfaces.protocols.uci import centipawns
from kedge.interfaces.reviews.board import ANNOTATOR, comment, lines_by_ply, print_game
from kedge.records import Annotation, ChessGame, annotated_pgn


def _annotated(report: GameReport) -> str:
    game = cast(ChessGame, report.game)
    return annotated_pgn(game, _annotations(report), annotator=ANNOTATOR)


def _annotations(report: GameReport) -> list[Annotation]:
    values, lines = report.values, lines_by_ply(report)
    return [
        Annotation(
            comment=comment(report, move),
            glyph=move.mark,
            mate=_mate(report, ply + 1),
            # A proven result needs no centipawns.
            centipawns=None if abs(values[ply + 1]) == 1.0 else centipawns(values[ply + 1]),
            line=lines.get(ply, ()),
        )
        for ply, move in enumerate(report.moves)
    ]


def _mate(report: GameReport, ply: int) -> int | None:
    """Return in how many moves White mates from here if proven; negative if Black mates."""
    if ply == len(report.moves):
        return None
    move = report.moves[ply]
    wins = move.value == (1.0 if move.player == 0 else -1.0)
    if not wins or not move.line[-1].endswith("#"):
        return None
    return (len(move.line) + 1) // 2 * (1 if move.player == 0 else -1)


CHESS = Review(
    chess_reviewer,
    default_agent,
    show=print_game,
    annotated=_annotated,
    frequent_players=frequent_players,
    draw=draw,
)
