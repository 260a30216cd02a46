"""Tables at which games are played: agents think in threads, everyone who watches is told.

All but thinking happens on the event loop's thread, so that nothing here needs a lock.
"""

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

import numpy as np

from kedge.agents.dial import dial
from kedge.errors import InputError
from kedge.interfaces.web.page_game import EVERYTHING, Decision, PageGame, Stop, Thought, Turn
from kedge.interfaces.web.players import Players
from kedge.interfaces.web.reviewing import Review
from kedge.interfaces.web.session import Session
from kedge.interfaces.web.store import SessionStore
from kedge.interfaces.web.words import NewSession, SeatIn

_LIVE = 256  # tables in memory, those at which somebody sits or thinks aside
_THINKERS = 64  # threads; those of chess and Go only wait for a search that they share
_WATCHED = 0.7  # seconds between the turns of a game that is only watched
_BACKLOG = 32  # messages that a reader may be behind

log = logging.getLogger("kedge.web")
Message = dict[str, Any]


class UnknownSessionError(InputError):
    """No game has this id: it never had, or it has expired."""


class Table:
    """A game, who watches it, and what is being thought at it."""

    def __init__(self, session: Session, hall: "Tables") -> None:
        self.session = session
        self.trouble: str | None = None
        self.readers: dict[asyncio.Queue[Message | None], int | None] = {}
        self._hall = hall
        self._task: asyncio.Task[None] | None = None
        self.thinking: list[int] = []
        self._asked: object = None
        self._stop = Stop()
        self._advising: asyncio.Task[None] | None = None
        self._advice_stop = Stop()
        self._advised: set[asyncio.Queue[Message | None]] = set()
        self._review: Review | None = None

    @property
    def busy(self) -> bool:
        return bool(self.readers) or self._task is not None

    def subscribe(self, eyes: int | None) -> "asyncio.Queue[Message | None]":
        """Messages for someone who watches from a seat, the game as it stands first."""
        queue: asyncio.Queue[Message | None] = asyncio.Queue(_BACKLOG)
        self.readers[queue] = eyes
        queue.put_nowait({"type": "session", "session": self.view(eyes)})
        if self._review is not None and self._review.is_of(self.session):
            queue.put_nowait(self._review.message())
        self.go_on()
        return queue

    def unsubscribe(self, queue: "asyncio.Queue[Message | None]") -> None:
        self.readers.pop(queue, None)
        self.advise(queue, on=False)
        if not self.readers and self._review is not None:
            self._review.stop()

    def advise(self, queue: "asyncio.Queue[Message | None]", *, on: bool) -> None:
        """Tell this reader what the agent of a person's own seat makes of the decision."""
        (self._advised.add if on else self._advised.discard)(queue)
        if not self._advised:
            self._advice_stop.stop()
        elif on:
            self._start_advice()

    def review(self) -> Review:
        """Of the game as it stands; it begins where there is none."""
        session = self.session
        if not session.game.reviews:
            raise InputError(f"games of {session.game.title} are not reviewed")
        if not session.turns:
            raise InputError("no move was made: there is nothing to review")
        if self._review is None or self._review.failed or not self._review.is_of(session):
            if self._review is not None:
                self._review.stop()
            self._review = Review(session, self._publish_review)
            self._review.begin(self._hall.reviewing)
        return self._review

    def reviewed(self) -> Review:
        """The review that was begun of the game as it stands."""
        if self._review is None or not self._review.is_of(self.session):
            raise InputError("the game as it stands is not reviewed; POST begins a review")
        return self._review

    def changed(self) -> None:
        """After anything: keep it, tell everyone, and let agents go on."""
        if self._question(self.thinking) != self._asked:
            self._stop.stop()
        self._advice_stop.stop()
        self.trouble = None
        self._hall.store.save(self.session.id, self.session.to_document())
        self.go_on()
        self.publish()

    def publish(self) -> None:
        for queue, eyes in self.readers.items():
            _put(queue, {"type": "session", "session": self.view(eyes)})

    def go_on(self) -> None:
        """Have agents decide, if it is for them to."""
        session = self.session
        if session.flagged() is not None:
            session.flag()
        if self._task is None and (session.awaits_referee() or self._agents()):
            self._task = asyncio.create_task(self._play())
        self._start_advice()

    def view(self, eyes: int | None) -> dict[str, Any]:
        """The game as it is shown to who sits at `eyes`, or to who decides."""
        session = self.session
        game, over = session.game, session.outcome is not None
        eyes = self._seen_by(eyes)
        thought = self._shown([session.thought] if session.thought else [], eyes)
        setup = session.setup.model_dump()
        if not over:
            setup = {key: setup[key] for key in setup if key not in game.secret}
        return {
            "id": session.id,
            "game": game.name,
            "revision": session.revision,
            "setup": setup,
            "seats": [
                seat_view(game, name, seat) | {"decided": number in session.pending}
                for number, (name, seat) in enumerate(
                    zip(session.seat_names(), session.seats, strict=True)
                )
            ],
            "deciding": session.deciding(),
            "thinking": self.thinking,
            "eyes": None if eyes == EVERYTHING else eyes,
            "turns": [{"seats": seats, "name": name} for seats, name in session.names],
            "document": None if game.secret and not over else session.turns,
            "position": game.position(session.state, eyes),
            "outcome": session.outcome,
            "thought": thought[0] if thought else None,
            "thoughts": self._shown(session.thoughts, eyes),
            "clock": None
            if session.clock is None
            else {"left": session.clock.now(), "running": session.clock.running},
            "trouble": self.trouble,
        }

    async def position_at(self, turn: int, eyes: int | None) -> dict[str, Any]:
        """An earlier position, as it is shown to who sits at `eyes`."""
        state = await asyncio.to_thread(self.session.state_at, turn)
        return {"turn": turn, "position": self.session.game.position(state, self._seen_by(eyes))}

    def close(self) -> None:
        self._stop.stop()
        self._advice_stop.stop()
        if self._review is not None:
            self._review.stop()
        for queue in list(self.readers):
            _put(queue, None)

    def _seen_by(self, told: int | None) -> int | None:
        """Whose eyes someone has who says to sit at a seat, or does not say."""
        session = self.session
        people = [seat for seat, one in enumerate(session.seats) if one.human]
        if session.game.secret:  # nobody sees by saying so what an agent sees
            if session.outcome is not None or not people:
                return EVERYTHING
            return told if told in people else people[0] if len(people) == 1 else None
        if told is not None and told < len(session.seats):
            return told
        deciding = [seat for seat in session.deciding() if seat in people]
        return next(iter(deciding or people), None)

    def _shown(self, thoughts: list[Thought], eyes: int | None) -> list[dict[str, Any]]:
        """Those that may be known from a seat."""
        shows = self.session.game.shows_thoughts
        return [asdict(thought) for thought in thoughts if shows(thought.seat, eyes)]

    def _tell(
        self, kind: str, thought: Thought, queues: Iterable["asyncio.Queue[Message | None]"]
    ) -> None:
        """Tell those of a thought who may know it."""
        message = {"type": kind, "thought": asdict(thought)}
        for queue in queues:
            if self.session.game.shows_thoughts(thought.seat, self._seen_by(self.readers[queue])):
                _put(queue, message)

    def _agents(self) -> list[int]:
        """The seats at which an agent has to decide now; a game of agents wants to be watched."""
        session = self.session
        found = [seat for seat in session.deciding() if not session.seats[seat].human]
        people = any(seat.human for seat in session.seats)
        return found if people or self.readers else []

    def _question(self, seats: list[int]) -> object:
        """What agents at some seats are asked: other people's decisions do not change it."""
        session = self.session
        agents = [session.seats[seat] for seat in seats]
        return len(session.turns), session.outcome, [one.model_dump_json() for one in agents]

    async def _play(self) -> None:
        session = self.session
        try:
            while True:
                await self._hear_referee()
                if not (seats := self._agents()):
                    break
                if not any(seat.human for seat in session.seats) and session.turns:
                    await asyncio.sleep(_WATCHED)
                await self._decide(seats)
        except InputError as error:
            self.trouble = str(error)
        except Exception:
            log.exception("an agent failed")
            self.trouble = "the agent failed; undo a turn, or set its dial, and it tries again"
        finally:
            self._task = None
            self.thinking = []
            self.publish()
            self._start_advice()

    async def _hear_referee(self) -> None:
        """Have the turn taken that is nobody's, if it is time for it."""
        session = self.session
        while session.awaits_referee():
            before = session.revision
            turn = await self._hall.hear_referee(session)
            if session.revision == before:
                session.hear_referee(turn)
                self._hall.store.save(session.id, session.to_document())
                self.publish()

    async def _decide(self, seats: list[int]) -> None:
        session = self.session
        self.thinking, self._asked, self._stop = seats, self._question(seats), Stop()
        self.publish()
        found = await self._hall.think(session, seats, self._publish_thought, self._stop)
        if self._question(seats) != self._asked:
            return  # undone, resigned or turned meanwhile: it thinks about what there is now
        for seat, decision in found.items():
            session.decide(seat, decision.move, decision.thought)
        self.thinking = []
        self._hall.store.save(session.id, session.to_document())
        self.publish()

    def _publish_thought(self, thought: Thought) -> None:
        if thought.turn == len(self.session.turns):
            self._tell("thought", thought, self.readers)

    def _publish_review(self, review: Review) -> None:
        if review is self._review:
            for queue in self.readers:
                _put(queue, review.message())

    def _start_advice(self) -> None:
        people = [seat for seat in self.session.deciding() if self.session.seats[seat].human]
        if self._advised and people and self._advising is None:
            self._advising = asyncio.create_task(self._advise(people[0]))

    async def _advise(self, seat: int) -> None:
        session = self.session
        before, self._advice_stop = session.revision, Stop()

        def tell(thought: Thought) -> None:
            if session.revision == before:
                self._tell("advice", thought, self._advised)

        try:
            found = await self._hall.think(session, [seat], tell, self._advice_stop)
            for decision in found.values():
                if decision.thought is not None:
                    tell(decision.thought)
        except InputError as error:
            for queue in self._advised:
                _put(queue, {"type": "trouble", "detail": str(error)})
        except Exception:
            log.exception("an adviser failed")
        finally:
            self._advising = None
        if session.revision != before:
            self._start_advice()


