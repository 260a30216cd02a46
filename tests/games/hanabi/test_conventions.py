"""The native player by conventions, held to its plain specification, and what it believes."""

from itertools import product

import numpy as np
import pytest
from plain_conventions import PlainConventions
from plain_hanabi import PlainHanabi

from kedge import _core
from kedge.games.hanabi import Hanabi
from kedge.models.hanabi.conventions import ConventionsBelief, ConventionsBlueprint

SMALL = {"players": 2, "colors": 2, "ranks": 3, "hand_size": 3, "information_tokens": 4}
GAMES = [
    {"players": 2},
    {"players": 3},
    {"players": 4},
    {"players": 5},
    SMALL,
    {"players": 3, "colors": 3, "hand_size": 2, "information_tokens": 0},
    {"players": 2, "hand_size": 8, "life_tokens": 1},
]


def conventional(state, blueprint, memory):
    memory = blueprint.observe(state.games, memory)
    return int(blueprint.policy(state.games, memory).argmax()), memory


@pytest.mark.parametrize("options", GAMES, ids=str)
@pytest.mark.parametrize("stray", [0.0, 0.2])  # how often a move is not by the conventions
def test_the_native_player_is_the_plain_one(options, stray):
    blueprint, rng = ConventionsBlueprint(), np.random.default_rng(0)
    for _ in range(6):
        state = Hanabi(**options).initial_state(rng=rng)
        plain = PlainConventions(PlainHanabi(state.deck, **options))
        memory = blueprint.begin(1)
        while not state.is_terminal():
            action, memory = conventional(state, blueprint, memory)
            assert action == plain.choose()
            if rng.random() < stray:
                action = int(rng.choice(state.legal_actions()))
            state.apply_action(action)
            plain.apply_action(action)


def test_it_plays_well():
    games = Hanabi().deal(2000, np.random.default_rng(0))
    blueprint, rng = ConventionsBlueprint(), np.random.default_rng(0)
    scores = blueprint.play_out(games, blueprint.begin(2000), rng, greedy=False)
    assert 22.4 < scores.mean() < 22.8
    assert (scores > 0).all()


def test_games_are_played_out_as_they_are_played():
    game, blueprint, rng = Hanabi(3), ConventionsBlueprint(), np.random.default_rng(1)
    games = game.deal(50, rng)
    memory = blueprint.begin(50)
    for _ in range(7):
        memory = blueprint.observe(games, memory)
        games.step(blueprint.policy(games, memory).argmax(1))
    whole = blueprint.play_out(games.take(np.arange(50)), memory, rng, greedy=True)
    while (games.legal_actions() > 0).any():
        memory = blueprint.observe(games, memory)
        policy = blueprint.policy(games, memory)
        over = games.legal_actions() == 0
        assert not policy[over].any()
        games.step(np.where(over, -1, policy.argmax(1)))
    np.testing.assert_array_equal(whole, games.scores())
    with pytest.raises(ValueError, match="marks: expected one row per game"):
        blueprint.observe(games, blueprint.begin(3))


def test_memory_does_not_depend_on_hidden_cards():
    """Games that differ in one seat's cards share a memory, until someone acts on them."""
    blueprint, rng = ConventionsBlueprint(), np.random.default_rng(2)
    state = Hanabi().initial_state(rng=rng)
    memory = blueprint.begin(1)
    for _ in range(20):
        action, memory = conventional(state, blueprint, memory)
        state.apply_action(action)
    [hands] = ConventionsBelief().draw([state], 5, rng)
    which = np.zeros(5, np.int64)
    seats = np.full(5, state.current_player())
    supposed = state.games.redealt(which, seats, hands, np.arange(5, dtype=np.uint64))
    (marks,) = blueprint.observe(supposed, (memory[0][which],))
    assert (marks == marks[0]).all()


def explained(state, seat, hand):
    """Whether the others would have done what they did, had `seat` held these cards all along."""
    deck = list(state.deck)
    for place, card in zip(dealt_to(state, seat), hand, strict=True):
        deck[place] = state.game.card(int(card))
    # What is left of the cards makes up the pile: nobody has seen it.
    rest = list(state.game.cards)
    drawn = len(deck) - state.deck_size
    for card in deck[:drawn]:
        rest.remove(card)
    plain = PlainConventions(PlainHanabi(deck[:drawn] + rest, **state.game.parameters))
    for number, action in enumerate(state.history):
        if number % state.num_players != seat and plain.choose() != action:
            return False
        plain.apply_action(action)
    return True


def dealt_to(state, seat):
    """Which places of the deck the cards in hand came from."""
    size = state.game.hand_size
    hands = [list(range(s * size, (s + 1) * size)) for s in range(state.num_players)]
    following = state.num_players * size
    for number, action in enumerate(state.history):
        kind, slot, _ = state.game.moves[action]
        if kind in ("play", "discard"):
            hand = hands[number % state.num_players]
            del hand[slot]
            if following < len(state.deck):
                hand.append(following)
                following += 1
    return hands[seat]


