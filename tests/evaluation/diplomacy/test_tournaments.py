"""Tournaments: seats, games in lock-step, and shares known by hand."""

import dataclasses
import io
import json
from collections import Counter

import numpy as np
import pytest
from diplomacy_players import Holds, RandomOrders

from kedge.evaluation.diplomacy.tournaments import (
    TournamentGame,
    drawn_from_pool,
    one_against_six,
    play_tournament,
    recorded,
    standing,
)
from kedge.games.diplomacy import POWERS, Diplomacy
from kedge.records import ReadReport, replayed_games
from kedge.records.diplomacy.files import saved_game

SHORT = Diplomacy(last_year=1903, quiet_years=5)


def test_seats():
    assert one_against_six(8)[::7] == [(0, 1, 1, 1, 1, 1, 1)] * 2
    assert [seats.index(0) for seats in one_against_six(7)] == list(range(7))
    drawn = np.array(drawn_from_pool(4000, 3, np.random.default_rng(0)))
    for power in range(7):
        assert np.bincount(drawn[:, power]) == pytest.approx(4000 / 3, rel=0.1)


def test_games_in_lock_step():
    one, six = RandomOrders(), RandomOrders()
    games = play_tournament([one, six], one_against_six(9), SHORT, np.random.default_rng(0))
    first = one.asked[0], six.asked[0]
    assert [len(questions) for questions in first] == [9, 54]
    # Six powers of a game come with one state.
    assert set(Counter(id(state) for state, _ in first[1]).values()) == {6}
    assert {power for _, power in first[0]} == set(range(7))
    assert len({str(game.orders) for game in games}) == 9
    for game in games:
        assert sum(game.shares) == pytest.approx(1.0)
        assert game.last_year == 1903
        assert not game.is_solo
        assert all(
            alive or not count for alive, count in zip(game.alive, game.centres, strict=True)
        )


def test_the_same_seed_plays_the_same_games():
    def played(seed):
        players = [RandomOrders(), RandomOrders()]
        return play_tournament(players, one_against_six(2), SHORT, np.random.default_rng(seed))

    assert played(1) == played(1) != played(2)


def test_powers_without_orders_are_not_asked():
    holds = Holds()
    [game] = play_tournament(
        [holds], [(0,) * 7], Diplomacy(quiet_years=2), np.random.default_rng(0)
    )
    assert [len(questions) for questions in holds.asked] == [7] * 4
    assert (game.last_year, game.centres, game.is_solo) == (1902, (3, 3, 3, 3, 3, 4, 3), False)
    assert game.shares[0] == pytest.approx(9 / 70)


def test_records_replay():
    agents = ["random-orders", "random-orders(candidates=2)"]
    played = play_tournament(
        [RandomOrders(), RandomOrders(2)], one_against_six(3), SHORT, np.random.default_rng(0)
    )
    # After JSON, too.
    plain = [json.loads(json.dumps(dataclasses.asdict(game))) for game in played]
    assert [TournamentGame.from_json(game) for game in plain] == played
    games = [recorded(game, agents, f"game {i}") for i, game in enumerate(played)]
    text = "".join(json.dumps(saved_game(game)) + "\n" for game in games)
    report = ReadReport()
    assert list(replayed_games(io.BytesIO(text.encode()), report)) == games
    assert report.broken == []
    assert games[2].players == (agents[1], agents[1], agents[0], *[agents[1]] * 4)
    assert games[0].phases[0].orders.keys() == set(POWERS)
    assert games[0].final.counts == played[0].centres


def ended(seats, shares, centres, is_solo=False):
    """Austria and England have everything."""
    rest, alive = (0,) * 5, (True, True, *[False] * 5)
    return TournamentGame(seats, (), shares + rest, centres + rest, alive, 1910, is_solo)


def test_standings_by_hand():
    austria, england, france = one_against_six(3)
    games = [
        ended(austria, (1.0, 0.0), (18, 16), is_solo=True),
        ended(england, (0.5, 0.5), (17, 17)),
        ended(france, (0.5, 0.5), (17, 17)),
    ]
    one, six = standing(games, 0), standing(games, 1)
    assert (one["games"], one["seats"], one["mean"]) == (3, 3, 0.5)
    assert one["se"] == pytest.approx(np.std([1.0, 0.5, 0.0], ddof=1) / np.sqrt(3))
    assert (one["wins"], one["draws"], one["eliminations"]) == (1, 1, 1)
    assert one["centres"] == pytest.approx(35 / 3)
    assert (six["games"], six["seats"], six["mean"]) == (3, 18, pytest.approx(0.5 / 6))
    assert six["se"] == pytest.approx(one["se"] / 6)
    assert (six["wins"], six["draws"], six["eliminations"]) == (0, 3, 14)
    once = standing(games, 0, ["AUSTRIA"])
    assert (once["games"], once["mean"], once["wins"]) == (1, 1.0, 1)
    assert np.isnan(once["se"])
    never = standing(games, 0, ["TURKEY"])
    assert (never["games"], never["mean"], never["se"], never["centres"]) == (0, None, None, None)
