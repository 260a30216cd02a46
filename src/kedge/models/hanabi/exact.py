"""The exact belief about a seat's hand, if the others play by a blueprint."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kedge.errors import InputError
from kedge.games.hanabi import Hanabi, HanabiState
from kedge.models.hanabi.conventions import ConventionsBelief, ConventionsBlueprint
from kedge.models.hanabi.model import Belief, Blueprint, Games, Hands, Memory, rows
from kedge.regularize import Array

_CHUNK = 16_384  # hands evaluated at once
#: Share of greedy players' moves taken as drawn, since a searching player leaves the blueprint.
SLIPS = 0.1
_NEGLIGIBLE = 1e-6  # relative to the weight of the likeliest hand


def exact_belief(blueprint: Blueprint, *, greedy: bool = False) -> Belief:
    """The fastest belief for `blueprint`."""
    if isinstance(blueprint, ConventionsBlueprint):
        return ConventionsBelief()
    return ExactBelief(blueprint, greedy=greedy, slips=SLIPS if greedy else 0.0)


class ExactBelief:
    """Weighs each possible hand by the likelihood of the others' moves given that hand.

    If more than `most` hands are possible, as before any hints, `most` of them are drawn and
    weighed; later, all are weighed. If no hand is left, none is drawn, and the belief restarts
    from the hints alone.

    Parameters
    ----------
    greedy
        Whether the others play the blueprint's likeliest move.
    slips
        Share of moves that greedy players draw from the policy instead. It keeps hands possible
        after a move that is not the likeliest.
    """

    def __init__(
        self,
        blueprint: Blueprint,
        *,
        greedy: bool = False,
        slips: float = 0.0,
        most: int = 50_000,
    ) -> None:
        if type(most) is not int or most < 1:
            raise InputError(f"most: a whole number, at least 1, not {most}")
        if not 0.0 <= slips <= 1.0:
            raise InputError(f"slips: from 0 to 1, not {slips:g}")
        self._blueprint, self._most = blueprint, most
        self._drawn_moves = slips if greedy else 1.0  # share of the others' moves
        self._kept: WeakKeyDictionary[HanabiState, dict[int, _Kept]] = WeakKeyDictionary()

    def draw(
        self, states: Sequence[HanabiState], count: int, rng: np.random.Generator
    ) -> list[Hands]:
        return [self._drawn(state, count, rng) for state in states]

    def _drawn(self, state: HanabiState, count: int, rng: np.random.Generator) -> Hands:
        seats = self._kept.setdefault(state, {})
        seat = state.current_player()
        if seat not in seats:
            seats[seat] = _Kept(state.game, self._blueprint.begin(1), seat)
        kept = seats[seat]
        for ply in range(kept.seen, len(state.history)):
            before = state.positions[ply]
            kept.memory = self._blueprint.observe(before, kept.memory)
            kept.step(before, state.history[ply])
        listing = _Listing(state.game, state.games, seat)
        if not kept.is_whole and listing.count() <= self._most:
            kept.restart()
        hands, is_whole = listing.complete(kept.hands, self._most, rng)
        kept.is_whole &= is_whole
        for moment in kept.moments[kept.weighed :]:
            hands = hands.weighed(self._likelihoods(moment, seat, hands.cards))
        if not len(hands.cards):
            kept.moments.clear()
            kept.restart()
            return np.zeros((0, state.game.hand_size), np.uint8)
        kept.hands, kept.weighed = hands, len(kept.moments)
        chosen = hands.cards[rng.choice(len(hands.cards), count, p=hands.shares())]
        return np.pad(chosen, ((0, 0), (0, state.game.hand_size - chosen.shape[1])))

    def _likelihoods(self, moment: "_Moment", seat: int, hands: Hands) -> Array:
        """The likelihood of the move made, for each of the seat's possible hands."""
        out = np.zeros(len(hands))
        for start in range(0, len(hands), _CHUNK):
            part = moment.hands(seat, hands[start : start + _CHUNK])
            which, seats = np.zeros(len(part), np.int64), np.full(len(part), seat)
            games = moment.games.redealt(which, seats, part, np.zeros(len(part), np.uint64))
            policy = self._blueprint.policy(games, rows(moment.memory, which))
            likeliest = policy.argmax(1) == moment.action
            out[start : start + _CHUNK] = likeliest + self._drawn_moves * (
                policy[:, moment.action] - likeliest
            )
        return out


@dataclass(frozen=True, slots=True)
class _Moment:
    """The position before another player's move, and the current slots of the seat's cards."""

    games: Games
    memory: Memory
    action: int
    slots: list[int | None]  # None for a card that was shown since

    def hands(self, seat: int, now: Hands) -> Hands:
        """The hands at that time, if the seat holds the hands `now`."""
        then = np.maximum(self.games.hands()[:, seat], 0).astype(np.uint8).repeat(len(now), 0)
        for slot, where in enumerate(self.slots):
            if where is not None:
                then[:, slot] = now[:, where]
        return then


