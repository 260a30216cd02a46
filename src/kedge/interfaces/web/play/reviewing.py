"""The review of a game: made in a thread while a reader listens, then kept at the table."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Any

from kedge.errors import InputError
from kedge.experiments.jsonable import plain, strict
from kedge.interfaces.reviews.decisions import annotated_record
from kedge.interfaces.web.play.session import Session

log = logging.getLogger("kedge.web")


class _StoppedError(Exception):
    """No reader listens any more."""


class ReviewJob:
    """A review in progress or done: how human each decision was, and what it cost."""

    def __init__(self, session: Session, publish: "Callable[[ReviewJob], None]") -> None:
        self._game, self._document = session.game, session.played()
        self._publish = publish
        self._done = 0
        self._stopped = False
        self._report: dict[str, Any] | None = None
        self._text = ""
        self._trouble: str | None = None
        self._task: asyncio.Task[None] | None = None

    def begin(self, turn: asyncio.Semaphore) -> None:
        """Begin once `turn` allows it."""
        self._task = asyncio.create_task(self._make(turn))

    def stop(self) -> None:
        """Stop, unless the review is done; a new request begins again."""
        self._stopped = self._report is None

    @property
    def finished(self) -> bool:
        """Whether it is done or failed."""
        return self._report is not None or self.failed

    @property
    def failed(self) -> bool:
        return self._trouble is not None

    def is_of(self, session: Session) -> bool:
        """Whether it reviews the game so far."""
        return tuple(session.turns) == self._document.turns and not self._stopped

    def view(self) -> dict[str, Any]:
        """The review as the API sends it."""
        return {
            "done": self._done,
            "of": len(self._document.turns),
            "turns": None if self._report is None else self._document.turns,
            "report": self._report,
            "trouble": self._trouble,
        }

    def message(self) -> dict[str, Any]:
        """The review as readers get it."""
        return {"review": self.view()}

    def record(self) -> str:
        """Return the game's record with a comment on each move."""
        if self._report is None:
            raise InputError("the review is not done yet")
        return self._text

    async def _make(self, turn: asyncio.Semaphore) -> None:
        loop = asyncio.get_running_loop()

        def note(done: int) -> None:
            self._done = done
            self._publish(self)

        def tell(done: int) -> None:
            if self._stopped:
                raise _StoppedError
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(note, done)

        def judge() -> tuple[dict[str, Any], str]:
            tell(0)
            report = self._game.review(self._document, tell)
            shown = report.to_json() | self._game.review_details(report)
            return strict(plain(shown)), annotated_record(report)

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
