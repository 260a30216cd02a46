"""Hanabi: the native rules beside OpenSpiel's, and what players see of a game."""

import json
import lzma
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pyspiel
import pytest

from kedge import _core
from kedge.errors import InputError
from kedge.games import load_game
from kedge.games.hanabi import Card, Hanabi, HanabiState, Known, Move

HELPERS = Path(__file__).parents[2] / "helpers"

# Parameters, and how many games are played: some forty steps each.
GAMES = [
    ({}, 150),
    ({"players": 3}, 150),
    ({"players": 4}, 150),
    ({"players": 5}, 150),
    ({"players": 2, "colors": 2, "ranks": 5, "hand_size": 2, "information_tokens": 3}, 30),
    ({"players": 3, "colors": 3, "ranks": 4, "hand_size": 6, "life_tokens": 1}, 30),
    ({"players": 5, "hand_size": 8, "information_tokens": 1, "life_tokens": 9}, 15),
    ({"players": 2, "colors": 1, "ranks": 1, "hand_size": 1}, 5),
]


def openspiel(game: Hanabi):
    """The same game there; it numbers cards as our core does."""
    theirs = {
        "information_tokens": "max_information_tokens",
        "life_tokens": "max_life_tokens",
    }
    parameters = {theirs.get(name, name): value for name, value in game.parameters.items()}
    given = ",".join(f"{name}={value}" for name, value in parameters.items())
    return pyspiel.load_game(f"hanabi({given})").new_initial_state()


def deal(peer, cards):
    """Forces the cards that are due."""
    while peer.is_chance_node():
        peer.apply_action(next(cards))


def playable(state: HanabiState, action: int) -> bool:
    kind, at, _ = state.game.moves[action]
    if kind != "play":
        return False
    card = state.hands[state.current_player()][at]
    return state.fireworks[card.colour] == card.rank - 1


@pytest.mark.parametrize(("parameters", "count"), GAMES)
def test_plays_as_openspiel(parameters, count):
    game = Hanabi(**parameters)
    rng = np.random.default_rng(count)
    for number in range(count):
        state = game.initial_state(rng=rng)
        peer = openspiel(game)
        cards = iter([card.colour * game.ranks + card.rank - 1 for card in state.deck])
        deal(peer, cards)
        assert game.num_features() == len(peer.observation_tensor(0))
        while True:
            player = int(rng.integers(game.num_players))
            ours, theirs = state.observation_tensor(player), peer.observation_tensor(player)
            np.testing.assert_array_equal(ours, np.array(theirs, np.float32))
            assert state.is_terminal() == peer.is_terminal()
            assert state.score == peer.returns()[0]
            if state.is_terminal():
                break
            assert state.current_player() == peer.current_player()
            legal = state.legal_actions()
            assert legal == peer.legal_actions()
            # Every other game is played well, so that stacks are finished.
            good = [a for a in legal if playable(state, a)] if number % 2 else []
            careful = [a for a in legal if number % 2 and game.moves[a].kind != "play"]
            action = int(rng.choice(good or careful or legal))
            state.apply_action(action)
            peer.apply_action(action)
            deal(peer, cards)
        assert state.returns() == peer.returns()


def test_batches_play_as_openspiel():
    """A hundred games that step together, through all of their turns."""
    game = Hanabi(players=3)
    rng = np.random.default_rng(1)
    decks = rng.permuted(np.tile(game.rules.deck(), (100, 1)), axis=1)
    games = _core.HanabiGames(game.rules, decks)
    peers, cards = [openspiel(game) for _ in decks], [iter(deck.tolist()) for deck in decks]
    for peer, due in zip(peers, cards, strict=True):
        deal(peer, due)
    rows = np.empty((100, game.num_features()), np.float32)
    turn = 0
    while (games.current_players() >= 0).any():
        games.encode(rows)
        actions = games.random_actions(turn)
        for i, action in enumerate(actions.tolist()):
            assert (action == -1) == peers[i].is_terminal()
            if action == -1:
                continue
            bits = int(games.legal_actions()[i]) if i < 5 else None
            if bits is not None:
                assert [a for a in range(64) if bits >> a & 1] == peers[i].legal_actions()
            np.testing.assert_array_equal(rows[i], peers[i].observation_tensor())
            peers[i].apply_action(action)
            deal(peers[i], cards[i])
        games.step(actions)
        turn += 1
    assert games.scores().tolist() == [peer.returns()[0] for peer in peers]


