"""Agents for Hanabi that need no network: any move, or with a look at one's own cards."""

from dataclasses import replace

import numpy as np
import pytest

from kedge.agents import AGENTS, make_player
from kedge.agents.hanabi.players import BlueprintAgent, HanabiAgent, likeliest
from kedge.evaluation.hanabi.selfplay import dealt, play, recorded
from kedge.games.hanabi import Hanabi
from kedge.models.hanabi.model import UniformBlueprint
from kedge.regularize import forward_kl


def imitation(temperature=1.0, greedy=False):
    """Return a player in place of the shipped model."""
    return BlueprintAgent(UniformBlueprint(48), temperature, greedy=greedy)


class Peeking(HanabiAgent):
    """A search that knows its cards: a play is worth a point, a miss costs four."""

    def __init__(
        self, anchor="uniform-hanabi", lam=0.0, rollouts=10, belief="learned", greedy=False
    ):
        self.anchor, self.lam, self.greedy = make_player(anchor, "hanabi"), lam, greedy
        self.rollouts, self.belief = rollouts, str(belief)
        self.batches = []

    @property
    def blueprint(self):
        return self.anchor.blueprint

    def analyse_batch(self, states, rng):
        self.batches.append(list(states))
        found = self.anchor.analyse_batch(states, rng)
        q, policy = found.q.copy(), found.anchor.copy()
        for row, state in enumerate(states):
            real, hand = found.mask[row], state.hands[state.current_player()]
            q[row, real] = [worth(state, hand, action) for action in state.legal_actions()]
            policy[row, real] = forward_kl(policy[row, real], q[row, real], self.lam)
        return replace(
            found, q=q, policy=likeliest(policy) if self.greedy else policy, smooth=None,
            value=np.nansum(policy * q, 1), visits=np.full(q.shape, self.rollouts),
        )  # fmt: skip

    def explain_many(self, states, rng):
        analyses = zip(self.analyse_many(states, rng), states, strict=True)
        return [replace(found, cards=seen(state)) for found, state in analyses]


def seen(state):
    """Return the belief of a player who is nearly sure of each card."""
    hand = state.hands[state.current_player()]
    cards = np.zeros((len(hand), 25))
    for slot, card in enumerate(hand):
        cards[slot, [card.colour * 5 + card.rank - 1, 24]] += 0.75, 0.25
    return cards


def worth(state, hand, action):
    """Return an action's value; of two equal actions, the lower is worth a little more."""
    kind, at, _ = state.game.moves[action]
    points = {"discard": 0.3, "color": 0.1, "rank": 0.1, "play": -4.0}[kind]
    if kind == "play" and state.fireworks[hand[at].colour] == hand[at].rank - 1:
        points = 1.0
    return points - 0.001 * action


def people(count, players=2, rules=None, **fields):
    """Return games of a person at seat 1, who knows the cards, and a program that moves at will."""
    rules = rules or Hanabi(players)
    seats = tuple(int(seat == 1) for seat in range(players))
    tables = [(seats, dealt(rules, 3, number)) for number in range(count)]
    played = play([imitation(), Peeking()], tables, rules, np.random.default_rng(0))
    records = [recorded(game, ["any", "human"], rules, f"{i}") for i, game in enumerate(played)]
    names = tuple("Ann" if seat == 1 else "ai:any" for seat in range(players))
    return [
        replace(game, **{"players": names, "participant": "AB"[i % 2], **fields})
        for i, game in enumerate(records)
    ]


@pytest.fixture
def registered(monkeypatch):
    """Register players under the names of the shipped ones, in this process."""
    register(monkeypatch)


def register(monkeypatch):
    monkeypatch.setitem(AGENTS._makers, "hanabi", imitation)
    monkeypatch.setitem(AGENTS._makers, "sparta", Peeking)
