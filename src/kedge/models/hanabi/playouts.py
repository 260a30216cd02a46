"""Games of Hanabi played to their end where the network is: on a GPU, without waiting for it."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from kedge.games.hanabi.tensors import TensorGames

#: One row a game.
Memory = tuple[Tensor, ...]
#: The logits of moves and the memory after, from the private and the public view of who is to move,
#: and the memory before.
Evaluate = Callable[[Tensor, Tensor, Memory], tuple[Tensor, Memory]]


class End(NamedTuple):
    """Where games stop that are not over, and what they are worth there."""

    depth: int  # moves
    value: Callable[[Tensor, Tensor, Memory], Tensor]  # of what `Evaluate` takes


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
    end: End | None = None,
) -> Tensor:
    """The scores of games that go on like this. Everyone draws a move by its logits, or makes the
    likeliest one, to the last move or to an `end` before it. Views are `encode`'s, with `beliefs`
    and of `dtype`. `games` is used up."""
    public = games.rules.game.num_features("public")

    def seen() -> tuple[Tensor, Tensor]:
        private = games.encode(beliefs=beliefs, dtype=dtype)
        return private, private[:, -public:]

    with torch.inference_mode():
        scores = games.scores().float()
        places = torch.arange(len(games), device=scores.device)
        made = 0
        while len(games):
            moves = _UNASKED if end is None else min(_UNASKED, end.depth - made)
            for _ in range(moves):
                logits, memory = evaluate(*seen(), memory)
                games.step(_drawn(logits, games.legal_actions(), generator, greedy=greedy))
            made += moves
            if end is not None and made == end.depth:
                worth = end.value(*seen(), memory)
                scores[places] = torch.where(games.is_over(), games.scores(), worth)
                break
            left = (~games.is_over()).nonzero()[:, 0]
            # To leave the finished ones behind is to copy the others.
            if len(left) < len(games) / 2:
                scores[places] = games.scores().float()
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


__all__ = ["End", "Evaluate", "Memory", "play_out"]