@pytest.mark.parametrize(
    ("name", "bomb", "count"),
    [("jaxmarl_selfplay_2p", "zero", 10_000), ("smartbot_selfplay_2p", "stack", 3_000)],
)
def test_recorded_games_come_to_their_scores(shared, name, bomb, count):
    check_scores(shared(f"data/hanabi/{name}.jsonl.xz"), Hanabi(bomb=bomb), count)


@pytest.mark.parametrize("players", [3, 4, 5])
def test_games_that_another_engine_played_come_to_their_scores(players):
    path = HELPERS / "games" / f"smartbot_{players}p.jsonl.xz"  # made by docs/bot_games.cc
    check_scores(path, Hanabi(players, bomb="stack"), 200)


def check_scores(path, game, count):
    """All games at once: finished ones wait for the longest."""
    with lzma.open(path, "rt") as file:
        records = [json.loads(line) for line in islice(file, count)]
    assert len(records) == count
    decks = np.array([record["deck"] for record in records])
    games = _core.HanabiGames(game.rules, (5 * decks[..., 0] + decks[..., 1] - 1).astype(np.uint8))
    actions = np.full((max(len(record["actions"]) for record in records), len(records)), -1)
    for i, record in enumerate(records):
        for turn, (seat, kind, at, value) in enumerate(record["actions"]):
            on = at if kind in ("discard", "play") else (at - seat) % game.num_players
            actions[turn, i] = game.actions[Move(kind, on, value)]
    for turn in actions:
        games.step(turn)
    assert (games.current_players() == -4).all()
    assert games.scores().tolist() == [record["score"] for record in records]


def started(**parameters) -> HanabiState:
    """A game from the deck in order: seat 0 has R1 R1 R1 R2 R2, seat 1 R3 R3 R4 R4 R5."""
    game = Hanabi(**parameters)
    return game.initial_state(game.cards)


def act(state: HanabiState, *moves) -> HanabiState:
    for move in moves:
        state.apply_action(state.game.actions[Move(*move)])
    return state


def test_hints_tell_what_cards_are_and_are_not():
    state = act(started(), ("rank", 1, 4))
    assert state.last_touched == [2, 3]
    assert state.known[1][2] == Known((0, 1, 2, 3, 4), (4,), None, 4)
    assert state.known[1][4] == Known((0, 1, 2, 3, 4), (1, 2, 3, 5), None, None)
    # With two colours a holder knows the other one, though no hint has named it.
    game = Hanabi(colors=2)
    state = game.initial_state([*game.cards[3:], *game.cards[:3]])
    act(state, ("color", 1, 0))
    assert [known[:1] + known[2:] for known in state.known[1][1:3]] == [
        ((0,), 0, None),
        ((1,), None, None),
    ]


def test_plays_discards_and_draws():
    state = act(started(), ("play", 0))
    assert state.fireworks == [1, 0, 0, 0, 0]
    assert state.hands[0] == [Card(0, 1), Card(0, 1), Card(0, 2), Card(0, 2), Card(1, 1)]
    assert (state.deck_size, state.score, state.lives) == (39, 1, 3)
    act(state, ("play", 4))
    assert (state.lives, state.discards) == (2, [Card(0, 5)])
    act(state, ("rank", 1, 3), ("discard", 0))
    assert (state.information, state.discards) == (8, [Card(0, 3), Card(0, 5)])
    assert state.last_action_string() == "player 1: discard card 1, R3"


