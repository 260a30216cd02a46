"""Hanabi: kedge beside OpenSpiel and the Hanabi Learning Environment, in one run, as ratios.

    CMAKE_POLICY_VERSION_MINIMUM=3.5 pip install hanabi-learning-environment
    python benchmarks/hanabi.py --device cuda

Players are random, and rows use one core unless they say otherwise; the rate counts actions. Decks
are shuffled before the measurement and dealt during it. The peers are called from Python, game by
game; kedge steps 4,096 games at once and draws their actions. With features, each player's view is
encoded before it acts. The torch engine plays on `--device`; moving the native games there counts.
Peers and torch are skipped with a message if they are not installed.

Last, one seat searches with exact beliefs over a rule-based blueprint, with 1,000 rollouts per
move. The result is CPU seconds per game, beside the 58 of Facebook's SPARTA over its SmartBot.
"""

import argparse
import importlib
import random
import time
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from timing import rate

from kedge import _core
from kedge.agents import make_agent
from kedge.agents.hanabi.players import HanabiAgent
from kedge.games.hanabi import Hanabi, View

GAMES = 4096


def peer(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed; skipped")
        return None


def shuffled(players: int) -> tuple[Hanabi, Any]:
    game = Hanabi(players)
    decks = np.tile(game.rules.deck(), (GAMES, 1))
    return game, np.random.default_rng(0).permuted(decks, axis=1)


def play_kedge(
    game: Hanabi,
    decks: Any,
    view: View | None = None,
    dtype: Any = np.float32,
    *,
    beliefs: bool = False,
    threads: int = 1,
) -> int:
    rows = np.empty((len(decks), game.num_features(view)), dtype) if view else None
    games, steps, turn = _core.HanabiGames(game.rules, decks), 0, 0
    while len(games):
        if view:
            games.encode(rows[: len(games)], view, None, beliefs, threads)
        actions = games.random_actions(turn, threads)
        games.step(actions, threads)
        turn += 1
        on = np.flatnonzero(actions >= 0)
        steps += len(on)
        if len(on) < len(games) / 2:  # dropping finished games copies the others
            games = games.take(on)
    return steps


def play_torch(torch: ModuleType, rules: Any, decks: Any, options: dict[str, Any] | None) -> int:
    """Play games; check for finished ones every eight steps, as `play_out` does, since the check
    waits for the device."""
    from kedge.games.hanabi.tensors import TensorGames

    games = TensorGames.of(rules, _core.HanabiGames(rules.game.rules, decks))
    steps = torch.zeros((), dtype=torch.int64, device=rules.device)
    while len(games):
        for _ in range(8):
            if options is not None:
                games.encode(**options)
            legal = games.legal_actions()
            steps += legal.any(1).sum()
            games.step(torch.rand(legal.shape, device=rules.device).where(legal, -1.0).argmax(1))
        left = (~games.is_over()).nonzero()[:, 0]
        if len(left) < len(games) / 2:
            games = games.take(left)
    return int(steps)


def time_torch(torch: ModuleType, device: str, repeats: int, *, compiled: bool) -> None:
    from kedge.games.hanabi.tensors import TensorGames, TensorRules

    if compiled:
        for name in ("step", "legal_actions", "encode"):
            setattr(TensorGames, name, torch.compile(getattr(TensorGames, name), dynamic=True))
    game, decks = shuffled(2)
    rules = TensorRules(game, device)
    for count in (GAMES, 16 * GAMES):
        for name, options in [
            ("without features", None),
            ("with features", {}),
            ("features with beliefs", {"beliefs": True}),
            ("the same in bfloat16", {"beliefs": True, "dtype": torch.bfloat16}),
        ]:
            many = np.resize(decks, (count, decks.shape[1]))
            ours = rate(partial(play_torch, torch, rules, many, options), repeats)
            row(f"{count:,} on {device}, {name}", ours)


def play_openspiel(pyspiel: ModuleType, game: Hanabi, decks: Any, features: bool) -> int:
    rules, steps = pyspiel.load_game(f"hanabi(players={game.num_players})"), 0
    for deck in decks.tolist():
        state, cards = rules.new_initial_state(), iter(deck)
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(next(cards))
                continue
            if features:
                state.observation_tensor()
            state.apply_action(random.choice(state.legal_actions()))
            steps += 1
    return steps


def play_hle(hle: ModuleType, game: Hanabi, decks: Any, features: bool) -> int:
    """Play games. HLE deals its own cards: given deals would only slow it down."""
    rules, steps = hle.HanabiGame({"players": game.num_players}), 0
    encoder = hle.ObservationEncoder(rules)
    for _ in decks:
        state = rules.new_initial_state()
        while not state.is_terminal():
            if state.cur_player() == hle.CHANCE_PLAYER_ID:
                state.deal_random_card()
                continue
            if features:
                encoder.encode(state.observation(state.cur_player()))
            state.apply_move(random.choice(state.legal_moves()))
            steps += 1
    return steps


SPARTA_SECONDS = 58.0


def search(games: int, rollouts: int) -> tuple[float, float, float]:
    """CPU seconds per game, and the mean scores with and without search."""
    bot, sparta = make_agent("conventions"), make_agent(f"sparta(conventions, rollouts={rollouts})")
    start = time.process_time()
    searched = score(sparta, bot, games)
    seconds = (time.process_time() - start) / games
    return seconds, searched, score(bot, bot, games)


def score(first: HanabiAgent, second: HanabiAgent, games: int) -> float:
    rng = np.random.default_rng(0)
    states = [Hanabi().initial_state(rng=rng) for _ in range(games)]
    while live := [state for state in states if not state.is_terminal()]:
        player = second if live[0].current_player() else first
        for state, action in zip(live, player.act_many(live, rng), strict=True):
            state.apply_action(action)
    return float(np.mean([state.score for state in states]))


def row(name: str, ours: float, *theirs: float) -> None:
    beside = "".join(f"{peer:>14,.0f}{ours / peer:>8,.0f}×" for peer in theirs)
    print(f"{name:<44}{ours:>14,.0f}{beside}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--device", default="cpu", help="device of the torch engine: cpu, cuda")
    parser.add_argument("--compile", action="store_true", help="use torch.compile (takes minutes)")
    options = parser.parse_args()
    repeats = options.repeats
    # Each peer plays as many games as take some tenths of a second.
    peers = [
        ("OpenSpiel", play_openspiel, peer("pyspiel"), 400),
        ("HLE", play_hle, peer("hanabi_learning_environment.pyhanabi"), 100),
    ]
    peers = [entry for entry in peers if entry[2]]
    beside = "".join(f"{name:>14}{'ratio':>9}" for name, *_ in peers)
    print(f"{'steps a second':<44}{'kedge':>14}{beside}")
    for players in (2, 5):
        game, decks = shuffled(players)
        for view in (None, "private"):
            theirs = [
                rate(partial(play, module, game, decks[:count], view is not None), repeats)
                for _, play, module, count in peers
            ]
            what = f"with {game.num_features()} features" if view else "without features"
            ours = rate(partial(play_kedge, game, decks, view), repeats)
            row(f"{players} players, {what}", ours, *theirs)
    game, decks = shuffled(2)
    for name, given in [
        ("features as bytes", {"view": "private", "dtype": np.uint8}),
        ("features with beliefs", {"view": "private", "beliefs": True}),
        ("without features, all threads", {"threads": 0}),
        ("with features, all threads", {"view": "private", "threads": 0}),
    ]:
        row(f"2 players, {name}", rate(partial(play_kedge, game, decks, **given), repeats))
    seconds, searched, alone = search(4 * repeats, rollouts=1000)
    ratio = SPARTA_SECONDS / seconds
    print(f"search: {seconds:.2f} CPU seconds a game, {ratio:.0f}× less than {SPARTA_SECONDS:.0f}")
    print(f"points: {alone:.2f} without it, {searched:.2f} with")
    if torch := peer("torch"):
        print(f"\n{'steps a second, 2 players in torch':<44}{'kedge':>14}")
        time_torch(torch, options.device, repeats, compiled=options.compile)


if __name__ == "__main__":
    main()
