"""Agents, players, and their analyses of decisions."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from kedge.regularize import Array, entropy, kl_divergence

#: One decision that a player is asked about: a state, or a state and the player who decides.
Question = TypeVar("Question", contravariant=True)
Q = TypeVar("Q")
NO_ACTION = np.iinfo(np.int64).max  #: The last in the order of actions.


@dataclass(frozen=True)
class Row:
    """One move of a decision, as tables show it."""

    index: int
    """Place of the move in the arrays of the analysis."""
    action: Any
    anchor: float
    policy: float
    smooth: float
    """Probability that cross-entropy scores."""
    q: float | None
    """Value for the player to move; None if unknown."""
    visits: int | None
    line: list[int]
    """Expected continuation, this move first; empty if unknown."""


@dataclass(frozen=True)
class Analysis:
    """An agent's analysis of a decision: one entry per legal action.

    An analysis may hold many decisions, one per row. Rows with fewer actions are padded, and
    ``mask`` is True where an action is real. The others have the number `NO_ACTION`.
    """

    anchor: Array
    policy: Array
    """The policy that the agent plays, at its own temperature."""
    q: Array
    """Value of each action for the player to move; NaN if unknown."""
    value: Any
    """Value of the state for the player to move: a number, or one per row."""
    smooth: Array | None = None
    """Policy that cross-entropy scores, if not ``policy``. It gives every action of the anchor some
    probability."""
    visits: npt.NDArray[np.int64] | None = None
    best: Any = None
    """Index of the agent's first choice, if not the argmax of ``policy``."""
    lines: list[list[int]] | None = None
    """Expected continuation of each action, the action first."""

    actions: npt.NDArray[np.int64] | None = None
    mask: npt.NDArray[np.bool_] | None = None
    progress: float = 1.0
    """Share of the search that is done, up to 1."""

    def __getitem__(self, decision: int) -> Self:
        """Return one decision of many, without its padding."""
        real = slice(None) if self.mask is None else self.mask[decision]

        def row(column: Any) -> Any:
            return None if column is None else column[decision][real]

        return replace(
            self,
            anchor=row(self.anchor),
            policy=row(self.policy),
            q=row(self.q),
            value=np.asarray(self.value)[decision],
            smooth=row(self.smooth),
            visits=row(self.visits),
            best=None if self.best is None else np.asarray(self.best)[decision],
            lines=None,
            actions=row(self.actions),
            mask=None,
        )

    @property
    def moves(self) -> Sequence[Any]:
        """The actions, in the order of the arrays; numbered from 0 if they have no other name."""
        return range(len(self.policy)) if self.actions is None else self.actions.tolist()

    @property
    def top1(self) -> int:
        """Index of the agent's first choice."""
        return int(np.argmax(self.policy) if self.best is None else self.best)

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """Indices of the actions of one decision, best first.

        The agent's first choice comes first. Then actions go by policy, visits and anchor.
        """
        visits = np.zeros(len(self.policy)) if self.visits is None else self.visits
        behind = np.arange(len(self.policy)) != self.top1
        return np.lexsort((-self.anchor, -visits, -self.policy, behind)).astype(np.int64)

    def rows(self, most: int | None = None) -> list[Row]:
        """The actions of one decision as rows of a table, best first."""
        smooth = self.policy if self.smooth is None else self.smooth
        moves = self.moves
        return [
            Row(
                index=i,
                action=moves[i],
                anchor=float(self.anchor[i]),
                policy=float(self.policy[i]),
                smooth=float(smooth[i]),
                q=float(self.q[i]) if np.isfinite(self.q[i]) else None,
                visits=None if self.visits is None else int(self.visits[i]),
                line=[] if self.lines is None else self.lines[i],
            )
            for i in self.order[:most].tolist()
        ]

    def draw(self, rng: np.random.Generator) -> Any:
        """An action of one decision, drawn from the policy."""
        return self.moves[draw(self.policy, rng)]

    @property
    def kl(self) -> float:
        """KL(π‖τ) of one decision, in nats: how far search went from people."""
        # Rounding can make it negative where the two almost agree.
        return float(np.maximum(0.0, kl_divergence(self.policy, self.anchor)))

    @property
    def entropy(self) -> float:
        """Entropy of the policy of one decision, in nats."""
        return float(entropy(self.policy))

    @property
    def anchor_entropy(self) -> float:
        """Entropy of the anchor of one decision, in nats."""
        return float(entropy(self.anchor))