@pytest.mark.parametrize(("bomb", "score"), [("zero", 0), ("stack", 1)])
def test_a_bomb_is_worth_what_the_rules_say(bomb, score):
    state = act(started(bomb=bomb), ("play", 0), ("play", 4), ("play", 0), ("play", 0))
    assert (state.is_terminal(), state.lives, state.score) == (True, 0, score)
    assert state.returns() == [score, score]
    assert state.deck_size == 37, "nobody draws after the end"


def test_a_finished_stack_gives_a_token_back():
    game = Hanabi(colors=2, ranks=2, hand_size=2)
    state = game.initial_state([(0, 1), (0, 2), *[(1, 1)] * 3, (0, 1), (0, 1), (1, 2)])
    act(state, ("rank", 1, 1), ("rank", 1, 1), ("play", 0), ("rank", 1, 1))
    assert state.information == 5
    act(state, ("play", 0))
    assert (state.information, state.fireworks) == (6, [2, 0])


def test_wide_views_end_as_narrow_ones():
    state = act(started(), ("color", 1, 0), ("play", 2))
    full, private, public = (
        state.observation_tensor(0, view) for view in ("full", "private", "public")
    )
    assert (len(full), len(private), len(public)) == (783, 658, 533)
    np.testing.assert_array_equal(full[125:], private)
    np.testing.assert_array_equal(private[125:], public)
    own = full[:125].reshape(5, 25).argmax(1).tolist()
    assert [state.game.card(number) for number in own] == state.hands[0]


def test_beliefs_weigh_what_cards_may_be():
    state = act(started(), ("rank", 1, 4), ("play", 0), ("play", 0))
    plain = state.observation_tensor(view="public")
    beliefs = state.observation_tensor(view="public", beliefs=True)
    np.testing.assert_array_equal(plain[:-350], beliefs[:-350])
    plain, beliefs = plain[-350:].reshape(10, 35), beliefs[-350:].reshape(10, 35)
    np.testing.assert_array_equal(plain[:, 25:], beliefs[:, 25:])
    left = [state.game.cards.count(state.game.card(number)) for number in range(25)]
    left[0] -= 1  # on its stack
    left[2] -= 1  # discarded
    expected = plain[:, :25] * left
    np.testing.assert_allclose(beliefs[:, :25], expected / expected.sum(1, keepdims=True))


def test_bytes_are_the_same_as_floats():
    games = Hanabi(players=4).deal(50, np.random.default_rng(0))
    for turn in range(30):
        games.step(games.random_actions(turn))
    width = Hanabi(players=4).num_features("full")
    floats, numbers = np.empty((50, width), np.float32), np.empty((50, width), np.uint8)
    games.encode(floats, "full", np.full(50, 2))
    games.encode(numbers, "full", np.full(50, 2))
    np.testing.assert_array_equal(floats, numbers)
    with pytest.raises(ValueError, match="float32"):
        games.encode(numbers, "full", beliefs=True)


def test_threads_change_nothing():
    rows = []
    for threads in (1, 3):
        games = Hanabi().deal(20_000, np.random.default_rng(2))
        for turn in range(20):
            games.step(games.random_actions(turn, threads), threads)
        rows.append(np.empty((20_000, 533), np.float32))
        games.encode(rows[-1], "public", threads=threads)
    np.testing.assert_array_equal(*rows)


def test_taken_games_go_their_own_ways():
    games = Hanabi().deal(3, np.random.default_rng(3))
    twice = games.take(np.array([2, 2]))
    twice.step(np.array([5, -1]))
    assert twice.current_players().tolist() == [1, 0]
    assert games.current_players().tolist() == [0, 0, 0]
    np.testing.assert_array_equal(twice.hands()[1], games.hands()[2])


