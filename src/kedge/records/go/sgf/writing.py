"""Write games as SGF."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kedge.errors import InputError
from kedge.records import streams
from kedge.records.go.games import GoGame
from kedge.records.go.sgf.spaces import SPACE
from kedge.words import counted

_GLYPHS = {"": "", "!": "TE[1]", "?": "BM[1]", "??": "BM[2]"}


@dataclass(frozen=True)
class MoveNote:
    """The notes on one move."""

    comment: str = ""
    labels: Mapping[int, str] = field(default_factory=dict)  #: letters or numbers on points
    marks: Sequence[int] = ()  #: points with a triangle
    glyph: str = ""  #: "!" for a good move, "?" for a bad one, "??" for a very bad one
    line: Sequence[int] = ()  #: a variation, played instead of the move


def write_sgf(game: GoGame, notes: Sequence[MoveNote] = (), *, annotator: str | None = None) -> str:
    """Return the game as SGF (declared as UTF-8); `notes` belong to its first moves.

    >>> import numpy as np
    >>> print(write_sgf(GoGame(np.int16([2, 6]), size=3, komi=0.5, black="Ann")), end="")
    (;FF[4]GM[1]CA[UTF-8]AP[kedge]SZ[3]KM[0.5]PB[Ann]
    ;B[ca];W[ac])
    """
    if len(notes) > len(game):
        raise InputError(f"{counted(len(notes), 'note')} for {counted(len(game), 'move')}")
    nodes, variations = [], []
    for ply, move in enumerate(game.moves.tolist()):
        node, note = _nodes(game, ply, [move]), notes[ply] if ply < len(notes) else None
        if (
            note is not None and note.line
        ):  # the game goes on in one bracket, the variation in the next
            node = f"({node}"
            variations.append(f")\n({_nodes(game, ply, note.line)})")
        nodes.append(node + ("" if note is None else _note(note, game.size)))
    rows = ("".join(nodes[start : start + 10]) for start in range(0, len(nodes), 10))
    root = "".join(_root(game, annotator))
    return f"(;{root}\n" + "\n".join(rows) + "".join(reversed(variations)) + ")\n"


def write_sgf_file(games: Iterable[GoGame], path: str | Path) -> None:
    """Write games into one file, compressed by the suffix of `path`."""
    with streams.create(path) as file:
        for game in games:
            file.write(write_sgf(game).encode())


def _nodes(game: GoGame, ply: int, line: Iterable[int]) -> str:
    """Return alternating moves as SGF, the first at `ply`."""
    return "".join(
        f";{'BW'[(game.mover(ply) + i) % 2]}[{_point(move, game.size)}]"
        for i, move in enumerate(line)
    )


def _root(game: GoGame, annotator: str | None) -> Iterator[str]:
    yield f"FF[4]GM[1]CA[UTF-8]AP[kedge]SZ[{game.size}]"
    if game.komi is not None:
        yield f"KM[{game.komi:g}]"
    if game.handicap:
        yield f"HA[{game.handicap}]"
    for name, stones in (("AB", game.black_stones), ("AW", game.white_stones)):
        if stones:
            yield name + "".join(f"[{_point(point, game.size)}]" for point in stones)
    if game.first_player and len(game):
        yield f"PL[{'BW'[game.mover(0)]}]"
    if game.result != "?":
        yield f"RE[{game.result}]"
    for name, value in (
        ("RU", game.rules),
        ("PB", game.black),
        ("BR", game.black_rank),
        ("PW", game.white),
        ("WR", game.white_rank),
        ("DT", game.date),
        ("EV", game.event),
        ("SO", game.source),
        ("AN", annotator),
    ):
        if value is not None:
            yield f"{name}[{_escaped(SPACE.sub(' ', value))}]"


def _note(note: MoveNote, size: int) -> str:
    labels = "".join(
        f"[{_point(point, size)}:{_escaped(SPACE.sub(' ', label))}]"
        for point, label in note.labels.items()
    )
    marks = "".join(f"[{_point(point, size)}]" for point in note.marks)
    return (
        _GLYPHS[note.glyph]
        + (f"C[{_escaped(note.comment)}]" if note.comment else "")
        + (f"LB{labels}" if labels else "")
        + (f"TR{marks}" if marks else "")
    )


def _point(point: int, size: int) -> str:
    if point == size * size:
        return ""
    return chr(ord("a") + point % size) + chr(ord("a") + point // size)


def _escaped(text: str) -> str:
    text = text.encode("utf-8", "replace").decode()
    return text.replace("\\", "\\\\").replace("]", "\\]")
