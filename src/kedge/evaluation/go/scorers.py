"""Who won? Players of Go pass before a board can be counted by rule: a neutral judge settles it.

A judge finds the dead stones and counts territory, as in Japan and in the paper's matches.
"""

import contextlib
import queue
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from kedge import _core
from kedge.agents.go.gtp_program import GtpProgram
from kedge.agents.program import LateError
from kedge.errors import InputError
from kedge.games.go import EMPTY, GoState, areas
from kedge.specs import suggest

JUDGES = ("gnugo", "katago:PROGRAM,NETWORK", "playouts")
PLAYOUTS = 200  #: More do not find the winner more often.
_TRIES = 2  # so that a program which ended is started again
_STARTUP = 600.0  # seconds: KataGo tunes itself when it first meets a machine
_PATIENCE = 3  # games in a row in which a judge may fail
# What it does not start without; 200 visits score the end of a game.
_KATAGO = """\
rules = japanese
logAllGTPCommunication = false
logSearchInfo = false
maxVisits = 200
numSearchThreads = 2
"""
# By the name that a user gave, and by judge. Tasks of a match have few games each.
_lost: defaultdict[str, Counter[str]] = defaultdict(Counter)
_SCORE = re.compile(r"(?:([BW])\+(\d+(?:\.\d+)?)|0)(?:\s|$)")


class Judge(Protocol):
    """Who scores a game that is over."""

    name: str

    def score(self, state: GoState) -> float:
        """Black's points less White's and komi; an `InputError` where it fails to tell."""
        ...

    def close(self) -> None: ...


class PlayoutJudge:
    """Our own, by random games from the last position."""

    name = "playouts"

    def score(self, state: GoState) -> float:
        return state.score(dead_stones(state), "territory")

    def close(self) -> None:
        """It holds nothing."""


class ProgramJudge:
    """A program that is told the game, and asked for `final_score`.

    It starts when it is first needed, with `config` as a file, and again after it has ended.
    """

    def __init__(
        self, name: str, command: Sequence[str], *, rules: str = "", config: str = ""
    ) -> None:
        self.name = name
        self._command, self._rules, self._config = command, rules, config
        self._program: GtpProgram | None = None
        self._held = contextlib.ExitStack()

    def score(self, state: GoState) -> float:
        if self._program is None or not self._program.is_running:
            self.close()
            self._program = self._start()
        for command in (self._rules, *_told(state)):
            if command:
                self._program.send(command)
        answer = self._program.send("final_score")
        found = _SCORE.match(answer)
        if found is None:
            raise InputError(f"{self.name}: final_score: {answer[:60]!r} is not a score")
        return float(found[2] or 0.0) * (-1.0 if found[1] == "W" else 1.0)

    def close(self) -> None:
        self._held.close()
        self._program = None

    def _start(self) -> GtpProgram:
        command = list(self._command)
        if self._config:
            config = Path(self._held.enter_context(tempfile.TemporaryDirectory()), "gtp.cfg")
            config.write_text(self._config)
            command += ["-config", str(config)]
        return self._held.enter_context(GtpProgram(command, startup=_STARTUP))


@dataclass(frozen=True)
class Verdict:
    """What a judge found."""

    score: float
    """Black's points less White's and komi."""
    judge: str
    failures: tuple[str, ...] = ()
    """What went wrong before."""
    unasked: tuple[str, ...] = ()
    """The judges before it that are given up."""


class Court:
    """Judges in their order: one that fails twice leaves the game to the next, at last to ours.

    Who has failed in three games in a row is given up; courts may count those together in `lost`.
    """

    def __init__(self, *judges: Judge, lost: Counter[str] | None = None) -> None:
        self._judges = (*judges, PlayoutJudge())
        self._lost = Counter() if lost is None else lost

    def judge(self, state: GoState) -> Verdict:
        failures: list[str] = []
        unasked: list[str] = []
        for judge in self._judges:
            if self._lost[judge.name] >= _PATIENCE:
                unasked.append(judge.name)
                continue
            score = _score(judge, state, failures)
            if score is not None:
                self._lost[judge.name] = 0
                return Verdict(score, judge.name, tuple(failures), tuple(unasked))
            self._lost[judge.name] += 1
        raise AssertionError("ours never fails")

    def __enter__(self) -> "Court":
        return self

    def __exit__(self, *_: Any) -> None:
        for judge in self._judges:
            judge.close()


