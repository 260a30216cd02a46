"""Do the earlier orders of a player help to predict the next ones? Needs torch.

    python benchmarks/diplomacy_players.py GAMES… [--tiers ABC]

The shipped model sees the board and the orders of the last movement phase, not those before. Here
small models shift its logits by what each player did in the game so far: how often orders of each
kind were given, in all and beyond what the model expected; whom the player attacked and supported,
and who attacked and supported the player; how surprising the orders were. They learn from games to
choose by (`kedge.records.diplomacy.games.part_of`), and are scored on others of these, in five
folds: the model knows the games that it learned from too well. "calibrated" shifts kinds of orders
by constants, so what is gained beyond it is due to the history. Each unit's order is given those
before it. Orders that the model all but excludes are left out. Standard errors are clustered by
game.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from kedge.games.diplomacy import LOCATIONS, POWERS, DiplomacyState
from kedge.models import shipped_models
from kedge.models.diplomacy.encoding import EVERYBODY, PROVINCES, Choices
from kedge.models.diplomacy.network import DiplomacyWeights
from kedge.models.diplomacy.torch_network import module_of
from kedge.records import DiplomacyGame, read_diplomacy_games
from kedge.records.diplomacy.games import part_of
from kedge.records.splits import CHOOSE
from kedge.training.diplomacy.policy import DiplomacyPositions, positions_of

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

MOVES, SUPPORTS, CONVOYS = (2, 3), (4, 5), (6,)  #: the last four bits of packed orders
KINDS = ("hold", "move", "move at", "support", "support move", "support at", "help", "convoy")
HOLD, MOVE, MOVE_AT, SUPPORT, SUPPORT_MOVE, SUPPORT_AT, HELP, CONVOY = range(len(KINDS))
ATTACKS = (MOVE_AT, SUPPORT_AT)
COLUMNS = [0, 0, 0, 0, 0, 1, 2, 0]  #: kinds of orders that concern another power, as columns
NOBODY = len(POWERS)
PRIOR = 10.0
"""Orders, or phases, that every average begins with, at zero."""
DECAYS = (1.0, 0.75)
"""What an earlier phase counts for, in each average, per phase that passed since."""
STEPS, DECAY = 30, 3.0
FOLDS = 5
LEAST = 1e-4
"""Orders less probable than this are left out, unless they were given."""


WAYS: dict[str, dict[str, int]] = {
    "calibrated": {"blind": 1},
    "history, linear": {},
    "history, 32 hidden units": {"hidden": 32},
}


@dataclass(frozen=True)
class Decisions:
    """What the model says of each order that a unit could be given, and which one was."""

    logits: Tensor  # (c,) by order
    choice: Tensor  # (c,) the choice that the order belongs to
    kind: Tensor  # (c,) `KINDS`
    other: Tensor  # (c,) the power attacked or helped, or NOBODY
    chosen: Tensor  # (s,) the given order of each choice
    game: Tensor  # (s,)
    style: Tensor  # (s, features) of the player so far
    relations: Tensor  # (s, powers, features) of the player and each other one
    forgetful: Tensor  # (c,) logits of the model if it does not see the last orders

    def of(self, games: Integers) -> "Decisions":
        """Return the choices of some games."""
        kept = torch.from_numpy(np.isin(self.game.numpy(), games))
        orders = kept[self.choice]
        number, place = kept.cumsum(0) - 1, orders.cumsum(0) - 1
        return Decisions(
            self.logits[orders],
            number[self.choice[orders]],
            self.kind[orders],
            self.other[orders],
            place[self.chosen[kept]],
            self.game[kept],
            self.style[kept],
            self.relations[kept],
            self.forgetful[orders],
        )


def kinds_of(
    orders: npt.NDArray[np.uint32], power: Integers, units: Integers, owners: Integers
) -> tuple[Integers, Integers]:
    """Return the kind of each order of `power`, and the power that it is against or for.

    `units` and `owners` (orders, provinces) are the powers that have a unit or a centre there.
    """
    rows = np.arange(len(orders))
    word = orders & 15
    provinces = np.append(PROVINCES, np.zeros(128 - len(PROVINCES), np.int64))
    target, destination = (
        provinces[(orders >> shift & 127).astype(np.int64)] for shift in (11, 18)
    )
    there = units[rows, destination]
    holder = np.where(there < NOBODY, there, owners[rows, destination])
    foreign = (holder != power) & (holder < NOBODY)
    helped = units[rows, target]
    moves, supports = np.isin(word, MOVES), np.isin(word, SUPPORTS)
    still = word == SUPPORTS[0]
    kind = np.full(len(orders), HOLD)
    kind[moves] = np.where(foreign, MOVE_AT, MOVE)[moves]
    kind[supports] = np.where(still, SUPPORT, np.where(foreign, SUPPORT_AT, SUPPORT_MOVE))[supports]
    kind[supports & (helped != power)] = HELP
    kind[np.isin(word, CONVOYS)] = CONVOY
    other = np.full(len(orders), NOBODY)
    attacks = np.isin(kind, ATTACKS)
    other[attacks] = holder[attacks]
    other[kind == HELP] = helped[kind == HELP]
    return kind, other


def holders(states: Sequence[DiplomacyState]) -> tuple[Integers, Integers]:
    """Return which power has a unit, and which a centre, in each province of each state."""
    number = {name: i for i, name in enumerate(LOCATIONS)}
    found = np.full((2, len(states), 128), NOBODY)
    for row, state in enumerate(states):
        for power in range(len(POWERS)):
            for unit in state.board.units()[power]:
                found[0, row, number[unit[2:5]]] = power
            for centre in state.board.centres()[power]:
                found[1, row, number[centre]] = power
    return found[0], found[1]


def decisions_of(games: Sequence[DiplomacyGame], weights: DiplomacyWeights) -> Decisions:
    """Ask the model about every order of the games' movement phases, and sum up the past."""
    made = [
        (number, decision)
        for number, game in enumerate(games)
        for decision in game.decisions()
        if decision.phase.kind == "M" and decision.orders
    ]
    states = [decision.state for _, decision in made]
    rows_game = np.array([number for number, _ in made])
    positions = positions_of(games, "M")
    choices = Choices.on([state.board for state in states], [EVERYBODY] * len(states))
    lengths = (positions.begins[1:] - positions.begins[:-1]).numpy()
    known = lengths > 0  # nobody chose for powers that ordered nothing
    orders = choices.orders[np.repeat(known, np.diff(choices.offsets))]
    board, power = (
        np.repeat(own, choices.counts)[known] for own in (choices.boards, choices.powers)
    )
    choice = np.repeat(np.arange(known.sum()), lengths[known])
    units, owners = holders(states)
    kind, other = kinds_of(orders, power[choice], units[board[choice]], owners[board[choice]])
    begins = np.cumsum(lengths[known]) - lengths[known]
    chosen = torch.from_numpy(begins) + positions.chosen[torch.from_numpy(known)]
    said, where = answers(positions, weights), torch.from_numpy(choice)
    logs = log_shares(said, where, len(begins))
    style, relations = history(
        logs.numpy(), choice, kind, other, chosen.numpy(), board, power, rows_game
    )
    kept = logs.exp() >= LEAST
    kept[chosen] = True
    unremembered = positions.facts.masked_fill(positions.before, 0)
    return Decisions(
        said[kept],
        where[kept],
        torch.from_numpy(kind)[kept],
        torch.from_numpy(other)[kept],
        (kept.cumsum(0) - 1)[chosen],
        torch.from_numpy(rows_game[board]),
        torch.from_numpy(style[board, power]),
        torch.from_numpy(relations[board, power]),
        answers(replace(positions, facts=unremembered), weights)[kept],
    )


