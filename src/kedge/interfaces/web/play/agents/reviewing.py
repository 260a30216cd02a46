"""Reviews of a table's game: made in a thread while a reader listens, then kept."""

import asyncio
import contextlib
import logging
from typing import Any

from kedge.errors import InputError
from kedge.evaluation.review import review_of
from kedge.interfaces.web.play.game.readers import Reader
from kedge.interfaces.web.play.game.session import Session
from kedge.interfaces.web.schemas import ReviewOut
from kedge.jsonable import plain, strict

log = logging.getLogger("kedge.web")


class _StoppedError(Exception):
    """No reader listens any more."""


class ReviewJob:
    """A review in progress or done: how human each decision was, and what it cost."""

    def __init__(self, session: Session, readers: set[Reader]) -> None:
        self._game, self._played = session.game, session.played()
        self._readers = readers
        self._done = 0
        self._stopped = False
        self._report: dict[str, Any] | None = None
        self._text = ""
        self._trouble: str | None = None
        self._task: asyncio.Task[None] | None = None

    def begin(self, one_at_a_time: asyncio.Semaphore) -> None:
        """Begin once `one_at_a_time` allows it."""
        self._task = asyncio.create_task(self._make(one_at_a_time))

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
        return tuple(session.written_turns()) == self._played.turns and not self._stopped

    def view(self) -> ReviewOut:
        """The review as the API sends it."""
        return ReviewOut(
            done=self._done,
            of=len(self._played.turns),
            turns=None if self._report is None else list(self._played.turns),
            report=self._report,
            trouble=self._trouble,
        )

    def record(self) -> str:
        """Return the game's record with a comment on each move."""
        if self._report is None:
            raise InputError("the review is not done yet")
        return self._text

    async def _make(self, one_at_a_time: asyncio.Semaphore) -> None:
        loop = asyncio.get_running_loop()

        def note(done: int) -> None:
            self._done = done
            self._publish()

        def report_progress(done: int, stage: str = "") -> None:
            if self._stopped:
                raise _StoppedError
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(note, done)

        def make_review() -> tuple[dict[str, Any], str]:
            report_progress(0)
            report = self._game.review(self._played, report_progress)
            shown = report.to_json() | self._game.review_details(report)
            return strict(plain(shown)), review_of(self._game.name).annotated(report)

        try:
            async with one_at_a_time:
                self._report, self._text = await asyncio.to_thread(make_review)
        except _StoppedError:
            return
        except InputError as error:
            self._trouble = str(error)
        except Exception:
            log.exception("a review failed")
            self._trouble = "the review failed"
        self._publish()

    def _publish(self) -> None:
        """Send the review to all readers, unless it is no longer wanted."""
        if not self._stopped:
            for reader in self._readers:
                reader.queue("review", review=self.view())


class Reviews:
    """Reviews the game of a table when asked, one review at a time."""

    def __init__(
        self, session: Session, readers: set[Reader], one_at_a_time: asyncio.Semaphore
    ) -> None:
        self._session, self._readers, self._one_at_a_time = session, readers, one_at_a_time
        self._job: ReviewJob | None = None

    def begin(self) -> ReviewJob:
        """Return the review of the game so far; begin it if there is none."""
        self._session.check_reviewable()
        if self._job is None or self._job.failed or not self._job.is_of(self._session):
            self.stop()
            self._job = ReviewJob(self._session, self._readers)
            self._job.begin(self._one_at_a_time)
        return self._job

    def current(self) -> ReviewJob:
        """Return the review of the game so far, or raise `InputError` if there is none."""
        if self._job is None or not self._job.is_of(self._session):
            raise InputError("the game so far has no review; POST begins one")
        return self._job

    def show(self, reader: Reader) -> None:
        """Send the review of the game so far, if there is one, to a reader."""
        if self._job is not None and self._job.is_of(self._session):
            reader.queue("review", review=self._job.view())

    def stop(self) -> None:
        """Stop the review in progress, if any."""
        if self._job is not None:
            self._job.stop()

    def cancel(self) -> None:
        """Stop the review in progress, if any, and tell the readers."""
        if self._job is None or self._job.finished:
            return
        self._job.stop()
        self._job = None
        for reader in self._readers:
            reader.queue("review", review=None)
