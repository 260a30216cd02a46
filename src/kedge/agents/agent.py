"""What an agent is: an anchor, a search and a dial, asked about a state."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from kedge.regularize import Array


@dataclass(frozen=True)
class Analysis:
    """What an agent thinks of a decision, one entry an action; it may be refined later."""

    anchor: Array
    policy: Array
    q: Array
    value: float
    visits: Array | None = None


class Agent(Protocol):
    """Who plays. `state` has OpenSpiel's verbs; `player` is whose decision it is."""

    def policy(self, state: Any, player: int) -> Array:
        """The probability of each legal action."""
        ...

    def act(self, state: Any, player: int, rng: np.random.Generator) -> int:
        """An action drawn from the policy."""
        ...

    def analyse(self, state: Any, player: int) -> Iterator[Analysis]:
        """Ever better analyses, until the caller stops asking."""
        ...
