"""Scorers of finished games of Go.

Players pass before a board can be counted by rule, so a neutral scorer finds the dead stones and
counts territory, as in Japan and in the paper's matches.
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

SCORERS = ("gnugo", "katago:PROGRAM,NETWORK", "playouts")
PLAYOUTS = 200  #: More do not find the winner more often.
_TRIES = 2  # per game; a program that ended is started again
_STARTUP = 600.0  # seconds: KataGo tunes itself on its first run on a machine
_PATIENCE = 3  # games in a row in which a scorer may fail
# KataGo does not start without these settings; 200 visits score the end of a game.
_KATAGO = """\
rules = japanese
logAllGTPCommunication = false
logSearchInfo = false
maxVisits = 200
numSearchThreads = 2
"""
# Failures in a row by the name that a user gave, then by scorer. They outlive a call of
# `score_games`, because the tasks of a match have few games each.
_lost: defaultdict[str, Counter[str]] = defaultdict(Counter)
_SCORE = re.compile(r"(?:([BW])\+(\d+(?:\.\d+)?)|0)(?:\s|$)")


class Scorer(Protocol):
    """Scores finished games."""

    name: str

    def score(self, state: GoState) -> float:
        """Return Black's points less White's and komi; raise an `InputError` on failure."""
        ...

    def close(self) -> None: ...


class PlayoutScorer:
    """Kedge's own scorer: random games from the last position."""

    name = "playouts"

    def score(self, state: GoState) -> float:
        return state.score(dead_stones(state), "territory")

    def close(self) -> None:
        """Do nothing: it holds no resources."""


class ProgramScorer:
    """A GTP program that receives the game and answers `final_score`.

    It starts on first use, with `config` as a file, and again after it has ended.
    """

    def __init__(
        self, name: str, command: Sequence[str], *, rules: str = "", config: str = ""
    ) -> None:
        self.name = name
        self._command, self._rules, self._config = command, rules, config
        self._program: GtpProgram | None = None
        self._resources = contextlib.ExitStack()

    def score(self, state: GoState) -> float:
        if self._program is None or not self._program.is_running:
            self.close()
            self._program = self._start()
        for command in (self._rules, *_setup_commands(state)):
            if command:
                self._program.send(command)
        answer = self._program.send("final_score")
        match = _SCORE.match(answer)
        if match is None:
            raise InputError(f"{self.name}: final_score: {answer[:60]!r} is not a score")
        return float(match[2] or 0.0) * (-1.0 if match[1] == "W" else 1.0)

    def close(self) -> None:
        self._resources.close()
        self._program = None

    def _start(self) -> GtpProgram:
        command = list(self._command)
        if self._config:
            config = Path(self._resources.enter_context(tempfile.TemporaryDirectory()), "gtp.cfg")
            config.write_text(self._config)
            command += ["-config", str(config)]
        return self._resources.enter_context(GtpProgram(command, startup=_STARTUP))


@dataclass(frozen=True)
class ScoredGame:
    """The score of a finished game."""

    score: float
    """Black's points less White's and komi."""
    scorer: str
    failures: tuple[str, ...] = ()
    """Errors of the scorers before this one."""
    unasked: tuple[str, ...] = ()
    """Scorers that were given up earlier, and so were not asked."""


class ScorerChain:
    """Scorers in their order: after two failures the next one scores the game, at last playouts.

    A scorer that fails in three games in a row is given up. Chains that share `lost` count these
    games together.
    """

    def __init__(self, *scorers: Scorer, lost: Counter[str] | None = None) -> None:
        self._scorers = (*scorers, PlayoutScorer())
        self._lost = Counter() if lost is None else lost

    def score(self, state: GoState) -> ScoredGame:
        failures: list[str] = []
        unasked: list[str] = []
        for scorer in self._scorers:
            if self._lost[scorer.name] >= _PATIENCE:
                unasked.append(scorer.name)
                continue
            score = _try_score(scorer, state, failures)
            if score is not None:
                self._lost[scorer.name] = 0
                return ScoredGame(score, scorer.name, tuple(failures), tuple(unasked))
            self._lost[scorer.name] += 1
        raise AssertionError("playouts never fail")

    def __enter__(self) -> "ScorerChain":
        return self

    def __exit__(self, *_: Any) -> None:
        for scorer in self._scorers:
            scorer.close()


