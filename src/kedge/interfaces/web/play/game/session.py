"""A game in progress: seats, turns, clock and result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kedge.errors import InputError
from kedge.interfaces.web.pages.page_game import (
    OUT_OF_TIME,
    REFEREE,
    RESIGNS,
    Heading,
    Outcome,
    PageGame,
    PlayedGame,
    Rating,
    Turn,
)
from kedge.interfaces.web.pages.thoughts import Action, Move, Thought
from kedge.interfaces.web.play.game.clock import Clock
from kedge.interfaces.web.play.game.seats import Seat, seated
from kedge.interfaces.web.schemas import MOST_TURNS, SeatIn

_THOUGHTS = 32  # kept
UNFINISHED = Outcome(result="the record ends here")


@dataclass(frozen=True)
class PlayedTurn:
    """A turn, and how it is written."""

    seats: list[int]
    actions: Mapping[int, Action]
    written: Turn
    """The turn as records hold it."""
    name: str
    """The turn as players say it."""


@dataclass
class Session:
    """One game."""

    id: str
    game: PageGame
    setup: Any
    seats: list[Seat]
    state: Any
    """The position. A turn replaces it, so that agents may look at it meanwhile."""
    turns: list[PlayedTurn] = field(default_factory=list)
    pending: dict[int, Action] = field(default_factory=dict)
    """Actions by seat, while other seats still decide."""
    thoughts: list[Thought] = field(default_factory=list)
    """Analyses behind the agents' last decisions."""
    pending_thoughts: dict[int, Thought] = field(default_factory=dict)
    """Analyses behind the pending moves, hidden from those who still decide."""
    declared_outcome: Outcome | None = None
    """The result by resignation or on time, which the rules do not know."""
    clock: Clock | None = None
    heading: Heading = field(default_factory=Heading)
    revision: int = 0
    agents_think: bool = False
    """Whether the agents to move think about it."""
    trouble: str | None = None
    """The reason why an agent failed, or why the game is not saved."""
    due: list[int] = field(init=False)
    """The seats to move by the rules, even if they have decided or someone resigned."""
    outcome_by_rules: Outcome | None = field(init=False)
    """The result by the rules."""

    def __post_init__(self) -> None:
        self._ask_rules()

    @property
    def outcome(self) -> Outcome | None:
        return self.declared_outcome or self.outcome_by_rules

    @property
    def is_recorded(self) -> bool:
        """Whether it is a finished game from a file, to look through and not to play on."""
        return bool(self.heading.names)

    def deciding(self) -> list[int]:
        """The seats that still have to move."""
        if self.outcome is not None:
            return []
        return [seat for seat in self.due if seat not in self.pending]

    def agents_deciding(self) -> list[int]:
        """The seats that still have to move and where agents sit."""
        return [seat for seat in self.deciding() if not self.seats[seat].human]

    def awaits_referee(self) -> bool:
        """Whether the referee is to move."""
        return self.outcome is None and not self.due

    def hear_referee(self, action: Action) -> None:
        """Take the referee's turn."""
        self._play({REFEREE: action})
        self.revision += 1

    def move(self, seat: int, move: Move, turn: int) -> None:
        """Play a person's move; `turn`, the number of turns so far, guards against late clicks."""
        self._check_person(seat)
        if turn != len(self.turns):
            raise InputError("the position has changed; look again")
        if self.outcome is not None:
            raise InputError("the game is over")
        if seat not in self.deciding():
            raise InputError("this seat is not to move")
        self.decide(seat, self.game.parse(self.state, seat, move))

    def decide(self, seat: int, action: Action, thought: Thought | None = None) -> None:
        """Note a seat's action and its analysis; take the turn once all seats have decided."""
        if self.flag():
            return
        if len(self.turns) >= MOST_TURNS:
            raise InputError(f"a game has at most {MOST_TURNS} turns here")
        decided = self.pending | {seat: action}
        if thought is not None:
            self.pending_thoughts[seat] = thought
        if self.deciding() == [seat]:
            self._play(decided)
            self._reveal()
        else:
            self.pending = decided
        self.revision += 1

    def sit(self, seat: int, who: SeatIn) -> None:
        """Change who sits at `seat`, and drop a pending move of that seat."""
        if not 0 <= seat < len(self.seats):
            raise InputError(f"seat {seat}: the game has {len(self.seats)} seats")
        sitting = seated(self.game, who)
        if self.game.secret and who.human != self.seats[seat].human:
            raise InputError("seats are fixed in this game: a new player would see hidden cards")
        self._admit(who)
        self.seats[seat] = sitting
        self.pending.pop(seat, None)
        self.pending_thoughts.pop(seat, None)
        self.revision += 1

    def undo(self, seat: int | None = None) -> None:
        """Undo the last move of `seat`, or of any person, and everything after it.

        If a resignation came last, undo only that.
        """
        if seat is not None:
            self._check_person(seat)
        if self.is_recorded:
            raise InputError("this game is from a file; play from one of its positions instead")
        if not self.game.undoes:
            raise InputError(
                f"moves in {self.game.title} cannot be undone: they reveal hidden information"
            )
        on_time = self.clock is not None and min(self.clock.left) <= 0.0
        if self.declared_outcome is not None and not on_time:
            self.declared_outcome = None  # undoing a resignation keeps the last move
            self.run_clock()
            self.revision += 1
            return
        if not self.turns:
            raise InputError("there is nothing to undo")
        kept = len(self.turns) - self._turns_since(seat)
        self.state = self.state_at(kept)
        self._ask_rules()
        self.turns, self.pending = self.turns[:kept], {}
        self.declared_outcome, self.thoughts, self.pending_thoughts = None, [], {}
        if self.clock is not None:
            self.clock.back_to(kept)
            self.run_clock()
        self.revision += 1

    def resign(self, seat: int) -> None:
        """End the game with a person's resignation."""
        self._check_person(seat)
        if self.outcome is not None:
            raise InputError("the game is over")
        self._end(self.game.resigned(self.state, seat, RESIGNS))

    def flag(self) -> bool:
        """End the game if the mover has no time left; return whether that is so."""
        seat = None if self.clock is None else self.clock.running
        if self.clock is None or seat is None or self.outcome is not None:
            return False
        if self.clock.now()[seat] > 0.0:
            return False
        self._end(self.game.resigned(self.state, seat, OUT_OF_TIME))
        return True

    def state_at(self, turn: int) -> Any:
        """The state after so many turns."""
        if turn > len(self.turns):
            raise InputError(f"turn {turn}: the last turn so far is {len(self.turns)}")
        state = self.game.begin(self.setup)
        for earlier in self.turns[:turn]:
            self.game.apply(state, earlier.actions)
        return state

    def new_thoughts(self) -> list[Thought]:
        """The analyses since a person last moved; without people, those of the last turn."""
        has_people = any(seat.human for seat in self.seats)
        since = len(self.turns) - (self._turns_since(None) if has_people else 1)
        return [thought for thought in self.thoughts if thought.turn >= since]

    def written_turns(self) -> list[Turn]:
        """The turns as records hold them."""
        return [turn.written for turn in self.turns]

    def record(self) -> str:
        """Return the text of the game's record file."""
        if self.game.secret and self.outcome is None:
            raise InputError("the record is secret until the game is over")
        return self.game.write(self.played())

    def played(self) -> PlayedGame:
        """Return the game so far, for records and reviews."""
        outcome = None if self.declared_outcome == UNFINISHED else self.outcome
        names: list[str | None] = [seat.player for seat in self.seats]
        ratings: list[Rating | None] = [seat.rating for seat in self.seats]
        return PlayedGame(
            self.setup,
            self.state,
            tuple(self.written_turns()),
            self.heading.names or names,
            self.heading.ratings or ratings,
            outcome,
            self.heading.date,
            self.heading.event,
        )

    def check_reviewable(self) -> None:
        """Raise `InputError` if the game so far cannot be reviewed."""
        if not self.game.reviews:
            raise InputError(f"{self.game.title} has no reviews")
        if (why := self.game.no_agents(self.setup)) is not None:
            raise InputError(why)
        if not self.turns:
            raise InputError("there is no move to review yet")
        if self.game.secret and self.outcome is None:
            raise InputError("a review would reveal secrets; finish the game first")

    def fill_seats(self, seats: list[Seat] | None) -> None:
        """Fill the seats; by default a person takes the first and agents the others."""
        count = len(self.game.seats(self.setup))
        if seats is None:
            seats = [seated(self.game, SeatIn(human=seat == 0)) for seat in range(count)]
        if len(seats) != count:
            raise InputError(f"seats: expected {count}, got {len(seats)}")
        for seat in seats:
            self._admit(seat.who)
        self.seats = seats

    def take(self, turn: Turn) -> None:
        """Apply a recorded turn, or raise `InputError` if it is illegal."""
        try:
            if not self.due and self.outcome_by_rules is not None:
                raise InputError("the game is over")
            moves = self.game.split(self.state, turn).items()
            actions = {seat: self.game.parse(self.state, seat, move) for seat, move in moves}
            self._apply(actions, turn)
        except InputError as error:
            raise InputError(f"turn {len(self.turns) + 1}: {error}") from None

    def run_clock(self) -> None:
        """Start the mover's clock, and stop the other."""
        if self.clock is not None:
            deciding = self.deciding() if self.game.timed(self.state) else []
            self.clock.hand_to(deciding[0] if deciding else None)
            self.clock.past[len(self.turns)] = self.clock.left

    def _play(self, actions: Mapping[int, Action]) -> None:
        """Play a turn: write it for the record, apply it, and hand the clock on."""
        written = self.game.join(
            {seat: self.game.text(self.state, action) for seat, action in actions.items()}
        )
        self._apply(actions, written)
        self.run_clock()

    def _apply(self, actions: Mapping[int, Action], written: Turn) -> None:
        """Go on to the position after `actions`."""
        before, after = self.state, self.state.clone()
        self.game.apply(after, actions)
        name = self.game.turn_name(before, actions, after)
        self.turns.append(PlayedTurn(self.due, actions, written, name))
        self.state, self.pending = after, {}
        self._ask_rules()

    def _ask_rules(self) -> None:
        """Ask who is to move in a new state, and whether the game is over."""
        self.due = self.game.deciding(self.state)
        self.outcome_by_rules = self.game.outcome(self.state)

    def _check_person(self, seat: int) -> None:
        """Raise `InputError` unless a person sits there."""
        if seat >= len(self.seats) or not self.seats[seat].human:
            raise InputError("no person sits at this seat")

    def _turns_since(self, seat: int | None) -> int:
        """The number of turns since `seat`, or any person, last moved, including that turn."""
        people = {number for number, other in enumerate(self.seats) if other.human}
        mine = people if seat is None else {seat}
        for back, turn in enumerate(reversed(self.turns), 1):
            if mine.intersection(turn.seats):
                return back
        return len(self.turns)

    def _admit(self, who: SeatIn) -> None:
        why = None if who.human else self.game.no_agents(self.setup)
        if why is not None:
            raise InputError(why)

    def _end(self, outcome: Outcome) -> None:
        self.declared_outcome = outcome
        if self.clock is not None:
            self.clock.hand_to(None, moved=False)
        self.revision += 1

    def _reveal(self) -> None:
        """Publish the analyses behind the last turn."""
        self.thoughts = [*self.thoughts, *self.pending_thoughts.values()][-_THOUGHTS:]
        self.pending_thoughts = {}
