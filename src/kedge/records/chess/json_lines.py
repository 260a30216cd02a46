"""Games as JSON lines."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from kedge import _core
from kedge.games.chess import START_FEN
from kedge.games.chess.ratings import scale_of
from kedge.records import streams
from kedge.records.chess.evals import evals_of
from kedge.records.chess.games import TIME_CLASSES, ChessGame, time_class_of
from kedge.records.chess.pgn import OUTCOMES, STANDARD, short
from kedge.records.report import ReadReport

_BATCH = 512  # lines at a time


def read_lines(
    pieces: Iterator[bytes], where: str, report: ReadReport, threads: int
) -> Iterator[ChessGame]:
    """Yield games from one object per line: ``moves`` in UCI, and fields of `ChessGame`."""
    for batch in _batches(streams.lines(pieces)):
        records: list[dict[str, Any]] = []
        reasons: list[str | None] = []
        for _, line in batch:
            record, reason = _object(line)
            records.append(record)
            reasons.append(reason)
        columns = _core.chess_read_uci(
            [record.get("moves", "") for record in records],
            [record.get("fen") or "" for record in records],
            threads,
        )
        offsets, actions = columns["offsets"].tolist(), columns["actions"]
        for i, (number, _) in enumerate(batch):
            reason = reasons[i] or columns["broken"].get(i)
            game = None
            if reason is None:
                moves = actions[offsets[i] : offsets[i + 1]].copy()
                game, reason = _game_of_object(records[i], moves)
            if game is None:
                noise = not records[i]
                report.add_broken(number, f"{where}, line {number}", reason or "", noise=noise)
            else:
                yield game


def _batches(lines: Iterator[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    while batch := list(itertools.islice(lines, _BATCH)):
        yield batch


def _object(line: bytes) -> tuple[dict[str, Any], str | None]:
    try:
        record = streams.json_object(line)
    except ValueError as error:
        return {}, str(error)
    for name in ("moves", "fen"):
        value = record.get(name, "" if name == "fen" else None)
        if not isinstance(value, str) and (name == "moves" or value is not None):
            return {"bad": name}, f'"{name}" is not text'
        if value and not value.isascii():
            return {"bad": name}, f'"{name}" has characters that are not ASCII'
    variant = record.get("variant") or ""
    if not isinstance(variant, str) or variant.lower() not in STANDARD:
        return {"bad": "variant"}, f"{short(str(variant))} is not standard chess"
    return record, None


def _game_of_object(record: dict[str, Any], moves: Any) -> tuple[ChessGame | None, str | None]:
    def text(name: str, other: str = "") -> str | None:
        value = record.get(name)
        value = record.get(other) if value is None else value
        if value is not None and not isinstance(value, str):
            raise TypeError(f'"{name}" is not text')
        return value or None

    def rating(name: str) -> int | None:
        value = record.get(name)
        if value is not None and (type(value) is not int or not 0 <= value < 100_000):
            raise TypeError(f'"{name}" is not a rating')
        return value or None

    try:
        clocks = _clocks(record.get("clocks"), len(moves))
        evals = evals_of(record.get("evals"), len(moves))
        control = text("time_control")
        speed = time_class_of(control)
        named = text("time_class")
        if speed == "unknown" and named in TIME_CLASSES:
            speed = named
        result = text("result") or "*"
        if result not in OUTCOMES:
            return None, f"{short(result)} is not a result"
        rated = record.get("rated")
        fen = text("fen")
        return ChessGame(
            moves=moves,
            result=result,
            white_elo=rating("white_elo"),
            black_elo=rating("black_elo"),
            time_control=control,
            time_class=speed,
            clocks=clocks,
            evals=evals,
            rated=rated if isinstance(rated, bool) else None,
            white=text("white", "white_hash"),
            black=text("black", "black_hash"),
            white_title=text("white_title"),
            black_title=text("black_title"),
            date=text("date"),
            site=text("id", "site"),
            variant="Standard" if fen is None or fen == START_FEN else "From Position",
            termination=text("termination"),
            fen=None if fen == START_FEN else fen,
            source=text("source"),
            scale=scale_of(text("id")) or scale_of(text("site")),
        ), None
    except TypeError as error:
        return None, str(error)


def _clocks(values: Any, plies: int) -> Any:
    if values is None:
        return None
    if not isinstance(values, list) or len(values) != plies:
        raise TypeError('"clocks" is not a list with one number per half-move')
    try:
        clocks = np.array([np.nan if x is None else float(x) for x in values], np.float32)
    except (TypeError, ValueError, OverflowError):
        raise TypeError('"clocks" is not a list with one number per half-move') from None
    if (clocks < 0).any() or np.isinf(clocks).any():
        raise TypeError('"clocks" has a negative or infinite time')
    return None if np.isnan(clocks).all() else clocks
