"""Messages of the API: requests, which are checked, and answers."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from kedge.interfaces.web.pages.thoughts import Thought
from kedge.interfaces.web.problems import ID, NAME, OURS, SETTING

API_VERSION = 1
MOST_TURNS = 2000


@dataclass(frozen=True)
class _Expected:
    """The words for what a union expects; pydantic would name the first of its types."""

    words: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.custom_error_schema(
            handler(source), custom_error_type=OURS, custom_error_message=self.words
        )


Name = Annotated[str, Field(max_length=40, pattern=NAME)]
SessionId = Annotated[str, Field(pattern=ID)]
# Strict where pydantic would take true for 1, and "1" too.
Dial = Annotated[
    float,
    Field(strict=True, ge=0.0, le=1.0, description="0 is like a person, 1 as strong as it gets"),
]
Seat = Annotated[int, Field(strict=True, ge=0, le=7)]
Text = Annotated[str, Field(max_length=4000)]
Whole = Annotated[int, Field(strict=True)]
#: A move is text; orders and allocations are lists of it.
MoveIn = Annotated[
    Text | Annotated[list[Annotated[str, Field(max_length=60)] | Whole], Field(max_length=64)],
    _Expected("must be text, or a list of texts and whole numbers"),
]
TurnIn = Annotated[
    MoveIn | Annotated[dict[str, MoveIn], Field(max_length=8)],
    _Expected("must be text, a list, or an object with a move per player"),
]
Value = Annotated[
    Whole
    | Annotated[float, Field(strict=True, allow_inf_nan=False)]
    | Annotated[str, Field(max_length=20)],
    _Expected("must be a number or a word"),
]
Setting = Annotated[str, Field(max_length=20, pattern=SETTING)]
Settings = Annotated[
    dict[Setting, Value],
    Field(
        max_length=12,
        description="Numbers behind the dial, such as elo and c_puct, and words such as a rank",
        json_schema_extra={"additionalProperties": False},  # pydantic refuses, and does not say so
    ),
]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _with_example(**example: Any) -> ConfigDict:
    """Forbid extra fields, and give the API's page an example that runs."""
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example]})


class SeatIn(Strict):
    """The player at a seat: a person, or an agent at a setting of the dial."""

    model_config = _with_example(human=False, dial=0.8, settings={"elo": 1800})

    human: Annotated[bool, Field(strict=True)] = False
    dial: Dial = 0.5
    settings: Settings = {}
    agent: Annotated[
        str | None,
        Field(max_length=300, description="Spec of the agent, in games without a dial"),
    ] = None


class NewSession(Strict):
    """A new game, or one to continue after `turns`."""

    model_config = _with_example(game="chess", seats=[{"human": True}, {"dial": 0.2}])

    game: Name
    setup: Annotated[dict[str, Any], Field(max_length=20)] = {}
    seats: Annotated[list[SeatIn], Field(max_length=8)] | None = None
    turns: Annotated[list[TurnIn], Field(max_length=MOST_TURNS)] = []


class ReadRecord(Strict):
    """The text of a record file, such as PGN; `seats` continue it if it is not over."""

    model_config = _with_example(game="chess", record="1. e4 e5 2. Nf3 *")

    game: Name
    record: Annotated[str, Field(max_length=400_000)]
    seats: Annotated[list[SeatIn], Field(max_length=8)] | None = None


class MoveAt(Strict):
    """A person's move; `turn`, the number of turns so far, guards against late clicks."""

    model_config = _with_example(seat=0, move="e4", turn=0)

    seat: Seat
    move: MoveIn
    turn: Annotated[int, Field(strict=True, ge=0, le=MOST_TURNS)]


class AtSeat(Strict):
    model_config = _with_example(seat=0)

    seat: Seat


class Advise(Strict):
    """A websocket message from the client: whether to send advice."""

    advise: Annotated[bool, Field(strict=True)]


class PolicyQuestion(Strict):
    """A position, and the agent to ask: by its spec, or by the dial."""

    model_config = _with_example(game="chess", turns=["e4", "e5"], dial=0.5)

    game: Name
    setup: Annotated[dict[str, Any], Field(max_length=20)] = {}
    turns: Annotated[list[TurnIn], Field(max_length=MOST_TURNS)] = []
    seat: Seat | None = None
    agent: Annotated[str, Field(max_length=300)] | None = None
    dial: Dial | None = None
    settings: Settings = {}
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**32)] = 0


class Answer(BaseModel):
    """An answer. The API's description shows the docstring of each field."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class SeatOut(Answer):
    name: str
    human: bool
    player: str | None
    """The player's name, in a finished game from a file."""
    rating: float | str | None
    """The player's rating or rank there; else that of the people whom an agent imitates."""
    dial: float | None
    """Null in games without a dial."""
    settings: dict[str, float | str]
    agent: str | None
    """The agent's spec; null for a person."""
    numbers: dict[str, Any]
    """The values of all settings of the dial."""
    likeness: list[dict[str, Any]]
    """Measurements of an agent at that setting, or at the nearest; empty for a person."""
    strength: list[dict[str, Any]]
    decided: bool


class TurnOut(Answer):
    seats: list[int]
    name: str
    """The turn as players say it."""
    move: Any
    """The turn as `POST /sessions` takes it; null while it would reveal a secret."""


class ClockOut(Answer):
    left: list[float]
    running: int | None


class SessionOut(Answer):
    """A game."""

    id: str
    game: str
    revision: int
    setup: dict[str, Any]
    seats: list[SeatOut]
    recorded: bool
    """Whether it is a finished game from a file, to look through and not to play on."""
    deciding: list[int]
    due: list[int]
    """The seats to move by the rules, even if they have decided or someone resigned."""
    reviews: bool
    """Whether the game can be reviewed."""
    thinking: list[int]
    eyes: int | None
    turns: list[TurnOut]
    secret: bool
    """Whether moves and record would reveal a secret."""
    position: dict[str, Any]
    outcome: str | None
    thoughts: list[Thought]
    """The analyses behind all agents' decisions since a person last moved."""
    clock: ClockOut | None
    trouble: str | None
    """The reason why an agent failed."""


class PositionOut(Answer):
    """An earlier position of a game."""

    turn: int
    """Number of turns taken before it."""
    due: list[int]
    """The seats to move."""
    position: dict[str, Any]


class ReviewOut(Answer):
    """A review, in progress or done."""

    done: int
    """Number of reviewed turns."""
    of: int
    turns: list[Any] | None
    """The reviewed turns, as `POST /sessions` takes them."""
    report: dict[str, Any] | None
    """The output of `kedge analyze --json`. In chess, `likely` adds the probability of each move
    at each rating of `knots`."""
    trouble: str | None
    """The reason why the review failed."""


class Problem(Answer):
    detail: str
