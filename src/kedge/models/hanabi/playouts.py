"""Play-outs of Hanabi games on the network's device, without waiting for a GPU."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from kedge.games.hanabi.tensors import TensorGames

#: One row per game.
Memory = tuple[Tensor, ...]
#: Maps the mover's private and public views and the memory to logits of moves and the new memory.
Evaluate = Callable[[Tensor, Tensor, Memory], tuple[Tensor, Memory]]


class End(NamedTuple):
    """Stops unfinished games after `depth` moves and values them."""

    depth: int  # moves
    value: Callable[[Tensor, Tensor, Memory], Tensor]  # same inputs as `Evaluate`


_UNASKED = 8  # moves between checks for finished games: each check waits for the device


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
    """Play games to the end, or to `end`, and return their scores. `games` is modified.

    Players draw moves by their logits, or play the likeliest if `greedy`. `beliefs` and `dtype` are
    options of `TensorGames.encode`, which makes the views.
    """
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
            # Dropping finished games copies the others, so wait until it is worth it.
            if len(left) < len(games) / 2:
                scores[places] = games.scores().float()
                places, games = places[left], games.take(left)
                memory = tuple(part[left] for part in memory)
        return scores


def _drawn(
    logits: Tensor, legal: Tensor, generator: torch.Generator | None, *, greedy: bool
) -> Tensor:
    """Choose one action per row by Gumbel-max. Finished games get any action: it has no effect."""
    logits = logits.float()
    if not greedy:
        logits = logits - torch.empty_like(logits).exponential_(generator=generator).log()
    return logits.masked_fill(~legal, -torch.inf).argmax(1)


__all__ = ["End", "Evaluate", "Memory", "play_out"]
