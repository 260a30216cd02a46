"""Analyses over the Go Text Protocol, in the formats of Leela Zero and KataGo.

Every line has all moves, best first: ``info move D4 visits 12 …``. The prior is the share of people
who play the move.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from kedge.agents.agent import Analysis
from kedge.agents.board.engine import Progress
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

# Keys of KataGo for figures that kedge does not have: ownership, visits of lines.
_IGNORED = ("ownership", "ownershipStdev", "movesOwnership", "movesOwnershipStdev", "pvVisits",
            "pvEdgeVisits", "noResultValue")  # fmt: skip


@dataclass(frozen=True)
class Request:
    """A program's request for analyses."""

    player: int | None = None
    """Player to analyse for; None for the player to move."""
    interval: float = 0.5
    """Seconds between two lines."""
    least: int = 10
    """Least number of moves to show, searched or not."""
    most: int = sys.maxsize
    """Most moves to show."""
    root: bool = False
    """Whether to add the figures of the root."""

    @classmethod
    def parse(cls, words: list[str]) -> "Request":
        """Parse ``[colour] [centiseconds] [key value …]``, the syntax of both programs."""
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
                        raise InputError(f"syntax error: analyses have no option {word[:40]!r}")
        return cls(player, max(0.0, interval), least, max(1, most), root)


def watcher(request: Request, tell: Callable[[Analysis], None]) -> Callable[[Progress], None]:
    """Return a function of the progress that calls `tell` once per interval."""
    due = request.interval

    def watch(progress: Progress) -> None:
        nonlocal due
        if progress.seconds >= due:
            due = progress.seconds + request.interval
            tell(progress.analysis())

    return watch


def line(state: GoState, analysis: Analysis, request: Request, style: Style) -> str:
    """Return a line with the current analysis; values are for the player to move."""
    rows = analysis.rows()
    tried = sum(1 for row in rows if row.visits)
    parts = []
    for rank, row in enumerate(rows[: min(request.most, max(request.least, tried))]):
        value = float(analysis.value) if row.q is None else row.q
        parts.append(
            f"info move {state.gtp(row.action)} visits {row.visits or 0} "
            f"winrate {_share((1.0 + value) / 2.0, style)} "
            f"prior {_share(row.anchor, style)} "
            f"order {rank} pv {' '.join(map(state.gtp, row.line or [row.action]))}"
        )
    if request.root:
        winrate = _share((1.0 + float(analysis.value)) / 2.0, style)
        visits = sum(row.visits or 0 for row in rows)
        parts.append(f"rootInfo visits {visits + 1} winrate {winrate}")
    return " ".join(parts)


def _share(share: float, style: Style) -> str:
    """Format a share; Leela Zero counts in ten-thousandths."""
    share = min(1.0, max(0.0, share))
    return str(round(10_000 * share)) if style == "lz" else f"{share:.6f}"