def _score(judge: Judge, state: GoState, failures: list[str]) -> float | None:
    """None if the judge failed, and why is among `failures`."""
    for _ in range(_TRIES):
        try:
            return judge.score(state)
        except InputError as error:
            failures.append(str(error))
            if isinstance(error, LateError):
                break
    return None


def judge_games(judge: str, states: Sequence[GoState], at_once: int = 1) -> list[Verdict]:
    """What the judge of that name finds, with so many of it at work."""
    courts: queue.SimpleQueue[Court] = queue.SimpleQueue()

    def verdict(state: GoState) -> Verdict:
        court = courts.get()
        try:
            return court.judge(state)
        finally:
            courts.put(court)

    with contextlib.ExitStack() as stack:
        for _ in range(at_once):
            courts.put(stack.enter_context(Court(*_judges(judge), lost=_lost[judge])))
        pool = stack.enter_context(ThreadPoolExecutor(at_once))
        return list(pool.map(verdict, states))


def judge_name(text: str | None = None) -> str:
    """The judge that `text` names, paths in full; if None GNU Go where it is installed, or ours."""
    if text is None:
        return "gnugo" if _gnugo() else "playouts"
    if text.startswith("katago:"):
        paths = text.removeprefix("katago:").split(",")
        if len(paths) != 2:
            raise InputError(f"judge {text}: write katago:PROGRAM,NETWORK")
        # Workers may stand in another folder.
        return "katago:" + ",".join(str(Path(path).resolve()) for path in paths)
    if text not in JUDGES:
        raise InputError(f"unknown judge {text!r}; {suggest(text, list(JUDGES))}")
    return text


def judge_files(judge: str) -> list[str]:
    """The files that the user named with it."""
    return judge.removeprefix("katago:").split(",") if judge.startswith("katago:") else []


def check_judge(judge: str) -> None:
    """An `InputError` if it is not installed on this machine."""
    if judge == "gnugo" and not _gnugo():
        raise InputError(
            "judge gnugo: GNU Go is not installed here; --judge playouts needs nothing"
        )


def dead_stones(state: GoState, playouts: int = PLAYOUTS, seed: int = 0) -> list[int]:
    """The chains that random games from here leave to the opponent more often than not."""
    owners = _core.go_ownership(state.board, playouts, seed, threads=1)
    colours = state.colours()
    return [
        stone
        for chain in areas(colours, state.size)
        if (colour := colours[chain[0]]) != EMPTY
        and sum(owners[stone] for stone in chain) * (1 - 2 * colour) < 0.0
        for stone in chain
    ]


def _judges(judge: str) -> list[Judge]:
    if judge == "playouts":
        return []
    if judge == "gnugo":
        # Its level is for playing; where nothing is left to play, 1 finds as many winners as 10.
        options = ["--mode", "gtp", "--japanese-rules", "--level", "1"]
        return [ProgramJudge(judge, [_gnugo() or "gnugo", *options])]
    program, network = judge_files(judge)
    return [
        ProgramJudge(
            "katago",
            [program, "gtp", "-model", network],
            rules="kata-set-rules japanese",
            config=_KATAGO,
        )
    ]


def _gnugo() -> str | None:
    # Debian keeps games where not every PATH leads.
    return shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")


def _told(state: GoState) -> Iterator[str]:
    """The commands that lead to a state."""
    first, moves = state.clone(), []
    while first.history:
        action = first.history[-1]
        first.undo_action()
        moves.append((first.board.player(), action))
    if state.is_terminal():
        moves = moves[1:]  # after a second pass KataGo scores what stands, dead stones too
    yield f"boardsize {state.size}"
    yield "clear_board"
    yield f"komi {state.komi:g}"
    for point, colour in enumerate(first.colours()):
        if colour != EMPTY:
            yield f"play {'bw'[colour]} {state.gtp(point)}"
    for player, action in reversed(moves):
        yield f"play {'bw'[player]} {state.gtp(action)}"


__all__ = [
    "JUDGES",
    "Court",
    "PlayoutJudge",
    "ProgramJudge",
    "Verdict",
    "check_judge",
    "dead_stones",
    "judge_files",
    "judge_games",
    "judge_name",
]
