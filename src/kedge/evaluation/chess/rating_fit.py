"""The likelihood of chess moves at several ratings, from the shipped model."""

from collections.abc import Sequence

import numpy as np

from kedge.agents.board.networks import network
from kedge.models.board.backends import Network
from kedge.models.chess.conditioning import KNOTS
from kedge.records import ChessGame, chess_positions, encode_chess_positions
from kedge.regularize import Array


def rating_networks() -> list[Network]:
    """Return the shipped model at each rating of `KNOTS`, for both players."""
    return [network(f"chess(elo={rating:g})") for rating in KNOTS]


def move_likelihoods(game: ChessGame, networks: Sequence[Network]) -> Array:
    """Return the log-likelihood (moves, networks) of the moves that were played."""
    rows = encode_chess_positions(list(chess_positions([game])))
    legal, moves = rows.legal_mask(), np.arange(len(game))
    likelihoods = np.empty((len(game), len(networks)))
    for column, each in enumerate(networks):
        logits = each.evaluate_packed(rows.planes, rows.rule50).policy.astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True, initial=-np.inf, where=legal)
        total = np.exp(logits, out=np.zeros_like(logits), where=legal).sum(axis=1)
        likelihoods[:, column] = logits[moves, rows.played] - np.log(total)
    return likelihoods
