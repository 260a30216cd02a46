"""What the API is told and tells, checked at its door."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from kedge.interfaces.web.pages.page_game import Thought

API_VERSION = 1
MOST_TURNS = 2000

Name = Annotated[str, Field(max_length=40, pattern=r"^[a-z][a-z0-9-]*$")]
SessionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{22}$")]
# Strict where pydantic would take true for 1, and "1" too.
Dial = Annotated[
    float, Field(strict=True, ge=0.0, le=1.0, description="0 like a person, 1 as strong as it gets")
]
Seat = Annotated[int, Field(strict=True, ge=0, le=7)]
Text = Annotated[str, Field(max_length=4000)]
Whole = Annotated[int, Field(strict=True)]
#: A move is text; orders and allocations are lists of it.
MoveIn = Text | Annotated[list[Annotated[str, Field(max_length=60)] | Whole], Field(max_length=64)]
TurnIn = MoveIn | Annotated[dict[str, MoveIn], Field(max_length=8)]
Number = Whole | Annotated[float, Field(strict=True, allow_inf_nan=False)]
Setting = Annotated[str, Field(max_length=20, pattern=r"^[a-z_]+$")]
Settings = Annotated[
    dict[Setting, Number],
    Field(
        max_length=12,
        description="Numbers behind the dial, such as elo and c_puct",
        json_schema_extra={"additionalProperties": False},  # pydantic refuses, and does not say so
    ),
]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _shown_by(**example: Any) -> ConfigDict:
    """With an example for the API's page, which runs as it stands."""
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example]})


class SeatIn(Strict):
    """Who sits somewhere: a person, or an agent at a setting of the dial."""

    model_config = _shown_by(human=False, dial=0.8, settings={"elo": 1800})

    human: Annotated[bool, Field(strict=True)] = False
    dial: Dial = 0.5
    settings: Settings = {}


class NewSession(Strict):
    """A game to begin, or to go on with from `turns`."""

    model_config = _shown_by(game="chess", seats=[{"human": True}, {"dial": 0.2}])

    game: Name
    setup: Annotated[dict[str, Any], Field(max_length=20)] = {}
    seats: Annotated[list[SeatIn], Field(max_length=8)] | None = None
    turns: Annotated[list[TurnIn], Field(max_length=MOST_TURNS)] = []


class ReadRecord(Strict):
    """A record, such as a PGN file's text; `seats` go on with it, if it is not over."""

    model_config = _shown_by(game="chess", record="1. e4 e5 2. Nf3 *")

    game: Name
    record: Annotated[str, Field(max_length=400_000)]
    seats: Annotated[list[SeatIn], Field(max_length=8)] | None = None


class MoveAt(Strict):
    """What a person at `seat` does; `turn` guards against a click on a position that is gone."""

    model_config = _shown_by(seat=0, move="e4", turn=0)

    seat: Seat
    move: MoveIn
    turn: Annotated[int, Field(strict=True, ge=0, le=MOST_TURNS)]


class AtSeat(Strict):
    model_config = _shown_by(seat=0)

    seat: Seat


class Advise(Strict):
    """What a reader sends through its websocket: whether to be told what to play."""

    advise: Annotated[bool, Field(strict=True)]


class PolicyQuestion(Strict):
    """A position, and who is asked about it: an agent by its spec, or the dial."""

    model_config = _shown_by(game="chess", turns=["e4", "e5"], dial=0.5)

    game: Name
    setup: Annotated[dict[str, Any], Field(max_length=20)] = {}
    turns: Annotated[list[TurnIn], Field(max_length=MOST_TURNS)] = []
    seat: Seat | None = None
    agent: Annotated[str, Field(max_length=300)] | None = None
    dial: Dial | None = None
    settings: Settings = {}
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**32)] = 0


class Told(BaseModel):
    """What the API tells; its description says what the words below each field say."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class SeatOut(Told):
    name: str
    human: bool
    player: str | None
    """Who played there, in a game from a file that is over."""
    rating: float | str | None
    dial: float
    settings: dict[str, float]
    agent: str | None
    """The spec it plays by; null for a person."""
    numbers: dict[str, Any]
    """All that is behind the dial, as it stands."""
    likeness: list[dict[str, Any]]
    """What was measured at that setting, or at the nearest."""
    strength: list[dict[str, Any]]
    decided: bool


class TurnOut(Told):
    seats: list[int]
    name: str


class ClockOut(Told):
    left: list[float]
    running: int | None


class SessionOut(Told):
    """A game as the page shows it."""

    id: str
    game: str
    revision: int
    setup: dict[str, Any]
    seats: list[SeatOut]
    recorded: bool
    """Whether it is a finished game from a file, which is looked through and not played on."""
    deciding: list[int]
    due: list[int]
    """The seats that the rules have decide here, whether or not the game is over or they did."""
    reviews: bool
    """Whether there is an agent to judge the moves by."""
    thinking: list[int]
    eyes: int | None
    turns: list[TurnOut]
    document: list[Any] | None
    """The turns as a new session would take them; null while they would tell a secret."""
    position: dict[str, Any]
    outcome: str | None
    thought: Thought | None
    """Behind the last decision of an agent."""
    thoughts: list[Thought]
    """Behind all that agents have decided from the turn on in which a person last did."""
    clock: ClockOut | None
    trouble: str | None
    """Why an agent could not decide."""


class PositionOut(Told):
    """An earlier position of a game, as the page shows it."""

    turn: int
    """How many turns were taken before it."""
    due: list[int]
    """The seats that had to decide."""
    position: dict[str, Any]


class ReviewOut(Told):
    """A review, under way or done."""

    done: int
    """Turns that are judged."""
    of: int
    turns: list[Any] | None
    """That the report is of, as a new session would take them."""
    report: dict[str, Any] | None
    """As `kedge analyze --json` has it; in chess with how likely moves are at each of `knots`."""
    trouble: str | None
    """Why there will be none."""


class Problem(Told):
    detail: str


def first_wrong(errors: Sequence[Mapping[str, Any]]) -> str:
    """The first of pydantic's errors in one line; what was sent is not sent back."""
    where = ".".join(str(part) for part in errors[0]["loc"])
    return f"{where[:200]}: {errors[0]['msg']}"
