"""What an agent is: an anchor, a search and a dial, asked about a state."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from kedge.regularize import Array, entropy, kl_divergence


@dataclass(frozen=True)
class Analysis:
    """What an agent thinks of a decision, one entry a legal action; it may be refined later.

    It may be of many decisions, one a row; then those with fewer actions are padded, and ``mask``
    is True where an action is real.
    """

    anchor: Array
    policy: Array
    """What it plays, at its own temperature."""
    q: Array
    """The value of each action for the player to move; NaN where nothing is known of it."""
    value: Any
    """Of the state, for the player to move: a number, or one a row."""
    smooth: Array | None = None
    """The policy that is scored by cross-entropy, where it is not ``policy``: no action that the
    anchor plays has probability 0 in it."""
    visits: npt.NDArray[np.int64] | None = None
    best: Any = None
    """The index of the action it holds likeliest, where that is not the argmax of ``policy``."""
    lines: list[list[int]] | None = None
    """For each action the line that is expected after it, the action first."""

    actions: npt.NDArray[np.int64] | None = None
    mask: npt.NDArray[np.bool_] | None = None

    def __getitem__(self, decision: int) -> "Analysis":
        """One of many, without its padding."""
        real = slice(None) if self.mask is None else self.mask[decision]

        def row(column: Any) -> Any:
            return None if column is None else column[decision][real]

        return Analysis(
            anchor=row(self.anchor),
            policy=row(self.policy),
            q=row(self.q),
            value=np.asarray(self.value)[decision],
            smooth=row(self.smooth),
            visits=row(self.visits),
            best=None if self.best is None else np.asarray(self.best)[decision],
            actions=row(self.actions),
        )

    @property
    def top1(self) -> int:
        return int(np.argmax(self.policy) if self.best is None else self.best)

    @property
    def kl(self) -> float:
        """KL(π‖τ) of one decision, in nats: how far search went from people."""
        # Rounding takes it below 0 where they all but agree.
        return float(np.maximum(0.0, kl_divergence(self.policy, self.anchor)))

    @property
    def entropy(self) -> float:
        """Of what it plays in one decision, in nats."""
        return float(entropy(self.policy))

    @property
    def anchor_entropy(self) -> float:
        return float(entropy(self.anchor))


class Agent(Protocol):
    """Who plays. `state` has OpenSpiel's verbs; `player` is whose decision it is."""

    def policy(self, state: Any, player: int) -> Array:
        """The probability of each legal action."""
        ...

    def act(self, state: Any, player: int, rng: np.random.Generator) -> Any:
        """An action drawn from the policy."""
        ...

    def analyse(self, state: Any, player: int) -> Iterator[Analysis]:
        """Ever better analyses, until the caller stops asking."""
        ...


class Predictor(Protocol):
    """Whoever says of many positions what would be played."""

    @property
    def batch_size(self) -> int:
        """How many at once make the best of it."""
        ...

    def analyse_chunks(self, chunks: Iterable[Sequence[Any]]) -> Iterator[Analysis]:
        """The positions of each chunk in one analysis, at most `batch_size` of them.

        A `Player` takes native boards.
        """
        ...


@runtime_checkable
class Player(Agent, Predictor, Protocol):
    """An agent that analyses many states at once, as tables and matches want it."""

    temperature: float
    """At which it draws its moves."""

    def analyse_many(self, states: Sequence[Any], *, lines: bool = False) -> list[Analysis]:
        """Each state by itself; `lines` take longer."""
        ...


def draw(policy: Array, rng: np.random.Generator) -> int:
    """The index of an action, drawn from a policy."""
    return int(rng.choice(len(policy), p=policy))


def plays(agent: Agent, states: type) -> bool:
    """Whether `agent` is one for such states; one that does not say is."""
    return issubclass(states, getattr(agent, "states", object))