@dataclass(frozen=True, slots=True)
class _Weighed:
    """The oldest cards of hands, with log weights."""

    cards: Hands
    ways: Array
    """Log of the number of ways to deal them from the cards that are hidden now."""
    likelihood: Array
    """Log-likelihood of the others' moves; for sampled hands, minus `ways` at the time."""

    def shares(self) -> Array:
        weights = np.exp(self._log() - self._log().max())
        return np.asarray(weights / weights.sum())

    def _log(self) -> Array:
        return self.ways + self.likelihood

    def take(self, which: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> "_Weighed":
        return _Weighed(self.cards[which], self.ways[which], self.likelihood[which])

    def weighed(self, likelihoods: Array) -> "_Weighed":
        """Weigh by one more move, and drop hands that are then almost impossible."""
        with np.errstate(divide="ignore"):
            hands = _Weighed(self.cards, self.ways, self.likelihood + np.log(likelihoods))
        weights = hands._log()
        return hands.take(weights > weights.max(initial=-np.inf) + np.log(_NEGLIGIBLE))

    def shown(self, slot: int, card: int) -> "_Weighed":
        """Keep the hands with `card` in `slot`, and remove it from them."""
        if slot >= self.cards.shape[1]:
            return self
        left = self.take(self.cards[:, slot] == card)
        return _Weighed(np.delete(left.cards, slot, 1), left.ways, left.likelihood)


#: The single hand without cards.
_NOTHING = _Weighed(np.zeros((1, 0), np.uint8), np.zeros(1), np.zeros(1))


@dataclass(slots=True)
class _Kept:
    """The belief about one seat's hand after `seen` moves of a game."""

    game: Hanabi
    memory: Memory
    seat: int
    hands: _Weighed = _NOTHING
    moments: list[_Moment] = field(default_factory=list)
    weighed: int = 0  # number of moments already weighed
    is_whole: bool = True  # whether all possible hands are listed
    seen: int = 0

    def step(self, before: Games, action: int) -> None:
        """Advance by one move: others' moves are evidence, own moves may show a card."""
        kind, slot, _ = self.game.moves[action]
        hand = before.hands()[0, self.seat]
        if before.current_players()[0] != self.seat:
            slots: list[int | None] = list(range(int((hand >= 0).sum())))
            self.moments.append(_Moment(before, self.memory, action, slots))
        elif kind in ("play", "discard"):
            self.hands = self.hands.shown(slot, int(hand[slot]))
            for moment in self.moments:
                moment.slots[:] = [_moved(where, slot) for where in moment.slots]
        self.seen += 1

    def restart(self) -> None:
        self.hands, self.weighed, self.is_whole = _NOTHING, 0, True


def _moved(where: int | None, given_up: int) -> int | None:
    """A card's slot after the card in slot `given_up` left the hand."""
    if where is None or where == given_up:
        return None
    return where - (where > given_up)


class _Listing:
    """Lists the hands a seat may hold, by its hints and the cards it sees."""

    def __init__(self, game: Hanabi, games: Games, seat: int) -> None:
        kinds = game.colors * game.ranks
        hands = games.hands()[0]
        self._size = int((hands[seat] >= 0).sum())
        others = np.delete(hands, seat, 0)
        seen = np.bincount(others[others >= 0], minlength=kinds)
        played = np.arange(game.ranks) < games.fireworks()[0][:, np.newaxis]
        copies = np.bincount(game.rules.deck(), minlength=kinds)
        #: Number of hidden cards of each kind.
        self._left = copies - seen - games.discards()[0] - played.ravel()
        colours, ranks = games.known_colours()[0, seat], games.known_ranks()[0, seat]
        by_colour, by_rank = (
            (bits[: self._size, np.newaxis] >> np.arange(count)) & 1
            for bits, count in ((colours, game.colors), (ranks, game.ranks))
        )
        #: (slots, kinds): kinds that the hints allow.
        self._allowed = (by_colour[:, :, np.newaxis] & by_rank[:, np.newaxis]).reshape(
            -1, kinds
        ) > 0

    def count(self) -> int:
        """An upper bound of the number of possible hands."""
        return int(np.prod((self._allowed & (self._left > 0)).sum(1)))

    def complete(
        self, hands: _Weighed, most: int, rng: np.random.Generator
    ) -> tuple[_Weighed, bool]:
        """Complete the hands that are still possible, or draw `most` of them.

        Also return whether all hands are listed.
        """
        counts = np.tile(self._left, (len(hands.cards), 1))
        ways = np.ones(len(hands.cards))
        each = np.arange(len(hands.cards))
        for slot, cards in enumerate(hands.cards.T):
            ways *= counts[each, cards] * self._allowed[slot, cards]
            counts[each, cards] -= 1
        fits = ways > 0.0
        with np.errstate(divide="ignore"):
            listed = _Weighed(hands.cards, np.log(ways), hands.likelihood).take(fits)
        counts, is_whole = counts[fits], True
        for slot in range(hands.cards.shape[1], self._size):
            listed, counts = self._longer(listed, counts, slot)
            if len(listed.cards) > most:
                chosen = rng.choice(len(listed.cards), most, p=listed.shares())
                listed, counts = listed.take(chosen), counts[chosen]
                listed = _Weighed(listed.cards, listed.ways, -listed.ways)
                is_whole = False
        return listed, is_whole

    def _longer(
        self, hands: _Weighed, counts: npt.NDArray[np.int64], slot: int
    ) -> tuple[_Weighed, npt.NDArray[np.int64]]:
        """Extend the hands by every possible next card; also return the counts left hidden."""
        hand, card = np.nonzero((counts > 0) & self._allowed[slot])
        cards = np.column_stack([hands.cards[hand], card.astype(np.uint8)])
        ways = hands.ways[hand] + np.log(counts[hand, card])
        left = counts[hand]
        left[np.arange(len(hand)), card] -= 1
        return _Weighed(cards, ways, hands.likelihood[hand]), left


__all__ = ["SLIPS", "ExactBelief", "exact_belief"]
