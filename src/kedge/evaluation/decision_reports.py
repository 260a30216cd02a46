"""Decisions as people and a search see them, where a search says what each is worth by itself.

So it is in Hanabi, where all moves are played out, and in Diplomacy, where seven decide at once.
Chess and Go, whose moves are worth what is made of the position after them, have `game_analysis`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kedge.evaluation.board.game_analysis import RARE
from kedge.records import DiplomacyGame, HanabiGame

SHOWN = 3  #: What people decide most, and disagreements a player.
_DISAGREEMENT = 0.1  # nats


@dataclass(frozen=True)
class Scale:
    """In what a game is counted, and from which loss on a decision is marked "?" and "??"."""

    unit: str
    mistake: float
    blunder: float


@dataclass(frozen=True)
class Option:
    """What may be decided, how likely it is for people (the anchor) and search, and its worth."""

    name: str
    """As players write it."""
    move: Any
    """As programs write it: a text, or a list of orders."""
    anchor: float
    policy: float
    q: float
    """For who decides; NaN where nothing is known of it."""


@dataclass(frozen=True)
class Part:
    """One order of several, and how likely it is for people who have given those before it."""

    name: str
    move: str
    anchor: float


@dataclass(frozen=True)
class DecisionReport:
    """What one player decided in a turn."""

    turn: int
    """In the record, from 0."""
    player: int
    played: Option
    rank: int
    """1 if people decide nothing more often, of what the agent has thought of."""
    people: tuple[Option, ...]
    """What people decide most."""
    choice: Option
    """What the agent holds likeliest."""
    kl_to_anchor: float
    """KL(π‖τ) of the agent's policy, in nats: how far search went from people here."""
    scale: Scale
    parts: tuple[Part, ...] = ()
    """The orders that the decision consists of, where it does."""

    @property
    def loss(self) -> float:
        """By how much the agent's choice is better; NaN where nothing is known of it."""
        return float(np.maximum(0.0, self.choice.q - self.played.q))

    @property
    def mark(self) -> str:
        """What a commentator would write behind it: "??", "?", "!" or nothing."""
        if self.loss >= self.scale.mistake:
            return "??" if self.loss >= self.scale.blunder else "?"
        agreed = self.played.move == self.choice.move
        return "!" if agreed and self.rank > 1 and min(self.likely) < RARE else ""

    @property
    def likely(self) -> list[float]:
        """How likely each order was, or all of it where it has no parts."""
        return [part.anchor for part in self.parts] or [self.played.anchor]

    @property
    def parts_ways(self) -> bool:
        """Whether search goes elsewhere than most people do."""
        return self.kl_to_anchor >= _DISAGREEMENT and self.choice.move != self.people[0].move

    def to_json(self) -> dict[str, Any]:
        found = asdict(self)
        del found["scale"]
        return {**found, "loss": self.loss, "mark": self.mark}


@dataclass(frozen=True)
class DeciderReport:
    """How human a player's decisions were. Means are NaN where there is nothing to average."""

    name: str
    decisions: int
    top1: float
    """The share that people decide more often than anything else."""
    probability: float
    """Of an order, where decisions consist of them."""
    cross_entropy: float
    loss: float
    mistakes: int
    blunders: int


@dataclass(frozen=True)
class DecisionsReport:
    """A game, decision by decision."""

    game: HanabiGame | DiplomacyGame
    agent: str
    names: tuple[str, ...]
    """Of the players."""
    turns: tuple[str, ...]
    """What each is called; not every turn has decisions that are judged."""
    decisions: tuple[DecisionReport, ...]
    values: tuple[tuple[float, ...], ...]
    """Of every position, the last one's too: of all players, or of each."""
    scale: Scale

    @property
    def players(self) -> list[DeciderReport]:
        return [self._player(number, name) for number, name in enumerate(self.names)]

    @property
    def mistakes(self) -> list[int]:
        """Which decisions are marked "?" or "??"."""
        return [i for i, one in enumerate(self.decisions) if "?" in one.mark]

    @property
    def disagreements(self) -> list[int]:
        """In which of each player's decisions search went furthest from people, in that order."""
        far = [i for i, one in enumerate(self.decisions) if one.parts_ways]
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
            "decisions": [one.to_json() for one in self.decisions],
            "values": self.values,
            "mistakes": self.mistakes,
            "disagreements": self.disagreements,
        }

    def _player(self, number: int, name: str) -> DeciderReport:
        made = [one for one in self.decisions if one.player == number]
        likely = np.array([share for one in made for share in one.likely])
        marks = [one.mark for one in made]
        return DeciderReport(
            name,
            len(made),
            top1=_mean([one.rank == 1 for one in made]),
            probability=_mean(likely),
            cross_entropy=_mean(-np.log(np.maximum(likely, np.finfo(np.float64).tiny))),
            loss=_mean([one.loss for one in made if np.isfinite(one.loss)]),
            mistakes=marks.count("?"),
            blunders=marks.count("??"),
        )


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def likeliest(shares: Sequence[float]) -> list[int]:
    """The places of the `SHOWN` largest, the largest first."""
    return [int(i) for i in np.argsort(-np.asarray(shares), kind="stable")[:SHOWN]]
