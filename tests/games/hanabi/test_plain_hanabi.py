"""The plain rules of Hanabi, held to OpenSpiel's and to recorded games; the native ones to them."""

from itertools import islice

import numpy as np
import pytest
from plain_hanabi import PlainHanabi, full_deck

from kedge.games.hanabi import Hanabi
from kedge.records import read_hanabi_games

GAMES = [
    {"players": 2},
    {"players": 3},
    {"players": 4},
    {"players": 5},
    {"players": 2, "colors": 2, "ranks": 3, "hand_size": 3},
    {"players": 3, "colors": 3, "ranks": 5, "hand_size": 2, "information_tokens": 3},
    {"players": 2, "life_tokens": 1},
]


@pytest.fixture(params=GAMES, ids=str)
def games(request):
    """Decks with their options, and who plays a move in them."""
    options, rng = request.param, np.random.default_rng(1)
    cards = full_deck(options.get("colors", 5), options.get("ranks", 5))

    def deal():
        for number in range(12):
            deck = [cards[i] for i in rng.permutation(len(cards))]
            # Who plays at random loses all lives long before the pile is empty.
            yield PlainHanabi(deck, **options), chooser(rng, careful=number % 2 == 0)

    return options, deal()


def chooser(rng, careful):
    def choose(state):
        legal = state.legal_actions()
        allowed = [action for action in legal if not (careful and is_misplay(state, action))]
        return int(rng.choice(allowed or legal))

    return choose


def is_misplay(state: PlainHanabi, action: int) -> bool:
    kind, slot, _ = state.words(action)
    if kind != "play":
        return False
    color, rank = state.hands[state.player][slot].card
    return rank != state.fireworks[color] + 1


def test_openspiel(games):
    pyspiel = pytest.importorskip("pyspiel", reason="needs OpenSpiel")
    options, dealt = games
    names = {"information_tokens": "max_information_tokens", "life_tokens": "max_life_tokens"}
    words = ",".join(f"{names.get(name, name)}={value}" for name, value in options.items())
    game = pyspiel.load_game(f"hanabi({words})")
    for plain, choose in dealt:
        state, pile = game.new_initial_state(), iter(plain.deck)
        while not state.is_terminal():
            if state.is_chance_node():
                color, rank = next(pile)
                state.apply_action(color * plain.ranks + rank - 1)
                continue
            assert state.current_player() == plain.player
            assert state.legal_actions() == plain.legal_actions()
            assert state.returns() == [plain.score()] * plain.players
            action = choose(plain)
            state.apply_action(action)
            plain.apply_action(action)
        assert plain.is_terminal()
        assert state.returns() == [plain.score()] * plain.players


def test_native_games(games):
    options, dealt = games
    for plain, choose in dealt:
        state = Hanabi(**options).initial_state(plain.deck)
        while True:
            assert state.legal_actions() == plain.legal_actions()
            assert state.hands == [[held.card for held in hand] for hand in plain.hands]
            assert state.known == [
                [
                    (*map(tuple, map(sorted, (h.colors, h.ranks))), h.told_color, h.told_rank)
                    for h in hand
                ]
                for hand in plain.hands
            ]
            assert (state.fireworks, state.discards) == (plain.fireworks, sorted(plain.discards))
            assert (state.information, state.lives) == (plain.information, plain.lives)
            assert (state.score, state.deck_size) == (plain.score(), len(plain.pile))
            assert state.is_terminal() == plain.is_terminal()
            if plain.is_terminal():
                break
            assert state.current_player() == plain.player
            action = choose(plain)
            state.apply_action(action)
            plain.apply_action(action)


@pytest.mark.parametrize("name", ["jaxmarl", "smartbot"])
def test_recorded_games(name, shared):
    path = shared(f"data/hanabi/{name}_selfplay_2p.jsonl.xz")
    bomb = "zero" if name == "jaxmarl" else "stack"  # as they count
    for game in islice(read_hanabi_games(path), 300):
        state = PlainHanabi(game.deck, bomb=bomb)
        for action in game.actions:
            state.apply_action(action)
        assert state.is_terminal()
        assert state.score() == game.score


def test_what_holders_know():
    deck = [(0, 1), (1, 1), (0, 1), (0, 1), (0, 2), (1, 1), (1, 1), (1, 2)]
    state = PlainHanabi(deck, colors=2, ranks=2, hand_size=2)
    state.apply_action(4)  # colour 0 to the other
    assert [(held.colors, held.told_color) for held in state.hands[1]] == [({0}, 0)] * 2
    state.apply_action(5)  # colour 1 back
    first, second = state.hands[0]
    assert (first.colors, first.told_color) == ({0}, None)
    assert (second.colors, second.told_color, second.ranks) == ({1}, 1, {1, 2})
    assert state.information == 6


@pytest.mark.parametrize(("bomb", "score"), [("zero", 0), ("stack", 1)])
def test_bombs(bomb, score):
    deck = full_deck(1, 3)
    state = PlainHanabi(deck, colors=1, ranks=3, hand_size=2, life_tokens=2, bomb=bomb)
    for lives in (2, 1, 0):
        state.apply_action(2)  # everyone plays a one
        assert state.lives == lives
    assert (state.is_terminal(), state.score()) == (True, score)
