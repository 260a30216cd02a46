"""Tables of Hanabi: seats, decks, games side by side, and what they come to."""

import dataclasses
import json

import numpy as np
import pytest
from hanabi_players import Peeking, imitation, registered  # noqa: F401

from kedge.evaluation.hanabi.selfplay import (
    TableGame,
    dealt,
    histogram,
    play,
    recorded,
    seatings,
    standing,
)
from kedge.games.hanabi import Hanabi
from kedge.records import replayed_hanabi_games, write_hanabi_games

RULES = Hanabi()


def decks(count, rules=RULES):
    return [dealt(rules, 0, number) for number in range(count)]


def test_agents_sit_in_turn():
    assert seatings(["a"], 3) == [(0, 0, 0)]
    assert seatings("ab", 4) == [(0, 1, 0, 1), (1, 0, 1, 0)]
    assert seatings("abc", 3) == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    assert seatings("aab", 3) == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    assert seatings("abab", 4) == [(0, 1, 2, 3), (1, 2, 3, 0)]


def test_decks_go_by_seed_and_number_alone():
    assert dealt(RULES, 1, 7) == dealt(Hanabi(players=3), 1, 7) != dealt(RULES, 1, 8)
    assert dealt(RULES, 1, 7) != dealt(RULES, 2, 7)
    assert sorted(dealt(RULES, 0, 0)) == RULES.cards


@pytest.mark.usefixtures("registered")
def test_games_side_by_side():
    knows, any_move = Peeking(), imitation()
    both = [(seats, deck) for deck in decks(3) for seats in ((0, 1), (1, 0), (0, 0))]
    played = play([knows, any_move], both, RULES, np.random.default_rng(0))
    assert len(knows.batches[0]) == 6  # the second seats of three move later
    for game, (seats, deck) in zip(played, both, strict=True):
        assert (game.seats, game.deck) == (seats, deck)
        state = RULES.initial_state(deck)
        for action in game.actions:
            state.apply_action(action)
        assert state.is_terminal()
        assert (game.score, game.lives) == (state.score, state.lives)
    alone = [game for game in played if game.seats == (0, 0)]
    assert all(game.score > 10 and not game.is_bomb for game in alone)
    again = play([Peeking(), imitation()], both, RULES, np.random.default_rng(0))
    assert again == played


@pytest.mark.usefixtures("registered")
def test_records_replay(tmp_path):
    rules = Hanabi(players=3)
    tables = [(seats, deck) for deck, seats in zip(decks(2, rules), seatings("ab", 3), strict=True)]
    played = play([Peeking(), imitation()], tables, rules, np.random.default_rng(0))
    plain = [json.loads(json.dumps(dataclasses.asdict(game))) for game in played]
    assert [TableGame.from_json(game) for game in plain] == played
    games = [
        recorded(game, ["knows", "any"], Hanabi(), f"game-{i}") for i, game in enumerate(played)
    ]
    assert games[1].players == ("ai:any", "ai:knows", "ai:any")
    write_hanabi_games(games, tmp_path / "games.jsonl")
    assert list(replayed_hanabi_games(tmp_path / "games.jsonl")) == games


def ended(score, lives=2, moves=3):
    return TableGame((0, 0), (), tuple(range(moves)), score, lives)


def test_standings_by_hand():
    games = [ended(25), ended(0, lives=0, moves=9), ended(20), ended(25, moves=5)]
    found = standing(games)
    assert (found["games"], found["mean"], found["moves"]) == (4, 17.5, 5.0)
    assert found["se"] == pytest.approx(np.std([25, 0, 20, 25], ddof=1) / 2)
    assert (found["perfect"], found["bombs"]) == (2, 1)
    counts = histogram(games)
    assert (len(counts), counts[0], counts[20], counts[25], sum(counts)) == (26, 1, 1, 2, 4)
    assert np.isnan(standing([])["mean"])
