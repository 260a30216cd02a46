"""Training a Diplomacy model on human games: each power's orders, and how the game ends.

Positions and orders are stored on the device as rows of the tables that a network adds up (see
`kedge.models.diplomacy.torch_network`). Each choice keeps only its legal orders.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from onnx import ModelProto
from torch import Tensor, nn

from kedge import _core
from kedge.errors import InputError
from kedge.games.diplomacy import POWERS, PackedOrders
from kedge.models.diplomacy.encoding import (
    EVERYBODY,
    MOST_CHOICES,
    Choices,
    Integers,
    facts_of,
    tells_previous,
)
from kedge.models.diplomacy.network import DiplomacyWeights, to_shipped_onnx
from kedge.models.diplomacy.torch_network import DiplomacyModule, Shape, TaughtChoices
from kedge.models.torch_arrays import arrays_of
from kedge.records.diplomacy.games import DiplomacyGame, ReplayedPhase, part_of
from kedge.records.splits import CHOOSE, LEARN, PARTS
from kedge.training import trainer
from kedge.training.distributed import Rank
from kedge.training.memory import make_checked
from kedge.training.recipe import Optimizer, Recipe
from kedge.training.trainer import Trainer


@dataclass(frozen=True)
class DiplomacyRecipe(Recipe):
    """Settings for a transformer and the LSTM that decodes orders from it."""

    blocks: int = 6
    width: int = 192
    heads: int = 6
    layers: int = 1
    """Layers of the LSTM."""
    dropout: float = 0.2
    forget: float = 0.25
    """Share of positions without the previous orders in the input, as in a search."""
    steps: int = 12_000
    batch: int = 1024
    optimizer: Optimizer = "muon"
    learning_rate: float = 1e-3
    warmup: int = 300
    value_weight: float = 0.3

    shape: ClassVar[tuple[str, ...]] = ("width", "blocks", "heads", "layers")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_counts("blocks", "width", "heads", "layers")
        self._check_shares("dropout", "forget")
        if self.width % self.heads:
            raise InputError(f"width: must be a multiple of heads={self.heads}, not {self.width}")

    @property
    def network(self) -> Shape:
        return Shape(self.width, self.blocks, self.heads, self.layers)


class Batch(NamedTuple):
    """Choices, and the orders that people chose."""

    choices: TaughtChoices
    chosen: Tensor  # (s,) int64: the chosen row among all orders, for each known choice
    shares: Tensor  # (n, 7) float32; NaN if unknown


@cache
def renamed_rows() -> Tensor:
    """(5040, rows): the row that each row becomes under each permutation of the powers."""
    every = torch.tensor(list(permutations(range(len(POWERS)))))
    rows = torch.arange(_core.DIPLOMACY_FACT_ROWS).repeat(len(every), 1)
    for first in _core.DIPLOMACY_ROWS_BY_POWER:
        rows[:, first : first + len(POWERS)] = first + every
    return rows.to(torch.int32)


@dataclass(frozen=True)
class DiplomacyPositions:
    """Positions and people's orders in them, as tensors on one device."""

    facts: Tensor  # (n, 88, 10) int16
    shares: Tensor  # (n, 7) float32
    first: Tensor  # (n, 7) int64: the first choice of each power
    counts: Tensor  # (n, 7) int64: the number of its choices
    places: Tensor  # (s,) uint8
    given: Tensor  # (s, 3) int16: facts of the chosen order, 0 if unknown
    begins: Tensor  # (s + 1,) int64: offsets of the orders of each choice; empty if unknown
    chosen: Tensor  # (s,) int64: the chosen one of these orders
    orders: Tensor  # (c, 5) int16
    renamed: Tensor  # `renamed_rows`
    before: Tensor  # (88, 10) bool: facts about the previous orders
    forget: float = 0.0

    def __len__(self) -> int:
        return len(self.shares)

    def to(self, device: torch.device) -> "DiplomacyPositions":
        tensors = {name: part for name, part in vars(self).items() if isinstance(part, Tensor)}
        return replace(self, **{name: part.to(device) for name, part in tensors.items()})

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> Batch:
        """Unpack some rows; `turns` selects a permutation of the powers."""
        facts = self.facts[rows].int()
        if turns is not None:
            which = turns.double() * len(self.renamed)
            at = which.long()[:, None, None] * self.renamed.shape[1] + facts
            facts = self.renamed.view(-1)[at]
            remembered = (which.frac() >= self.forget)[:, None, None]
            facts = torch.where(remembered | ~self.before, facts, 0)
        number = torch.arange(MOST_CHOICES, device=rows.device)
        left = self.counts[rows][..., None] - number
        real = left > 0
        choice = torch.where(real, self.first[rows][..., None] + number, 0)
        before = torch.where(real & (number > 0), choice - 1, -1)
        given = self.given[before.clamp(0)].int() * (before >= 0)[..., None]
        # Concatenate the orders of all choices.
        known = torch.where(real, self.begins[choice + 1] - self.begins[choice], 0).flatten()
        slot = torch.arange(len(known), device=rows.device).repeat_interleave(known)
        ends = known.cumsum(0)
        within = torch.arange(len(slot), device=rows.device) - (ends - known)[slot]
        orders = self.orders[self.begins[choice.flatten()[slot]] + within].int()
        has_orders = known > 0
        chosen = (ends - known)[has_orders] + self.chosen[choice.flatten()[has_orders]]
        places = self.places[choice].long()
        choices = TaughtChoices(facts, places, left.clamp(0), given, slot, orders)
        return Batch(choices, chosen, self.shares[rows])


