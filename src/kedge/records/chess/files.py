"""Files of chess games: PGN as Lichess writes it, and JSON lines.

The native parser reads the moves and replays them; this module feeds it pieces of a file. Memory
does not grow with the length of the file.
"""

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from kedge import _core
from kedge.errors import InputError
from kedge.games.chess import START_FEN
from kedge.games.chess.ratings import SCALES, scale_number
from kedge.records import streams
from kedge.records.chess.games import TIME_CLASSES, ChessGame, TimeClass, time_class_of
from kedge.records.report import ReadReport

_BATCH = 512  # games or lines at a time
_TAGS = _core.chess_pgn_tags()
_OUTCOMES = ("*", "1-0", "0-1", "1/2-1/2")
_NONE = 4  # the parser's code for "no result given"
_FIRST_TAG = re.compile(rb'(?<=\n)\[Event[ \t]+"')
_STANDARD = ("", "?", "standard", "normal", "from position", "chess")


def read_chess_games(
    path: str | Path | IO[bytes], report: ReadReport | None = None, *, threads: int = 0
) -> Iterator[ChessGame]:
    """Yield the games of a PGN or JSON-lines file.

    Parameters
    ----------
    path
        A file, or a binary stream (buffered, or one that can seek). It may be compressed: gzip,
        bzip2, xz, and zstd with the ``records`` extra. The content decides the format.
    report
        Counts what is read, and collects why games are left out: an illegal move, NUL bytes, a text
        cut short, another variant than standard chess. Reading ends where a compressed file is
        damaged, and the report says so.
    threads
        Threads of the native parser; 0 uses all cores.

    Raises
    ------
    InputError
        If the file cannot be opened, or is damaged from its first byte on.
    """
    report = ReadReport() if report is None else report
    with streams.opened(path) as (stored, content, where):
        yield from _read(stored, content, where, report, threads)


def _read(
    stored: IO[bytes], content: IO[bytes], where: str, report: ReadReport, threads: int
) -> Iterator[ChessGame]:
    pieces = streams.Pieces(stored, content, where, report)
    first = next(pieces, b"")
    if first.startswith(b"\xef\xbb\xbf"):
        first = first[3:]
    read = _read_lines if re.match(rb'\s*\{\s*"', first) else _read_pgn
    whole = streams.with_games(itertools.chain((first,), pieces), where, report)
    for game in read(whole, where, report, threads):
        report.games += 1
        report.positions += len(game)
        yield game
    pieces.report_damage()


# --- PGN ----------------------------------------------------------------------------------------


