"""Games of Hanabi among agents at one table, which all get the same score."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kedge.agents.hanabi.players import HanabiAgent
from kedge.evaluation.prediction import mean_by_game
from kedge.games.hanabi import Card, Hanabi
from kedge.records import HanabiGame

#: Number of the agent on each seat.
Seats = tuple[int, ...]
Deck = tuple[Card, ...]
PERFECT = 25  #: Points when every stack is finished.


@dataclass(frozen=True)
class TableGame:
    """One finished game."""

    seats: Seats
    deck: Deck
    actions: tuple[int, ...]
    score: int
    lives: int

    @property
    def is_bomb(self) -> bool:
        """Whether the last life was lost."""
        return not self.lives

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "TableGame":
        """Return the game from its ``dataclasses.asdict`` after JSON."""
        deck = tuple(Card(*card) for card in document["deck"])
        lists = {key: tuple(document[key]) for key in ("seats", "actions")}
        return cls(**{**document, **lists, "deck": deck})


def seatings(agents: Sequence[object], players: int) -> list[Seats]:
    """Return the distinct seatings: agents in turn around the table, from each agent on.

    >>> seatings("AB", 2), seatings("AB", 3), seatings("AA", 2)
    ([(0, 1), (1, 0)], [(0, 1, 0), (1, 0, 1)], [(0, 1)])
    """
    count, distinct = len(agents), dict[tuple[object, ...], Seats]()
    for first in range(count):
        seats = tuple((first + seat) % count for seat in range(players))
        distinct.setdefault(tuple(agents[agent] for agent in seats), seats)
    return list(distinct.values())


def dealt(rules: Hanabi, seed: int, number: int) -> Deck:
    """Return the deck of a game, which depends only on the seed and the game's number."""
    rng = np.random.default_rng([seed, number])
    return tuple(rules.cards[place] for place in rng.permutation(len(rules.cards)))


def play(
    agents: Sequence[HanabiAgent],
    tables: Sequence[tuple[Seats, Deck]],
    rules: Hanabi,
    rng: np.random.Generator,
) -> list[TableGame]:
    """Play games side by side: each agent gets all games where it is to move at once."""
    states = [rules.initial_state(deck) for _, deck in tables]
    while any(not state.is_terminal() for state in states):
        for number, agent in enumerate(agents):
            waiting = [
                state
                for state, (seats, _) in zip(states, tables, strict=True)
                if not state.is_terminal() and seats[state.current_player()] == number
            ]
            actions = agent.act_many(waiting, rng) if waiting else []
            for state, action in zip(waiting, actions, strict=True):
                state.apply_action(action)
    return [
        TableGame(seats, deck, tuple(state.history), state.score, state.lives)
        for state, (seats, deck) in zip(states, tables, strict=True)
    ]


def recorded(game: TableGame, agents: Sequence[str], rules: Hanabi, name: str) -> HanabiGame:
    """Return the game as a record; `agents` are their names by number."""
    players = tuple(f"ai:{agents[agent]}" for agent in game.seats)
    return HanabiGame(
        id=name,
        players=players,
        deck=game.deck,
        actions=game.actions,
        hand_size=rules.hand_size,
        score=game.score,
        bomb=rules.bomb,
        source="kedge selfplay",
    )


def standing(games: Sequence[TableGame]) -> dict[str, Any]:
    """Return the summary of games; ``se`` is the standard error of the mean score."""
    scores = np.array([game.score for game in games], np.float64)
    mean, error = mean_by_game(np.ones(len(games)), scores)
    return {
        "games": len(games),
        "mean": mean,
        "se": error,
        "perfect": int((scores == PERFECT).sum()),
        "bombs": sum(game.is_bomb for game in games),
        "moves": float(np.mean([len(game.actions) for game in games])) if games else math.nan,
    }


def histogram(games: Sequence[TableGame]) -> list[int]:
    """Return the number of games with each score, from 0 to `PERFECT`."""
    counts = np.bincount([game.score for game in games], minlength=PERFECT + 1)
    return [int(count) for count in counts]
