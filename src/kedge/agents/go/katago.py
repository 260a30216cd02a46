"""KataGo's networks alone, through its analysis engine."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Self

import numpy as np

from kedge.agents.agent import Analysis
from kedge.agents.program import Program
from kedge.errors import InputError
from kedge.games.go import format_gtp
from kedge.records.go.games import GoGame
from kedge.records.go.positions import GoPosition

TIMEOUT = 3600.0  #: Seconds for an answer: on a new machine KataGo first tunes itself.
# One visit is the network without search. Boards are not turned at random: runs are repeatable.
_CONFIG = """\
maxVisits = 1
numAnalysisThreads = 16
numSearchThreadsPerAnalysisThread = 1
nnMaxBatchSize = 16
nnCacheSizePowerOfTwo = 14
nnMutexPoolSizePowerOfTwo = 10
nnRandomize = false
"""


class KataGo:
    """One of KataGo's networks without search; the program ends with the ``with`` block.

    It receives all moves of a game, since the network sees the last moves. The rules are Japanese:
    records of professionals seldom name them.
    """

    batch_size = 512  # in flight: the program makes its own batches

    def __init__(self, program: str, network: str, timeout: float = TIMEOUT) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".cfg", delete=False) as config:
            config.write(_CONFIG)
        self._config = Path(config.name)
        try:
            self._program = Program(
                [program, "analysis", "-config", config.name, "-model", network], timeout
            )
        except InputError:
            self._config.unlink()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self._program.close()
        self._config.unlink()

    def analyse_chunks(self, chunks: Iterable[Sequence[GoPosition]]) -> Iterator[Analysis]:
        """Yield one analysis per chunk; the positions of a game must follow each other."""
        for chunk in chunks:
            yield self._analyse(chunk)

    def _analyse(self, positions: Sequence[GoPosition]) -> Analysis:
        rows: dict[tuple[str, int], int] = {}
        for number, (_, run) in enumerate(groupby(positions, key=lambda each: id(each.game))):
            group = list(run)
            for position in group:
                rows[str(number), position.ply] = len(rows)
            query = _query(group[0].game, [position.ply for position in group])
            self._program.write(json.dumps({"id": str(number), **query}), "analysis")
        area = positions[0].game.size ** 2
        policy = np.full((len(positions), area + 1), np.nan)
        while rows:
            answer = self._answer()
            row = rows.pop((answer["id"], answer["turnNumber"]))
            policy[row] = np.maximum(answer["policy"], 0.0)  # -1 marks illegal moves
        return Analysis(
            anchor=policy,
            policy=policy,
            q=np.full_like(policy, np.nan),
            value=np.full(len(positions), np.nan),
            actions=np.broadcast_to(np.arange(area + 1), policy.shape),
        )

    def _answer(self) -> dict[str, Any]:
        """Return the next answer, to any of the queries."""
        for line in self._program.lines("analysis"):
            try:
                answer: dict[str, Any] = json.loads(line)
            except ValueError:
                raise InputError(f"{self._program.name}: not JSON: {line[:80]}") from None
            if "error" in answer:
                raise InputError(f"{self._program.name}: {answer['error']}")
            if "policy" in answer:  # else it is a warning
                return answer
        raise AssertionError("lines() raises at the end")


def _query(game: GoGame, plies: list[int]) -> dict[str, Any]:
    """Return a query of KataGo about the positions before some moves of a game."""

    def stone(colour: int, point: int) -> tuple[str, str]:
        return "BW"[colour], format_gtp(point, game.size)

    moves = game.moves[: max(plies)].tolist()
    return {
        "boardXSize": game.size,
        "boardYSize": game.size,
        "rules": "japanese",
        "komi": round(2.0 * game.state(0).komi) / 2.0,  # KataGo accepts only halves
        "initialStones": [
            *(stone(0, point) for point in game.black_stones),
            *(stone(1, point) for point in game.white_stones),
        ],
        "initialPlayer": "BW"[game.mover(0)],
        "moves": [stone(game.mover(ply), move) for ply, move in enumerate(moves)],
        "analyzeTurns": plies,
        "includePolicy": True,
    }
