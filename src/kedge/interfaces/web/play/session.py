"""A game in progress: who sits where, what was played, and whose decision it is."""

import secrets
import time
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from pydantic import ValidationError

from kedge.agents.dial import dial
from kedge.errors import InputError
from kedge.interfaces.web.pages.page_game import (
    PERSON,
    Document,
    Heading,
    Move,
    PageGame,
    Rating,
    Record,
    Thought,
    Turn,
)
from kedge.interfaces.web.schemas import MOST_TURNS, SeatIn, first_wrong

_THOUGHTS = 32  # that are kept
_BY_SEAT = ("names", "ratings")  # of a heading
_UNFINISHED = "the record ends here"


@dataclass
class Clock:
    """Seconds left to each seat; the one that decides has its clock running."""

    left: list[float]
    increment: float
    running: int | None = None
    since: float = 0.0
    past: dict[str, list[float]] = field(default_factory=dict)
    """What was left after so many turns."""

    def now(self) -> list[float]:
        spent = time.time() - self.since if self.running is not None else 0.0
        return [
            max(0.0, left - spent) if seat == self.running else left
            for seat, left in enumerate(self.left)
        ]

    def hand_to(self, seat: int | None, *, moved: bool = True) -> None:
        """Stop the one that runs, and start that of `seat`."""
        left = self.now()
        if self.running is not None and moved:
            left[self.running] += self.increment
        self.left, self.running, self.since = left, seat, time.time()

    def back_to(self, turns: int) -> None:
        """Stand as after so many turns: who takes a move back gains no time by it."""
        self.left, self.running = self.past.get(str(turns), self.left), None


