"""A panel of models, each of people of one rating, that teach one model of all ratings."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch

from kedge.errors import InputError
from kedge.games.chess.ratings import scale_number, speed_number
from kedge.models.board.torch_backend import to_torch
from kedge.models.board.weights import Weights
from kedge.models.chess.encoding import CHESS
from kedge.models.chess.lc0_moves import MOVES
from kedge.models.named import load_as
from kedge.training.chess.positions import ChessPositions, GameTable, Rows

REACH = 150  #: a model teaches moves of people within this many points of its rating
LOW = 1300  #: below this rating, games to learn from are few
_LIKELIEST = 12  # moves that are kept of a model's policy
_BATCH = 16_384


def taught_by(
    panel: Mapping[int, str],
    table: GameTable,
    rows: Rows,
    positions: ChessPositions,
    weight: float = 1.0,
    weight_low: float | None = None,
) -> ChessPositions:
    """Add to each position the likeliest moves of the model whose rating is next to the mover's.

    `positions` are those of `rows`. The shares of the moves add up to `weight`, or to `weight_low`
    if it is given and the mover is rated below `LOW`. Bullet, games over the board and ratings out
    of `REACH` have no model: Maia's, for which this is made, learned from none of them.
    """
    ratings = np.array(sorted(panel))
    game, ply = table.places(rows)
    mover = table.ratings[game, ply % 2].astype(np.int64)
    nearest = ratings[np.abs(mover[:, None] - ratings).argmin(axis=1)]
    taught = (np.abs(mover - nearest) <= REACH) & (table.scales[game] != scale_number("fide"))
    taught &= table.speeds[game] != speed_number("bullet")
    device = positions.moves.device
    totals = np.where(mover < LOW, weight if weight_low is None else weight_low, weight)
    total = torch.from_numpy(totals).to(device, torch.float32)
    moves = torch.zeros(len(rows), _LIKELIEST, dtype=torch.int16, device=device)
    shares = torch.zeros(len(rows), _LIKELIEST, dtype=torch.float16, device=device)
    for rating in ratings.tolist():
        network = to_torch(_weights(panel[rating])).to(device).eval()
        if device.type == "cuda":
            network = network.to(torch.bfloat16).to(memory_format=torch.channels_last)
        mine = torch.from_numpy(np.flatnonzero(taught & (nearest == rating))).to(device)
        for at in mine.split(_BATCH):
            with torch.no_grad():
                logits, *_ = network.forward_packed(positions.masks[at], positions.rule50[at])
            words = (positions.legal[at][:, :, None] >> positions.bits) & 1
            legal = words.flatten(1)[:, : len(MOVES)].bool()
            policy = logits.float().masked_fill(~legal, -torch.inf).softmax(1)
            likely, which = policy.topk(_LIKELIEST, dim=1)
            moves[at] = which.to(torch.int16)
            parts = likely * (total[at] / likely.sum(1))[:, None]
            shares[at] = parts.to(torch.float16)
    return replace(positions, taught=moves, shares=shares)


def _weights(name: str) -> Weights:
    weights = load_as(Weights, name)
    if weights.encoding != CHESS or weights.player_options:
        raise InputError(f"{name}: not a chess model of one rating, such as a Maia")
    return weights
