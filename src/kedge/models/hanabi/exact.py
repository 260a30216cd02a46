"""What a seat may hold when the others play by a blueprint: hands one by one, by how likely."""

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

_CHUNK = 16_384  # hands that a blueprint is asked about at once
SLIPS = 0.1  #: Of greedy players' moves, drawn ones: who searches leaves the blueprint too.
_NEGLIGIBLE = 1e-6  # of the weight of the likeliest hand


def exact_belief(blueprint: Blueprint, *, greedy: bool = False) -> Belief:
    """The quickest there is for `blueprint`."""
    if isinstance(blueprint, ConventionsBlueprint):
        return ConventionsBelief()
    return ExactBelief(blueprint, greedy=greedy, slips=SLIPS if greedy else 0.0)


class ExactBelief:
    """Weighs each hand by how likely the others would have done what they did, had it been this.

    Where more than `most` hands are possible, as they are before there are hints, so many of them
    are drawn and weighed; once no more are possible, all are. If none is left, there is none to
    draw, and the belief begins anew with nothing but what hints have told.

    Parameters
    ----------
    greedy
        Whether the others make the blueprint's likeliest move.
    slips
        How often the others draw from the blueprint's policy where they are greedy: a move that is
        not its likeliest leaves hands to choose from then.
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
            raise InputError(f"most: a whole number of hands, at least 1, not {most}")
        if not 0.0 <= slips <= 1.0:
            raise InputError(f"slips: from 0 to 1, not {slips:g}")
        self._blueprint, self._most = blueprint, most
        self._drawn_moves = slips if greedy else 1.0  # of the others' moves, how many are
        self._kept: WeakKeyDictionary[HanabiState, dict[int, _Kept]] = WeakKeyDictionary()

    def draw(
        self, states: Sequence[HanabiState], count: int, rng: np.random.Generator
    ) -> list[Hands]:
        return [self._drawn(state, count, rng) for state in states]

    def _drawn(self, state: HanabiState, count: int, rng: np.random.Generator) -> Hands:
        seats = self._kept.setdefault(state, {})
        seat = state.current_player()
        if seat not in seats:
            seats[seat] = _Kept(state.game, state.beginning(), self._blueprint.begin(1), seat)
        kept = seats[seat]
        for action in state.history[kept.seen :]:
            kept.memory = self._blueprint.observe(kept.games, kept.memory)
            kept.step(action)
        listing = _Listing(state.game, kept.games, seat)
        if not kept.is_whole and listing.count() <= self._most:
            kept.begin_anew()
        hands, is_whole = listing.complete(kept.hands, self._most, rng)
        kept.is_whole &= is_whole
        for moment in kept.moments[kept.weighed :]:
            hands = hands.weighed(self._likelihoods(moment, seat, hands.cards))
        if not len(hands.cards):
            kept.moments.clear()
            kept.begin_anew()
            return np.zeros((0, state.game.hand_size), np.uint8)
        kept.hands, kept.weighed = hands, len(kept.moments)
        chosen = hands.cards[rng.choice(len(hands.cards), count, p=hands.shares())]
        return np.pad(chosen, ((0, 0), (0, state.game.hand_size - chosen.shape[1])))

    def _likelihoods(self, moment: "_Moment", seat: int, hands: Hands) -> Array:
        """Of the move that was made, had the seat held these cards."""
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
    """Before another's move, and where the cards are now that the seat held then."""

    games: Games
    memory: Memory
    action: int
    slots: list[int | None]  # none, once a card was seen

    def hands(self, seat: int, now: Hands) -> Hands:
        """What the seat held then, if it holds these cards now."""
        then = np.maximum(self.games.hands()[:, seat], 0).astype(np.uint8).repeat(len(now), 0)
        for slot, where in enumerate(self.slots):
            if where is not None:
                then[:, slot] = now[:, where]
        return then


