"""SPARTA and piKL-SPARTA in Hanabi: search over a blueprint, in hands drawn from a belief."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, nan

import numpy as np
import numpy.typing as npt

from kedge.agents.hanabi.players import (
    BlueprintAgent,
    HanabiAgent,
    HanabiAnalysis,
    likeliest,
    numbered,
)
from kedge.errors import InputError
from kedge.games.hanabi import Hanabi, HanabiState
from kedge.models.hanabi.model import (
    Belief,
    Blueprint,
    Followed,
    Games,
    Hands,
    Legal,
    Memory,
    rows,
)
from kedge.regularize import Array, forward_kl
from kedge.search.sparta import Budget, Estimate, estimate, improved, lam_of_kl

_AT_ONCE = 1 << 16  # rollouts per batch: enough for any device, and little memory
_ANSWERED = 64  # hands for the next player's likely answers
_BELIEVED = 2000  # hands for beliefs, which makes them accurate to about a percent


class SpartaAgent(HanabiAgent):
    """Searches over a blueprint that the other players are assumed to follow.

    If the belief is empty, it plays the blueprint; then `q` is NaN and `cards` is None.

    Parameters
    ----------
    anchor
        Plays the blueprint.
    lam
        λ in points; 0 is SPARTA: the best move, whatever its anchor probability.
    greedy
        Whether to play the likeliest move, and assume that others do.
    threshold
        At λ = 0, the points by which a move must be better than the blueprint's.
    kl
        KL from the anchor in nats; it sets λ for every decision, in place of `lam`.
    depth
        Moves of all players after which a rollout ends with the blueprint's value. None plays to
        the end of the game.
    """

    def __init__(
        self,
        anchor: BlueprintAgent,
        belief: Belief,
        *,
        lam: float = 0.0,
        budget: Budget | None = None,
        greedy: bool = False,
        threshold: float = 0.0,
        kl: float | None = None,
        depth: int | None = None,
    ) -> None:
        for name, value in (("lambda", lam), ("threshold", threshold), ("kl", kl)):
            if value is not None and not (isinstance(value, int | float) and value >= 0.0):
                raise InputError(f"{name}: a number that is at least 0, not {value}")
        if depth is not None and (type(depth) is not int or depth < 0):
            raise InputError(f"depth: a whole number of moves, at least 0, not {depth}")
        if not isinstance(greedy, bool):
            raise InputError(f"greedy: true or false, not {greedy}")
        if not isinstance(anchor, BlueprintAgent) or anchor.temperature != 1.0 or anchor.greedy:
            raise InputError("sparta: its anchor must be a blueprint of Hanabi at temperature 1")
        if kl is not None and lam > 0.0:
            raise InputError("sparta: give lambda or kl, not both")
        if threshold > 0.0 and (lam > 0.0 or kl is not None):
            raise InputError("sparta: threshold needs lambda=0, without kl")
        self.blueprint, self.imitates_people = anchor.blueprint, anchor.imitates_people
        self.belief, self.budget, self.greedy = belief, budget or Budget(), greedy
        self.lam, self.threshold, self.kl, self.depth = lam, threshold, kl, depth
        self._followed = Followed(self.blueprint)

    def check(self, rules: Hanabi) -> None:
        super().check(rules)
        state, rng = rules.initial_state(), np.random.default_rng(0)
        self.belief.draw([state], 1, rng)
        if self.depth is not None:
            memory = self.blueprint.begin(1)
            self.blueprint.play_out(state.games, memory, rng, greedy=self.greedy, depth=self.depth)

    def analyse_batch(
        self, states: Sequence[HanabiState], rng: np.random.Generator
    ) -> HanabiAnalysis:
        games, memory = self._followed_games(states)
        anchor, legal = self.blueprint.legal_policy(games, memory)
        hands = self.belief.draw(states, self.budget.worlds(int(legal.sum(1).min())), rng)
        estimates = self._estimates(games, memory, anchor, legal, hands, rng)
        smooth, q, visits = anchor.copy(), np.full(anchor.shape, nan), np.zeros_like(anchor, int)
        for row, estimated in estimates.items():
            real = legal[row]
            q[row, real], visits[row, real] = estimated.q, estimated.visits
            smooth[row, real] = self._improved(anchor[row, real], estimated.q)
        policy = likeliest(smooth) if self.greedy else smooth
        own = zip(policy, q, legal, strict=True)
        return HanabiAnalysis(
            anchor=anchor,
            policy=policy,
            q=q,
            value=np.array([shares[real] @ values[real] for shares, values, real in own]),
            smooth=smooth,
            visits=visits if estimates else None,
            actions=numbered(legal),
            mask=legal,
        )

    def explain_many(
        self, questions: Sequence[HanabiState], rng: np.random.Generator
    ) -> list[HanabiAnalysis]:
        """Analyse each state, with finer beliefs and the next player's likely answers."""
        return [self._explained(state, rng) for state in questions]

    def _explained(self, state: HanabiState, rng: np.random.Generator) -> HanabiAnalysis:
        analysis = self.analyse_batch([state], rng)
        [hands] = self.belief.draw([state], _BELIEVED, rng)
        if not len(hands):
            return analysis[0]
        assert analysis.mask is not None
        answers = self._answers(state, analysis.mask, hands[:_ANSWERED], rng)
        return replace(analysis[0], cards=_shares(state, hands), answers=answers)

    def _answers(
        self, state: HanabiState, legal: Legal, hands: Hands, rng: np.random.Generator
    ) -> list[tuple[int, float] | None]:
        games, memory = self._followed_games([state])
        worlds = self._worlds(games, memory, legal, [hands], rng)
        count = int(legal.sum()), len(hands)
        root, tried = np.zeros(count, np.int64), np.indices(count)
        games, memory = worlds.made(root.ravel(), tried[0].ravel(), tried[1].ravel())
        policy = self.blueprint.policy(games, self.blueprint.observe(games, memory))
        if self.greedy:
            policy = (policy == policy.max(1, keepdims=True)) & (policy > 0.0)
        shares = np.asarray(policy, np.float64).reshape(*count, -1).mean(1)
        return [
            (int(row.argmax()), float(row.max())) if row.max() > 0.0 else None for row in shares
        ]

    def _estimates(
        self,
        games: Games,
        memory: Memory,
        anchor: Array,
        legal: Legal,
        hands: Sequence[Hands],
        rng: np.random.Generator,
    ) -> dict[int, Estimate]:
        """Return the values of the moves by decision; leave out decisions without hands."""
        known = np.flatnonzero([len(drawn) for drawn in hands])
        if not len(known):
            return {}
        roots = known.tolist()
        drawn = [hands[row] for row in roots]
        worlds = self._worlds(games.take(known), rows(memory, known), legal[known], drawn, rng)
        leads = [self._lead(anchor[row, legal[row]]) for row in roots]
        sizes = legal[known].sum(1).tolist()
        return dict(zip(roots, estimate(worlds.returns, sizes, self.budget, leads), strict=True))

    def _followed_games(self, states: Sequence[HanabiState]) -> tuple[Games, Memory]:
        """Return the games of states as a batch, with the blueprint's memory of them."""
        return Games.join([state.games for state in states]), self._followed.memories(states)

    def _worlds(
        self,
        games: Games,
        memory: Memory,
        legal: Legal,
        hands: Sequence[Hands],
        rng: np.random.Generator,
    ) -> "_Worlds":
        return _Worlds(
            self.blueprint, games, memory, legal, hands, rng, greedy=self.greedy, depth=self.depth
        )

    def _lead(self, anchor: Array) -> Array:
        """Return the anchor's term λ log τ(a) in the comparison of Q(a) + λ log τ(a)."""
        if self.kl is not None or self.lam in (0.0, inf):
            return np.zeros(len(anchor))
        with np.errstate(divide="ignore"):
            return np.asarray(self.lam * np.log(anchor))

    def _improved(self, anchor: Array, q: Array) -> Array:
        """Return the policy of one decision that search makes of the anchor."""
        if self.kl is None:
            return improved(anchor, q, self.lam, self.threshold)
        return forward_kl(anchor, q, lam_of_kl(anchor, q, self.kl))


