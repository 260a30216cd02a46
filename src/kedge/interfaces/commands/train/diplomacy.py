"""``kedge train diplomacy`` and ``kedge train diplomacy-value``."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kedge.errors import InputError
from kedge.interfaces.commands.train.shared import Training, need_torch, say, valid_games
from kedge.interfaces.options import unfolded
from kedge.words import counted

if TYPE_CHECKING:
    from kedge.records import DiplomacyGame
    from kedge.training.diplomacy.rollouts import Rollouts
    from kedge.training.diplomacy.value import ValuedPositions

Data = Annotated[
    list[Path],
    typer.Argument(
        help="Games as JSON lines or as saved by the `diplomacy` package, plain or compressed."
    ),
]


@unfolded
def diplomacy(
    data: Data,
    training: Training,
    tiers: Annotated[
        str,
        typer.Option(help="Tiers of Droidippy's games; in tier A every power always gave orders."),
    ] = "AB",
) -> None:
    """Train a Diplomacy model: each power's orders, unit by unit, and how the game ends.

    One game in twenty is held out. A third of these show how well training goes: their accuracy is
    printed as it rises. The others judge the model, with `kedge predict diplomacy`. Training needs
    the `[train]` extra; torchrun works as for chess.

    **Examples**

    - `kedge train diplomacy droidippy.jsonl.xz --folder mine --device cuda`
    - `kedge train diplomacy droidippy.jsonl.xz --folder small -s width=64 -s blocks=2 -s heads=4
      --device cuda --seconds 540`
    """
    need_torch()
    from kedge.training.diplomacy.policy import DiplomacyRecipe, train

    recipe = training.changed(DiplomacyRecipe())
    with training.started() as rank:
        games = [game for game in _diplomacy_games(data) if game.tier is None or game.tier in tiers]
        if not games:
            raise InputError(f"{', '.join(map(str, data))}: no game of tiers {tiers}")
        say(rank, counted(len(games), "game"))
        reports = train(games, training.folder, recipe, rank=rank, seconds=training.time)
        training.print_progress(reports, rank, recipe.steps)


@unfolded
def diplomacy_value(
    data: Data,
    training: Training,
    rollouts: Annotated[
        int,
        typer.Option(min=0, help="Learn from this many rollouts, not from the ends of games."),
    ] = 0,
    policy: Annotated[
        str, typer.Option(help="With rollouts: the human model that plays.")
    ] = "diplomacy",
    value: Annotated[
        str, typer.Option(help="With rollouts: the model to start from; it also values their ends.")
    ] = "diplomacy-value",
    to_the_end: Annotated[
        bool, typer.Option("--to-the-end", help="With rollouts: play every game to its end.")
    ] = False,
    workers: Annotated[
        int, typer.Option(min=1, help="With rollouts: processes that play them.")
    ] = 1,
) -> None:
    """Train the small network that values Diplomacy positions for searches.

    First it learns how people's games ended. Then, with `--rollouts`, it learns as in the paper's
    appendix J: the human model plays four to eight phases, and the network's own value there is
    the target. With `--to-the-end`, the ends of those games are the target. One game in twenty is
    held out; a third of these show how well training goes. Rollouts are kept in the folder; run the
    command again to resume.

    **Examples**

    - `kedge train diplomacy-value droidippy.jsonl.xz --folder ended`
    - `kedge train diplomacy-value droidippy.jsonl.xz --folder later --value ended/model.onnx
      --rollouts 20000 --device cuda`
    """
    need_torch()
    from kedge.models.diplomacy.values import ValueWeights
    from kedge.models.named import load_as
    from kedge.training.diplomacy.policy import split_games
    from kedge.training.diplomacy.rollouts import Rollouts
    from kedge.training.diplomacy.value import ValueRecipe, initial_network, positions_of, train

    recipe = training.changed(ValueRecipe())
    before = load_as(ValueWeights, value) if rollouts else None
    network = initial_network(recipe, before)
    with training.started() as rank:
        ours, others = split_games(_diplomacy_games(data))
        say(rank, f"{counted(len(ours), 'game')}, and {len(others):,} to choose the model by")
        chosen_by = positions_of(others)
        if before is None:
            learned = positions_of(ours)
        else:
            end = None if to_the_end else before
            rolling = Rollouts(training.folder, ours, policy, end, training.device)
            learned = _rolled(rolling, rollouts, workers, quiet=not rank.is_first)
        reports = train(
            network, learned, chosen_by, training.folder, recipe, rank=rank, seconds=training.time
        )
        training.print_progress(reports, rank, recipe.steps)


def _rolled(rolling: "Rollouts", rollouts: int, workers: int, *, quiet: bool) -> "ValuedPositions":
    """Play the rollouts, and return the positions to learn from."""
    from kedge.interfaces.progress import counting_games

    with counting_games(rollouts, quiet=quiet, noun="rollout") as show:
        for done in rolling.play(rollouts, workers):
            show(done, done)
    return rolling.positions(rollouts)


def _diplomacy_games(data: list[Path]) -> "Iterator[DiplomacyGame]":
    from kedge.records import read_diplomacy_games

    return valid_games(data, read_diplomacy_games)


#: The commands by name, for the catalogue.
COMMANDS = {"diplomacy": diplomacy, "diplomacy-value": diplomacy_value}
