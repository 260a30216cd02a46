"""Reviews of decisions that a search values directly.

That is so in Hanabi, where search plays all moves out, and in Diplomacy, where seven powers decide
at once. In chess and Go the value of a move comes from the position after it: see `game_analysis`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kedge.evaluation.board.game_analysis import RARE
from kedge.evaluation.ranks import first_place, is_rarer
from kedge.records import DiplomacyGame, HanabiGame

SHOWN = 3  #: Number of people's most frequent decisions, and of disagreements per player.
_DISAGREEMENT = 0.1  # nats


@dataclass(frozen=True)
class Scale:
    """Unit of values, and losses from which a decision is marked "?" and "??"."""

    unit: str
    mistake: float
    blunder: float


@dataclass(frozen=True)
class DecisionOption:
    """A possible decision, with its probabilities for people and search, and its value."""

    name: str
    """The decision as players write it."""
    move: Any
    """The decision as programs write it: a text, or a list of orders."""
    anchor: float
    """Probability for people."""
    policy: float
    """Probability for the agent."""
    q: float
    """Value for the player who decides; NaN if unknown."""


@dataclass(frozen=True)
class Part:
    """One order of several, with its probability for people given the orders before it."""

    name: str
    move: str
    anchor: float


@dataclass(frozen=True)
class DecisionReport:
    """One player's decision in a turn."""

    turn: int
    """Turn in the record, from 0."""
    player: int
    played: DecisionOption
    rank: int
    """Rank by people's probability among the agent's options; 1 is people's most frequent."""
    people: tuple[DecisionOption, ...]
    """People's most frequent decisions."""
    choice: DecisionOption
    """The agent's likeliest decision."""
    kl_to_anchor: float
    """KL(π‖τ) of the agent's policy, in nats: how far search went from people."""
    scale: Scale
    parts: tuple[Part, ...] = ()
    """The orders of the decision; empty if it has no parts."""
    ties: int = 1
    """Number of options with this rank, including this one."""

    @property
    def loss(self) -> float:
        """Value of the agent's choice less that of the decision; NaN if unknown."""
        return float(np.maximum(0.0, self.choice.q - self.played.q))

    @property
    def mark(self) -> str:
        """Mark that a commentator would write after it: "??", "?", "!" or nothing."""
        if self.loss >= self.scale.mistake:
            return "??" if self.loss >= self.scale.blunder else "?"
        agreed = self.played.move == self.choice.move
        return "!" if agreed and self.rank > 1 and min(self.likely) < RARE else ""

    @property
    def likely(self) -> list[float]:
        """People's probability of each order, or of the decision if it has no parts."""
        return [part.anchor for part in self.parts] or [self.played.anchor]

    @property
    def parts_ways(self) -> bool:
        """Whether search disagrees with most people."""
        favourite = self.people[0]
        is_other = self.choice.move != favourite.move
        is_far = self.kl_to_anchor >= _DISAGREEMENT
        return is_far and is_other and is_rarer(self.choice.anchor, favourite.anchor)

    def to_json(self) -> dict[str, Any]:
        fields = asdict(self)
        del fields["scale"], fields["ties"]
        return {**fields, "loss": self.loss, "mark": self.mark}


@dataclass(frozen=True)
class DeciderReport:
    """How human a player's decisions were. A mean over nothing is NaN."""

    name: str
    decisions: int
    """Number of decisions."""
    top1: float
    """Share of decisions that are people's most frequent; a tie of k options counts as 1/k."""
    probability: float
    """Mean probability for people, of each order if decisions have parts."""
    cross_entropy: float
    """Mean of −log probability for people, in nats."""
    loss: float
    """Mean loss, in the unit of the scale."""
    mistakes: int
    blunders: int


@dataclass(frozen=True)
class DecisionsReport:
    """A game, decision by decision."""

    game: HanabiGame | DiplomacyGame
    agent: str
    names: tuple[str, ...]
    """Names of the players."""
    turns: tuple[str, ...]
    """Names of the turns; not every turn has reviewed decisions."""
    decisions: tuple[DecisionReport, ...]
    values: tuple[tuple[float, ...], ...]
    """Values of all positions, including the last: one for all players together, or one each."""
    scale: Scale
    is_human: bool = True
    """Whether the anchor is a model of people."""

    @property
    def players(self) -> list[DeciderReport]:
        return [self._player(number, name) for number, name in enumerate(self.names)]

    @property
    def mistakes(self) -> list[int]:
        """Indices of the decisions that are marked "?" or "??"."""
        return [i for i, decision in enumerate(self.decisions) if "?" in decision.mark]

    @property
    def disagreements(self) -> list[int]:
        """Indices of each player's decisions where search went furthest from people, in order."""
        far = [i for i, decision in enumerate(self.decisions) if decision.parts_ways]
        far.sort(key=lambda i: -self.decisions[i].kl_to_anchor)
        kept = [
            [i for i in far if self.decisions[i].player == player][:SHOWN]
            for player in range(len(self.names))
        ]
        return [i for i in far if any(i in few for few in kept)]

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.game.id,
            "agent": self.agent,
            "scale": asdict(self.scale),
            "turns": self.turns,
            "players": [asdict(player) for player in self.players],
            "decisions": [decision.to_json() for decision in self.decisions],
            "values": self.values,
            "mistakes": self.mistakes,
            "disagreements": self.disagreements,
        }

    def _player(self, number: int, name: str) -> DeciderReport:
        own = [decision for decision in self.decisions if decision.player == number]
        likely = np.array([share for decision in own for share in decision.likely])
        marks = [decision.mark for decision in own]
        return DeciderReport(
            name,
            len(own),
            top1=_mean([first_place(decision.rank, decision.ties) for decision in own]),
            probability=_mean(likely),
            cross_entropy=_mean(-np.log(np.maximum(likely, np.finfo(np.float64).tiny))),
            loss=_mean([decision.loss for decision in own if np.isfinite(decision.loss)]),
            mistakes=marks.count("?"),
            blunders=marks.count("??"),
        )


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def likeliest_indices(shares: Sequence[float]) -> list[int]:
    """Return the indices of the `SHOWN` largest shares, the largest first."""
    return [int(i) for i in np.argsort(-np.asarray(shares), kind="stable")[:SHOWN]]
