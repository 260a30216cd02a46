"""Beliefs over listed hands, held to the native one of the conventions and to Bayes' rule."""

import numpy as np
import pytest

from kedge.errors import InputError
from kedge.games.hanabi import Hanabi
from kedge.models.hanabi.conventions import ConventionsBelief, ConventionsBlueprint
from kedge.models.hanabi.exact import ExactBelief, exact_belief
from kedge.models.hanabi.model import UniformBlueprint

GAME = Hanabi(colors=4, ranks=5, hand_size=4)  # some 130,000 hands
THREE = Hanabi(players=3, colors=4, ranks=5, hand_size=4)
COUNT = 20_000


def played(seed, plies, game=GAME):
    """Return a game after `plies` moves by the conventions."""
    blueprint, state = ConventionsBlueprint(), game.initial_state(rng=np.random.default_rng(seed))
    memory = blueprint.begin(1)
    while len(state.history) < plies and not state.is_terminal():
        memory = blueprint.observe(state.games, memory)
        state.apply_action(int(blueprint.policy(state.games, memory).argmax()))
    return state


def marginals(hands, game=GAME):
    return (hands[:, :, np.newaxis] == np.arange(game.colors * game.ranks)).mean(0)


@pytest.mark.parametrize(
    ("seed", "plies", "game"), [(0, 2, GAME), (1, 5, GAME), (3, 9, GAME), (4, 7, THREE)]
)
def test_trials_and_lists_agree(seed, plies, game):
    """The native belief draws before it lists; this one lists everything."""
    state, rng = played(seed, plies, game), np.random.default_rng(0)
    listing = ExactBelief(ConventionsBlueprint(), most=200_000)
    [listed], [tried] = (b.draw([state], COUNT, rng) for b in (listing, ConventionsBelief()))
    np.testing.assert_allclose(marginals(listed), marginals(tried), atol=0.02)
    # Not the cards alone, but which come together.
    pairs = [np.bincount(h[:, 0] * 20 + h[:, 1], minlength=400) / COUNT for h in (listed, tried)]
    np.testing.assert_allclose(*pairs, atol=0.015)


def test_a_sample_of_too_many_hands_is_as_likely_and_ends_once_all_can_be_listed():
    rng, beliefs = (
        np.random.default_rng(0),
        [ExactBelief(ConventionsBlueprint(), most=most) for most in (200_000, 20_000)],
    )
    state, moves = played(1, 2), played(1, 6).history
    for atol in (0.04, 0.02):
        whole, part = (belief.draw([state], COUNT, rng)[0] for belief in beliefs)
        np.testing.assert_allclose(marginals(whole), marginals(part), atol=atol)
        for action in moves[2:]:
            state.apply_action(action)


def test_a_belief_is_taken_up_where_it_was_left():
    state, rng = played(2, 0), np.random.default_rng(0)
    belief, moves = ExactBelief(ConventionsBlueprint(), most=200_000), played(2, 12).history
    for action in moves:
        if len(state.history) % 2 == 0:
            [hands] = belief.draw([state], 10, rng)
            seats = np.full(10, state.current_player())
            assert state.games.possible(np.zeros(10, np.int64), seats, hands).all()
        state.apply_action(action)
    [followed], [afresh] = (
        one.draw([state], COUNT, rng)
        for one in (belief, ExactBelief(ConventionsBlueprint(), most=200_000))
    )
    np.testing.assert_allclose(marginals(followed), marginals(afresh), atol=0.02)


def test_beliefs_are_empty_together():
    """Whatever the other does at its first turn, by the conventions or not."""
    before, rng, empty = played(5, 1), np.random.default_rng(0), 0
    for action in before.legal_actions()[::3]:
        state = before.clone()
        state.apply_action(action)
        beliefs = ConventionsBelief(), ExactBelief(ConventionsBlueprint(), most=200_000)
        tried, listed = (len(belief.draw([state], 5, rng)[0]) for belief in beliefs)
        assert tried == listed
        empty += tried == 0
    assert empty