@dataclass
class Session:
    """One game. All that it knows goes into its document and comes back out of it."""

    id: str
    game: PageGame
    setup: Any
    seats: list[SeatIn]
    state: Any
    turns: list[Turn] = field(default_factory=list)
    names: list[tuple[list[int], str]] = field(default_factory=list)
    """Who took each turn, and what it is called."""
    pending: dict[int, Move] = field(default_factory=dict)
    """Decided, while others still decide."""
    thought: Thought | None = None
    thoughts: list[Thought] = field(default_factory=list)
    """Behind what agents have decided from the turn on in which a person last did."""
    unplayed: dict[int, Thought] = field(default_factory=dict)
    """Behind what is pending: who still decides is not to see it."""
    ended: str | None = None
    """By resignation or on time; the rules know nothing of it."""
    clock: Clock | None = None
    heading: Heading = field(default_factory=Heading)
    revision: int = 0

    @classmethod
    def begin(
        cls,
        game: PageGame,
        setup: dict[str, Any],
        seats: list[SeatIn] | None,
        turns: list[Turn],
        rng: np.random.Generator,
    ) -> "Session":
        """A new one after `turns`; an `InputError` says what of it is not legal."""
        told = game.dealt(checked(game, setup), rng)
        found = cls(secrets.token_urlsafe(16), game, told, [], game.begin(told))
        found._seat(seats)
        for turn in turns:
            found._take(turn)
        found.heading = Heading(date=time.strftime("%Y-%m-%d"))
        seconds = getattr(told, "clock", None)
        if seconds:
            found.clock = Clock([float(seconds)] * len(found.seats), float(told.increment))
            found._run_clock()
        return found

    @classmethod
    def open(
        cls,
        game: PageGame,
        record: Record,
        seats: list[SeatIn] | None,
        rng: np.random.Generator,
    ) -> "Session":
        """A game from a file: to look through if it is over or was played elsewhere, else for
        `seats` to go on with. Where no agent can play, people sit at all of them.
        """
        if len(record.turns) > MOST_TURNS:
            raise InputError(f"a game here has at most {MOST_TURNS} turns, not {len(record.turns)}")
        people = [SeatIn(human=True) for _ in game.seats(checked(game, record.setup))]
        found = cls.begin(game, record.setup, people, record.turns, rng)
        if game.outcome(found.state) is None:
            found.ended = record.outcome
        if found.outcome is None and _is_of_others(record.heading):
            found.ended = _UNFINISHED
        if found.outcome is not None:
            found.heading = record.heading
            return found
        found.heading = Heading(date=record.heading.date or found.heading.date)
        if game.no_agents(found.setup) is None:
            found._seat(seats)
        return found

    @classmethod
    def from_document(
        cls, game: PageGame, document: dict[str, Any], awake: float = 0.0
    ) -> "Session":
        """What `to_document` wrote; no clock has run before the time `awake`."""
        try:
            found = cls._read(game, document)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise InputError("this game was kept by another version of kedge") from None
        if found.clock is not None:
            found.clock.since = max(found.clock.since, awake)
        return found

    @classmethod
    def _read(cls, game: PageGame, document: dict[str, Any]) -> "Session":
        setup = game.setup.model_validate(document["setup"])
        seats = [SeatIn.model_validate(seat) for seat in document["seats"]]
        found = cls(document["id"], game, setup, seats, game.begin(setup))
        for turn in document["turns"]:
            found._take(turn)
        found.pending = {int(seat): move for seat, move in document["pending"].items()}
        found.ended = document["ended"]
        heading = document["heading"]
        found.heading = Heading(**heading | {key: tuple(heading[key]) for key in _BY_SEAT})
        found.revision = document["revision"]
        if document["clock"] is not None:
            found.clock = Clock(**document["clock"])
        return found

    def to_document(self) -> dict[str, Any]:
        clock = self.clock
        return {
            "id": self.id,
            "game": self.game.name,
            "setup": self.setup.model_dump(),
            "seats": [seat.model_dump() for seat in self.seats],
            "turns": self.turns,
            "pending": self.pending,
            "ended": self.ended,
            "heading": asdict(self.heading),
            "revision": self.revision,
            "clock": None if clock is None else vars(clock),
        }

    @property
    def outcome(self) -> str | None:
        return self.ended or self.game.outcome(self.state)

    @property
    def is_recorded(self) -> bool:
        """Whether it is a finished game of others, which is looked through and not played on."""
        return bool(self.heading.names)

    def deciding(self) -> list[int]:
        """The seats from which a decision is still missing."""
        if self.outcome is not None:
            return []
        return [seat for seat in self.game.deciding(self.state) if seat not in self.pending]

    def awaits_referee(self) -> bool:
        """Whether the game goes on, but with none of the seats."""
        return self.outcome is None and not self.game.deciding(self.state)

    def hear_referee(self, turn: Turn) -> None:
        self._take(turn)
        self._run_clock()
        self.revision += 1

    def seat_names(self) -> tuple[str, ...]:
        return self.game.seats(self.setup)

    def decide(self, seat: int, move: Move, thought: Thought | None = None) -> None:
        """What a seat does, and why; the turn is taken once nobody's decision is missing."""
        if seat not in self.deciding():
            raise InputError("it is not this seat's turn")
        if self.flagged() is not None:
            self.flag()
            return
        if len(self.turns) >= MOST_TURNS:
            raise InputError(f"a game here ends after {MOST_TURNS} turns")
        decided = self.pending | {seat: self.game.check(self.state, seat, move)}
        if thought is not None:
            self.unplayed[seat] = thought
        if self.deciding() == [seat]:
            self._take(self.game.join(self.state, decided))
            self.pending = {}
            self._run_clock()
            self._reveal()
        else:
            self.pending = decided
        self.revision += 1

    def sit(self, seat: int, who: SeatIn) -> None:
        """Who sits there from here on; what was decided there and not yet played is open again."""
        if self.game.secret and who.human != self.seats[seat].human:
            raise InputError("who sits where is settled: others would see what is hidden from them")
        self._admit(who)
        self.seats[seat] = who
        self.pending.pop(seat, None)
        self.unplayed.pop(seat, None)
        self.revision += 1

    def undo(self, turns: int) -> None:
        """Take turns back."""
        if self.is_recorded:
            raise InputError("this game was played by others: begin one from a position of it")
        if not self.game.undoes:
            raise InputError(f"nothing is taken back in {self.game.title}: it has been seen")
        if self.ended is not None and (self.clock is None or min(self.clock.left) > 0.0):
            self.ended = None  # who has resigned has not moved
            self._run_clock()
            self.revision += 1
            return
        if not self.turns:
            raise InputError("there is nothing to take back")
        kept = self.turns[: max(0, len(self.turns) - turns)]
        self.state = self.game.begin(self.setup)
        self.turns, self.names, self.pending = [], [], {}
        self.thought = self.ended = None
        self.thoughts, self.unplayed = [], {}
        for turn in kept:
            self._take(turn)
        if self.clock is not None:
            self.clock.back_to(len(kept))
            self._run_clock()
        self.revision += 1

    def undone_for(self, seat: int | None) -> int:
        """How many turns back `seat`, or any person, last decided."""
        people = {s for s, one in enumerate(self.seats) if one.human}
        mine = people if seat is None else {seat}
        for back, (seats, _) in enumerate(reversed(self.names), 1):
            if mine.intersection(seats):
                return back
        return len(self.names)

    def resign(self, seat: int) -> None:
        self.check_person(seat)
        if self.outcome is not None:
            raise InputError("the game is over")
        self._end(self.game.resigned(self.state, seat))

    def check_person(self, seat: int) -> None:
        """An `InputError` unless a person sits there."""
        if seat >= len(self.seats) or not self.seats[seat].human:
            raise InputError("no person sits there")

    def flagged(self) -> int | None:
        """The seat whose time has run out."""
        running = None if self.clock is None else self.clock.running
        if self.clock is None or running is None or self.outcome is not None:
            return None
        return running if self.clock.now()[running] <= 0.0 else None

    def flag(self) -> None:
        """End the game for who has no time left."""
        seat = self.flagged()
        if seat is not None:
            self._end(self.game.resigned(self.state, seat).replace("resigns", "runs out of time"))

    def state_at(self, turn: int) -> Any:
        """The state after so many turns."""
        if turn > len(self.turns):
            raise InputError(f"turn {turn}: the game has {len(self.turns)} so far")
        state = self.game.begin(self.setup)
        for one in self.turns[:turn]:
            self.game.take(state, one)
        return state

    def record(self) -> str:
        if self.game.secret and self.outcome is None:
            raise InputError("a record would tell what is secret until the game is over")
        return self.game.write(self.played())

    def played(self) -> Document:
        """The game as far as it goes into a record, in a copy that stays as it is."""
        outcome = None if self.ended == _UNFINISHED else self.outcome
        names: list[str | None] = [
            PERSON if seat.human else f"kedge, dial {seat.dial:g}" for seat in self.seats
        ]
        ratings: list[Rating | None] = [
            None if seat.human else rating_of(self.game.name, seat) for seat in self.seats
        ]
        return Document(
            self.setup,
            self.state.clone(),
            tuple(self.turns),
            self.heading.names or names,
            self.heading.ratings or ratings,
            outcome,
            self.heading.date,
            self.heading.event,
        )

    def _seat(self, seats: list[SeatIn] | None) -> None:
        """Who sits at the game; by default a person at the first seat and agents at the others."""
        count = len(self.seat_names())
        sitting = default_seats(count) if seats is None else seats
        if len(sitting) != count:
            raise InputError(f"{self.game.title} has {count} seats here, not {len(sitting)}")
        for seat in sitting:
            self._admit(seat)
        self.seats = sitting

    def _admit(self, who: SeatIn) -> None:
        why = None if who.human else self.game.no_agents(self.setup)
        if why is not None:
            raise InputError(why)

    def _end(self, outcome: str) -> None:
        self.ended = outcome
        if self.clock is not None:
            self.clock.hand_to(None, moved=False)
        self.revision += 1

    def _take(self, turn: Turn) -> None:
        seats = self.game.deciding(self.state)
        if not seats and self.game.outcome(self.state) is not None:
            raise InputError(f"turn {len(self.turns) + 1}: the game is over")
        try:
            name = self.game.take(self.state, turn)
        except InputError as error:
            raise InputError(f"turn {len(self.turns) + 1}: {error}") from None
        self.turns.append(turn)
        self.names.append((seats, name))

    def _reveal(self) -> None:
        """Tell what was thought of the turn that was taken."""
        people = [seat for seat, one in enumerate(self.seats) if one.human]
        if not people or set(people).intersection(self.names[-1][0]):
            self.thoughts = []
        found = list(self.unplayed.values())
        self.thoughts = [*self.thoughts, *found][-_THOUGHTS:]
        self.thought = found[-1] if found else self.thought
        self.unplayed = {}

    def _run_clock(self) -> None:
        if self.clock is not None:
            deciding = self.deciding() if self.game.timed(self.state) else []
            self.clock.hand_to(deciding[0] if deciding else None)
            self.clock.past[str(len(self.turns))] = self.clock.left


def _is_of_others(heading: Heading) -> bool:
    """Whether a record names players, and not those of a game that was saved here."""
    return any(
        name is not None and name != PERSON and not name.startswith("kedge")
        for name in heading.names
    )


def rating_of(game: str, seat: SeatIn) -> int | None:
    """Of the people that the agent at a seat plays like, where it is told one."""
    elo = dial(game, seat.dial, **seat.settings).settings.get("elo")
    return None if elo is None else round(elo)


def default_seats(count: int) -> list[SeatIn]:
    """A person at the first seat, agents at the others."""
    return [SeatIn(human=seat == 0) for seat in range(count)]


def checked(game: PageGame, setup: dict[str, Any]) -> Any:
    """The setup, if it is one of the game's."""
    try:
        return game.setup.model_validate(setup)
    except ValidationError as error:
        raise InputError(f"setup: {first_wrong(error.errors())}") from None