class Tables:
    """All games of a server."""

    def __init__(
        self, games: Mapping[str, PageGame], store: SessionStore, seed: int | None = None
    ) -> None:
        self.games, self.store = games, store
        self.players = Players()
        self._rng = np.random.default_rng(seed)
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._threads = ThreadPoolExecutor(_THINKERS, "think")
        self.reviewing = asyncio.Semaphore(1)
        """A review keeps the machine busy by itself: one at a time."""

    def game(self, name: str) -> PageGame:
        try:
            return self.games[name]
        except KeyError:
            known = ", ".join(self.games)
            raise InputError(f"game {name}: not one of {known}") from None

    def open(self, told: NewSession) -> Table:
        """A table for a new game."""
        for seat in told.seats or []:
            seat_spec(told.game, seat)  # a bad setting is told of before anyone plays
        session = Session.begin(
            self.game(told.game), told.setup, told.seats, list(told.turns), self._rng
        )
        table = self._seat(session)
        table.changed()
        return table

    def at(self, id: str) -> Table:
        """The table of a game that was begun, maybe by a server before this one."""
        table = self._tables.get(id)
        if table is None:
            document = self.store.load(id)
            if document is None or document["game"] not in self.games:
                raise UnknownSessionError("no such game here; it may have expired")
            table = self._seat(Session.from_document(self.games[document["game"]], document))
            table.go_on()
        self._tables.move_to_end(id)
        return table

    def remove(self, id: str) -> None:
        table = self.at(id)
        table.close()
        del self._tables[id]
        self.store.remove(id)

    async def think(
        self,
        session: Session,
        seats: list[int],
        watch: Callable[[Thought], None],
        stop: Stop,
    ) -> dict[int, Decision]:
        """What the agents of some seats decide; `watch` is called on the event loop."""
        specs = {seat: seat_spec(session.game.name, session.seats[seat]) for seat in seats}
        return await self.ask(session, specs, watch, stop)

    async def ask(
        self,
        session: Session,
        specs: Mapping[int, str],
        watch: Callable[[Thought], None],
        stop: Stop,
    ) -> dict[int, Decision]:
        """What these agents would decide at some seats."""
        loop, game = asyncio.get_running_loop(), session.game
        state, turn, rng = session.state.clone(), len(session.turns), self._rng.spawn(1)[0]

        def watched(thought: Thought) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(watch, thought)

        def think() -> dict[int, Decision]:
            agents = {seat: (spec, self.players.get(spec)) for seat, spec in specs.items()}
            return game.think(state, agents, turn, rng, watched, stop)

        return await loop.run_in_executor(self._threads, think)

    async def hear_referee(self, session: Session) -> Turn:
        """The turn that none of the seats takes."""
        loop, state = asyncio.get_running_loop(), session.state.clone()
        return await loop.run_in_executor(self._threads, session.game.referee, state)

    def close(self) -> None:
        for table in self._tables.values():
            table.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.store.close()

    def _seat(self, session: Session) -> Table:
        table = self._tables[session.id] = Table(session, self)
        for id in list(self._tables):
            if len(self._tables) <= _LIVE:
                break
            if id != session.id and not self._tables[id].busy:
                del self._tables[id]
        return table


def seat_spec(game: str, seat: SeatIn) -> str:
    """The agent that plays at a seat."""
    return dial(game, seat.dial, **seat.settings).spec


def seat_view(game: PageGame, name: str, seat: SeatIn) -> dict[str, Any]:
    """Who sits there, with what was measured at that setting of the dial."""
    set_to = dial(game.name, seat.dial, **seat.settings)
    return {
        "name": name,
        "human": seat.human,
        "dial": seat.dial,
        "settings": seat.settings,
        "agent": None if seat.human else set_to.spec,
        "numbers": dict(set_to.settings),
        "likeness": [asdict(one) for one in set_to.likeness],
        "strength": [asdict(one) for one in set_to.strength],
    }


def _put(queue: "asyncio.Queue[Message | None]", message: Message | None) -> None:
    """A reader that is too far behind misses the oldest; the next message tells all anyway."""
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(message)