class _Worlds:
    """Returns of moves in sampled worlds: a hand of the mover, and an order of the draw pile."""

    def __init__(
        self,
        blueprint: Blueprint,
        games: Games,
        memory: Memory,
        legal: Legal,
        hands: Sequence[Hands],
        rng: np.random.Generator,
        *,
        greedy: bool,
        depth: int | None,
    ) -> None:
        self._blueprint, self._games, self._memory = blueprint, games, memory
        self._seats = games.current_players().astype(np.int64)
        self._drawn = np.array([len(drawn) for drawn in hands])
        self._hands, self._first_hand = np.concatenate(hands), _starts(self._drawn)
        self._actions, self._first_action = np.nonzero(legal)[1], _starts(legal.sum(1))
        self._seeds = rng.integers(1 << 63, size=len(hands), dtype=np.uint64)
        self._rng, self._greedy, self._depth = rng, greedy, depth

    def returns(
        self,
        roots: npt.NDArray[np.int64],
        actions: npt.NDArray[np.int64],
        worlds: npt.NDArray[np.int64],
    ) -> Array:
        parts = [
            self._play_out(roots[part], actions[part], worlds[part])
            for start in range(0, len(roots), _AT_ONCE)
            for part in [slice(start, start + _AT_ONCE)]
        ]
        return np.concatenate(parts)

    def made(
        self,
        roots: npt.NDArray[np.int64],
        actions: npt.NDArray[np.int64],
        worlds: npt.NDArray[np.int64],
    ) -> tuple[Games, Memory]:
        """Return the games after these actions, not yet observed, and the players' memory."""
        hands = self._hands[self._first_hand[roots] + worlds % self._drawn[roots]]
        seeds = self._seeds[roots] + worlds.astype(np.uint64)
        games = self._games.redealt(roots, self._seats[roots], hands, seeds)
        games.step(self._actions[self._first_action[roots] + actions])
        return games, rows(self._memory, roots)

    def _play_out(
        self,
        roots: npt.NDArray[np.int64],
        actions: npt.NDArray[np.int64],
        worlds: npt.NDArray[np.int64],
    ) -> Array:
        games, memory = self.made(roots, actions, worlds)
        return self._blueprint.play_out(
            games, memory, self._rng, greedy=self._greedy, depth=self._depth
        )


def _starts(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the first row of each part when parts of these lengths are concatenated."""
    return np.asarray(np.cumsum(counts) - counts)


def _shares(state: HanabiState, hands: Hands) -> Array:
    """Return (slots, cards): the share of `hands` that have each card in each slot."""
    size = len(state.hands[state.current_player()])
    cards = np.arange(state.game.colors * state.game.ranks)
    return np.asarray((hands[:, :size, np.newaxis] == cards).mean(0))
