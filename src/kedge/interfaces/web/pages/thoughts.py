"""Questions to agents on the page, and their answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from pydantic import ConfigDict, with_config

from kedge.agents.agent import Analysis, Row

SHOWN = 24  #: Moves in a thought.
#: The API's description shows the docstring of each field.
_DESCRIBED = ConfigDict(use_attribute_docstrings=True)

#: What one seat does, in the game's own notation: a text, or a list of orders.
Move: TypeAlias = Any
#: What one seat does, as the rules take it: a number, or packed orders.
Action: TypeAlias = Any


@with_config(_DESCRIBED)
@dataclass(frozen=True)
class ConsideredMove:
    """A move that an agent considered, as `kedge policy` prints it."""

    move: Move
    name: str
    """The move as players write it."""
    anchor: float
    policy: float
    q: float | None = None
    visits: int | None = None
    line: list[str] = field(default_factory=list)
    """The expected continuation as players write it, beginning with the move."""

    @classmethod
    def of(cls, row: Row, move: Move, name: str, line: Sequence[str] = ()) -> "ConsideredMove":
        """Return a row of an analysis with its move as the page and as players write it."""
        return cls(move, name, row.anchor, row.policy, row.q, row.visits, list(line))


@with_config(_DESCRIBED)
@dataclass(frozen=True)
class Thought:
    """An agent's analysis of a decision so far."""

    agent: str
    seat: int
    turn: int
    """Number of turns taken before the position."""
    value: float | None
    kl: float | None
    """KL(π‖τ) in nats: how far search moves away from people."""
    entropy: float
    """Entropy of the agent's policy, in nats."""
    anchor_entropy: float
    rows: list[ConsideredMove]
    """The likeliest moves, best first."""
    others: int
    """Number of moves that `rows` leaves out."""
    playouts: int | None
    done: bool
    more: dict[str, Any]
    """Details of this game alone, such as a player's beliefs about hidden cards."""


class StopFlag:
    """A flag that ends thinking early."""

    def __init__(self) -> None:
        self.stopped = False
        self._calls: list[Callable[[], None]] = []

    def stop(self) -> None:
        """Set the flag."""
        self.stopped = True
        for call in self._calls:
            call()

    def then(self, call: Callable[[], None]) -> None:
        """Run `call` when the flag is set, or now if it is set already."""
        self._calls.append(call)
        if self.stopped:
            call()


@dataclass(frozen=True)
class Question:
    """A position, and the agents that decide in it."""

    state: Any
    agents: Mapping[int, tuple[str, Any]]
    """Spec and agent, by seat: `Player`s of the game, of its own class if it has one."""
    turn: int
    """Number of turns taken before the position."""
    rng: np.random.Generator
    stop: StopFlag

    def thought(
        self,
        seat: int,
        analysis: Analysis,
        rows: list[ConsideredMove],
        *,
        done: bool = True,
        more: dict[str, Any] | None = None,
    ) -> Thought:
        """Return the analysis by the agent at `seat`; `rows` are its likeliest moves."""
        spec, _ = self.agents[seat]
        return Thought(
            agent=spec,
            seat=seat,
            turn=self.turn,
            value=finite(analysis.value),
            kl=finite(analysis.kl),
            entropy=analysis.entropy,
            anchor_entropy=analysis.anchor_entropy,
            rows=rows,
            others=len(analysis.policy) - len(rows),
            playouts=None if analysis.visits is None else int(analysis.visits.sum()) + 1,
            done=done,
            more=more or {},
        )


@dataclass(frozen=True)
class Decision:
    """The decision of an agent, and its analysis so far."""

    seat: int
    action: Action | None
    """None while the agent still thinks."""
    thought: Thought | None
    """None if there was nothing to analyse, such as agreeing to a count."""


def finite(number: Any) -> float | None:
    """Return the number, or None if JSON cannot hold it."""
    return float(number) if np.isfinite(number) else None
