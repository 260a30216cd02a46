"""Fitting a value for Hanabi: one more output row beside those of a model's moves.

It is fitted by ridge regression to the scores of the model's self-play games; all other weights
stay the same. So a value holds for one model, for sampled or greedy play, and for one bomb rule.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kedge.agents.hanabi.models import blueprint_of
from kedge.errors import InputError
from kedge.files import make_folder, write_atomic
from kedge.games.hanabi import Bomb, Hanabi
from kedge.models.hanabi.blueprint import NetworkBlueprint
from kedge.models.hanabi.model import chosen
from kedge.models.hanabi.network import PolicyValue, PolicyWeights, to_shipped_onnx
from kedge.models.named import load_as
from kedge.regularize import Array

_AT_ONCE = 500  # games; their positions fit in about 30 MB
_HELD_OUT = 5  # one game in five is held out
_RIDGE = 100.0  # small beside 100,000 positions, but fixes weights that they leave undetermined
_SPAN = 10  # moves per row of the report


class Explained(NamedTuple):
    """R² of a value in positions of held-out games."""

    moves: int  # made before the position, rounded down to tens
    positions: int
    r2: float


@dataclass(frozen=True)
class _Watched:
    """The positions of finished games."""

    products: npt.NDArray[np.float32]  # (n, width)
    moves: npt.NDArray[np.int64]  # (n,): moves made before
    scores: Array  # (n,): final score of the game


def train(
    name: str, folder: Path, games: int, rng: np.random.Generator, *, bomb: Bomb, greedy: bool
) -> list[Explained]:
    """Write the model `name` with a fitted value to the folder's ``model.onnx``."""
    path = folder / "model.onnx"
    if path.exists():
        raise InputError(f"{path}: exists; choose another folder, or move it")
    weights = load_as(PolicyWeights, name)
    rules = Hanabi(**weights.game.parameters, bomb=bomb)
    make_folder(folder)
    value, explained = fit(blueprint_of(weights), rules, games, rng, greedy=greedy)
    model = to_shipped_onnx(replace(weights, value=value))
    write_atomic(path, model.SerializeToString())
    return explained


def fit(
    player: NetworkBlueprint,
    game: Hanabi,
    games: int,
    rng: np.random.Generator,
    *,
    greedy: bool,
) -> tuple[PolicyValue, list[Explained]]:
    """Fit a value to self-play of `player`; also return its R² on held-out games."""
    tested = games // _HELD_OUT
    if not tested:
        raise InputError(f"games: at least {_HELD_OUT}, not {games} (one in five is held out)")
    gram = right = np.zeros(1)
    for watched in _self_play(player, game, games - tested, rng, greedy=greedy):
        x = np.pad(watched.products, ((0, 0), (0, 1)), constant_values=1.0).astype(np.float64)
        gram, right = gram + x.T @ x, right + x.T @ watched.scores
    penalty = np.full(len(gram), _RIDGE)
    penalty[-1] = 0.0  # the bias is free
    *weight, bias = np.linalg.solve(gram + np.diag(penalty), right)
    value = PolicyValue(np.array(weight, np.float32), float(bias), game.bomb, greedy)
    return value, _explained(value, _self_play(player, game, tested, rng, greedy=greedy))


def _explained(value: PolicyValue, held_out: Iterable[_Watched]) -> list[Explained]:
    parts = [(part.moves, part.scores, value.of(part.products)) for part in held_out]
    moves, scores, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    rows = []
    for first in range(0, int(moves.max()) + 1, _SPAN):
        inside = moves // _SPAN == first // _SPAN
        rows.append(Explained(first, int(inside.sum()), _r2(scores[inside], values[inside])))
    return rows


def _r2(scores: Array, values: Array) -> float:
    variance = float(scores.var())
    return 1.0 - float(((scores - values) ** 2).mean()) / variance if variance else nan


def _self_play(
    player: NetworkBlueprint,
    game: Hanabi,
    count: int,
    rng: np.random.Generator,
    *,
    greedy: bool,
) -> Iterator[_Watched]:
    """Play games of a model with itself; yield the positions of some games at a time."""
    for first in range(0, count, _AT_ONCE):
        games = game.deal(min(_AT_ONCE, count - first), rng)
        memory = player.begin(len(games))
        products, which = [], []
        while len(going := np.flatnonzero(games.legal_actions())):
            memory = player.observe(games, memory)
            policy = player.policy(games, memory)
            products.append(player.product(games, memory)[going])
            which.append(going)
            actions = np.full(len(games), -1)
            actions[going] = chosen(policy[going], rng, greedy=greedy)
            games.step(actions)
        moves = np.repeat(np.arange(len(which)), [len(rows) for rows in which])
        scores = games.scores()[np.concatenate(which)].astype(np.float64)
        yield _Watched(np.concatenate(products), moves, scores)
