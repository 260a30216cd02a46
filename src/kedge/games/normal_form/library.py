"""Well-known games in normal form."""

from itertools import combinations
from math import comb

import numpy as np

from kedge.errors import InputError
from kedge.games.normal_form.game import NormalFormGame

_LARGEST = 10**8  # payoff entries: 800 MB


def blotto(coins: int = 10, fields: int = 3) -> NormalFormGame:
    """Colonel Blotto: each player spreads `coins` over `fields`; the one with more fields wins.

    A field goes to the player with more coins on it. Payoffs are +1, −1 and 0 when level, as in
    the paper's text (its figure's caption scales them to [0, 1], which halves λ).

    >>> blotto(10, 3).num_actions
    (66, 66)
    """
    if not (isinstance(coins, int) and isinstance(fields, int) and coins >= 0 and fields >= 1):
        raise InputError(
            f"blotto: coins ≥ 0 and fields ≥ 1 must be whole, not {coins} and {fields}"
        )
    if coins > 10_000 or fields > 50:
        raise InputError("blotto: at most 10000 coins and 50 fields")
    count = comb(coins + fields - 1, fields - 1)
    if 2 * count**2 > _LARGEST:
        raise InputError(
            f"blotto(coins={coins}, fields={fields}): {count:.1e} actions per player are "
            f"too many to tabulate; use fewer coins or fields"
        )
    # Stars and bars: the gaps between `fields − 1` bars among coins and bars. This is the
    # lexicographic order, OpenSpiel's as well.
    bars = [
        (-1, *chosen, coins + fields - 1)
        for chosen in combinations(range(coins + fields - 1), fields - 1)
    ]
    splits = np.diff(np.array(bars, dtype=np.int64), axis=1) - 1
    lead = np.zeros((count, count), np.int8)
    for field in splits.T.astype(np.int16):
        lead += np.sign(field[:, None] - field[None, :]).astype(np.int8)
    payoffs = np.empty((2, count, count))
    np.sign(lead, out=payoffs[0], casting="unsafe")
    np.negative(payoffs[0], out=payoffs[1])
    payoffs[1] += 0.0  # no negative zeros
    names = ["-".join(map(str, split)) for split in splits]
    return NormalFormGame(
        payoffs, name=f"blotto(coins={coins}, fields={fields})", actions=[names, names]
    )


def rock_paper_scissors() -> NormalFormGame:
    payoffs = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
    names = ["rock", "paper", "scissors"]
    return NormalFormGame(
        [payoffs, -payoffs + 0.0], name="rock-paper-scissors", actions=[names, names]
    )


def matching_pennies(players: int = 2) -> NormalFormGame:
    """Each player but the last wants to match the next player's side; the last wants to differ."""
    if not isinstance(players, int) or not 2 <= players <= 20:
        raise InputError(f"matching-pennies: from 2 to 20 players, not {players}")
    sides = np.indices((2,) * players)
    matches = np.where(sides == np.roll(sides, -1, axis=0), 1.0, -1.0)
    matches[-1] *= -1.0
    return NormalFormGame(matches, name="matching-pennies", actions=[["heads", "tails"]] * players)


def random_game(players: int = 2, actions: int = 3, seed: int = 0) -> NormalFormGame:
    """A game with payoffs drawn uniformly from [0, 1)."""
    whole = all(isinstance(number, int) for number in (players, actions, seed))
    if not whole or players < 1 or actions < 1 or seed < 0:
        raise InputError("random: players ≥ 1, actions ≥ 1 and seed ≥ 0 must be whole numbers")
    if players > 60 or actions > _LARGEST or players * actions**players > _LARGEST:
        raise InputError(f"random: more than {_LARGEST:.0e} payoffs; use fewer players or actions")
    rng = np.random.default_rng(seed)
    return NormalFormGame(
        rng.random((players, *(actions,) * players)),
        name=f"random(players={players}, actions={actions}, seed={seed})",
    )