def _read_pgn(
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
    actions, clocks, broken = columns["actions"], columns["clocks"], columns["broken"]
    offsets = columns["offsets"].tolist()
    outcomes, clocked = columns["outcomes"].tolist(), columns["clocked"].tolist()
    lines, spans = columns["lines"].tolist(), columns["tags"].tolist()
    for i, row in enumerate(spans):
        tags = {
            name: _text(text[start:end])
            for name, start, end in zip(_TAGS, row[::2], row[1::2], strict=True)
            if end > start
        }
        variant = tags.get("Variant", "")
        reason = broken.get(i)
        if variant.lower() not in _STANDARD:
            reason = f"{_short(variant)} is not standard chess"
        if reason is not None:
            place = f"{where}, line {line + lines[i]}"
            report.add_broken(number + i + 1, place, reason, noise=bool(columns["noise"][i]))
            continue
        begin, end = offsets[i], offsets[i + 1]
        played = None if outcomes[i] == _NONE else _OUTCOMES[outcomes[i]]
        yield _game_of(
            tags,
            actions[begin:end].copy(),
            clocks[begin:end].copy() if clocked[i] else None,
            played,
        )


def _game_of(tags: dict[str, str], moves: Any, clocks: Any, played: str | None) -> ChessGame:
    get = tags.get
    event = get("Event", "").lower()
    control = known_tag(get("TimeControl"))
    speed = time_class_of(control)
    if speed == "unknown":
        speed = _class_in(event)
    result = get("Result")
    if result not in _OUTCOMES or result == "*":
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


def _short(text: str) -> str:
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


def scale_of(site: str | None) -> str | None:
    """Return the scale of the ratings at a site, one of `SCALES`, or None."""
    number = scale_number(site)
    return SCALES[number - 1] if number else None


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


# --- JSON lines ---------------------------------------------------------------------------------


def _read_lines(
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
    if not isinstance(variant, str) or variant.lower() not in _STANDARD:
        return {"bad": "variant"}, f"{_short(str(variant))} is not standard chess"
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
        control = text("time_control")
        speed = time_class_of(control)
        named = text("time_class")
        if speed == "unknown" and named in TIME_CLASSES:
            speed = named
        result = text("result") or "*"
        if result not in _OUTCOMES:
            return None, f"{_short(result)} is not a result"
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
            scale=scale_of(text("site") or text("id")),
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


# --- Writing ------------------------------------------------------------------------------------


def write_pgn(games: Iterable[ChessGame], path: str | Path, *, threads: int = 0) -> int:
    """Write games as Lichess does, compressed by the suffix of `path`; return their number."""
    count = 0
    with streams.create(path) as file:
        remaining = iter(games)
        while batch := list(itertools.islice(remaining, _BATCH)):
            file.write("".join(pgn_texts(batch, threads=threads)).encode())
            count += len(batch)
    return count


def pgn_texts(games: Iterable[ChessGame], *, threads: int = 0) -> list[str]:
    """Return each game as PGN: tags, moves with known clocks, and the result."""
    games = list(games)
    nothing = np.empty(0, np.float32)
    clocks = [
        np.full(len(game), np.nan, np.float32) if game.clocks is None else game.clocks
        for game in games
    ]
    offsets = np.cumsum([0, *map(len, games)], dtype=np.int64)
    try:
        moves = _core.chess_write_moves(
            np.concatenate([np.empty(0, np.uint16), *(game.moves for game in games)]),
            np.concatenate([nothing, *clocks]),
            offsets,
            [game.fen or "" for game in games],
            threads,
        )
    except ValueError as error:
        raise InputError(str(error)) from None
    return [
        f"{tag_section(game)}\n{text}{' ' if text else ''}{game.result}\n\n\n"
        for game, text in zip(games, moves, strict=True)
    ]


def tag_section(game: ChessGame) -> str:
    """Return the PGN tags of a game, one per line."""
    return "".join(f'[{name} "{_escaped(value)}"]\n' for name, value in _tags_of(game))


def _tags_of(game: ChessGame) -> Iterator[tuple[str, str]]:
    rated = {True: "Rated ", False: "Casual ", None: ""}[game.rated]
    speed = "" if game.time_class == "unknown" else game.time_class + " "
    date = ".".join([*(game.date or "????").split("-"), "??", "??"][:3])
    yield "Event", game.event or f"{rated}{speed}game"
    yield "Site", game.site or "?"
    yield "Date", date
    yield "Round", game.round or "?"
    yield "White", game.white or "?"
    yield "Black", game.black or "?"
    yield "Result", game.result
    yield "UTCDate", date
    yield "WhiteElo", str(game.white_elo or "?")
    yield "BlackElo", str(game.black_elo or "?")
    if game.white_title:
        yield "WhiteTitle", game.white_title
    if game.black_title:
        yield "BlackTitle", game.black_title
    yield "Variant", game.variant
    yield "TimeControl", game.time_control or "?"
    if game.termination:
        yield "Termination", game.termination
    if game.fen:
        yield "FEN", game.fen
        yield "SetUp", "1"
    if game.source:
        yield "Source", game.source


def _escaped(text: str) -> str:
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text.replace("\\", "\\\\").replace('"', '\\"')


__all__ = ["pgn_texts", "read_chess_games", "tag_section", "write_pgn"]
