"""``kedge train hanabi``, ``hanabi-belief`` and ``hanabi-value``."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from kedge.errors import InputError
from kedge.interfaces.commands.hanabi_options import Bomb
from kedge.interfaces.commands.train.shared import Training, need_torch, say, valid_games
from kedge.interfaces.options import Json, unfolded
from kedge.interfaces.output import print_json
from kedge.words import counted

Greedy = Annotated[
    bool, typer.Option("--greedy", help="The model always plays its likeliest move.")
]


@dataclass(frozen=True)
class Teaching:
    """Models that a network learns from, beside the games."""

    begin_as: Annotated[
        str | None,
        typer.Option(
            help="Begin with the weights of this model, which has the recipe's shape.",
            show_default=False,
        ),
    ] = None
    teacher: Annotated[
        list[str] | None,
        typer.Option(
            help="Also learn from this model (see teacher_weight). Repeat it to learn from a mean.",
            show_default=False,
        ),
    ] = None
    synthetic: Annotated[
        int | None,
        typer.Option(
            help="Also learn from this many games that the teachers play.",
            show_default=False,
        ),
    ] = None


TEACHING = Teaching()


@unfolded
def hanabi(
    data: Annotated[
        list[Path],
        typer.Argument(help="Games as JSON lines or exports of hanab.live, plain or compressed."),
    ],
    training: Training,
    teaching: Teaching = TEACHING,
) -> None:
    """Train a Hanabi model from people's moves or, in games without people, from programs'.

    People are split by a hash of their names: one in five tests models, and training never reads
    their games. One in five of the others chooses the model: the step with the lowest cross-entropy
    on their moves is kept. Games without participants are split the same way, one in twenty each.

    With `-s moves=all` the model also learns the moves of programs that play with people. Such a
    model is a good start where people's games are few. Several models predict people better
    together than each alone; a model that has them as teachers learns much of that.

    Training needs the `[train]` extra; torchrun works as for chess.

    **Examples**

    - `kedge train hanabi bots.jsonl.xz people.jsonl.xz --folder first -s moves=all`
    - `kedge train hanabi people.jsonl.xz --folder mine --begin-as first/model.onnx`
    - `kedge train hanabi people.jsonl.xz --folder mine --begin-as first/model.onnx
      --teacher one/model.onnx --teacher two/model.onnx -s teacher_weight=0.9 --synthetic 8000`
    """
    need_torch()
    from kedge.models.hanabi.network import PolicyWeights
    from kedge.models.named import load_as
    from kedge.records import replayed_hanabi_games
    from kedge.training.hanabi.policy import HanabiRecipe, train

    recipe = training.changed(HanabiRecipe())
    if teaching.synthetic is not None:
        recipe = replace(recipe, synthetic=teaching.synthetic)
    before = None if teaching.begin_as is None else load_as(PolicyWeights, teaching.begin_as)
    teachers = [load_as(PolicyWeights, name) for name in teaching.teacher or ()]
    with training.started() as rank:
        games = list(valid_games(data, replayed_hanabi_games))
        say(rank, counted(len(games), "game"))
        reports = train(
            games,
            training.folder,
            recipe,
            rank=rank,
            before=before,
            teachers=teachers,
            seconds=training.time,
        )
        training.print_progress(reports, rank, recipe.steps)


@unfolded
def hanabi_belief(
    training: Training,
    blueprint: Annotated[
        str, typer.Option(help="Model or agent that plays the games to learn from.")
    ],
    game: Annotated[str, typer.Option(help="Rules, as a game spec.")] = "hanabi",
    greedy: Greedy = False,
) -> None:
    """Train a belief model of a player's own cards, from self-play of a blueprint.

    Games are played as they are needed, and used once. Training needs the `[train]` extra; torchrun
    works as for chess.

    **Examples**

    - `kedge train hanabi-belief --blueprint mine/model.onnx --folder belief --device cuda`
    - `kedge train hanabi-belief --blueprint mine/model.onnx --greedy --folder belief-greedy`
    """
    need_torch()
    from kedge.agents import make_player
    from kedge.agents.devices import computing_on
    from kedge.agents.hanabi.players import BlueprintAgent
    from kedge.games import load_game
    from kedge.games.hanabi import Hanabi
    from kedge.training.hanabi.belief import BeliefRecipe, train

    rules = load_game(game)
    if not isinstance(rules, Hanabi):
        raise InputError(f"--game {game}: not Hanabi; give a spec such as hanabi(players=3)")
    recipe = replace(training.changed(BeliefRecipe()), greedy=greedy)
    with training.started() as rank, computing_on(str(rank.device)):
        anchor = make_player(blueprint, "hanabi")
        if not isinstance(anchor, BlueprintAgent) or anchor.temperature != 1.0 or anchor.greedy:
            raise InputError(
                f"--blueprint {blueprint}: give a model's name or conventions, without options"
            )
        anchor.check(rules)
        reports = train(
            anchor.blueprint, rules, training.folder, recipe, rank=rank, seconds=training.time
        )
        training.print_progress(reports, rank, recipe.steps)


def hanabi_value(
    model: Annotated[str, typer.Option(help="Model that plays: its name or file.")],
    folder: Annotated[Path, typer.Option(help="Folder of the model with the value in it.")],
    greedy: Greedy = False,
    games: Annotated[
        int, typer.Option("--games", "-n", min=5, help="How many games; one in five is held out.")
    ] = 4000,
    bomb: Bomb = "zero",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the decks and of sampled moves.")] = 0,
    as_json: Json = False,
) -> None:
    """Add a value head to a Hanabi model, for searches that stop before the end of a game.

    The model plays with itself, and a linear head is fitted to the scores, in seconds and without
    torch. Its policy stays the same. The command prints R² on held-out games, by the number of
    moves made.

    **Examples**

    - `kedge train hanabi-value --model mine/model.onnx --folder valued`
    - `kedge train hanabi-value --model mine/model.onnx --greedy --bomb stack --folder stack`
    """
    import numpy as np

    from kedge.interfaces.progress import waiting
    from kedge.training.hanabi.value import train

    rng = np.random.default_rng(seed)
    with waiting("playing", quiet=as_json):
        parts = train(model, folder, games, rng, bomb=bomb, greedy=greedy)
    path = str(folder / "model.onnx")
    if as_json:
        facts = {"model": path, "games": games, "bomb": bomb, "greedy": greedy}
        print_json({**facts, "held_out": [part._asdict() for part in parts]})
        return
    for part in parts:
        shown = f"R² {part.r2:6.3f}  {part.positions:>7,} positions"
        typer.echo(f"after {part.moves:>2}+ moves  {shown}")
    typer.echo(path)


#: The commands by name, for the catalogue.
COMMANDS = {"hanabi": hanabi, "hanabi-belief": hanabi_belief, "hanabi-value": hanabi_value}