def _wanted(decisions: Sequence[ReplayedPhase], choices: Choices) -> PackedOrders:
    """The order of each choice; 0 if nobody chose, or the order is unknown.

    If a power gave any orders, its other units hold, which is their first legal order.
    """
    wanted = np.zeros(len(choices.places), np.uint32)
    groups = choices.boards, choices.powers, choices.first, choices.counts
    for board, power, first, count in zip(*groups, strict=True):
        decision = decisions[board]
        given = decision.orders.get(POWERS[power])
        if given is None:
            continue
        own = slice(first, first + count)
        orders = choices.matched(own, given)
        if decision.phase.kind == "M":
            orders = np.where(orders > 0, orders, choices.orders[choices.offsets[own]])
        wanted[own] = orders
    return wanted


def _trimmed(
    choices: Choices, wanted: PackedOrders, adjusting: npt.NDArray[np.bool_]
) -> tuple[Integers, Integers]:
    """The range of legal orders of each choice; empty if its order is unknown."""
    after, until = choices.openings()
    begins = choices.offsets[:-1].copy()
    ends = begins + until
    for board, first, count in zip(choices.boards, choices.first, choices.counts, strict=True):
        if not adjusting[board] or not wanted[first]:
            continue
        for slot in range(first, first + count - 1):
            which = np.flatnonzero(choices.of(slot) == wanted[slot])[0]
            begins[slot + 1] += after[choices.offsets[slot] + which]
    ends = np.where(wanted == 0, begins, ends)
    return begins, ends


