"""How long people take for a move: a small model, fitted to games with clocks.

The logarithm of the seconds is normally distributed around a weighted sum of `FEATURES`. `kedge
train move-times` fits it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kedge.regularize import Array

FEATURES = ("constant", "share", "longest", "opening", "ply", "entropy", "taken")
_MOVES = 40  # moves among which the clock is divided
_OPENING = 20  # half-moves


@dataclass(frozen=True)
class MoveTimes:
    """Weights of `FEATURES`, and the standard deviation of the logarithm about their sum."""

    weights: tuple[float, ...]
    spread: float

    def log_seconds(self, features: Array) -> Array:
        return np.asarray(features @ np.array(self.weights))


#: Fitted by `kedge train move-times` to the 4,317 games with clocks among the Lichess games that
#: the tests find under `KEDGE_DATA`: 161,867 moves of 4,321 players, at most twenty games each, in
#: blitz, rapid and a little classical chess. Half of the moves are by players rated 1500 to 2030.
PEOPLE = MoveTimes((-3.483, 0.238, 0.421, 1.776, -0.758, 0.461, -0.327), 1.013)


def features(
    *,
    remaining: Array | float,
    longest: Array | float,
    increment: Array | float,
    ply: npt.NDArray[np.int64] | int,
    entropy: Array | float,
    taken: npt.NDArray[np.bool_] | bool,
    moves_to_go: int | None = None,
) -> Array:
    """Return the `FEATURES` of one move or of many, in the last axis.

    Parameters
    ----------
    remaining, longest, increment
        Seconds on the mover's clock, the most that it has shown, and seconds added per move.
    ply
        Half-moves made before.
    entropy
        Entropy of people's moves here, in nats: 0 if all play the same, mostly 1 to 1.5.
    taken
        Whether one of the mover's pieces was just taken.
    moves_to_go
        Moves to the next time control.
    """
    moves = max(1, min(_MOVES, moves_to_go or _MOVES))
    share = remaining / moves + increment
    columns = (
        1.0,
        np.log(np.maximum(share, 0.01)),
        np.log(np.maximum(longest, 1.0)),
        np.minimum(ply, _OPENING) / _OPENING,
        ply / 100.0,
        entropy,
        taken,
    )
    return np.stack(np.broadcast_arrays(*columns), axis=-1)


def just_taken(planes: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Whether the mover has fewer pieces than a half-move ago, from packed planes (n, 112)."""
    now, before = (
        np.unpackbits(np.ascontiguousarray(planes[:, first : first + 6]).view(np.uint8), axis=1)
        for first in (0, 13)
    )
    return np.asarray(now.sum(axis=1) < before.sum(axis=1))
