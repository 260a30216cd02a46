"""Annotated PGN: read again by python-chess, with the same moves and all that was said."""

import io
from dataclasses import replace

import chess.pgn
import numpy as np
from chess_games import recorded

from kedge.records import Annotation, annotated_pgn, read_chess_games


def test_everything_is_read_again():
    clocks = np.array([60.0, np.nan, 58.0], np.float32)
    record = recorded(
        "e4 e5 Nf3", result="1-0", white='The "Rook" \\', clocks=clocks, white_elo=1500
    )
    notes = [
        Annotation("34% of 1500s", centipawns=35),
        Annotation("bold", "?!", line=("c5", "Nf3", "d6")),
        Annotation("", "!"),
    ]
    text = annotated_pgn(record, notes, annotator="kedge")
    read = chess.pgn.read_game(io.StringIO(text))
    assert not read.errors
    first, second, third = read.mainline()
    assert [node.san() for node in (first, second, third)] == ["e4", "e5", "Nf3"]
    assert first.comment.startswith("34% of 1500s")
    assert first.eval().white().score() == 35
    assert [node.clock() for node in (first, second, third)] == [60.0, None, 58.0]
    assert (second.nags, third.nags) == ({chess.pgn.NAG_DUBIOUS_MOVE}, {chess.pgn.NAG_GOOD_MOVE})
    line = first.variations[1]
    assert [node.san() for node in (line, *line.mainline())] == ["c5", "Nf3", "d6"]
    assert read.headers["Annotator"] == "kedge"
    evals = np.array([35.0, np.nan, np.nan], np.float32)
    assert [*read_chess_games(io.BytesIO(text.encode()))] == [replace(record, evals=evals)]


def test_from_a_position_with_black_to_move():
    fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 7"
    record = recorded("Kd7 e4", fen, result="1/2-1/2", variant="From Position")
    text = annotated_pgn(record, [Annotation("so"), Annotation("and so")])
    assert "7... Kd7 { so } 8. e4 { and so } 1/2-1/2" in text
    assert [*read_chess_games(io.BytesIO(text.encode()))] == [record]


def test_no_moves():
    text = annotated_pgn(recorded(""), [])
    assert [len(one) for one in read_chess_games(io.BytesIO(text.encode()))] == [0]