def answers(positions: DiplomacyPositions, weights: DiplomacyWeights) -> Tensor:
    """Return the model's logits of all orders."""
    module, logits = module_of(weights).eval(), []
    with torch.inference_mode():
        for first in range(0, len(positions), 64):
            batch = positions.batch(torch.arange(first, min(first + 64, len(positions))))
            logits.append(module(batch.choices)[0])
    return torch.cat(logits).clone()


def log_shares(logits: Tensor, choice: Tensor, count: int) -> Tensor:
    """Return the log-probability of each order among those of its choice."""
    most = logits.new_full((count,), -torch.inf)
    most = most.scatter_reduce(0, choice, logits.detach(), "amax")
    total = logits.new_zeros(count).index_add(0, choice, (logits - most[choice]).exp())
    return logits - (most + total.log())[choice]


def history(
    log_share: Floats,
    choice: Integers,
    kind: Integers,
    other: Integers,
    chosen: Integers,
    board: Integers,
    power: Integers,
    game: Integers,
) -> tuple[Floats, Floats]:
    """Return (boards, powers, features) of each player before each board of its game, and the
    same of each player and each other one."""
    count, powers = len(game), len(POWERS)
    given = np.zeros(len(choice))
    given[chosen] = 1.0
    share = np.exp(log_share)
    # Per board and power: orders of each kind as given, as expected; their number; the surprise.
    sums = np.zeros((count, powers, 2 * len(KINDS) + 2))
    where = board[choice], power[choice]
    np.add.at(sums, (*where, kind), given)
    np.add.at(sums, (*where, len(KINDS) + kind), given - share)
    np.add.at(sums, (*where, 2 * len(KINDS)), -(given - share) * log_share)
    np.add.at(sums, (board, power, 2 * len(KINDS) + 1), 1.0)
    # Per board and pair of powers: attacks, as given and beyond the expected; then help.
    pairs = np.zeros((count, powers, powers + 1, 4))
    for first, kinds in ((0, ATTACKS), (2, (HELP,))):
        of = np.isin(kind, kinds)
        at = where[0][of], where[1][of], other[of]
        np.add.at(pairs, (*at, first), given[of])
        np.add.at(pairs, (*at, first + 1), (given - share)[of])
    pairs = pairs[:, :, :powers]
    style, relations = [], []
    for decay in DECAYS:
        before, ago = earlier(sums, game, decay), earlier(pairs, game, decay)
        phases = earlier(np.ones((count, 1, 1, 1)), game, decay)
        style.append(before[..., :-1] / (before[..., -1:] + PRIOR))
        relations += [part / (phases + PRIOR / 4) for part in (ago, ago.swapaxes(1, 2))]
    return (
        np.concatenate(style, -1).astype(np.float32),
        np.concatenate(relations, -1).astype(np.float32),
    )


