"""Games in PGN, as Lichess writes it."""

import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from kedge import _core
from kedge.games.chess import START_FEN
from kedge.games.chess.ratings import scale_of
from kedge.records import streams
from kedge.records.chess.games import TIME_CLASSES, ChessGame, TimeClass, time_class_of
from kedge.records.report import ReadReport

_TAGS = _core.chess_pgn_tags()
_USUAL_EVENT = re.compile(r"(rated |casual )?([a-z]+ )?game")  # of no tournament
OUTCOMES = ("*", "1-0", "0-1", "1/2-1/2")
_NONE = 4  # the parser's code for "no result given"
_FIRST_TAG = re.compile(rb'(?<=\n)\[Event[ \t]+"')
STANDARD = ("", "?", "standard", "normal", "from position", "chess")


def read_pgn(
    pieces: Iterator[bytes], where: str, report: ReadReport, threads: int
) -> Iterator[ChessGame]:
    rest, line, number = b"", 1, 0
    skipping = False  # inside a game that is too long
    piece = next(pieces, b"")
    while piece or rest:
        following = next(pieces, b"")
        text = rest + piece if rest else piece
        piece, last = following, not following
        if skipping:
            match = _FIRST_TAG.search(text)
            keep = match.start() if match else max(0, len(text) - 20)  # the tag may be cut in two
            line += text.count(b"\n", 0, keep)
            text, skipping = text[keep:], match is None
            if skipping:
                rest = b"" if last else text
                continue
        columns = _core.chess_read_pgn(text, last, threads)
        yield from _games_of(text, columns, where, line, number, report)
        number += len(columns["lines"])
        line += columns["line_count"]
        rest = text[columns["consumed"] :]
        if len(rest) > streams.LONGEST:
            number += 1
            reason = f"longer than {streams.LONGEST >> 20} MiB, or not PGN"
            report.add_broken(number, f"{where}, line {line}", reason, noise=True)
            line += rest.count(b"\n")
            rest, skipping = b"", True


def _games_of(
    text: bytes, columns: Mapping[str, Any], where: str, line: int, number: int, report: ReadReport
) -> Iterator[ChessGame]:
    actions, clocks, evals = columns["actions"], columns["clocks"], columns["evals"]
    broken, offsets = columns["broken"], columns["offsets"].tolist()
    outcomes, clocked = columns["outcomes"].tolist(), columns["clocked"].tolist()
    evaluated = columns["evaluated"].tolist()
    lines, spans = columns["lines"].tolist(), columns["tags"].tolist()
    for i, row in enumerate(spans):
        tags = {
            name: _text(text[start:end])
            for name, start, end in zip(_TAGS, row[::2], row[1::2], strict=True)
            if end > start
        }
        variant = tags.get("Variant", "")
        reason = broken.get(i)
        if variant.lower() not in STANDARD:
            reason = f"{short(variant)} is not standard chess"
        if reason is not None:
            place = f"{where}, line {line + lines[i]}"
            report.add_broken(number + i + 1, place, reason, noise=bool(columns["noise"][i]))
            continue
        begin, end = offsets[i], offsets[i + 1]
        played = None if outcomes[i] == _NONE else OUTCOMES[outcomes[i]]
        yield _game_of(
            tags,
            actions[begin:end].copy(),
            clocks[begin:end].copy() if clocked[i] else None,
            evals[begin:end].copy() if evaluated[i] else None,
            played,
        )


def _game_of(
    tags: dict[str, str], moves: Any, clocks: Any, evals: Any, played: str | None
) -> ChessGame:
    get = tags.get
    event = get("Event", "").lower()
    control = known_tag(get("TimeControl"))
    speed = time_class_of(control)
    if speed == "unknown":
        speed = _class_in(event)
    result = get("Result")
    if result not in OUTCOMES or result == "*":
        result = played or "*"
    fen = get("FEN")
    rated = True if event.startswith("rated") else False if event.startswith("casual") else None
    return ChessGame(
        moves=moves,
        result=result,
        white_elo=rating_of(get("WhiteElo")),
        black_elo=rating_of(get("BlackElo")),
        time_control=control,
        time_class=speed,
        clocks=clocks,
        evals=evals,
        rated=rated,
        white=known_tag(get("White")),
        black=known_tag(get("Black")),
        white_title=known_tag(get("WhiteTitle")),
        black_title=known_tag(get("BlackTitle")),
        date=date_of(get("UTCDate") or get("Date")),
        site=known_tag(get("Site")),
        variant="Standard" if fen is None or fen == START_FEN else "From Position",
        termination=known_tag(get("Termination")),
        fen=None if fen == START_FEN else fen,
        source=known_tag(get("Source")),
        event=None if _USUAL_EVENT.fullmatch(event) else known_tag(get("Event")),
        round=known_tag(get("Round")),
        scale=scale_of(get("Site")),
    )


def _text(raw: bytes) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    if "\\" in text:
        text = re.sub(r'\\(["\\])', r"\1", text)
    return text


def short(text: str) -> str:
    return repr(text[:40])


def known_tag(text: str | None) -> str | None:
    """Return the value of a tag, or None if it is empty or "?"."""
    return None if text in (None, "", "?") else text


@functools.lru_cache(4096)
def rating_of(text: str | None) -> int | None:
    """Return the rating in a WhiteElo or BlackElo tag, or None."""
    if text is None or not text.isdecimal() or len(text) > 5:
        return None
    return int(text) or None


@functools.lru_cache(4096)  # games of a file often share a date
def date_of(text: str | None) -> str | None:
    """Return the date in ISO format, without its unknown parts."""
    parts = (text or "").split(".")
    known = list(itertools.takewhile(lambda part: part.isdecimal(), parts))
    return "-".join(known) or None


@functools.lru_cache(1024)
def _class_in(event: str) -> TimeClass:
    words = event.split()
    return next((name for name in TIME_CLASSES[:-1] if name in words), "unknown")