class Agent(Protocol):
    """An agent asked about one state. `player` is the player who decides."""

    def policy(self, state: Any, player: int) -> Array:
        """The probability of each legal action."""
        ...

    def act(self, state: Any, player: int, rng: np.random.Generator) -> Any:
        """An action drawn from the policy."""
        ...

    def analyse(self, state: Any, player: int) -> Iterator[Analysis]:
        """Yield ever better analyses, until the caller stops asking."""
        ...


@runtime_checkable
class Predictor(Protocol):
    """Predicts moves of many positions."""

    @property
    def batch_size(self) -> int:
        """Number of positions per chunk that uses the device best."""
        ...

    def analyse_chunks(self, chunks: Iterable[Sequence[Any]]) -> Iterator[Analysis]:
        """Yield one analysis per chunk of at most `batch_size` positions.

        The agents of a network take native boards.
        """
        ...


@runtime_checkable
class Player(Agent, Protocol[Question]):
    """An agent that answers many questions at once, for tables, matches and the page.

    A question is a state where one player decides at a time (board games, Hanabi), else a state and
    a player (Diplomacy, normal-form games).
    """

    @property
    def states(self) -> type:
        """The class of states that it plays."""
        ...

    def analyse_many(
        self, questions: Sequence[Question], rng: np.random.Generator
    ) -> Sequence[Any]:
        """Return one `Analysis` per question."""
        ...

    def act_many(self, questions: Sequence[Question], rng: np.random.Generator) -> list[Any]:
        """Return one action per question, drawn from the policies."""
        ...

    def explain_many(
        self, questions: Sequence[Question], rng: np.random.Generator
    ) -> Sequence[Any]:
        """Return one `Analysis` per question, with all there is to look at: lines, beliefs."""
        ...

    def explain(self, question: Question, rng: np.random.Generator) -> Any:
        """Return the `Analysis` of one question, with all there is to look at."""
        ...


@runtime_checkable
class PuctAnchor(Protocol):
    """An agent that PUCT can search over."""

    def puct_search(self, value: Any, settings: Any, **options: Any) -> Agent:
        """Return PUCT with this agent as its anchor, valued by `value` or by the anchor."""
        ...


class BasePlayer(ABC, Generic[Q]):
    """The verbs of a player, from `analyse_many` alone."""

    shares_network: ClassVar[bool] = False
    """Whether `kedge.agents.board.shared_search` can run its searches together with others."""
    imitates_people: bool = False
    """Whether its anchor is a model of people's moves."""

    @property
    @abstractmethod
    def states(self) -> type:
        """The class of states that it plays."""

    @abstractmethod
    def analyse_many(self, questions: Sequence[Q], rng: np.random.Generator) -> Sequence[Any]:
        """Return one `Analysis` per question."""

    def question(self, state: Any, player: int) -> Q:
        """Return the question about `player` in `state`."""
        question: Any = state
        return question  # type: ignore[no-any-return]

    def act_many(self, questions: Sequence[Q], rng: np.random.Generator) -> list[Any]:
        """Return one action per question, drawn from the policies."""
        return [analysis.draw(rng) for analysis in self.analyse_many(questions, rng)]

    def explain_many(self, questions: Sequence[Q], rng: np.random.Generator) -> Sequence[Any]:
        """Return one `Analysis` per question, with all there is to look at."""
        return self.analyse_many(questions, rng)

    def explain(self, question: Q, rng: np.random.Generator) -> Any:
        """Return the `Analysis` of one question, with all there is to look at."""
        return self.explain_many([question], rng)[0]

    def analyse(self, state: Any, player: int) -> Iterator[Any]:
        """Yield ever better analyses."""
        yield self.explain(self.question(state, player), np.random.default_rng(0))

    def policy(self, state: Any, player: int) -> Array:
        """The probability of each legal action."""
        questions = [self.question(state, player)]
        policy: Array = self.analyse_many(questions, np.random.default_rng(0))[0].policy
        return policy

    def act(self, state: Any, player: int, rng: np.random.Generator) -> Any:
        """An action drawn from the policy."""
        return self.act_many([self.question(state, player)], rng)[0]


def draw(policy: Array, rng: np.random.Generator) -> int:
    """The index of an action, drawn from a policy."""
    return int(rng.choice(len(policy), p=policy))


def plays(agent: Any, states: type) -> bool:
    """Whether `agent` plays states of this class; an agent that does not say plays all."""
    return issubclass(states, getattr(agent, "states", object))
