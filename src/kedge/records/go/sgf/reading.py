"""Read the main lines of SGF.

For speed, one regular expression takes a whole run of plain moves; only the rest is read property
by property. Old files often deviate from the standard. The reader accepts what is unambiguous:
lower-case letters in names (``AddBlack``), text around the games, any charset.
"""

import codecs
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from kedge.records import streams
from kedge.records.charsets import charset_of
from kedge.records.go.games import (
    SIZES,
    GoGame,
    date_of,
    handicap_of,
    komi_of,
    points_of,
    result_of,
)
from kedge.records.go.sgf.spaces import ESCAPED_BREAK, SPACE
from kedge.records.report import ReadReport

# Repeated groups are atomic as well as possessive: Python before 3.11.5 continues from where the
# last repetition failed, and so lost the passes ``W[]`` after moves.
_ESCAPED = rb"[^\\\]]*+(?>\\.[^\\\]]*+)*+"
_VALUE = rb"\[" + _ESCAPED + rb"\]"
_START = re.compile(rb"\(\s*;")
# After damage, these properties distinguish a new game from a variation.
_NEXT = re.compile(
    rb"\(\s*;\s*(?:FF|GM|SZ|CA|AP|ST|US|GN|EV|RO|DT|PC|PB|BR|BT|PW|WR|WT|KM|HA|RU|RE|TM|SO)\s*\["
)
_ROOT = re.compile(rb"\s*;\s*(?:FF|GM|SZ|CA|AP|ST)\s*\[")
_MOVE = rb";\s*+[BW]\[[a-z]{2}\]\s*+"
# Properties beside a move that are skipped: clocks, comments, marks and names of nodes.
_BESIDE = (
    rb"(?>(?:BL|WL|OB|OW|C|N|LB|TR|CR|MA|SQ|MN)\s*+(?>" + _VALUE + rb"\s*+)++)*+(?![A-Za-z\[])"
)
_TOKEN = re.compile(
    rb"\s*+(?:(?P<plain>(?>" + _MOVE + rb"(?=[;()]))++)"
    rb"|(?P<noted>(?>" + _MOVE + _BESIDE + rb")++)"
    rb"|(?P<name>[A-Za-z]{1,64}+)\s*+(?P<values>(?>" + _VALUE + rb"\s*+)++)"
    rb"|(?P<mark>[;()]))",
    re.DOTALL,
)
_NOTED = re.compile(rb";\s*+([BW]\[[a-z]{2})\]\s*+" + _BESIDE, re.DOTALL)
# An unfinished property at the end of a piece, which the next piece continues.
_FRAGMENT = re.compile(rb"\s*(?:[A-Za-z]{1,64}\s*)?(?:\[" + _ESCAPED + rb"\\?)?\Z", re.DOTALL)
_FIRST = re.compile(_VALUE, re.DOTALL)
_POINTS = re.compile(r"([a-z])([a-z])(?:\s*:\s*([a-z])([a-z]))?")
_SIZE = re.compile(r"(\d{1,3})(?:\s*[:x×]\s*(\d{1,3}))?", re.ASCII)
_LOWER = bytes(range(ord("a"), ord("z") + 1))
_OVERLAP = 64  # bytes, since the start of a game may be split between two pieces
_SETUP = (b"AB", b"AW", b"AE")
_MOST_STONES = 10_000  # in the setup of one record, counting repeated points
_INFO = frozenset(
    (b"GM", b"SZ", b"KM", b"RU", b"HA", b"RE", b"PB", b"PW", b"BR", b"WR", b"DT", b"EV", b"SO")
)
# Programs that have played people in public; whole words, since Kaizen is a person.
_PROGRAMS = re.compile(
    r"\b(?:alpha ?go|kata ?go|leela|elf opengo|fine ?art|jueyi|golaxy|xingzhen|deep ?zen(?:go)?|"
    r"zen|crazy ?stone|dolbaram|gnu ?go|fuego|pachi|handol|phoenix ?go|mini ?go|many faces|"
    r"magist\w*)\b|^master$|绝艺|絶芸|星阵",
    re.IGNORECASE,
)


class _DamagedError(Exception):
    """The text is not SGF from `place` on, or ends before the game is closed."""

    def __init__(self, reason: str, place: int, *, unfinished: bool = False) -> None:
        super().__init__(reason)
        self.place, self.unfinished = place, unfinished


