"""Training a Diplomacy model on human games: what each power orders, and how the game ends.

Positions and orders lie on the device as the rows of tables that a network adds up (see
`kedge.models.diplomacy.torch_network`); only the orders that were legal are kept of each choice.
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
from kedge.records.diplomacy.games import Decision, DiplomacyGame, is_held_out
from kedge.training import trainer
from kedge.training.distributed import Rank
from kedge.training.trainer import Optimizer, Recipe, Trainer


@dataclass(frozen=True)
class DiplomacyRecipe(Recipe):
    """How to train a transformer and the LSTM that reads orders from it."""

    blocks: int = 6
    width: int = 192
    heads: int = 6
    layers: int = 1
    """Of the LSTM."""
    dropout: float = 0.2
    forget: float = 0.25
    """The share of positions that are told without the orders before, as a search meets them."""
    steps: int = 12_000
    batch: int = 1024
    optimizer: Optimizer = "muon"
    learning_rate: float = 1e-3
    warmup: int = 300
    value_weight: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_counts("blocks", "width", "heads", "layers")
        self._check_shares("dropout", "forget")
        if self.width % self.heads:
            raise InputError(f"width: a multiple of the {self.heads} heads, not {self.width}")

    @property
    def network(self) -> Shape:
        return Shape(self.width, self.blocks, self.heads, self.layers)


class Batch(NamedTuple):
    """Choices, and what people chose."""

    choices: TaughtChoices
    chosen: Tensor  # (s,) int64: of each choice that was made, which of all the orders it was
    shares: Tensor  # (n, 7) float32; NaN where unknown


@cache
def renamed_rows() -> Tensor:
    """(5040, rows): where each row goes when powers take each other's places."""
    every = torch.tensor(list(permutations(range(len(POWERS)))))
    rows = torch.arange(_core.DIPLOMACY_FACT_ROWS).repeat(len(every), 1)
    for first in _core.DIPLOMACY_ROWS_BY_POWER:
        rows[:, first : first + len(POWERS)] = first + every
    return rows.to(torch.int32)


@dataclass(frozen=True)
class DiplomacyPositions:
    """Positions and what people ordered in them, as tensors on one device."""

    facts: Tensor  # (n, 88, 10) int16
    shares: Tensor  # (n, 7) float32
    first: Tensor  # (n, 7) int64: the first choice of each power
    counts: Tensor  # (n, 7) int64: of its choices
    places: Tensor  # (s,) uint8
    given: Tensor  # (s, 3) int16: facts of what was chosen, 0 where that is unknown
    begins: Tensor  # (s + 1,) int64: the orders of each choice; none where it is unknown
    chosen: Tensor  # (s,) int64: which of them
    orders: Tensor  # (c, 5) int16
    renamed: Tensor  # `renamed_rows`
    before: Tensor  # (88, 10) bool: which facts are of the orders before
    forget: float = 0.0

    def __len__(self) -> int:
        return len(self.shares)

    def to(self, device: torch.device) -> "DiplomacyPositions":
        tensors = {name: part for name, part in vars(self).items() if isinstance(part, Tensor)}
        return replace(self, **{name: part.to(device) for name, part in tensors.items()})

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> Batch:
        """With the powers in another order, where `turns` are drawn."""
        facts = self.facts[rows].int()
        if turns is not None:
            which = turns.double() * len(self.renamed)
            at = which.long()[:, None, None] * self.renamed.shape[1] + facts
            facts = self.renamed.view(-1)[at]
            told = (which.frac() >= self.forget)[:, None, None]
            facts = torch.where(told | ~self.before, facts, 0)
        number = torch.arange(MOST_CHOICES, device=rows.device)
        left = self.counts[rows][..., None] - number
        real = left > 0
        choice = torch.where(real, self.first[rows][..., None] + number, 0)
        before = torch.where(real & (number > 0), choice - 1, -1)
        given = self.given[before.clamp(0)].int() * (before >= 0)[..., None]
        # The orders of all choices, one after the other.
        known = torch.where(real, self.begins[choice + 1] - self.begins[choice], 0).flatten()
        slot = torch.arange(len(known), device=rows.device).repeat_interleave(known)
        ends = known.cumsum(0)
        within = torch.arange(len(slot), device=rows.device) - (ends - known)[slot]
        orders = self.orders[self.begins[choice.flatten()[slot]] + within].int()
        asked = known > 0
        chosen = (ends - known)[asked] + self.chosen[choice.flatten()[asked]]
        places = self.places[choice].long()
        choices = TaughtChoices(facts, places, left.clamp(0), given, slot, orders)
        return Batch(choices, chosen, self.shares[rows])