class Telling(UniformBlueprint):
    """Hints three times as likely, if the next player's oldest card is a 1."""

    def policy(self, games, memory):
        even = super().policy(games, memory)
        hands, players = games.hands(), games.current_players()
        oldest = hands[np.arange(len(hands)), 1 - players, 0] % SMALL.ranks
        even[:, 2 * SMALL.hand_size :] *= np.where(oldest == 0, 3.0, 1.0)[:, np.newaxis]
        return even / np.maximum(even.sum(1, keepdims=True), 1e-300)


SMALL = Hanabi(colors=2, ranks=3, hand_size=2)


def test_partners_that_draw_their_moves_are_weighed():
    blueprint = Telling(len(SMALL.moves))
    dealt = [(0, 1), (0, 2), (1, 1), (1, 2)]
    state = SMALL.initial_state([*dealt, *rest(dealt)])
    state.apply_action(state.legal_actions()[-1])
    action = state.legal_actions()[-1]
    state.apply_action(action)
    [hands] = ExactBelief(blueprint).draw([state], COUNT, np.random.default_rng(0))
    # By hand: the likelihood of the move for each hand that may be, times the ways it is dealt.
    likelihood = {}
    which = np.zeros(1, np.int64)
    earlier = after(state, 1)
    for hand in np.unique(hands, axis=0):
        games = earlier.games.redealt(which, which, hand[np.newaxis], np.zeros(1, np.uint64))
        likelihood[tuple(hand)] = blueprint.policy(games, ())[0, action]
    assert len(set(likelihood.values())) > 1
    left = np.array([3, 2, 1, 3, 2, 1])
    left[[3, 4]] -= 1  # seen in the other's hand
    ways = {h: left[h[0]] * (left[h[1]] - (h[0] == h[1])) for h in likelihood}
    total = sum(ways[h] * likelihood[h] for h in likelihood)
    for hand, weight in ways.items():
        share = (hands == hand).all(1).mean()
        assert share == pytest.approx(weight * likelihood[hand] / total, abs=0.015)


def rest(dealt):
    cards = list(SMALL.cards)
    for card in dealt:
        cards.remove(card)
    return cards


def after(state, plies):
    """The same game, so many moves in."""
    earlier = SMALL.initial_state(state.deck)
    for action in state.history[:plies]:
        earlier.apply_action(action)
    return earlier


def test_greedy_partners_make_the_likeliest_move():
    blueprint, state = Telling(len(SMALL.moves)), SMALL.initial_state(rng=np.random.default_rng(0))
    state.apply_action(state.legal_actions()[-1])
    policy = blueprint.policy(state.games, ())[0]
    unlikely = next(a for a in state.legal_actions() if a != policy.argmax())
    state.apply_action(unlikely)
    rng, greedy = np.random.default_rng(0), ExactBelief(blueprint, greedy=True)
    [sampled] = ExactBelief(blueprint).draw([state], 10, rng)
    assert len(sampled) == 10
    [none] = greedy.draw([state], 10, rng)
    assert none.shape == (0, 2)
    [anew] = greedy.draw([state], 10, rng)
    assert len(anew) == 10


def test_a_greedy_partner_who_slips_is_one_or_the_other():
    """As if each move were drawn from a mixture: the likeliest one, or one by the policy."""
    blueprint, state = Telling(len(SMALL.moves)), SMALL.initial_state(rng=np.random.default_rng(0))
    state.apply_action(state.legal_actions()[-1])
    policy = blueprint.policy(state.games, ())[0]
    state.apply_action(next(a for a in state.legal_actions() if a != policy.argmax()))
    beliefs = ExactBelief(blueprint, greedy=True, slips=0.2), ExactBelief(blueprint)
    slipping, sampled = (
        belief.draw([state], COUNT, np.random.default_rng(0))[0] for belief in beliefs
    )
    # No hand makes that move the likeliest, so that nothing but the slip is left to go by.
    assert np.array_equal(slipping, sampled)
    with pytest.raises(InputError, match="slips: from 0 to 1, not 2"):
        ExactBelief(blueprint, slips=2)


def test_the_quickest_belief_is_chosen():
    assert isinstance(exact_belief(ConventionsBlueprint()), ConventionsBelief)
    assert isinstance(exact_belief(UniformBlueprint(21)), ExactBelief)
    with pytest.raises(InputError, match="most: a whole number, at least 1, not 0"):
        ExactBelief(UniformBlueprint(21), most=0)