def read_sgf(
    content: bytes | str, report: ReadReport | None = None, *, where: str = "SGF"
) -> Iterator[GoGame]:
    """Yield the games of an SGF text, without variations.

    Invalid games are left out, and the report says why: text that is not SGF, a game that is not
    closed, another game than Go, a board that is not square or not of 2 to 19 lines, a move off the
    board, stones set up in the middle of the game.
    """
    report = ReadReport() if report is None else report
    raw = content.encode() if isinstance(content, str) else content
    return read_pieces(iter((raw,)), where, report)


def read_pieces(pieces: Iterator[bytes], where: str, report: ReadReport) -> Iterator[GoGame]:
    """Yield the games of an SGF text that comes in pieces; see `read_sgf`."""
    rest, line, number = b"", 1, 0
    opening = _START
    pieces = _as_utf8(pieces)
    piece = next(pieces, b"")
    while piece or rest:
        following = next(pieces, b"")
        text, last = rest + piece, not following
        piece, place, counted = following, 0, 0
        while match := opening.search(text, place):
            start = match.start()
            line += text.count(b"\n", counted, start)
            counted = start
            try:
                main_line, place = _scan(text, start)
                number, opening = number + 1, _START
                game = main_line.game()
            except _DamagedError as damage:
                if damage.unfinished and not last and len(text) - start <= streams.LONGEST:
                    place = start
                    break
                number, opening, place = number + 1, _NEXT, damage.place
                # "(;" can occur in random bytes by chance.
                noise = damage.place <= match.end()
                report.add_broken(number, f"{where}, line {line}", str(damage), noise=noise)
            except ValueError as error:
                report.add_broken(number, f"{where}, line {line}", str(error))
            else:
                report.add_game(number, f"{where}, line {line}", len(game))
                yield game
        else:
            place = len(text) if last else max(place, len(text) - _OVERLAP)
        line += text.count(b"\n", counted, place)
        rest = text[place:]
    if number == 0:
        report.add_broken(1, where, "no game found", noise=True)


def _as_utf8(pieces: Iterator[bytes]) -> Iterator[bytes]:
    # Decode before searching: in old charsets half a character may look like a bracket.
    first = next(pieces, b"")
    charset = charset_of(first)
    pieces = itertools.chain((first,), pieces)
    if charset == "utf-8":
        return pieces
    decoder = codecs.getincrementaldecoder(charset)("replace")
    texts = (decoder.decode(piece).encode("utf-8", "replace") for piece in pieces)
    return filter(None, texts)  # a piece may be half a character


def _scan(text: bytes, place: int) -> tuple["_MainLine", int]:
    """Return the main line of the game that starts at `place`, and the end of the game."""
    line = _MainLine()
    inside, depth = True, 0  # inside the main line, which ends at the first ")"
    nodes = 1  # 0 just after "(", where a node must follow; -1 after ")", where none may
    while True:
        match = _TOKEN.match(text, place)
        if match is None:
            if _FRAGMENT.match(text, place):
                raise _DamagedError("cut short", len(text), unfinished=True)
            raise _DamagedError(f"{_shown(text[place : place + 20])} is not SGF", place)
        kind, begin, place = match.lastgroup, place, match.end()
        mark = match["mark"]
        if kind == "values":
            if nodes < 1:
                raise _DamagedError("property outside a node", begin)
            if inside:
                line.add(match["name"], match["values"])
        elif kind != "mark" or mark == b";":
            if nodes < 0:
                raise _DamagedError("node after variations", begin)
            nodes = 1
            if inside and kind == "plain":
                line.moves += match[kind].translate(None, b" \t\r\n\f\v;[]")
            elif inside and kind == "noted":
                line.moves += b"".join(_NOTED.findall(match[kind])).replace(b"[", b"")
        elif nodes == 0:
            raise _DamagedError("variation without moves", begin)
        elif mark == b"(":
            if depth and _ROOT.match(text, place):
                raise _DamagedError("cut short: another game starts in it", begin)
            depth, nodes = depth + 1, 0
        else:
            depth, nodes, inside = depth - 1, -1, False
            if depth == 0:
                return line, place


