"""Training a Hanabi model to predict the next move of recorded games (appendix L).

Batches are whole games, in random colours each time. People are split three ways: the model learns
from most, is chosen by some, and is tested on others, whom training never touches.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import torch
from onnx import ModelProto
from torch import Tensor, nn
from torch.nn import functional

from kedge.errors import InputError
from kedge.games.hanabi import Hanabi
from kedge.models.hanabi.model import legal_moves
from kedge.models.hanabi.network import PolicyWeights, to_shipped_onnx
from kedge.models.hanabi.torch_network import PolicyModule
from kedge.models.torch_arrays import state_of
from kedge.records.hanabi.games import HanabiGame, part_of
from kedge.records.splits import CHOOSE, LEARN, PARTS, TEST
from kedge.training import trainer
from kedge.training.distributed import Rank
from kedge.training.hanabi.games import PlayedGames, pack_games, room
from kedge.training.hanabi.teachers import Teachers, played_once
from kedge.training.memory import make_checked
from kedge.training.recipe import Recipe
from kedge.training.trainer import Metrics, Positions, Trainer

Moves = Literal["people", "all"]


@dataclass(frozen=True)
class HanabiRecipe(Recipe):
    """Settings for a Public-LSTM; a batch holds whole games."""

    width: int = 256
    layers: int = 1
    """Layers of the LSTM."""
    dropout: float = 0.2
    moves: Moves = "people"
    """The moves to train on: people's, in games that have any, or everyone's. People's moves choose
    the model."""
    recolour: bool = True
    """Whether games get random colours each time. People treat colours alike; a program may
    prefer some."""
    teacher_weight: float = 0.0
    """Share of the policy loss that imitates the teachers, if there are any. In synthetic games it
    is all of it."""
    synthetic: int = 0
    """Games that teachers play, for training only."""
    steps: int = 1000
    batch: int = 32
    learning_rate: float = 1e-3
    warmup: int = 20
    average: float = 0.98

    shape: ClassVar[tuple[str, ...]] = ("width", "layers")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_counts("width", "layers")
        self._check_shares("dropout", "teacher_weight")
        if self.moves not in get_args(Moves):
            raise InputError(f"moves: {' or '.join(get_args(Moves))}, not {self.moves}")


class Batch(NamedTuple):
    seen: Tensor  # (plies, n, features): the mover's view
    predicted: Tensor  # (m,): moves to predict, numbered in the flattened (plies · n)
    legal: Tensor  # (m, actions) bool
    chosen: Tensor  # (m,): these moves
    synthetic: Tensor  # (m,) bool: drawn by a teacher

    def masked(self, logits: Tensor) -> Tensor:
        """The logits in float32; illegal moves get −10⁴."""
        return logits.float().masked_fill(~self.legal, -1e4)


@dataclass(frozen=True)
class TaughtGames:
    """Games, and the moves in them to predict."""

    games: PlayedGames
    predicted: npt.NDArray[np.bool_]  # (n, plies)
    device: torch.device
    recolour: bool = True
    recorded: int | None = None
    """Number of recorded games; the games after them are synthetic. None if none are."""

    def __len__(self) -> int:
        return len(self.games)

    def with_synthetic(self, games: PlayedGames) -> "TaughtGames":
        """Return these games and synthetic ones, in which all moves are predicted."""
        joined = self.games.joined(games)
        predicted = joined.actions >= 0
        predicted[: len(self), : self.predicted.shape[1]] = self.predicted
        return replace(self, games=joined, predicted=predicted, recorded=len(self))

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> Batch:
        """Encode some games; if `recolour` is set, `turns` selects their colours."""
        which = rows.numpy(force=True)
        games = self.games.take(which)
        if turns is not None and self.recolour:
            games = games.recoloured(turns.double().numpy(force=True))
        count, plies = games.actions.shape
        seen, places = room(self.device, plies, count, games.game.num_features())
        legal = np.empty((plies, count, len(games.game.moves)), bool)
        for ply, now in enumerate(games.plies()):
            now.encode(places[ply], "private", None, True)
            legal[ply] = legal_moves(now, legal.shape[2])
        predicted = self.predicted[which, :plies].T
        # Numbers instead of a mask: a GPU that counts a mask keeps the CPU waiting in every step.
        numbers = np.flatnonzero(predicted)
        synthetic = which >= (len(self) if self.recorded is None else self.recorded)
        arrays = (
            numbers,
            legal[predicted],
            games.actions.T[predicted],
            np.broadcast_to(synthetic, predicted.shape)[predicted],
        )
        parts = map(torch.from_numpy, arrays)
        return Batch(*(part.to(self.device, non_blocking=True) for part in (seen, *parts)))


def taught_games(games: Sequence[HanabiGame], moves: Moves, device: torch.device) -> TaughtGames:
    """Pack recorded games, and mark people's moves, or all moves in games without people."""
    packed = pack_games(games)
    predicted = packed.actions >= 0
    for row, game in zip(predicted, games, strict=True):
        choices = game.choices(people=True)
        if moves == "all" or not game.humans:
            choices |= game.choices(people=False)
        row[: len(game)] = choices
    return TaughtGames(packed, predicted, device)


