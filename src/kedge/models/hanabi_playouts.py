"""Games of Hanabi played to their end where the network is: on a GPU, without waiting for it."""

from collections.abc import Callable

import torch
from torch import Tensor

from kedge.games.hanabi_tensors import TensorGames

#: One row a game.
Memory = tuple[Tensor, ...]
#: The logits of moves and the memory after, from the private and the public view of who is to move,
#: and the memory before.
Evaluate = Callable[[Tensor, Tensor, Memory], tuple[Tensor, Memory]]

_UNASKED = 8  # moves between two questions who is done: each waits for the device


def play_out(
    games: TensorGames,
    evaluate: Evaluate,
    memory: Memory,
    generator: torch.Generator | None = None,
    *,
    greedy: bool = False,
    beliefs: bool = False,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """The scores of games that go on like this. Everyone draws a move by its logits, or makes the
    likeliest one. Views are `encode`'s, with `beliefs` and of `dtype`. `games` is used up."""
    with torch.inference_mode():
        public = games.rules.game.num_features("public")
        scores = games.scores()
        places = torch.arange(len(games), device=scores.device)
        while len(games):
            for _ in range(_UNASKED):
                private = games.encode(beliefs=beliefs, dtype=dtype)
                logits, memory = evaluate(private, private[:, -public:], memory)
                games.step(_drawn(logits, games.legal_actions(), generator, greedy=greedy))
            left = (~games.is_over()).nonzero()[:, 0]
            # To leave the finished ones behind is to copy the others.
            if len(left) < len(games) / 2:
                scores[places] = games.scores()
                places, games = places[left], games.take(left)
                memory = tuple(part[left] for part in memory)
        return scores


def _drawn(
    logits: Tensor, legal: Tensor, generator: torch.Generator | None, *, greedy: bool
) -> Tensor:
    """One action a row: with Gumbel's noise the greatest is drawn by softmax. Where none is legal,
    any, since nothing moves a game that is over."""
    logits = logits.float()
    if not greedy:
        logits = logits - torch.empty_like(logits).exponential_(generator=generator).log()
    return logits.masked_fill(~legal, -torch.inf).argmax(1)


__all__ = ["Evaluate", "Memory", "play_out"]