def test_games_are_joined():
    one, two = (Hanabi().initial_state(rng=np.random.default_rng(seed)) for seed in (0, 1))
    one.apply_action(one.legal_actions()[0])
    both = _core.HanabiGames.join([one.games, two.games])
    assert both.hands().tolist() == [one.games.hands()[0].tolist(), two.games.hands()[0].tolist()]
    with pytest.raises(ValueError, match="different rules"):
        _core.HanabiGames.join([one.games, Hanabi(players=3).initial_state().games])
    with pytest.raises(ValueError, match="no games to join"):
        _core.HanabiGames.join([])
    firsts = _core.HanabiGames.join([one.games, both], 0)
    assert firsts.hands().tolist() == both.take(np.array([0, 0])).hands().tolist()
    for number in (1, 2**63):
        with pytest.raises(IndexError, match="no such game"):
            _core.HanabiGames.join([both, one.games], number)


def test_other_hands_are_dealt_where_they_may_be():
    """A seat's cards are replaced by others; what it was told and sees says which may be."""
    rng = np.random.default_rng(5)
    for players in (2, 4):
        game = Hanabi(players=players)
        state = game.initial_state(rng=rng)
        while not state.is_terminal():
            seat = int(rng.integers(players))
            size = len(state.hands[seat])
            hands = rng.integers(25, size=(64, game.hand_size)).astype(np.uint8)
            own = state.games.hands()[0, seat].astype(np.uint8)
            hands[0] = own
            hands[1:16] = rng.permuted(np.tile(own, (15, 1)), axis=1)
            seats, which = np.full(64, seat), np.zeros(64, np.int64)
            possible = state.games.possible(which, seats, hands).astype(bool)
            assert possible.tolist() == [_may_be(state, seat, hand[:size]) for hand in hands]
            rows = np.flatnonzero(possible)
            dealt = state.games.redealt(
                which[rows], seats[rows], hands[rows], rows.astype(np.uint64)
            )
            assert (dealt.hands()[:, seat, :size] == hands[rows, :size]).all()
            others = np.arange(players) != seat
            assert (dealt.hands()[:, others] == state.games.hands()[:, others]).all()
            assert (dealt.known_ranks() == state.games.known_ranks()).all()
            if not possible.all():
                with pytest.raises(ValueError, match="cannot be"):
                    state.games.redealt(which, seats, hands, which.astype(np.uint64))
            state.apply_action(int(rng.choice(state.legal_actions())))


def _may_be(state, seat, hand):
    cards = [state.game.card(number) for number in hand]
    told = zip(cards, state.known[seat], strict=True)
    if not all(c.colour in k.colours and c.rank in k.ranks for c, k in told):
        return False
    played = [Card(c, r) for c, top in enumerate(state.fireworks) for r in range(1, top + 1)]
    others = [card for at, held in enumerate(state.hands) if at != seat for card in held]
    seen = Counter(state.discards + played + others + cards)
    return all(seen[card] <= state.game.cards.count(card) for card in seen)


def test_shuffled_piles_hold_what_is_left():
    """Played to the end, every pile has the same cards, and all orders of two are as likely."""
    game = Hanabi()
    state = game.initial_state(rng=np.random.default_rng(3))
    while state.deck_size > 2 or state.information > 6:
        discards = state.information < 7 and state.deck_size > 2
        state.apply_action(0 if discards else state.legal_actions()[-1])
    count = 4000
    hands = np.repeat(state.games.hands()[:, 0].astype(np.uint8), count, 0)
    zeros = np.zeros(count, np.int64)
    games = state.games.redealt(zeros, zeros, hands, np.arange(count, dtype=np.uint64))
    for _ in range(2):
        games.step(zeros)
    drawn = games.hands()[:, :, 4]
    left = [game.ranks * card.colour + card.rank - 1 for card in state.deck[-2:]]
    assert {tuple(sorted(pair)) for pair in drawn.tolist()} == {tuple(sorted(left))}
    assert abs((drawn[:, 0] == left[0]).mean() - 0.5) < 0.04


