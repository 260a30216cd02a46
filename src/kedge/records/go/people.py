"""Players of Go games, and those from whom models never learn."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kedge.games.go.ranks import given_rank, rank_number, server_number
from kedge.records.go.games import GoGame
from kedge.records.splits import CHOOSE, LEARN, TEST, is_one_in

_HELD_OUT = 50  # one person in 50 is for choosing, another one for testing

Mask = npt.NDArray[np.bool_]


def part_of(game: GoGame, player: int) -> int:
    """Return what a player's games on a server are for; LEARN if the name is unknown."""
    name = game.name(player)
    if name is None:
        return LEARN
    key = f"{server_number(game.server)} {name}".encode("utf-8", "surrogateescape")
    if is_one_in(_HELD_OUT, b"test " + key):
        return TEST
    return CHOOSE if is_one_in(_HELD_OUT, b"choose " + key) else LEARN


def held_out_moves(game: GoGame) -> Mask:
    """Keep the moves of people on servers who are held out for testing, not of programs."""
    on_server = server_number(game.server) > 0
    return _by_mover(
        game,
        lambda player: (
            on_server and "BW"[player] not in game.bots and part_of(game, player) == TEST
        ),
    )


def moves_of_rank(rank: str) -> Callable[[GoGame], Mask]:
    """Return a filter that keeps the moves of players of this rank."""
    number = given_rank("rank", rank)
    return lambda game: _by_mover(game, lambda player: rank_number(game.rating(player)) == number)


def _by_mover(game: GoGame, keeps: Callable[[int], bool]) -> Mask:
    movers = [game.mover(ply) for ply in range(len(game))]
    return np.array([keeps(0), keeps(1)])[np.array(movers, np.int64)]
