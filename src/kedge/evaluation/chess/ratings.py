"""Chess models that take the players of a game as input: ratings, speed and clock."""

import numpy as np

from kedge.evaluation.board.players import Players
from kedge.games.chess.ratings import SPEEDS
from kedge.models.chess.conditioning import ONLINE, nearest_clock
from kedge.records import ChessGame
from kedge.specs import Spec


def game_ratings(game: ChessGame, elo: int | None = None) -> tuple[int, int]:
    """Return White's and Black's rating as input of a model: hundreds, from 600 to 2800.

    A player without a rating gets the opponent's; two such players get 1500. `elo` replaces both.
    """
    white, black = elo or game.white_elo, elo or game.black_elo
    return model_rating(white or black or 1500), model_rating(black or white or 1500)


def model_rating(elo: int) -> int:
    """Return the rating as input of a model: hundreds, from 600 to 2800.

    >>> model_rating(1990), model_rating(3300)
    (2000, 2800)
    """
    return int(np.clip(round(elo, -2), ONLINE[0], ONLINE[-1]))


def rated_search(elo: int, opponent: int) -> Spec:
    """Return the default agent of reviews: the paper's search over people of this rating."""
    people = Spec("chess", (), {"elo": elo, "opponent": opponent})
    return Spec("puct", (people,), {"c_puct": 2, "playouts": 50})


def players_of(game: ChessGame) -> list[Players]:
    """Return the players of each position of a game, as inputs of a model.

    Ratings are those of `game_ratings`, and clocks are the nearest of a few times, so that few
    networks serve many positions.
    """
    ratings = game_ratings(game)
    shared = {} if game.scale in (None, "lichess") else {"scale": game.scale}
    if game.time_class in SPEEDS:
        shared["speed"] = game.time_class
    players: list[Players] = []
    for ply, seconds in enumerate(game.seconds_left()):
        mover = game.mover(ply)
        rated = {"elo": ratings[mover], "opponent": ratings[1 - mover], **shared}
        if not np.isnan(seconds):
            rated["clock"] = float(nearest_clock(seconds))
        players.append(rated)
    return players
