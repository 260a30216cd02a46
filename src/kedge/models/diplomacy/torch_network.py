"""The Diplomacy network in torch, for training and for GPUs (appendix I).

A transformer reads the 88 tokens of a position. Each power's token predicts its final share. An
LSTM reads the tokens of the power's units one by one, with the previous orders. Its output for a
unit is compared with a vector of each legal order.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from kedge.models.diplomacy.encoding import (
    FACT_ROWS,
    MOST_CHOICES,
    ORDER_ROWS,
    PLACES,
    PURPOSES,
)
from kedge.models.diplomacy.network import DiplomacyWeights
from kedge.models.torch_arrays import state_of


@dataclass(frozen=True)
class Shape:
    width: int
    blocks: int
    heads: int
    layers: int  # of the LSTM


class Read(NamedTuple):
    """The encoded positions."""

    places: Tensor  # (n, 82, width), 0 in the last
    powers: Tensor  # (n, 7, width)
    looks: Tensor  # (n, 1 + 4 · 81, width): one per place and purpose; 0 in the first
    shares: Tensor  # (n, 7) logits


def _table(rows: int, width: int, scale: float) -> nn.Embedding:
    """A table whose rows are added up; the first row stays 0."""
    table = nn.Embedding(rows, width, padding_idx=0)
    with torch.no_grad():
        table.weight.mul_(scale)
    return table


class Block(nn.Module):
    """Attention, then a feed-forward layer, both residual."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm1(x)
        query, key, value = (
            part(y).unflatten(2, (self.heads, -1)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        y = functional.scaled_dot_product_attention(query, key, value)
        x = x + self._dropped(self.out(y.transpose(1, 2).flatten(2)))
        return x + self._dropped(self.down(functional.gelu(self.up(self.norm2(x)))))

    def _dropped(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.dropout, self.training)


class Encoder(nn.Module):
    """The transformer over the tokens of a position."""

    def __init__(self, shape: Shape, dropout: float = 0.0) -> None:
        super().__init__()
        width = shape.width
        self.facts = _table(FACT_ROWS, width, 0.3)
        self.blocks = nn.ModuleList(Block(width, shape.heads, dropout) for _ in range(shape.blocks))
        self.norm = nn.LayerNorm(width)
        self.share = nn.Linear(width, 1)
        self.dropout = dropout

    def forward(self, facts: Tensor) -> tuple[Tensor, Tensor]:
        """(n, 88, 10) facts to (n, 88, width) tokens and the logits (n, 7) of shares."""
        x = self.facts(facts).sum(2)
        x = functional.dropout(x, self.dropout, self.training)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return x, self.share(x[:, PLACES:]).squeeze(2)


class StepInputs(NamedTuple):
    """Inputs of the choices of g powers, with r partial orders each."""

    places: Tensor  # (g, width)
    powers: Tensor  # (g, width)
    left: Tensor  # (g,)
    before: Tensor  # (g, r, 3)


class TaughtChoices(NamedTuple):
    """Positions and the choices in them, with the order before each."""

    facts: Tensor  # (n, 88, 10)
    places: Tensor  # (n, 7, slots) the place of each choice; 81 for builds and removals
    left: Tensor  # (n, 7, slots) remaining choices of the power, including this one
    before: Tensor  # (n, 7, slots, 3) facts of the order before
    slot: Tensor  # (c,) the choice, of n · 7 · slots, of each order; ascending
    orders: Tensor  # (c, 5) facts of each order


class DiplomacyModule(nn.Module):
    def __init__(self, shape: Shape, dropout: float = 0.0) -> None:
        super().__init__()
        width = shape.width
        self.heads, self.dropout = shape.heads, dropout
        self.encoder = Encoder(shape, dropout)
        self.look = nn.Linear(width, PURPOSES * width, bias=False)
        self.place, self.power = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.left = _table(MOST_CHOICES + 1, width, 0.1)
        self.before = _table(ORDER_ROWS, width, 0.1)
        self.lstm = nn.LSTM(
            width, width, shape.layers, batch_first=True, dropout=dropout if shape.layers > 1 else 0
        )
        self.order = _table(ORDER_ROWS, width, width**-0.5)

    def read(self, facts: Tensor) -> Read:
        tokens, shares = self.encoder(facts)
        places = functional.pad(tokens[:, :PLACES], (0, 0, 0, 1))
        looks = self.look(tokens[:, :PLACES]).unflatten(2, (PURPOSES, -1)).transpose(1, 2)
        looks = functional.pad(looks.flatten(1, 2), (0, 0, 1, 0))
        return Read(places, tokens[:, PLACES:], looks, shares)

    def lstm_input(self, places: Tensor, powers: Tensor, left: Tensor, before: Tensor) -> Tensor:
        """The LSTM's input for a choice: the unit's place, the power, its remaining choices, and
        facts of the order before."""
        context = self.before(before).sum(-2) + self.left(left)
        return context + self.place(places) + self.power(powers)

    def forward(self, batch: TaughtChoices) -> tuple[Tensor, Tensor]:
        """The logits of the orders of all choices and of the shares, given the order before each
        choice."""
        read = self.read(batch.facts)
        count = len(batch.places)
        own = torch.arange(count, device=batch.places.device)[:, None, None]
        inputs = self.lstm_input(
            read.places[own, batch.places], read.powers[:, :, None], batch.left, batch.before
        )
        inputs = functional.dropout(inputs, self.dropout, self.training)
        outputs, _ = self.lstm(inputs.flatten(0, 1))
        outputs = functional.dropout(outputs, self.dropout, self.training)
        outputs = outputs.reshape(count, -1, outputs.shape[-1])
        looked = (outputs @ read.looks.transpose(1, 2)).flatten(0, 1)
        # Few slots hold a choice: only these are compared with every order.
        used, slot = batch.slot.unique_consecutive(return_inverse=True)
        table = functional.pad(self.order.weight[1:], (0, 0, 1, 0)).to(outputs.dtype)
        known = outputs.flatten(0, 1)[used] @ table.T
        orders = batch.orders.long()
        logits = looked.new_zeros(len(slot), dtype=torch.float32)
        for fact in range(3):
            row = orders[:, fact]
            logits = logits + known.view(-1)[slot * known.shape[1] + row].float()
        for fact in (3, 4):
            logits = (
                logits + looked.view(-1)[batch.slot * looked.shape[1] + orders[:, fact]].float()
            )
        return logits, read.shares

    def step(
        self,
        inputs: StepInputs,
        orders: Tensor,
        looked: Tensor,
        state: tuple[Tensor, Tensor],
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Advance by one order: see `kedge.models.diplomacy.network.to_step_onnx`."""
        places, powers, left, before = inputs
        encoded = self.lstm_input(places[:, None], powers[:, None], left[:, None], before)
        outputs, state = self.lstm(encoded.flatten(0, 1)[:, None], state)
        vectors = self.order(orders).sum(2) + looked
        return outputs.view(*before.shape[:2], -1) @ vectors.transpose(1, 2), state


class AllChoices(NamedTuple):
    """The choices of every power, by position: see `kedge.models.diplomacy.encoding.Choices`."""

    first: Tensor  # (n, 7) the first choice of each power
    counts: Tensor  # (n, 7)
    places: Tensor  # (s,)
    offsets: Tensor  # (s + 1,)
    orders: Tensor  # (c, 5) facts
    after: Tensor  # (c,) `Choices.openings`
    until: Tensor  # (s,)


def sample(
    module: DiplomacyModule,
    read: Read,
    choices: AllChoices,
    generator: torch.Generator,
    temperature: float,
    top_p: float,
) -> Tensor:
    """Draw an order for each choice, (s,); one choice of every power at a time."""
    rows = choices.first.numel()
    positions = torch.arange(rows, device=choices.first.device) // choices.first.shape[1]
    first, counts = choices.first.flatten(), choices.counts.flatten()
    powers = read.powers.flatten(0, 1)
    table = functional.pad(module.order.weight[1:], (0, 0, 1, 0))
    chosen = choices.until.new_zeros(len(choices.until))
    before, open_ = counts.new_zeros(rows, 3), counts.new_zeros(rows)
    shape = (module.lstm.num_layers, rows, module.lstm.hidden_size)
    hidden, cell = powers.new_zeros(2, *shape)
    for step in range(int(counts.max())):
        active = (counts > step).nonzero().squeeze(1)
        slots, at = first[active] + step, positions[active]
        inputs = module.lstm_input(
            read.places[at, choices.places[slots].long()],
            powers[active],
            counts[active] - step,
            before[active],
        )
        outputs, (hidden[:, active], cell[:, active]) = module.lstm(
            inputs[:, None], (hidden[:, active], cell[:, active])
        )
        outputs = outputs.squeeze(1)
        # One product per position for all its powers, so that its places are not copied.
        whole = powers.new_zeros(rows, outputs.shape[1]).index_copy(0, active, outputs)
        looked = whole.unflatten(0, choices.first.shape) @ read.looks.transpose(1, 2)
        begins = choices.offsets[slots]
        lengths = choices.offsets[slots + 1] - begins
        number = torch.arange(int(lengths.max()), device=slots.device)
        orders = choices.orders[(begins[:, None] + number).clamp(max=len(choices.orders) - 1)]
        facts = orders.long() * (number < lengths[:, None])[..., None]
        logits = (outputs @ table.T).gather(1, facts[..., :3].flatten(1))
        logits = logits.float().unflatten(1, (-1, 3)).sum(2)
        looks = looked.flatten(0, 1)[active].gather(1, facts[..., 3:].flatten(1))
        logits = logits + looks.float().unflatten(1, (-1, 2)).sum(2)
        closed = (number < open_[active][:, None]) | (number >= choices.until[slots][:, None])
        which = _drawn(logits.masked_fill(closed, -torch.inf), generator, temperature, top_p)
        chosen[slots] = which
        before[active] = facts[torch.arange(len(which), device=which.device), which, :3]
        open_[active] = choices.after[begins + which]
    return chosen


def _drawn(logits: Tensor, generator: torch.Generator, temperature: float, top_p: float) -> Tensor:
    """Draw one column a row, from the likeliest ones that together have `top_p`."""
    if temperature == 0.0:
        return logits.argmax(1)
    logits = logits / temperature
    if top_p < 1.0:
        ranked, order = logits.softmax(1).sort(descending=True)
        beyond = ranked.cumsum(1) - ranked >= top_p
        logits = logits.masked_fill(beyond.scatter(1, order, beyond), -torch.inf)
    # Gumbel-max: the largest logit with noise is a draw from the softmax.
    noise = torch.empty_like(logits).exponential_(generator=generator).log()
    return (logits - noise).argmax(1)


def module_of(weights: DiplomacyWeights) -> DiplomacyModule:
    """The torch module with these weights."""
    module = DiplomacyModule(Shape(weights.width, weights.blocks, weights.heads, weights.layers))
    module.load_state_dict(state_of(weights.arrays))
    return module