def test_one_bad_action_moves_nothing():
    games = Hanabi().deal(3000, np.random.default_rng(4))
    actions = np.full(3000, 5)
    for bad in (0, 20, 63, 64, -2, 2**40):
        actions[2000] = bad
        with pytest.raises(ValueError, match=f"game 2000: action {bad} is not legal"):
            games.step(actions)
    with pytest.raises(TypeError, match="incompatible"):
        games.step(np.full(3000, 5.5))
    assert (games.current_players() == 0).all()
    for turn in range(90):
        games.step(games.random_actions(turn))
    with pytest.raises(ValueError, match=r"game \d+ is over"):
        games.step(np.full(3000, 5))


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("hanabi(players=1)", "players: 2 to 5, not 1"),
        ("hanabi(players=6)", "players: 2 to 5, not 6"),
        ("hanabi(colors=0)", "colors: 1 to 5"),
        ("hanabi(ranks=2.5)", "ranks must be a whole number"),
        ("hanabi(players=none)", "players must be a whole number"),
        ("hanabi(players=99999999999)", "players: 2 to 5"),
        ("hanabi(players=5, colors=1)", "10 cards are too few for 5 hands of 4"),
        ("hanabi(bomb=boom)", "bomb must be zero or stack"),
    ],
)
def test_impossible_games_are_refused(spec, says):
    with pytest.raises(InputError, match=says):
        load_game(spec)


def test_impossible_decks_are_refused():
    game = Hanabi()
    with pytest.raises(InputError, match="49 cards, expected 50"):
        game.initial_state(game.cards[1:])
    with pytest.raises(InputError, match="R1 occurs 4 times, expected 3"):
        game.initial_state([*game.cards[:-1], (0, 1)])
    with pytest.raises(InputError, match=r"\(5, 1\) is not a card"):
        game.initial_state([*game.cards[:-1], (5, 1)])
    with pytest.raises(InputError, match="a colour and a rank"):
        game.initial_state([*game.cards[:-1], (5,)])
    decks = np.tile(game.rules.deck(), (2, 1))
    decks[1, -1] = 0
    with pytest.raises(ValueError, match="deck 1: card 0 comes 4 times"):
        _core.HanabiGames(game.rules, decks)
    decks[1, -1] = 25
    with pytest.raises(ValueError, match="deck 1: card 25 does not exist"):
        _core.HanabiGames(game.rules, decks)


def test_impossible_actions_are_refused():
    state = started()
    with pytest.raises(InputError, match="discard card 1: all information tokens"):
        state.apply_action(0)
    with pytest.raises(InputError, match="tell player 1 blue: no such card"):
        act(state, ("color", 1, 4))
    with pytest.raises(InputError, match="action 20: actions are 0 to 19"):
        state.apply_action(20)
    for _ in range(4):
        act(state, ("color", 1, 0), ("color", 1, 0))
    with pytest.raises(InputError, match="no information token is left"):
        act(state, ("color", 1, 0))
    with pytest.raises(InputError, match="seats are 0 to 1"):
        state.to_svg(2)


def test_text_hides_the_players_own_cards():
    state = act(started(), ("rank", 1, 5), ("color", 1, 0), ("play", 0))
    assert str(state) == "\n".join(
        [
            "lives 3, hints 6, deck 39, score 1",
            "fireworks  R1 Y0 G0 W0 B0",
            "discards   none",
            "player 0   R1/R? R1/R? R2/R? R2/R? Y1/??",
            "player 1 * ?? ?? ?? ?? ?5",
            "last       player 0: play card 1, R1",
        ]
    )
    assert "R3/??" in state.to_text(0)


def test_players_do_not_see_their_own_cards():
    """Another hand, for cards at the end of the deck, is the same to its holder alone."""
    game = Hanabi()
    other = game.initial_state([*game.cards[-5:], *game.cards[5:-5], *game.cards[:5]])
    state = started()
    for one in (state, other):
        act(one, ("rank", 1, 4))
    assert state.to_svg(0) == other.to_svg(0)
    assert state.to_text(0) == other.to_text(0)
    np.testing.assert_array_equal(state.observation_tensor(0), other.observation_tensor(0))
    assert state.to_svg(1) != other.to_svg(1)
    assert state.to_svg() == state.to_svg(1)