@dataclass(slots=True)
class _MainLine:
    moves: bytearray = field(default_factory=bytearray)  # colour and two letters per move
    setup: list[tuple[bytes, bytes]] = field(default_factory=list)
    info: dict[bytes, bytes] = field(default_factory=dict)
    fault: str = ""

    def add(self, name: bytes, values: bytes) -> None:
        if not name.isupper():
            name = name.translate(None, _LOWER)
        if name in (b"B", b"W"):
            value = _first(values)
            if len(value) != 2 and value:
                self.fault = f"move {len(self.moves) // 3 + 1}: {_shown(value)} is not a point"
            self.moves += name + (value or b"tt")[:2].ljust(2)
        elif name in _SETUP:
            if self.moves:
                self.fault = f"stones set up after move {len(self.moves) // 3}"
            self.setup.append((name, values))
        elif name in _INFO and name not in self.info:
            self.info[name] = _first(values)

    def game(self) -> GoGame:
        """Return the game, or raise a ValueError with the reason why it is not read."""
        text = {name.decode(): _text(value) for name, value in self.info.items()}

        def known(name: str) -> str | None:
            value = text.get(name, "")
            return None if value in ("", "?") else value

        if self.fault:
            raise ValueError(self.fault)
        if text.get("GM", "1") not in ("1", ""):
            raise ValueError(f"not Go: game type {_shown(self.info[b'GM'])}")
        size = _size(text.get("SZ", ""))
        stones = self._stones(size)
        black, white = (
            tuple(sorted(point for point, colour in stones.items() if colour == wanted))
            for wanted in (b"AB", b"AW")
        )
        rows = np.frombuffer(bytes(self.moves), np.uint8).reshape(-1, 3)
        return GoGame(
            moves=points_of(rows[:, 1:].tobytes(), size),
            colours=(rows[:, 0] == ord("W")).astype(np.uint8),
            size=size,
            komi=komi_of(text.get("KM", "")),
            rules=known("RU"),
            handicap=handicap_of(text.get("HA", "")),
            black_stones=black,
            white_stones=white,
            result=result_of(text.get("RE", "")),
            black=known("PB"),
            white=known("PW"),
            black_rank=known("BR"),
            white_rank=known("WR"),
            date=date_of(text.get("DT", "")),
            event=known("EV"),
            source=known("SO"),
            ai=any(_PROGRAMS.search(text.get(name, "")) for name in ("PB", "PW")),
        )

    def _stones(self, size: int) -> dict[int, bytes]:
        stones: dict[int, bytes] = {}
        named = 0
        for name, values in self.setup:
            for match in _FIRST.finditer(values):
                for point in _rectangle(_text(match[0][1:-1]), size):
                    stones[point] = name
                    named += 1
                if named > _MOST_STONES:
                    raise ValueError(f"more than {_MOST_STONES} setup stones")
        return stones


def _first(values: bytes) -> bytes:
    match = _FIRST.match(values)
    assert match is not None
    return match[0][1:-1]


def _size(text: str) -> int:
    if not text:
        return 19
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:20]!r} is not a board size")
    width, height = int(match[1]), int(match[2] or match[1])
    if width != height or width not in SIZES:
        raise ValueError(f"{width}×{height} board; only square boards of 2 to 19 lines are read")
    return width


def _rectangle(text: str, size: int) -> Iterable[int]:
    """Return the points of ``dd`` or of the rectangle ``aa:cc``."""
    match = _POINTS.fullmatch(text)
    if match is None:
        raise ValueError(f"setup: {text[:20]!r} is not a point")
    corners = (match[1], match[2], match[3] or match[1], match[4] or match[2])
    left, top, right, bottom = (ord(letter) - ord("a") for letter in corners)
    if not (left <= right < size and top <= bottom < size):
        raise ValueError(f"setup: {text[:20]!r} is not on a {size}×{size} board")
    return (y * size + x for y in range(top, bottom + 1) for x in range(left, right + 1))


def _text(value: bytes) -> str:
    """Return a value unescaped and in one line."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = value.decode("latin-1")
    if "\\" in text:
        text = re.sub(r"\\(.)", r"\1", ESCAPED_BREAK.sub("", text), flags=re.DOTALL)
    return SPACE.sub(" ", text).strip()


def _shown(raw: bytes) -> str:
    return repr(raw[:20].decode("utf-8", "replace"))