def _wanted(decisions: Sequence[Decision], choices: Choices) -> PackedOrders:
    """What each choice was; 0 where nobody chose, or nobody knows.

    A power that gave orders at all let its other units hold, which is the first order there is.
    """
    wanted = np.zeros(len(choices.places), np.uint32)
    for first, count in zip(choices.first, choices.counts, strict=True):
        decision = decisions[choices.boards[first]]
        given = decision.orders.get(POWERS[choices.powers[first]])
        if given is None:
            continue
        own = slice(first, first + count)
        found = choices.matched(own, given)
        if decision.phase.kind == "M":
            found = np.where(found > 0, found, choices.orders[choices.offsets[own]])
        wanted[own] = found
    return wanted


def _trimmed(
    choices: Choices, wanted: PackedOrders, adjusting: npt.NDArray[np.bool_]
) -> tuple[Integers, Integers]:
    """The range of orders that each choice was among; an empty one where it is not known."""
    after, until = choices.openings()
    begins = choices.offsets[:-1].copy()
    ends = begins + until
    for first, count in zip(choices.first, choices.counts, strict=True):
        if not adjusting[choices.boards[first]] or not wanted[first]:
            continue
        for slot in range(first, first + count - 1):
            which = np.flatnonzero(choices.of(slot) == wanted[slot])[0]
            begins[slot + 1] += after[choices.offsets[slot] + which]
    ends = np.where(wanted == 0, begins, ends)
    return begins, ends


def positions_of(
    games: Iterable[DiplomacyGame], kinds: str = "MRA", threads: int = 0
) -> DiplomacyPositions:
    """The phases of these kinds of some games: what the powers that gave orders chose in them."""
    decisions: list[Decision] = []
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
    groups = choices.boards[choices.first].astype(np.int64), choices.powers[choices.first]
    first, counts = np.zeros((2, len(boards), len(POWERS)), np.int64)
    first[groups], counts[groups] = choices.first, choices.counts
    given = _core.diplomacy_order_facts(wanted, threads)[:, :3]
    return DiplomacyPositions(
        torch.from_numpy(facts_of([one.state for one in decisions], threads).view(np.int16)),
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
    """Of each choice the cross-entropy, and whether the likeliest order was chosen."""
    _, choice = batch.choices.slot.unique_consecutive(return_inverse=True)
    most = logits.new_full((len(batch.chosen),), -torch.inf)
    most = most.scatter_reduce(0, choice, logits.detach(), "amax")
    total = torch.zeros_like(most).index_add(0, choice, (logits - most[choice]).exp())
    found = logits[batch.chosen]
    return total.log() + most - found, found.detach() >= most


def share_losses(shares: Tensor, logits: Tensor) -> Tensor:
    """Of each position the cross-entropy of the shares; 0 where they are not known."""
    return -(shares.nan_to_num() * logits.float().log_softmax(1)).sum(1)


class DiplomacyTrainer(Trainer[Batch]):
    shape: ClassVar[tuple[str, ...]] = ("width", "blocks", "heads", "layers")
    inner: ClassVar[tuple[str, ...]] = ("blocks",)
    recipe: DiplomacyRecipe

    def __init__(self, recipe: DiplomacyRecipe, rank: Rank, compiled: bool = True) -> None:
        network = DiplomacyModule(recipe.network, recipe.dropout)
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
    """Train on the games that are not held out; see `kedge.training.trainer.train`.

    What is tested on are the movement phases of those that are held out; where the records tell
    how active the powers were, of those in which all were (tier A).
    """
    ours, others = split(games)
    active = [game for game in others if game.tier == "A"]
    learned = replace(positions_of(ours), forget=recipe.forget).to(rank.device)
    tested = positions_of(active or others, kinds="M").to(rank.device)
    torch.manual_seed(recipe.seed)
    course = DiplomacyTrainer(recipe, rank, rank.device.type == "cuda")
    return trainer.train(course, learned, tested, folder, exported, seconds=seconds)


def split(games: Iterable[DiplomacyGame]) -> tuple[list[DiplomacyGame], list[DiplomacyGame]]:
    """Those to learn from, and those held out; an `InputError` where there are none."""
    parts: tuple[list[DiplomacyGame], list[DiplomacyGame]] = ([], [])
    for game in games:
        parts[is_held_out(game)].append(game)
    if not all(parts):
        ours, others = map(len, parts)
        raise InputError(f"too few games: {ours} to train on, {others} held out to test on")
    return parts


def exported(network: nn.Module) -> bytes:
    """The file that kedge ships."""
    assert isinstance(network, DiplomacyModule)
    weights = DiplomacyWeights(arrays_of(network), network.heads, "trained")
    content: bytes = to_shipped_onnx(weights).SerializeToString()
    return content