def brute_force(state):
    """Every hand that explains the game, and in how many ways it may have been dealt."""
    seat = state.current_player()
    size = len(state.hands[seat])
    kinds = state.game.colors * state.game.ranks
    hands = np.array(list(product(range(kinds), repeat=size)), np.uint8)
    padded = np.pad(hands, ((0, 0), (0, state.game.hand_size - size)))
    which = np.zeros(len(hands), np.int64)
    possible = state.games.possible(which, which + seat, padded).astype(bool)
    weights = {}
    left = left_for(state, seat)
    for hand in hands[possible]:
        if explained(state, seat, hand):
            counts, ways = left.copy(), 1
            for card in hand:
                ways *= counts[card]
                counts[card] -= 1
            weights[tuple(hand.tolist())] = ways
    return weights


def left_for(state, seat):
    ranks = state.game.ranks
    cards = [*state.hands[seat], *state.deck[len(state.deck) - state.deck_size :]]
    numbers = [card.colour * ranks + card.rank - 1 for card in cards]
    return np.bincount(numbers, minlength=state.game.colors * ranks)


def as_conventions_go(seed, plies, options=SMALL):
    blueprint, rng = ConventionsBlueprint(), np.random.default_rng(seed)
    state = Hanabi(**options).initial_state(rng=rng)
    memory = blueprint.begin(1)
    while not state.is_terminal() and len(state.history) < plies:
        action, memory = conventional(state, blueprint, memory)
        state.apply_action(action)
    return state


@pytest.mark.parametrize(("seed", "plies"), [(0, 3), (1, 4), (2, 6), (3, 7)])
def test_hands_come_as_often_as_they_explain_the_game(seed, plies):
    state = as_conventions_go(seed, plies)
    weights = brute_force(state)
    assert tuple(state.games.hands()[0, state.current_player()].tolist()) in weights
    [hands] = ConventionsBelief().draw([state], 20_000, np.random.default_rng(0))
    found, counts = np.unique(hands, axis=0, return_counts=True)
    drawn = dict(zip(map(tuple, found.tolist()), counts / 20_000, strict=True))
    assert set(drawn) <= set(weights)
    total = sum(weights.values())
    for hand, ways in weights.items():
        assert drawn.get(hand, 0.0) == pytest.approx(ways / total, abs=0.015)


def test_a_belief_goes_on_with_its_game():
    """Asked at every turn, or once: the hands are from the same belief, listed or not."""
    blueprint, rng = ConventionsBlueprint(), np.random.default_rng(5)
    state = Hanabi().initial_state(rng=rng)
    belief, memory = ConventionsBelief(), blueprint.begin(1)
    while not state.is_terminal():
        [hands] = belief.draw([state], 40, rng)
        seat = np.full(len(hands), state.current_player())
        assert len(hands) == 40
        assert state.games.possible(np.zeros(40, np.int64), seat, hands).all()
        if len(state.history) in (10, 30, 50):
            [afresh] = ConventionsBelief().draw([state.clone()], 400, rng)
            [again] = belief.draw([state], 400, rng)
            for slot in range(5):
                shares = [
                    np.bincount(part[:, slot], minlength=25) / 400 for part in (afresh, again)
                ]
                np.testing.assert_allclose(*shares, atol=0.13)
        action, memory = conventional(state, blueprint, memory)
        state.apply_action(action)


def test_hands_are_the_same_on_any_number_of_threads():
    state = as_conventions_go(3, 12, {"players": 2})
    drawn = []
    for threads in (1, 2, 5):
        belief = _core.HanabiBelief(state.positions[0], state.current_player())
        for action in state.history:
            belief.step(action)
        drawn.append(belief.draw(500, 7, threads))
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] == drawn[2]).all()


def test_an_empty_belief_begins_anew():
    """A partner who discards a card that is known to be playable is beyond the conventions."""
    game = Hanabi(**SMALL)
    state = next(
        state
        for seed in range(100)
        for state in [as_conventions_go(seed, 2 + seed % 6)]
        if not state.is_terminal() and strays(state)
    )
    belief, rng = ConventionsBelief(), np.random.default_rng(0)
    [none] = belief.draw([state], 10, rng)
    assert none.shape == (0, game.hand_size)
    [some] = belief.draw([state], 10, rng)
    assert len(some) == 10


def strays(state):
    """Makes a move that no hand of the other explains, if there is one."""
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        if not after.is_terminal() and not brute_force(after):
            state.apply_action(action)
            return True
    return False


def test_beliefs_refuse_what_makes_no_sense():
    games = Hanabi().deal(2, np.random.default_rng(0))
    one = games.take(np.zeros(1, np.int64))
    with pytest.raises(ValueError, match="expected one game"):
        _core.HanabiBelief(games, 0)
    with pytest.raises(ValueError, match="seats are 0 to 1"):
        _core.HanabiBelief(one, 2)
    belief = _core.HanabiBelief(one, 0)
    for action in (0, 99, -1):  # all tokens are there
        with pytest.raises(ValueError, match="is not legal"):
            belief.step(action)
    one.step(np.array([5], np.int64))
    with pytest.raises(ValueError, match="expected the beginning"):
        _core.HanabiBelief(one, 0)
