"""Evaluations of chess positions by an engine, as records have them.

An evaluation is in centipawns from White's view, at most ±30,000. A mate is a larger number that
keeps its distance: White mates in n moves at ``MATE − n``, Black at ``n − MATE``.
"""

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from kedge import _core

MATE = _core.CHESS_MATE
_FARTHEST, _MOST = int(_core.CHESS_FARTHEST_MATE), _core.CHESS_MOST_CENTIPAWNS
_MATE = re.compile(r"#([+-]?)(\d{1,9})", re.ASCII)
_SLOPE = 0.00368208  # of Lichess's curve, per centipawn


def expected_score(evals: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the score that White may expect among people, from 0 to 1; NaN stays NaN.

    This is Lichess's curve, 1 / (1 + exp(−0.00368208 · centipawns)), which Lichess fitted to games
    of players rated about 2300: https://lichess.org/page/accuracy. A mate is 0 or 1.

    >>> expected_score([0.0, 100.0, -300.0, MATE - 5]).round(3).tolist()
    [0.5, 0.591, 0.249, 1.0]
    """
    chances: npt.NDArray[np.float64] = 0.5 + 0.5 * np.tanh(
        0.5 * _SLOPE * np.asarray(evals, np.float64)
    )
    return chances


def evals_of(values: Any, plies: int) -> npt.NDArray[np.float32] | None:
    """Parse evaluations after each half-move: centipawns, mates such as ``"#-3"``, or null.

    A list may end early: nobody evaluates a mate on the board. The rest is unknown, NaN; so is
    ``"#0"``, which does not say who is mated. Raise `TypeError` with the reason for anything else.
    """
    if values is None:
        return None
    if not isinstance(values, list) or len(values) > plies:
        raise TypeError('"evals" is not a list with at most one evaluation per half-move')
    evals = np.full(plies, np.nan, np.float32)
    evals[: len(values)] = [
        value if type(value) is int and -_MOST <= value <= _MOST else _eval_of(value)
        for value in values
    ]
    return None if np.isnan(evals).all() else evals


def _eval_of(value: Any) -> float:
    if value is None:
        return np.nan
    mate = _MATE.fullmatch(value) if isinstance(value, str) else None
    if mate is not None:
        moves = min(int(mate[2]), _FARTHEST)
        return np.nan if not moves else moves - MATE if mate[1] == "-" else MATE - moves
    if type(value) is int or (type(value) is float and np.isfinite(value)):
        return float(min(max(value, -_MOST), _MOST))
    raise TypeError(f'"evals" has {repr(value)[:20]}: neither centipawns nor a mate such as "#-3"')