def _try_score(scorer: Scorer, state: GoState, failures: list[str]) -> float | None:
    """Return the score, or None if the scorer failed; add the reasons to `failures`."""
    for _ in range(_TRIES):
        try:
            return scorer.score(state)
        except InputError as error:
            failures.append(str(error))
            if isinstance(error, LateError):
                break
    return None


def score_games(scorer: str, states: Sequence[GoState], at_once: int = 1) -> list[ScoredGame]:
    """Score finished games with the scorer of this name, `at_once` games in parallel."""
    chains: queue.SimpleQueue[ScorerChain] = queue.SimpleQueue()

    def score(state: GoState) -> ScoredGame:
        chain = chains.get()
        try:
            return chain.score(state)
        finally:
            chains.put(chain)

    with contextlib.ExitStack() as stack:
        for _ in range(at_once):
            chains.put(stack.enter_context(ScorerChain(*_scorers(scorer), lost=_lost[scorer])))
        pool = stack.enter_context(ThreadPoolExecutor(at_once))
        return list(pool.map(score, states))


def scorer_name(text: str | None = None) -> str:
    """Return the scorer that `text` names, with absolute paths.

    None means GNU Go if it is installed, else playouts.
    """
    if text is None:
        return "gnugo" if _gnugo() else "playouts"
    if text.startswith("katago:"):
        paths = text.removeprefix("katago:").split(",")
        if len(paths) != 2:
            raise InputError(f"scorer {text}: write katago:PROGRAM,NETWORK")
        # Workers may run in another folder.
        return "katago:" + ",".join(str(Path(path).resolve()) for path in paths)
    if text not in SCORERS:
        raise InputError(f"unknown scorer {text!r}; {suggest(text, list(SCORERS))}")
    return text


def scorer_files(scorer: str) -> list[str]:
    """Return the files that the user named with the scorer."""
    return scorer.removeprefix("katago:").split(",") if scorer.startswith("katago:") else []


def check_scorer(scorer: str) -> None:
    """Raise an `InputError` if the scorer is not installed on this machine."""
    if scorer == "gnugo" and not _gnugo():
        raise InputError(
            "scorer gnugo: GNU Go is not installed here; --scorer playouts needs no program"
        )


def dead_stones(state: GoState, playouts: int = PLAYOUTS, seed: int = 0) -> list[int]:
    """Return the stones of chains that most random games from here leave to the opponent."""
    owners = _core.go_ownership(state.board, playouts, seed, threads=1)
    colours = state.colours()
    return [
        stone
        for chain in areas(colours, state.size)
        if (colour := colours[chain[0]]) != EMPTY
        and sum(owners[stone] for stone in chain) * (1 - 2 * colour) < 0.0
        for stone in chain
    ]


def _scorers(name: str) -> list[Scorer]:
    if name == "playouts":
        return []
    if name == "gnugo":
        # Its level is for playing; where nothing is left to play, 1 finds as many winners as 10.
        options = ["--mode", "gtp", "--japanese-rules", "--level", "1"]
        return [ProgramScorer(name, [_gnugo() or "gnugo", *options])]
    program, network = scorer_files(name)
    return [
        ProgramScorer(
            "katago",
            [program, "gtp", "-model", network],
            rules="kata-set-rules japanese",
            config=_KATAGO,
        )
    ]


def _gnugo() -> str | None:
    # Debian installs games in a folder that not every PATH has.
    return shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")


def _setup_commands(state: GoState) -> Iterator[str]:
    """Yield the GTP commands that lead to a state."""
    first, moves = state.clone(), []
    while first.history:
        action = first.history[-1]
        first.undo_action()
        moves.append((first.board.player(), action))
    if state.is_terminal():
        moves = moves[1:]  # after a second pass KataGo counts all stones as alive
    yield f"boardsize {state.size}"
    yield "clear_board"
    yield f"komi {state.komi:g}"
    for point, colour in enumerate(first.colours()):
        if colour != EMPTY:
            yield f"play {'bw'[colour]} {state.gtp(point)}"
    for player, action in reversed(moves):
        yield f"play {'bw'[player]} {state.gtp(action)}"


__all__ = [
    "SCORERS",
    "PlayoutScorer",
    "ProgramScorer",
    "ScoredGame",
    "ScorerChain",
    "check_scorer",
    "dead_stones",
    "score_games",
    "scorer_files",
    "scorer_name",
]
