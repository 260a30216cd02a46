"""Games of Hanabi that a model can learn."""

import numpy as np

from kedge.games.hanabi import Hanabi
from kedge.records.hanabi.games import HanabiGame

GAME = Hanabi()


def made_game(number, players=("ai:Bo", "Ann")):
    """A game in which everyone tells the other's newest card's rank, or else discards the oldest;
    at times something else."""
    rng = np.random.default_rng(number)
    state = GAME.initial_state(rng=rng)
    deck = tuple(state.deck)
    for _ in range(12):
        told = GAME.actions["rank", 1, state.hands[1 - state.current_player()][-1].rank]
        legal = state.legal_actions()
        action = told if told in legal else 0
        state.apply_action(action if rng.random() < 0.9 else legal[-1])
    person = f"person {number % 25}"
    return HanabiGame(f"made-{number}", players, deck, tuple(state.history), 5, participant=person)
