"""Write annotated games: PGN with comments, glyphs, evaluations and variations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kedge.records.chess.files import tag_section
from kedge.records.chess.games import ChessGame

if TYPE_CHECKING:
    import chess.pgn

_GLYPHS = {"!": 1, "?": 2, "!!": 3, "??": 4, "!?": 5, "?!": 6}  # the numbers of the PGN standard


@dataclass(frozen=True)
class Annotation:
    """The notes on one move."""

    comment: str = ""
    glyph: str = ""
    """One of !, ?, !!, ??, !?, ?!."""
    centipawns: int | None = None
    """Evaluation after the move, from white's side: ``[%eval 0.35]``."""
    mate: int | None = None
    """Moves until white mates, negative if black does: ``[%eval #3]``."""
    line: tuple[str, ...] = ()
    """A variation in SAN, played instead of the move."""


def annotated_pgn(
    game: ChessGame, annotations: Sequence[Annotation], *, annotator: str | None = None
) -> str:
    """Return the game as PGN with one annotation per move, and its clocks if known."""
    import chess
    import chess.pgn

    tree = chess.pgn.Game()
    tree.setup(chess.Board(game.state(0).fen()))
    node: chess.pgn.GameNode = tree
    for ply, note in enumerate(annotations):
        before = node
        move = before.board().parse_uci(game.state(0).uci(int(game.moves[ply])))
        node = before.add_variation(move, comment=note.comment)
        if note.glyph:
            node.nags.add(_GLYPHS[note.glyph])
        _set_numbers(node, game, ply, note)
        if note.line:
            _add_line(before, note.line)
    tree.headers["Result"] = game.result
    moves = tree.accept(chess.pgn.StringExporter(headers=False))
    tags = tag_section(game) + (f'[Annotator "{annotator}"]\n' if annotator else "")
    return f"{tags}\n{moves}\n\n"


def _set_numbers(node: "chess.pgn.ChildNode", game: ChessGame, ply: int, note: Annotation) -> None:
    import chess
    import chess.engine

    score: chess.engine.Score | None = None
    if note.mate is not None:
        score = chess.engine.Mate(note.mate)
    elif note.centipawns is not None:
        score = chess.engine.Cp(note.centipawns)
    if score is not None:
        node.set_eval(chess.engine.PovScore(score, chess.WHITE))
    if game.clocks is not None and not np.isnan(game.clocks[ply]):
        node.set_clock(float(game.clocks[ply]))


def _add_line(node: "chess.pgn.GameNode", sans: Sequence[str]) -> None:
    for san in sans:
        node = node.add_variation(node.board().parse_san(san))


__all__ = ["Annotation", "annotated_pgn"]
