"""Models that teach another one: what they predict together, and games that they play.

People's games are few. Where several models have learned from them, their mean predicts people
better than each alone, also in positions that nobody recorded.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
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
from kedge.models.hanabi.model import Blueprint, Games, Memory, Stepwise
from kedge.models.hanabi.network import PolicyWeights
from kedge.models.hanabi.torch_network import PolicyModule, module_of
from kedge.regularize import Array
from kedge.training.distributed import Rank
from kedge.training.hanabi.games import PlayedGames, self_play


class Teachers:
    """Several models, which predict together."""

    def __init__(self, models: Sequence[PolicyWeights], device: torch.device) -> None:
        self._modules: list[PolicyModule] = [module_of(model).to(device).eval() for model in models]

    def policy(self, seen: Tensor, places: Tensor, legal: Tensor) -> Tensor:
        """The mean of their policies at some places; the arguments are parts of a `Batch`."""
        with torch.no_grad(), torch.autocast(seen.device.type, torch.bfloat16):
            logits = torch.stack([module(seen, places) for module in self._modules])
        return logits.float().masked_fill(~legal, -torch.inf).softmax(2).mean(0)


class Seated(Stepwise):
    """A table with a blueprint for each seat."""

    def __init__(self, seats: Sequence[Blueprint]) -> None:
        self._seats = seats

    def begin(self, count: int) -> Memory:
        return tuple(player.begin(count) for player in self._seats)

    def observe(self, games: Games, memory: Memory) -> Memory:
        seats = zip(self._seats, memory, strict=True)
        return tuple(player.observe(games, own) for player, own in seats)

    def policy(self, games: Games, memory: Memory) -> Array:
        mover = int(games.current_players().max())  # the same in all games that go on
        return self._seats[mover].policy(games, memory[mover])


@dataclass(frozen=True)
class Table:
    """Who plays synthetic games."""

    game: Hanabi
    teachers: Sequence[PolicyWeights]
    """Each plays an equal share of the games."""
    partner: PolicyWeights | None
    """Who has the other seats; None for the teacher itself."""
    seats: tuple[int, ...]
    """The seats of a teacher, if there is a partner."""

    def play(self, count: int, seed: int, device: torch.device) -> PlayedGames:
        """Play games; all players draw from their policies."""
        with computing_on(str(device)):
            tables = [self._seated(blueprint_of(model)) for model in self.teachers]
        shares = [len(range(number, count, len(tables))) for number in range(len(tables))]
        parts = [
            self_play(table, self.game, share, np.random.default_rng([seed, number]), drawn=1.0)
            for number, (table, share) in enumerate(zip(tables, shares, strict=True))
            if share
        ]
        return reduce(PlayedGames.joined, parts)

    def _seated(self, teacher: Blueprint) -> Blueprint:
        if self.partner is None:
            return teacher
        partner = blueprint_of(self.partner)
        seats = range(self.game.num_players)
        return Seated([teacher if seat in self.seats else partner for seat in seats])

    def play_once(self, count: int, seed: int, path: Path, rank: Rank) -> PlayedGames:
        """Play games, or take those of `path` if they were made alike, so that a run resumes."""
        key = json.dumps(
            {
                "games": count,
                "seed": seed,
                "rules": str(self.game),
                "teachers": [model.sha256 for model in self.teachers],
                "partner": self.partner and self.partner.sha256,
                "seats": self.seats,
            }
        )
        if rank.is_first and (not path.exists() or _read(path)[0] != key):
            played = self.play(count, seed, rank.device)
            with whole_file(path) as file:
                np.savez_compressed(file, key=key, decks=played.decks, actions=played.actions)
        rank.first(0.0)  # the others wait until the games are there
        _, decks, actions = _read(path)
        return PlayedGames(self.game, decks, actions)


def _read(path: Path) -> tuple[str, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    try:
        with np.load(path) as file:
            return str(file["key"]), file["decks"], file["actions"]
    except Exception:
        raise InputError(f"{path}: not games that kedge has kept; delete it") from None
