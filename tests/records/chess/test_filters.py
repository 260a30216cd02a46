"""Filters of the positions that are predicted."""

import numpy as np
import pytest
from pgn_samples import shuffle

from kedge.errors import InputError
from kedge.records import ChessGame, chess_positions
from kedge.records.chess import filters
from kedge.records.chess.filters import (
    enough_time,
    has_clocks,
    is_rated,
    maia_filter,
    no_bots,
    no_bullet,
    rating_bucket,
    skip_opening,
    time_classes,
)
from kedge.records.sieve import chosen_plies

RATED = {"rated": True, "white_elo": 1900, "black_elo": 1999, "time_class": "blitz"}


def kept(game: ChessGame, *chosen: filters.Filter) -> list[int]:
    return chosen_plies(game, chosen).tolist()


def test_a_bucket_starts_at_a_rating():
    with pytest.raises(InputError, match="not at -3"):
        filters.maia_filter(-3)


def test_filters_of_plies():
    game = shuffle(13, **RATED)
    assert kept(game) == list(range(13))
    assert kept(game, skip_opening()) == [10, 11, 12]
    assert kept(game, skip_opening(2), lambda g: np.arange(len(g)) % 2 == 0) == [2, 4, 6, 8, 10, 12]
    assert kept(shuffle(3), skip_opening()) == []
    assert kept(game, enough_time()) == list(range(13))
    assert kept(game, has_clocks) == []
    clocks = np.float32([60, 29.9, 30, np.nan, 0])
    assert kept(shuffle(5, clocks=clocks), enough_time(), has_clocks) == [0, 2, 3]


@pytest.mark.parametrize(
    ("chosen", "changes", "keeps"),
    [
        (is_rated, {}, True),
        (is_rated, {"rated": False}, False),
        (is_rated, {"rated": None}, False),
        (no_bots, {}, True),
        (no_bots, {"white_title": "GM"}, True),
        (no_bots, {"black_title": "BOT"}, False),
        (no_bullet, {}, True),
        (no_bullet, {"time_class": "unknown"}, True),
        (no_bullet, {"time_class": "bullet"}, False),
        (no_bullet, {"time_class": "ultrabullet"}, False),
        (time_classes("blitz", "rapid"), {}, True),
        (time_classes("classical"), {}, False),
        (filters.time_control("180+2"), {"time_control": "180+2"}, True),
        (filters.time_control("180+2"), {}, False),
        (rating_bucket(1900), {}, True),
        (rating_bucket(1900), {"black_elo": 2000}, False),
        (rating_bucket(1900), {"white_elo": 1899}, False),
        (rating_bucket(1900), {"white_elo": None}, False),
        (rating_bucket(1800, 200), {"white_elo": 1899}, True),
    ],
)
def test_filters_of_games(chosen, changes, keeps):
    assert kept(shuffle(4, **{**RATED, **changes}), chosen) == ([0, 1, 2, 3] if keeps else [])


def test_bad_filters():
    with pytest.raises(InputError, match="'fast' is not a time class: ultrabullet"):
        time_classes("fast")
    with pytest.raises(InputError, match="width must be at least 1, not 0"):
        rating_bucket(1500, 0)


def test_maia():
    games = [shuffle(12, **RATED), shuffle(12, **{**RATED, "rated": False}), shuffle(11, **RATED)]
    found = list(chess_positions(games, maia_filter(1900)))
    assert [(position.game, position.ply) for position in found] == [
        (games[0], 10),
        (games[0], 11),
        (games[2], 10),
    ]
    assert list(chess_positions(games, maia_filter(1800))) == []
    assert len(list(chess_positions(games, maia_filter()))) == 3
    assert len(list(chess_positions(games))) == 35
