"""Fitting what games of Hanabi come to: one more row beside those of a model's moves.

It is fitted by ridge regression to the scores of games that the model plays with itself; all else
stays as it is. So a value is of a model, of drawn or of greedy play, and of a rule of bombs.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kedge.agents.hanabi.models import blueprint, policy_weights
from kedge.errors import InputError
from kedge.files import make_folder, write_atomic
from kedge.games.hanabi import Bomb, Hanabi
from kedge.models.hanabi.blueprint import NetworkBlueprint
from kedge.models.hanabi.model import chosen
from kedge.models.hanabi.network import PolicyValue, to_shipped_onnx
from kedge.regularize import Array

_AT_ONCE = 500  # games, whose positions fit in some 30 MB
_HELD_OUT = 5  # one game in so many
_RIDGE = 100.0  # little beside a hundred thousand positions, but holds weights that they leave free
_SPAN = 10  # moves that are told of together


class Explained(NamedTuple):
    """How much of the scores' variance a value explains in positions of held-out games."""

    moves: int  # that were made, or up to nine more
    positions: int
    r2: float


@dataclass(frozen=True)
class _Watched:
    """Positions of whole games in which someone is to move."""

    products: npt.NDArray[np.float32]  # (n, width)
    moves: npt.NDArray[np.int64]  # (n,): made before
    scores: Array  # (n,): that their games came to


def train(
    name: str, folder: Path, games: int, rng: np.random.Generator, *, bomb: Bomb, greedy: bool
) -> list[Explained]:
    """Writes the model `name`, with a value in it, to the folder's ``model.onnx``."""
    weights = policy_weights(name)
    rules = Hanabi(**weights.game.parameters, bomb=bomb)
    make_folder(folder)
    value, found = fit(blueprint(name), rules, games, rng, greedy=greedy)
    model = to_shipped_onnx(replace(weights, value=value))
    write_atomic(folder / "model.onnx", model.SerializeToString())
    return found


def fit(
    player: NetworkBlueprint,
    game: Hanabi,
    games: int,
    rng: np.random.Generator,
    *,
    greedy: bool,
) -> tuple[PolicyValue, list[Explained]]:
    """A value by self-play of `player`, and how good it is on the games that are held out."""
    tested = games // _HELD_OUT
    if not tested:
        raise InputError(f"games: at least {_HELD_OUT}, so that one is held out, not {games}")
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
    moves, scores, said = (np.concatenate(column) for column in zip(*parts, strict=True))
    found = []
    for first in range(0, int(moves.max()) + 1, _SPAN):
        there = moves // _SPAN == first // _SPAN
        found.append(Explained(first, int(there.sum()), _r2(scores[there], said[there])))
    return found


def _r2(scores: Array, said: Array) -> float:
    spread = float(scores.var())
    return 1.0 - float(((scores - said) ** 2).mean()) / spread if spread else nan


def _self_play(
    player: NetworkBlueprint,
    game: Hanabi,
    count: int,
    rng: np.random.Generator,
    *,
    greedy: bool,
) -> Iterator[_Watched]:
    """Games that a model plays with itself, some at a time."""
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
