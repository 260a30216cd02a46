"""Models that teach another one: what they predict together, and games that they play.

People's games are few. Where several models have learned from them, their mean predicts people
better than each alone, also in positions that nobody recorded.
"""

import json
from collections.abc import Sequence
from functools import reduce
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from kedge.agents.devices import computing_on
from kedge.agents.hanabi.models import blueprint_of
from kedge.errors import InputError
from kedge.files import whole_file
from kedge.games.hanabi import Hanabi
from kedge.models.hanabi.network import PolicyWeights
from kedge.models.hanabi.torch_network import PolicyModule, module_of
from kedge.training.distributed import Rank
from kedge.training.hanabi.games import PlayedGames, self_play

#: Share of the moves in synthetic games that are drawn; the others are the likeliest. If all are
#: drawn, errors add up that people do not make, and the games end in half as many moves as theirs.
_DRAWN = 0.25


class Teachers:
    """Several models, which predict together."""

    def __init__(self, models: Sequence[PolicyWeights], device: torch.device) -> None:
        self._modules: list[PolicyModule] = [module_of(model).to(device).eval() for model in models]

    def policy(self, seen: Tensor, places: Tensor, legal: Tensor) -> Tensor:
        """The mean of their policies at some places; the arguments are parts of a `Batch`."""
        with torch.no_grad(), torch.autocast(seen.device.type, torch.bfloat16):
            logits = torch.stack([module(seen, places) for module in self._modules])
        return logits.float().masked_fill(~legal, -torch.inf).softmax(2).mean(0)


def play(
    teachers: Sequence[PolicyWeights], game: Hanabi, count: int, seed: int, device: torch.device
) -> PlayedGames:
    """Play games; each teacher has all seats in an equal share of them."""
    with computing_on(str(device)):
        players = [blueprint_of(model) for model in teachers]
    shares = [len(range(number, count, len(players))) for number in range(len(players))]
    parts = [
        self_play(player, game, share, np.random.default_rng([seed, number]), drawn=_DRAWN)
        for number, (player, share) in enumerate(zip(players, shares, strict=True))
        if share
    ]
    return reduce(PlayedGames.joined, parts)


def played_once(
    teachers: Sequence[PolicyWeights], game: Hanabi, count: int, seed: int, path: Path, rank: Rank
) -> PlayedGames:
    """Play games, or read them from `path` if it has the same ones, so that a run resumes."""
    models = [model.sha256 for model in teachers]
    key = json.dumps([str(game), models, count, seed, _DRAWN])
    if rank.is_first and (not path.exists() or _read(path)[0] != key):
        played = play(teachers, game, count, seed, rank.device)
        with whole_file(path) as file:
            np.savez_compressed(file, key=key, decks=played.decks, actions=played.actions)
    rank.first(0.0)  # the others wait until the games are there
    _, decks, actions = _read(path)
    return PlayedGames(game, decks, actions)


def _read(path: Path) -> tuple[str, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    try:
        with np.load(path) as file:
            return str(file["key"]), file["decks"], file["actions"]
    except Exception:
        raise InputError(f"{path}: not a file of games that kedge wrote; delete it") from None
