"""Go positions as AlphaGo Zero's planes, and what players read at a glance."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kedge import _core
from kedge.games.go import GoState
from kedge.models.board.encoding import Encoding, Floats, Masks
from kedge.models.go.conditioning import GoPlayers

#: AlphaGo Zero's planes: own and the opponent's stones, now and seven times before. Then, as in
#: the paper (appendix E), komi / 10 for White and −komi / 10 for Black to move, scaled up on
#: smaller boards by the ratio of their points. Then eight planes of tactics: liberties, ko,
#: ladders; the first files had none. The last move is the pass.
GO = Encoding(
    "go",
    planes=25,
    first_planes=17,
    side=19,
    plane_words=6,
    number_plane=16,
    moves=362,
    most_moves=362,
    rows=64,
    gpu_rows=2048,
    players=GoPlayers(),
    is_symmetric=True,
)


def encode_go(states: Sequence[GoState]) -> tuple[Masks, Floats]:
    """`GO` planes of every state, packed: sets of points, and the number.

    ``masks[i, 2k]`` and ``masks[i, 2k + 1]`` are the stones of who moves and of the opponent k
    half-moves ago, empty before the first position: bit p % 64 of word p // 64 is point p. Plane
    16 is ``komi[i]`` all over: +komi/10 for White to move, −komi/10 for Black, times 361/points: a
    network that weighs the means of planes finds it as large a part of any board. The others are:

    - 17, 18, 19: the stones of chains with one, two and three liberties;
    - 20: the point that the ko rule forbids;
    - 21: the stones that a ladder catches, of chains in atari and to move, and of chains with two
      liberties if the opponent moves;
    - 22: the mover's points that begin such a ladder;
    - 23, 24: the mover's points where the played stone's chain would have one and two liberties.
    """
    return encode_boards([state.board for state in states])


def encode_boards(boards: Sequence[Any]) -> tuple[Masks, Floats]:
    """Encode native boards as `encode_go` does states."""
    masks = np.empty((len(boards), GO.planes, GO.plane_words), np.uint64)
    komi = np.empty(len(boards), np.float32)
    _core.go_encode(boards, masks, komi)
    return masks, komi