@dataclass(frozen=True, slots=True)
class _Weighed:
    """The oldest cards of hands, and the logarithms of their weights."""

    cards: Hands
    ways: Array
    """In how many they may have been dealt, from the cards that are hidden now."""
    likelihood: Array
    """Of what the others did; less `ways` as they were, if it was drawn by its weight then."""

    def shares(self) -> Array:
        weights = np.exp(self._log() - self._log().max())
        return np.asarray(weights / weights.sum())

    def _log(self) -> Array:
        return self.ways + self.likelihood

    def take(self, which: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> "_Weighed":
        return _Weighed(self.cards[which], self.ways[which], self.likelihood[which])

    def weighed(self, likelihoods: Array) -> "_Weighed":
        """By one move more; without hands that are all but impossible then."""
        with np.errstate(divide="ignore"):
            found = _Weighed(self.cards, self.ways, self.likelihood + np.log(likelihoods))
        weights = found._log()
        return found.take(weights > weights.max(initial=-np.inf) + np.log(_NEGLIGIBLE))

    def shown(self, slot: int, card: int) -> "_Weighed":
        """A card is given up, and seen."""
        if slot >= self.cards.shape[1]:
            return self
        left = self.take(self.cards[:, slot] == card)
        return _Weighed(np.delete(left.cards, slot, 1), left.ways, left.likelihood)


#: The one hand of no cards.
_NOTHING = _Weighed(np.zeros((1, 0), np.uint8), np.zeros(1), np.zeros(1))


@dataclass(slots=True)
class _Kept:
    """What is known of one seat's hand in a game, `seen` moves into it."""

    game: Hanabi
    games: Games
    memory: Memory
    seat: int
    hands: _Weighed = _NOTHING
    moments: list[_Moment] = field(default_factory=list)
    weighed: int = 0  # moments, by which the hands were
    is_whole: bool = True  # no hand was left out
    seen: int = 0

    def step(self, action: int) -> None:
        """One move on: another's says something of the hand, one's own may show a card of it."""
        kind, slot, _ = self.game.moves[action]
        held = self.games.hands()[0, self.seat]
        if self.games.current_players()[0] != self.seat:
            slots: list[int | None] = list(range(int((held >= 0).sum())))
            before = self.games.take(np.zeros(1, np.int64))
            self.moments.append(_Moment(before, self.memory, action, slots))
        elif kind in ("play", "discard"):
            self.hands = self.hands.shown(slot, int(held[slot]))
            for moment in self.moments:
                moment.slots[:] = [_moved(where, slot) for where in moment.slots]
        self.games.step(np.array([action], np.int64))
        self.seen += 1

    def begin_anew(self) -> None:
        self.hands, self.weighed, self.is_whole = _NOTHING, 0, True


def _moved(where: int | None, given_up: int) -> int | None:
    """A card's slot, after another or itself was given up."""
    if where is None or where == given_up:
        return None
    return where - (where > given_up)


class _Listing:
    """Which cards a seat may hold, by its hints and by what it sees."""

    def __init__(self, game: Hanabi, games: Games, seat: int) -> None:
        kinds = game.colors * game.ranks
        hands = games.hands()[0]
        self._size = int((hands[seat] >= 0).sum())
        others = np.delete(hands, seat, 0)
        seen = np.bincount(others[others >= 0], minlength=kinds)
        played = np.arange(game.ranks) < games.fireworks()[0][:, np.newaxis]
        copies = np.bincount(game.rules.deck(), minlength=kinds)
        #: How many of each kind are hidden.
        self._left = copies - seen - games.discards()[0] - played.ravel()
        colours, ranks = games.known_colours()[0, seat], games.known_ranks()[0, seat]
        told = [
            (bits[: self._size, np.newaxis] >> np.arange(count)) & 1
            for bits, count in ((colours, game.colors), (ranks, game.ranks))
        ]
        #: (slots, kinds): what hints leave.
        self._told = (told[0][:, :, np.newaxis] & told[1][:, np.newaxis]).reshape(-1, kinds) > 0

    def count(self) -> int:
        """How many hands there are, or somewhat more."""
        return int(np.prod((self._told & (self._left > 0)).sum(1)))

    def complete(
        self, hands: _Weighed, most: int, rng: np.random.Generator
    ) -> tuple[_Weighed, bool]:
        """Those that are still possible, with all cards, or `most` drawn from them; whether it is
        all."""
        counts = np.tile(self._left, (len(hands.cards), 1))
        ways = np.ones(len(hands.cards))
        each = np.arange(len(hands.cards))
        for slot, cards in enumerate(hands.cards.T):
            ways *= counts[each, cards] * self._told[slot, cards]
            counts[each, cards] -= 1
        fits = ways > 0.0
        with np.errstate(divide="ignore"):
            found = _Weighed(hands.cards, np.log(ways), hands.likelihood).take(fits)
        counts, is_whole = counts[fits], True
        for slot in range(hands.cards.shape[1], self._size):
            found, counts = self._longer(found, counts, slot)
            if len(found.cards) > most:
                chosen = rng.choice(len(found.cards), most, p=found.shares())
                found, counts = found.take(chosen), counts[chosen]
                found = _Weighed(found.cards, found.ways, -found.ways)
                is_whole = False
        return found, is_whole

    def _longer(
        self, hands: _Weighed, counts: npt.NDArray[np.int64], slot: int
    ) -> tuple[_Weighed, npt.NDArray[np.int64]]:
        """With every card that may come next; and what is hidden then."""
        hand, card = np.nonzero((counts > 0) & self._told[slot])
        cards = np.column_stack([hands.cards[hand], card.astype(np.uint8)])
        ways = hands.ways[hand] + np.log(counts[hand, card])
        left = counts[hand]
        left[np.arange(len(hand)), card] -= 1
        return _Weighed(cards, ways, hands.likelihood[hand]), left


__all__ = ["SLIPS", "ExactBelief", "exact_belief"]
