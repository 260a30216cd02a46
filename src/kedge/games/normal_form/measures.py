"""Measures of a policy profile: value, exploitability, distance from the anchor."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kedge.games.normal_form.game import NormalFormGame
from kedge.regularize import Array, forward_kl, kl_divergence

Policies = Sequence[npt.ArrayLike]


def values(game: NormalFormGame, policies: Policies) -> Array:
    """Each player's expected utility."""
    pairs = zip(game.action_values(policies), policies, strict=True)
    return np.array([float(np.asarray(policy) @ utility) for utility, policy in pairs])


def regrets(game: NormalFormGame, policies: Policies) -> Array:
    """Each player's possible gain by a best response (unregularised)."""
    pairs = zip(game.action_values(policies), policies, strict=True)
    gains = [float(utility.max() - np.asarray(policy) @ utility) for utility, policy in pairs]
    return np.maximum(gains, 0.0)


def nash_conv(game: NormalFormGame, policies: Policies) -> float:
    """The sum of the players' regrets."""
    return float(regrets(game, policies).sum())


def exploitability(game: NormalFormGame, policies: Policies) -> float:
    """The mean of the players' regrets: NashConv / n."""
    return float(regrets(game, policies).mean())


def kl_to_anchor(policies: Policies, anchors: Policies) -> Array:
    """KL(π_i‖τ_i) in nats, per player."""
    pairs = zip(policies, anchors, strict=True)
    return np.array([float(kl_divergence(policy, anchor)) for policy, anchor in pairs])


def regularized_best_response(
    game: NormalFormGame, policies: Policies, anchors: Policies, lam: npt.ArrayLike
) -> list[Array]:
    """F(π)_i ∝ τ_i·exp(u_i(·, π_−i)/λ_i): each player's best response under its λ."""
    lams = np.broadcast_to(np.asarray(lam, np.float64), (game.num_players,))
    utilities = game.action_values(policies)
    triples = zip(anchors, utilities, lams, strict=True)
    return [forward_kl(anchor, utility, player_lam) for anchor, utility, player_lam in triples]


def residual(
    game: NormalFormGame, policies: Policies, anchors: Policies, lam: npt.ArrayLike
) -> float:
    """max |π − F(π)|: zero exactly at a regularised equilibrium (a QRE, for uniform anchors)."""
    answers = regularized_best_response(game, policies, anchors, lam)
    pairs = zip(policies, answers, strict=True)
    return max(float(np.abs(np.asarray(policy) - answer).max()) for policy, answer in pairs)


def regularized_regrets(
    game: NormalFormGame, policies: Policies, anchors: Policies, lam: npt.ArrayLike
) -> Array:
    """Each player's possible gain in U_i = u_i − λ_i·KL(π_i‖τ_i) (Eq. 5): zero at equilibrium."""
    lams = np.broadcast_to(np.asarray(lam, np.float64), (game.num_players,))
    answers = regularized_best_response(game, policies, anchors, lam)
    gains = []
    for i, utility in enumerate(game.action_values(policies)):
        both = np.stack([answers[i], np.asarray(policies[i], np.float64)])
        best, own = both @ utility - lams[i] * kl_divergence(both, anchors[i])
        gains.append(best - own)
    return np.maximum(gains, 0.0)
