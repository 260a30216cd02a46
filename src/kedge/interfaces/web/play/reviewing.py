"""The review of a game: made in a thread while somebody listens, then kept at its table."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from kedge.errors import InputError
from kedge.evaluation.board.game_analysis import GameReport
from kedge.evaluation.decision_reports import DecisionsReport
from kedge.experiments.jsonable import plain, strict
from kedge.interfaces.reviews.decisions import annotated_record
from kedge.interfaces.web.play.session import Session
from kedge.models.chess.conditioning import KNOTS

log = logging.getLogger("kedge.web")


class _StoppedError(Exception):
    """Nobody listens any more."""


class Review:
    """How human each decision in a game was, and what it cost: as far as that is known."""

    def __init__(self, session: Session, publish: "Callable[[Review], None]") -> None:
        self._game, self._document = session.game, session.played()
        self._publish = publish
        self._done = 0
        self._stopped = False
        self._report: dict[str, Any] | None = None
        self._text = ""
        self._trouble: str | None = None
        self._task: asyncio.Task[None] | None = None

    def begin(self, turn: asyncio.Semaphore) -> None:
        """Once it is its turn."""
        self._task = asyncio.create_task(self._make(turn))

    def stop(self) -> None:
        """Unless it is done: who asks again has it begin again."""
        self._stopped = self._report is None

    @property
    def finished(self) -> bool:
        return self._report is not None or self.failed

    @property
    def failed(self) -> bool:
        return self._trouble is not None

    def is_of(self, session: Session) -> bool:
        """Whether it is one of the game as it stands."""
        return tuple(session.turns) == self._document.turns and not self._stopped

    def view(self) -> dict[str, Any]:
        return {
            "done": self._done,
            "of": len(self._document.turns),
            "turns": None if self._report is None else self._document.turns,
            "report": self._report,
            "trouble": self._trouble,
        }

    def message(self) -> dict[str, Any]:
        return {"review": self.view()}

    def record(self) -> str:
        """The game with what there is to say beside each move."""
        if self._report is None:
            raise InputError("the review is not done yet")
        return self._text

    async def _make(self, turn: asyncio.Semaphore) -> None:
        loop = asyncio.get_running_loop()

        def told(done: int) -> None:
            self._done = done
            self._publish(self)

        def tell(done: int) -> None:
            if self._stopped:
                raise _StoppedError
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(told, done)

        def judge() -> tuple[dict[str, Any], str]:
            tell(0)
            report = self._game.review(self._document, tell)
            return _shown(report), annotated_record(report)

        try:
            async with turn:
                self._report, self._text = await asyncio.to_thread(judge)
        except _StoppedError:
            return
        except InputError as error:
            self._trouble = str(error)
        except Exception:
            log.exception("a review failed")
            self._trouble = "the review failed"
        self._publish(self)


def _shown(report: GameReport | DecisionsReport) -> dict[str, Any]:
    """With how likely each move is for people of each rating, where that is known."""
    found = report.to_json()
    if isinstance(report, GameReport) and report.likelihoods is not None:
        found |= {"knots": KNOTS, "likely": np.exp(report.likelihoods).round(5)}
    shown: dict[str, Any] = strict(plain(found))
    return shown
