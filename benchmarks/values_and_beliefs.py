"""Score the shipped models that predict no moves: values of Diplomacy, and beliefs in Hanabi.

    python benchmarks/values_and_beliefs.py diplomacy-value GAMES… [--all]
    python benchmarks/values_and_beliefs.py hanabi-belief     (needs torch)

A value is scored on how people's games ended that `kedge train` keeps for testing, or with `--all`
on all games of another source: top-1 is whether the power with most has the largest value. A
belief is scored on new games of the model that it is about: each card in a hand, given those before
it. Standard errors are clustered by game. It prints one JSON object.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from kedge import _core
from kedge.evaluation.prediction import summary
from kedge.models import shipped_models
from kedge.models.diplomacy.values import SmallValues, ValueWeights
from kedge.records import read_diplomacy_games
from kedge.records.diplomacy.games import is_for_testing

SEED = 1
"""Beliefs were trained, and tested, on games of seed 0."""
BATCH = 32
LEAST = 1e-9
"""No share counts for less."""


def value_scores(paths: list[Path], *, everything: bool = False) -> list[list[float]]:
    """Return positions, hits, hits and cross-entropies of each game that tests the values."""
    weights = shipped_models.load("diplomacy-value")
    assert isinstance(weights, ValueWeights)
    model, scores = SmallValues(weights), []
    for path in paths:
        for game in read_diplomacy_games(path):
            if not everything and not is_for_testing(game):
                continue
            ended = game.shares()
            boards = [decision.state.board for decision in game.decisions()]
            if ended is None or not boards:
                continue
            values = model.values(_core.DiplomacyBatch(boards))
            right = float((values.argmax(1) == np.argmax(ended)).sum())
            losses = -(np.log(values.clip(LEAST)) @ np.array(ended))
            scores.append([len(boards), right, right, float(losses.sum())])
    return scores


def belief_scores(name: str, count: int) -> list[list[float]]:
    """Return cards, hits, hits and cross-entropies of each new game of the model's blueprint."""
    import torch

    from kedge.agents.hanabi.models import blueprint
    from kedge.models.hanabi.exact import SLIPS
    from kedge.models.hanabi.torch_network import module_of
    from kedge.training.hanabi.belief import SeenGames
    from kedge.training.hanabi.games import self_play

    about, _, greedy = name.partition("-belief")
    weights: Any = shipped_models.load(name)
    drawn = SLIPS if greedy else 1.0
    rng = np.random.default_rng(SEED)
    played = self_play(blueprint(about), weights.game, count, rng, drawn=drawn)
    games, module = SeenGames(played, torch.device("cpu")), module_of(weights).eval()
    scores = []
    for first in range(0, count, BATCH):
        batch = games.batch(torch.arange(first, min(first + BATCH, count)))
        with torch.inference_mode():
            logits = module(batch.seen.float(), batch.going, batch.hands.clamp(0))
        losses = -logits.log_softmax(2).gather(2, batch.hands.clamp(0)[..., None])[..., 0]
        right, real = logits.argmax(2) == batch.hands, batch.hands >= 0
        number = torch.arange(batch.going.shape[1]) % (batch.going.shape[1] // 2)
        game = number.expand_as(batch.going)[batch.going]
        for each in range(int(number.max()) + 1):
            own = real & (game == each)[:, None]
            hits = float(right[own].sum())
            scores.append([float(own.sum()), hits, hits, float(losses[own].sum())])
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", help="diplomacy-value, hanabi-belief, …")
    parser.add_argument("games", nargs="*", type=Path, help="Diplomacy games, as JSON lines")
    parser.add_argument("--all", action="store_true", help="all games, not only those for testing")
    parser.add_argument("--new", type=int, default=128, help="new games of Hanabi")
    options = parser.parse_args()
    if options.model == "diplomacy-value":
        scores = value_scores(options.games, everything=options.all)
    else:
        scores = belief_scores(options.model, options.new)
    print(json.dumps({"games": len(scores), **summary(scores)}))


if __name__ == "__main__":
    main()