class HanabiTrainer(Trainer[Batch]):
    inner: ClassVar[tuple[str, ...]] = ("public", "lstm", "private")
    ahead: ClassVar[int] = 3
    sample: ClassVar[int] = 2000
    recipe: HanabiRecipe

    def __init__(
        self,
        network: PolicyModule,
        recipe: HanabiRecipe,
        rank: Rank,
        teachers: Teachers | None = None,
    ) -> None:
        super().__init__(network, recipe, rank)
        self.teachers = teachers

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        with torch.autocast(self.device.type, torch.bfloat16):
            logits = self.parallel(batch.seen, batch.predicted)
        losses, right = _scored(batch, logits)
        if self.teachers is not None:
            target = self.teachers.policy(batch.seen, batch.predicted, batch.legal)
            imitated = -(target * batch.masked(logits).log_softmax(1)).sum(1)
            share = torch.where(batch.synthetic, 1.0, self.recipe.teacher_weight)
            losses = torch.lerp(losses, imitated, share)
        return losses.mean(), right.float().mean()

    def scores(self, network: nn.Module, batch: Batch) -> Tensor:
        losses, right = _scored(batch, network(batch.seen, batch.predicted))
        count = torch.tensor(float(len(losses)), device=losses.device)
        return torch.stack([count, right.sum(), losses.sum(), torch.zeros_like(count)])

    def evaluate(
        self, positions: Positions[Batch], batch: int = 256, most: int | None = None
    ) -> Metrics:
        """Score held-out games. Batches hold whole games, hence the smaller batch size."""
        return super().evaluate(positions, batch, most)


def _scored(batch: Batch, logits: Tensor) -> tuple[Tensor, Tensor]:
    """The cross-entropy of each move to predict, and whether it was the likeliest."""
    logits = batch.masked(logits)
    losses = functional.cross_entropy(logits, batch.chosen, reduction="none")
    return losses, logits.argmax(1) == batch.chosen


def initial_network(
    recipe: HanabiRecipe, game: Hanabi, before: PolicyWeights | None = None
) -> PolicyModule:
    """The network to train: a new one, or a copy of `before`, which must have the same shape."""
    torch.manual_seed(recipe.seed)
    network = make_checked(
        lambda: PolicyModule(game, recipe.width, recipe.layers, recipe.dropout), recipe
    )
    if before is None:
        return network
    recipe.check_shape(before)
    if str(before.game) != str(game):
        raise InputError(f"the initial model plays {before.game}, the games are {game}")
    network.load_state_dict(state_of(before.arrays))
    return network


def train(
    games: Iterable[HanabiGame],
    folder: Path,
    recipe: HanabiRecipe,
    *,
    rank: Rank,
    before: PolicyWeights | None = None,
    teachers: Sequence[PolicyWeights] = (),
    seconds: float = float("inf"),
) -> Iterator[dict[str, float]]:
    """Train on the games of the LEARN part; see `kedge.training.trainer.train`.

    The games of CHOOSE measure progress and choose the step whose network is kept. Those of TEST
    are not used. The folder keeps synthetic games.
    """
    parts: dict[int, list[HanabiGame]] = {LEARN: [], CHOOSE: [], TEST: []}
    for each in games:
        if len(each) > min(each.humans, default=0):  # there is a move to predict
            parts[part_of(each)].append(each)
    to_learn, to_choose = parts[LEARN], parts[CHOOSE]
    if not to_learn or not to_choose:
        raise InputError(
            f"too few games: {len(to_learn)} to train on, {len(to_choose)} to choose the model by"
        )
    learned = replace(taught_games(to_learn, recipe.moves, rank.device), recolour=recipe.recolour)
    chosen_by = taught_games(to_choose, "people", rank.device)
    game = learned.games.game
    if str(chosen_by.games.game) != str(game):
        raise InputError(
            f"the games have different rules ({game} and {chosen_by.games.game}); "
            "use games of one variant"
        )
    _check_teaching(recipe, game, teachers)
    network = initial_network(recipe, game, before)
    if recipe.synthetic:
        path = folder / "synthetic.npz"
        count, seed = recipe.synthetic, recipe.seed
        learned = learned.with_synthetic(played_once(teachers, game, count, seed, path, rank))
    together = Teachers(teachers, rank.device) if teachers else None
    learner = HanabiTrainer(network, recipe, rank, together)
    return trainer.train(
        learner,
        learned,
        chosen_by,
        folder,
        exported,
        part=PARTS[CHOOSE],
        seconds=seconds,
        keep_best=True,
    )


def _check_teaching(recipe: HanabiRecipe, game: Hanabi, teachers: Sequence[PolicyWeights]) -> None:
    """Raise `InputError` if a part of the teaching would have no effect, or cannot be."""
    if not teachers and (recipe.teacher_weight or recipe.synthetic):
        raise InputError("teacher_weight and synthetic games need a teacher; add --teacher MODEL")
    if teachers and not (recipe.teacher_weight or recipe.synthetic):
        raise InputError("a teacher needs -s teacher_weight=0.9, or synthetic games")
    for model in teachers:
        if str(model.game) != str(game):
            raise InputError(f"a teacher plays {model.game}, the games are {game}")


def exported(network: nn.Module) -> ModelProto:
    """Return the network as the model that ships."""
    assert isinstance(network, PolicyModule)
    return to_shipped_onnx(network.weights())
