"""The likelihood of chess moves at several ratings, from the shipped model."""

from collections.abc import Sequence

import numpy as np

from kedge.agents.board.networks import network
from kedge.evaluation.board.rating_fit import played_likelihoods
from kedge.models.board.backends import Network, check_finite
from kedge.models.chess.conditioning import KNOTS
from kedge.records import ChessGame, chess_positions, encode_chess_positions
from kedge.regularize import Array


def rating_networks() -> list[Network]:
    """Return the shipped model at each rating of `KNOTS`, for both players."""
    return [network(f"chess(elo={rating:g})") for rating in KNOTS]


def move_likelihoods(game: ChessGame, networks: Sequence[Network]) -> Array:
    """Return the log-likelihood (moves, networks) of the moves that were played."""
    rows = encode_chess_positions(list(chess_positions([game])))
    legal, likelihoods = rows.legal_mask(), np.empty((len(game), len(networks)))
    for column, each in enumerate(networks):
        policy = check_finite(each, each.evaluate_packed(rows.planes, rows.rule50)).policy
        likelihoods[:, column] = played_likelihoods(policy, legal, rows.played)
    return likelihoods
