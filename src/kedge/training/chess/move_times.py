"""Fitting people's time per move: least squares on the logarithm of the seconds.

Clocks on Lichess show whole seconds, so a model is scored by the probability of the recorded whole
seconds. The fit counts 0 seconds, mostly premoves, as a quarter of a second.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.agents.chess.move_times import FEATURES, MoveTimes, features, just_taken
from kedge.errors import InputError
from kedge.models.board.backends import Network, check_finite
from kedge.records import ChessGame
from kedge.records.chess.filters import is_for_testing, is_player_for_testing
from kedge.records.chess.games import clock_of
from kedge.records.chess.positions import encode_games
from kedge.regularize import Array, entropy

_BATCH = 64  # games encoded and evaluated at once
_SHORTEST = 0.25
_SHARE = FEATURES.index("share")


@dataclass(frozen=True)
class TimedMoves:
    """People's moves and their seconds, one row per move."""

    features: Array
    seconds: Array
    classes: npt.NDArray[np.str_]
    held_out: npt.NDArray[np.bool_]  # the moves of one player in twenty
    players: int

    def __len__(self) -> int:
        return len(self.seconds)


def timed_moves(
    games: Iterable[ChessGame], network: Network, games_a_player: int = 20
) -> TimedMoves:
    """Collect the moves whose time is known; `network` estimates how open each choice was.

    Each player's first move is dropped, since Lichess does not time it, and so are moves with an
    impossible clock. At most `games_a_player` games of one player are used, so that a personal
    export does not dominate the model.
    """
    seen: Counter[str | None] = Counter()
    parts = []
    usable = (
        game for game in games if game.clocks is not None and not game.fen and not game.has_bot
    )
    while batch := list(islice(usable, _BATCH)):
        parts += list(_rows(batch, network, seen, games_a_player))
    x, seconds, classes, held_out = [
        np.concatenate(column) for column in zip(*parts, strict=True)
    ] or [np.zeros(0)] * 4
    if held_out.all() or not held_out.any():
        raise InputError("too few games with clocks: none to fit on, or none held out to test on")
    return TimedMoves(x, seconds, classes, held_out, len(seen))


def _rows(
    games: list[ChessGame], network: Network, seen: Counter[str | None], most: int
) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    sides = []
    for game in games:
        clock = clock_of(game.time_control)
        for player, name in enumerate((game.white, game.black)):
            plies = np.arange(player + 2, len(game), 2)
            if clock is None or not len(plies):
                continue
            seen[name] += 1
            if name is None or seen[name] <= most:
                held_out = is_player_for_testing(name) if name else is_for_testing(game)
                sides.append((game, plies, clock[1], held_out))
    encoded = encode_games(
        [side[0] for side in sides],
        np.concatenate([side[1] for side in sides] or [np.empty(0, np.int64)]),
        [len(side[1]) for side in sides],
    )
    evaluation = check_finite(network, network.evaluate_packed(encoded.planes, encoded.rule50))
    logits = evaluation.policy.astype(np.float64)
    logits[~encoded.legal_mask()] = -np.inf
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    spread = entropy(weights / weights.sum(axis=1, keepdims=True))
    taken = just_taken(encoded.planes)
    end = 0
    for game, plies, increment, held_out in sides:
        start, end = end, end + len(plies)
        assert game.clocks is not None
        before = game.clocks[plies - 2].astype(np.float64)
        seconds = before - game.clocks[plies] + increment
        rows = features(
            remaining=before,
            longest=np.fmax.accumulate(before),
            increment=increment,
            ply=plies,
            entropy=spread[start:end],
            taken=taken[start:end],
        )
        kept = (before > 0.0) & (seconds >= 0.0) & (seconds <= before + increment)
        count = int(kept.sum())
        yield (
            rows[kept],
            seconds[kept],
            np.full(count, game.time_class),
            np.full(count, held_out),
        )


def fit(moves: TimedMoves) -> MoveTimes:
    """Fit a model by least squares to the moves that are not held out."""
    learned = ~moves.held_out
    x, y = moves.features[learned], _log(moves.seconds[learned])
    weights, *_ = np.linalg.lstsq(x, y, rcond=None)
    return MoveTimes(tuple(weights.tolist()), float(np.std(y - x @ weights)))


def fit_share(moves: TimedMoves) -> MoveTimes:
    """Fit the baseline: always the same fraction of the clock's share."""
    learned = ~moves.held_out
    rest = _log(moves.seconds[learned]) - moves.features[learned, _SHARE]
    weights = np.zeros(len(FEATURES))
    weights[[0, _SHARE]] = rest.mean(), 1.0
    return MoveTimes(tuple(weights.tolist()), float(np.std(rest)))


def score(times: MoveTimes, moves: TimedMoves) -> dict[str, Any]:
    """Score held-out moves: mean log-likelihood, mean error of log seconds, medians by class."""
    x, seconds = moves.features[moves.held_out], moves.seconds[moves.held_out]
    centre = times.log_seconds(x)
    whole = np.rint(seconds)
    upper = _normal((np.log(whole + 0.5) - centre) / times.spread)
    lower = _normal((np.log(np.maximum(whole - 0.5, 1e-9)) - centre) / times.spread)
    chance = np.maximum(upper - np.where(whole > 0.0, lower, 0.0), 1e-12)
    classes = moves.classes[moves.held_out]
    return {
        "log_likelihood": float(np.log(chance).mean()),
        "log_error": float(np.abs(_log(seconds) - centre).mean()),
        "medians": {
            str(name): {
                "moves": int((classes == name).sum()),
                "people": float(np.median(seconds[classes == name])),
                "model": float(np.exp(np.median(centre[classes == name]))),
            }
            for name in np.unique(classes)
        },
    }


def _log(seconds: Array) -> Array:
    return np.asarray(np.log(np.maximum(seconds, _SHORTEST)))


def _normal(z: Array) -> Array:
    """The normal distribution function."""
    return np.array([0.5 * math.erfc(-x / math.sqrt(2.0)) for x in z.tolist()])
