"""Hanabi's networks in torch, for training and for GPUs."""

from typing import Any

import torch
from torch import Tensor, nn

from kedge.games.hanabi import Hanabi
from kedge.models.hanabi.network import NEVER, BeliefWeights, PolicyWeights, odds_by_hints
from kedge.models.torch_arrays import arrays_of, state_of

State = tuple[Tensor, Tensor]


class PolicyModule(nn.Module):
    """The Public-LSTM, with one LSTM per game, which reads the views of all seats in turn."""

    def __init__(self, game: Hanabi, width: int, layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        self.game = game
        private, public = game.num_features("private"), game.num_features("public")
        #: Features of a private row before the public part: the others' hands.
        self.hands = private - public
        self.public = nn.Linear(public, width)
        self.lstm = nn.LSTM(width, width, layers, dropout=dropout if layers > 1 else 0.0)
        self.private = nn.ModuleList(nn.Linear(inputs, width) for inputs in (private, width, width))
        self.action = nn.Linear(width, len(game.moves))
        self.dropout = nn.Dropout(dropout)

    def forward(self, seen: Tensor, places: Tensor | None = None) -> Tensor:
        """The mover's views (turns, games, features) to the logits of moves.

        With `places`, numbers in the flattened (turns · games), it computes only theirs.
        """
        outputs, _ = self.observe(seen[..., self.hands :])
        if places is not None:
            seen, outputs = seen.flatten(0, 1)[places], outputs.flatten(0, 1)[places]
        return self.logits(seen, outputs)

    def observe(self, public: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """The LSTM's outputs, turn by turn, and its state after the last turn."""
        outputs, state = self.lstm(self.dropout(self.public(public).relu()), state)
        return outputs, state

    def logits(self, private: Tensor, outputs: Tensor) -> Tensor:
        logits: Tensor = self.action(self.product(private, outputs))
        return logits

    def product(self, private: Tensor, outputs: Tensor) -> Tensor:
        x = private
        for layer in self.private:
            x = self.dropout(layer(x).relu())
        return x * self.dropout(outputs)

    def weights(self, sha256: str = "trained") -> PolicyWeights:
        return PolicyWeights(arrays_of(self), self.game, sha256)


class BeliefModule(nn.Module):
    """An LSTM over a seat's views, and one over the cards in its hand, the oldest first.

    The second LSTM takes the table as input, through one product for all cards, and the card
    before, through a row of a table. The logits by hints and counts are added to its own, so it
    learns only what the players mean beyond them.
    """

    def __init__(self, game: Hanabi, width: int, layers: int = 2) -> None:
        super().__init__()
        self.game = game
        self.cards = game.colors * game.ranks
        self.seen = nn.ModuleList(
            nn.Linear(inputs, width) for inputs in (game.num_features("private"), width)
        )
        self.lstm = nn.LSTM(width, width, layers)
        self.told = nn.Linear(width, 4 * width)
        self.before = nn.Embedding(self.cards + 1, 4 * width)
        self.past = nn.Linear(width, 4 * width, bias=False)
        self.card = nn.Linear(width, self.cards)
        with torch.no_grad():
            self.before.weight.mul_(0.1)
            self.card.weight.mul_(0.1)

    def forward(self, seen: Tensor, going: Tensor, hands: Tensor) -> Tensor:
        """The logits (n, slots, cards) of each card, given the cards in earlier slots.

        `seen` are the seats' views (turns, rows, features). `hands` (n, slots) are the hands at the
        n places that are `going` (turns, rows).
        """
        outputs, _ = self.observe(seen)
        table = self.told(outputs[going])
        before = torch.full_like(hands[:, 0], self.cards)
        hidden = cell = table.new_zeros(len(table), table.shape[1] // 4)
        logits = []
        for card in hands.unbind(1):
            hidden, cell = self._gated(table + self.before(before) + self.past(hidden), cell)
            logits.append(self.card(hidden))
            before = card
        return torch.stack(logits, 1) + self.hinted(seen[going])

    def hinted(self, seen: Tensor) -> Tensor:
        """Logits (…, slots, cards) from hints and counts alone."""
        logits: Tensor = odds_by_hints(self.game, seen.float()).clamp(NEVER).log()
        return logits

    def observe(self, seen: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        x = seen
        for layer in self.seen:
            x = layer(x).relu()
        outputs, state = self.lstm(x, state)
        return outputs, state

    def step(self, says: Tensor, before: Tensor, state: State) -> tuple[Tensor, State]:
        """Advance by one card: see `kedge.models.hanabi.network.to_card_onnx`."""
        hidden, cell = state
        gates = self.told(says)[:, None] + self.before(before) + self.past(hidden)
        hidden, cell = self._gated(gates, cell)
        return self.card(hidden), (hidden, cell)

    def _gated(self, gates: Tensor, cell: Tensor) -> State:
        let_in, forget, new, out = gates.chunk(4, -1)
        cell = forget.sigmoid() * cell + let_in.sigmoid() * new.tanh()
        return out.sigmoid() * cell.tanh(), cell

    def weights(self, sha256: str = "trained") -> BeliefWeights:
        return BeliefWeights(arrays_of(self), self.game, sha256)


def module_of(weights: PolicyWeights | BeliefWeights) -> Any:
    """The torch module with these weights."""
    kind: Any = PolicyModule if isinstance(weights, PolicyWeights) else BeliefModule
    module = kind(weights.game, weights.width, weights.layers)
    module.load_state_dict(state_of(weights.arrays))
    return module
