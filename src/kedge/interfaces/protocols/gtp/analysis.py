"""Analyses over the Go Text Protocol, as Leela Zero and KataGo say them.

Every line has all the moves that are shown: ``info move D4 visits 12 …``, best first. The prior is
how many people play the move.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from kedge.agents.agent import Analysis
from kedge.agents.board.engine import Thought
from kedge.errors import InputError
from kedge.games.go import GoState
from kedge.interfaces.protocols.gtp.parsing import (
    is_colour,
    parse_colour,
    parse_number,
    parse_truth,
    parse_whole,
)

Style = Literal["lz", "kata"]

# KataGo's words for what kedge does not know: nobody owns a point, visits have no line.
_IGNORED = ("ownership", "ownershipStdev", "movesOwnership", "movesOwnershipStdev", "pvVisits",
            "pvEdgeVisits", "noResultValue")  # fmt: skip


@dataclass(frozen=True)
class Request:
    """What a program wants to be told, and how often."""

    player: int | None = None
    interval: float = 0.5
    """Seconds."""
    least: int = 10
    """Moves to show, tried or not."""
    most: int = sys.maxsize
    root: bool = False

    @classmethod
    def parse(cls, words: list[str]) -> "Request":
        """``[colour] [centiseconds] [key value …]``, as both programs take it."""
        rest = iter(words)
        player, interval, least, most, root = None, cls.interval, cls.least, cls.most, False
        for place, word in enumerate(rest):
            if place < 2 and is_colour(word):
                player = parse_colour(word)
            elif place < 2 and word.isascii() and word[:1].isdigit():
                interval = parse_number(word) / 100.0
            else:
                value = next(rest, "")
                match word:
                    case "interval":
                        interval = parse_number(value) / 100.0
                    case "minmoves":
                        least = parse_whole(value)
                    case "maxmoves":
                        most = parse_whole(value)
                    case "rootInfo":
                        root = parse_truth(value)
                    case _ if word in _IGNORED and value:
                        pass
                    case _:
                        raise InputError(f"syntax error: no {word[:40]!r} in analyses")
        return cls(player, max(0.0, interval), least, max(1, most), root)


def watcher(request: Request, tell: Callable[[Analysis], None]) -> Callable[[Thought], None]:
    """Takes every thought; `tell` is given one at every interval."""
    due = request.interval

    def watch(thought: Thought) -> None:
        nonlocal due
        if thought.seconds >= due:
            due = thought.seconds + request.interval
            tell(thought.analysis())

    return watch


def line(state: GoState, found: Analysis, request: Request, style: Style) -> str:
    """What is known by now; values are those of the player to move."""
    rows = found.rows()
    tried = sum(1 for row in rows if row.visits)
    parts = []
    for rank, row in enumerate(rows[: min(request.most, max(request.least, tried))]):
        value = float(found.value) if row.q is None else row.q
        parts.append(
            f"info move {state.gtp(row.action)} visits {row.visits or 0} "
            f"winrate {_share((1.0 + value) / 2.0, style)} "
            f"prior {_share(row.anchor, style)} "
            f"order {rank} pv {' '.join(map(state.gtp, row.line or [row.action]))}"
        )
    if request.root:
        won = _share((1.0 + float(found.value)) / 2.0, style)
        visits = sum(row.visits or 0 for row in rows)
        parts.append(f"rootInfo visits {visits + 1} winrate {won}")
    return " ".join(parts)


def _share(share: float, style: Style) -> str:
    """Leela Zero counts ten-thousandths."""
    share = min(1.0, max(0.0, share))
    return str(round(10_000 * share)) if style == "lz" else f"{share:.6f}"
