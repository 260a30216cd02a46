"""Go models that take the players of a game as input: ranks, server and year."""

from kedge.evaluation.board.players import Players
from kedge.games.go.ranks import RANKS, SERVERS, rank_number, server_number
from kedge.records.go.games import GoGame


def players_of(game: GoGame) -> list[Players]:
    """Return the players of each position of a game, as inputs of a model."""
    ranks = [_name(rank_number(game.rating(player))) for player in (0, 1)]
    number = server_number(game.server)
    shared = {"server": SERVERS[number - 1] if number else "board", "year": game.year or 0}
    sides = [{"rank": ranks[player], "opponent": ranks[1 - player], **shared} for player in (0, 1)]
    return [sides[game.mover(ply)] for ply in range(len(game))]


def _name(rank: int) -> str:
    return RANKS[rank - 1] if rank else "unknown"