def earlier(sums: npt.NDArray[np.float64], game: Integers, decay: float) -> npt.NDArray[np.float64]:
    """Return the sum over the earlier boards of the same game; each is less by `decay` a board."""
    found = np.zeros_like(sums)
    for row in range(1, len(sums)):
        if game[row] == game[row - 1]:
            found[row] = decay * found[row - 1] + sums[row - 1]
    return found


class Shift(nn.Module):
    """What to add to the logits of each order, by its kind and whom it concerns."""

    def __init__(self, style: int, relations: int, hidden: int = 0) -> None:
        super().__init__()

        def layers(inputs: int, outputs: int) -> nn.Module:
            if not hidden:
                return nn.Linear(inputs, outputs)
            return nn.Sequential(nn.Linear(inputs, hidden), nn.GELU(), nn.Linear(hidden, outputs))

        self.kinds = layers(style, len(KINDS) + 1)
        self.others = layers(style + relations, 3)
        for part in (self.kinds, self.others):
            last = part if isinstance(part, nn.Linear) else part[-1]
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)

    def forward(self, given: Decisions) -> Tensor:
        by_kind = self.kinds(given.style)
        scale = by_kind[given.choice, len(KINDS)]
        concern = given.other < NOBODY
        choice, other = given.choice[concern], given.other[concern]
        pair, row = torch.unique(choice * NOBODY + other, return_inverse=True)
        choice, other = pair // NOBODY, pair % NOBODY
        about = torch.cat([given.style[choice], given.relations[choice, other]], 1)
        column = torch.tensor(COLUMNS)[given.kind[concern]]
        by_other = self.others(about)[row, column]
        shift = by_kind[given.choice, given.kind]
        shift = shift.index_add(0, concern.nonzero()[:, 0], by_other)
        return given.logits * scale.exp() + shift