def positions_of(
    games: Iterable[DiplomacyGame], kinds: str = "MRA", threads: int = 0
) -> DiplomacyPositions:
    """Pack the phases of these kinds, with the orders of the powers that gave any."""
    decisions: list[ReplayedPhase] = []
    shares: list[list[float]] = []
    for game in games:
        ended = game.shares() or [np.nan] * len(POWERS)
        for decision in game.decisions():
            if decision.phase.kind in kinds and decision.orders:
                decisions.append(decision)
                shares.append(ended)
    boards = [decision.state.board for decision in decisions]
    choices = Choices.on(boards, [EVERYBODY] * len(boards), threads)
    wanted = _wanted(decisions, choices)
    adjusting = np.array([decision.phase.kind == "A" for decision in decisions], bool)
    begins, ends = _trimmed(choices, wanted, adjusting)
    lengths = ends - begins
    kept = np.repeat(begins - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    orders = choices.orders[kept]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    hits = np.flatnonzero(orders == np.repeat(wanted, lengths))
    slots = np.repeat(np.arange(len(wanted)), lengths)[hits]
    chosen = np.zeros(len(wanted), np.int64)
    chosen[slots] = hits - offsets[slots]
    groups = choices.boards, choices.powers
    first, counts = np.zeros((2, len(boards), len(POWERS)), np.int64)
    first[groups], counts[groups] = choices.first, choices.counts
    given = _core.diplomacy_order_facts(wanted, threads)[:, :3]
    return DiplomacyPositions(
        torch.from_numpy(facts_of([made.state for made in decisions], threads).view(np.int16)),
        torch.from_numpy(np.array(shares, np.float32).reshape(-1, len(POWERS))),
        torch.from_numpy(first),
        torch.from_numpy(counts),
        torch.from_numpy(choices.places),
        torch.from_numpy(given.astype(np.int16)),
        torch.from_numpy(offsets),
        torch.from_numpy(chosen),
        torch.from_numpy(_core.diplomacy_order_facts(orders, threads).view(np.int16)),
        renamed_rows(),
        torch.from_numpy(tells_previous()),
    )


def _losses(batch: Batch, logits: Tensor) -> tuple[Tensor, Tensor]:
    """The cross-entropy of each choice, and whether its likeliest order was chosen."""
    _, choice = batch.choices.slot.unique_consecutive(return_inverse=True)
    most = logits.new_full((len(batch.chosen),), -torch.inf)
    most = most.scatter_reduce(0, choice, logits.detach(), "amax")
    total = torch.zeros_like(most).index_add(0, choice, (logits - most[choice]).exp())
    picked = logits[batch.chosen]
    return total.log() + most - picked, picked.detach() >= most


def share_losses(shares: Tensor, logits: Tensor) -> Tensor:
    """The cross-entropy of each position's shares; 0 if they are unknown."""
    return -(shares.nan_to_num() * logits.float().log_softmax(1)).sum(1)


class DiplomacyTrainer(Trainer[Batch]):
    inner: ClassVar[tuple[str, ...]] = ("blocks",)
    recipe: DiplomacyRecipe

    def __init__(self, recipe: DiplomacyRecipe, rank: Rank, compiled: bool = True) -> None:
        network = make_checked(lambda: DiplomacyModule(recipe.network, recipe.dropout), recipe)
        super().__init__(network, recipe, rank)
        if compiled:
            network.encoder.compile()

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        with torch.autocast(self.device.type, torch.bfloat16):
            logits, shares = self.parallel(batch.choices)
        losses, right = _losses(batch, logits)
        value_loss = share_losses(batch.shares, shares).mean()
        return losses.mean() + self.recipe.value_weight * value_loss, right.float().mean()

    def scores(self, network: nn.Module, batch: Batch) -> Tensor:
        logits, shares = network(batch.choices)
        losses, right = _losses(batch, logits)
        return torch.stack(
            [
                torch.tensor(float(len(losses)), device=losses.device),
                right.sum(),
                losses.sum(),
                share_losses(batch.shares, shares).sum(),
            ]
        )


def train(
    games: Iterable[DiplomacyGame],
    folder: Path,
    recipe: DiplomacyRecipe,
    *,
    rank: Rank,
    seconds: float = float("inf"),
) -> Iterator[dict[str, float]]:
    """Train on the games to learn from; see `kedge.training.trainer.train`.

    The scores are those of the movement phases of the games to choose by. The games for testing
    are left out: `kedge predict diplomacy` judges on them.
    """
    to_learn, choosing = split_games(games)
    learned = replace(positions_of(to_learn), forget=recipe.forget).to(rank.device)
    chosen_by = positions_of(choosing, kinds="M").to(rank.device)
    torch.manual_seed(recipe.seed)
    learner = DiplomacyTrainer(recipe, rank, rank.device.type == "cuda")
    return trainer.train(
        learner, learned, chosen_by, folder, exported, seconds=seconds, part=PARTS[CHOOSE]
    )


def split_games(games: Iterable[DiplomacyGame]) -> tuple[list[DiplomacyGame], list[DiplomacyGame]]:
    """Return the games to learn from and those to choose by; raise `InputError` without any."""
    parts: dict[int, list[DiplomacyGame]] = {LEARN: [], CHOOSE: []}
    for game in games:
        if (part := part_of(game)) in parts:
            parts[part].append(game)
    to_learn, choosing = parts.values()
    if not to_learn or not choosing:
        raise InputError(
            f"too few games: {len(to_learn)} to learn from, {len(choosing)} to choose the model by"
        )
    return to_learn, choosing


def exported(network: nn.Module) -> ModelProto:
    """Return the network as the model that ships."""
    assert isinstance(network, DiplomacyModule)
    return to_shipped_onnx(DiplomacyWeights(arrays_of(network), network.heads, "trained"))