def fitted(learned: Decisions, *, blind: int = 0, hidden: int = 0) -> Shift:
    """Fit a shift; a `blind` one sees no history."""
    torch.manual_seed(0)
    learned = seen(learned, blind=blind)
    shift = Shift(learned.style.shape[1], learned.relations.shape[2], hidden)
    weights = [part for part in shift.parameters() if part.ndim > 1]
    optimizer = torch.optim.LBFGS(shift.parameters(), max_iter=STEPS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        logs = log_shares(shift(learned), learned.choice, len(learned.chosen))
        decay = sum((part**2).sum() for part in weights)
        found = -logs[learned.chosen].mean() + DECAY / len(learned.chosen) * decay
        found.backward()
        return found

    optimizer.step(loss)
    return shift.eval()


def seen(given: Decisions, *, blind: int | None) -> Decisions:
    if not blind:
        return given
    return replace(
        given,
        style=torch.zeros_like(given.style),
        relations=torch.zeros_like(given.relations),
    )


def scores(given: Decisions, logits: Tensor) -> npt.NDArray[np.float64]:
    """Return (choices, 2): whether the given order was the likeliest, and its surprise in nats."""
    logs = log_shares(logits, given.choice, len(given.chosen))
    most = torch.full((len(given.chosen),), -torch.inf)
    most = most.scatter_reduce(0, given.choice, logs, "amax")
    picked = logs[given.chosen]
    return torch.stack([(picked >= most).double(), -picked.double()], 1).numpy()


def mean_and_error(values: npt.NDArray[np.float64], game: Integers) -> tuple[float, float]:
    """Return the mean over choices, and its standard error, clustered by game."""
    mean = values.mean()
    sums = np.bincount(game, values - mean)
    clusters = len(np.unique(game))
    return float(mean), float(np.sqrt(clusters / (clusters - 1) * (sums**2).sum()) / len(values))


def by_folds(given: Decisions, **way: int) -> npt.NDArray[np.float64]:
    """Return the `scores` of each fold of the games by a shift that learned from the others."""
    found = np.zeros((len(given.chosen), 2))
    games = np.unique(given.game.numpy())
    for fold in range(FOLDS):
        mine = games[fold::FOLDS]
        shift = fitted(given.of(np.setdiff1d(games, mine)), **way)
        own = given.of(mine)
        with torch.inference_mode():
            found[np.isin(given.game, mine)] = scores(own, shift(seen(own, blind=way.get("blind"))))
    return found


def printed(name: str, given: Decisions, found: npt.NDArray[np.float64]) -> None:
    before = scores(given, given.logits)
    game = given.game.numpy()
    cells = []
    for column, scale in ((0, 100.0), (1, 1.0)):
        mean, _ = mean_and_error(found[:, column], game)
        gain, error = mean_and_error((found - before)[:, column], game)
        cells.append(f"{scale * mean:8.3f} {scale * gain:+8.3f} ± {scale * error:.3f}")
    print(f"{name:28}{cells[0]:28}{cells[1]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("games", nargs="+", type=Path)
    parser.add_argument("--tiers", default="ABC", help="tiers of Droidippy's games")
    options = parser.parse_args()
    weights = shipped_models.load("diplomacy")
    assert isinstance(weights, DiplomacyWeights)
    games = [
        game
        for game in chain.from_iterable(map(read_diplomacy_games, options.games))
        if part_of(game) == CHOOSE and (game.tier is None or game.tier in options.tiers)
    ]
    given = decisions_of(games, weights)
    print(f"{len(given.chosen):,} orders of {len(games):,} games")
    print(f"{'':28}{'top-1, %':28}cross-entropy, nats")
    printed("the model", given, scores(given, given.logits))
    printed("without the last orders", given, scores(given, given.forgetful))
    for name, way in WAYS.items():
        printed(name, given, by_folds(given, **way))


if __name__ == "__main__":
    main()
