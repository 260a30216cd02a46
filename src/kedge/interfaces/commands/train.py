"""``kedge train``: human models from human games."""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from kedge.errors import InputError
from kedge.interfaces.commands.hanabi_options import Bomb
from kedge.interfaces.options import Json
from kedge.interfaces.output import print_json, resumable

if TYPE_CHECKING:
    from kedge.records import DiplomacyGame
    from kedge.training.distributed import Rank
    from kedge.training.trainer import Recipe

R = TypeVar("R", bound="Recipe")
Folder = Annotated[
    Path, typer.Option(help="Where the checkpoint and the model go; the same folder goes on.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="FIELD=VALUE",
        help="Change the recipe: blocks, steps, batch, learning_rate, …",
        show_default=False,
    ),
]
Device = Annotated[str, typer.Option(help="torch's: `cpu`, `cuda`, `cuda:1`, …")]
Seconds = Annotated[
    float | None,
    typer.Option(help="Stop after this long; run again to go on.", show_default=False),
]
Teacher = Annotated[
    str | None,
    typer.Option(
        help="A larger model to learn from as well (see teacher_weight), or its checkpoint.pt.",
        show_default=False,
    ),
]
BeginAs = Annotated[
    str | None,
    typer.Option(
        help="A model to begin as, or its checkpoint.pt: a larger network then knows as much, and "
        "one of fewer blocks has some of its blocks.",
        show_default=False,
    ),
]

train_app = typer.Typer(no_args_is_help=True, help="Train human models from human games.")


@train_app.callback()
def _root() -> None:
    """One command a model."""


@train_app.command()
def chess(
    data: Annotated[
        list[Path],
        typer.Argument(help="PGN or JSON lines, plain or compressed: a Lichess month, say."),
    ],
    folder: Folder,
    settings: Settings = None,
    device: Device = "cpu",
    seconds: Seconds = None,
    teacher: Teacher = None,
    begin_as: BeginAs = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Read only so many games.", show_default=False)
    ] = None,
    most_of_one: Annotated[
        int,
        typer.Option(min=1, help="Learn at most so many games of any one player, or it is they."),
    ] = 200,
) -> None:
    """A chess model conditioned on both players' ratings, from their games.

    It needs the `[train]` extra. torchrun trains in several processes, each on a GPU of its own
    and with its share of every batch; checkpoints do not depend on how many there are.

    **Examples**

    - `kedge train chess month.pgn.zst --folder big -s filters=128 -s blocks=12 --device cuda`
    - `kedge train chess month.pgn.zst --folder small -s blocks=8 -s teacher_weight=0.7
      --teacher big/checkpoint.pt --device cuda --seconds 540`
    - `torchrun --nproc-per-node=8 -m kedge train chess month.pgn.zst --folder big --device cuda`
    """
    _need_torch()
    from kedge.records import read_chess_games
    from kedge.training.board.imitation import TowerRecipe
    from kedge.training.chess.policy import table_of, train

    recipe = _changed(TowerRecipe(), settings)
    with _training(device, folder) as rank:
        games = chain.from_iterable(read_chess_games(path) for path in data)
        table = table_of(islice(games, limit), most_of_one)
        if rank.is_first:
            told = f"{len(table):,} games, {int(table.held_out.sum()):,} of them held out"
            typer.echo(told, err=True)
        reports = train(
            table,
            folder,
            recipe,
            rank=rank,
            seconds=seconds or math.inf,
            teacher=teacher,
            begin_as=begin_as,
        )
        _tell(reports, rank, recipe.steps, folder)


@train_app.command()
def go(
    data: Annotated[
        Path,
        typer.Argument(help="SGF files, folders and archives of them, or a table (TSV)."),
    ],
    folder: Folder,
    recipe: Annotated[
        str, typer.Option(help="`small` (10 blocks of 128), or the `paper`'s (20 of 256).")
    ] = "small",
    settings: Settings = None,
    modern: Annotated[
        bool,
        typer.Option(
            "--modern", help="Learn from all years, not only 1900 to 2014; test on 2017 and later."
        ),
    ] = False,
    device: Device = "cpu",
    seconds: Seconds = None,
    teacher: Teacher = None,
    begin_as: BeginAs = None,
) -> None:
    """A Go model from professional games: what is played next, and who wins.

    Even games on the full board, komi from −60 to 60: those of 1900 to 2014 are learned from, those
    of 2015 and 2016 tested on, as in the paper. It needs the `[train]` extra; torchrun works as for
    chess.

    **Examples**

    - `kedge train go games.tsv.xz --folder mine --device cuda --seconds 540`
    - `kedge train go games.tsv.xz --folder wide --begin-as mine/checkpoint.pt -s filters=192
      --device cuda`
    - `kedge train go club/ --modern --folder ours --begin-as go -s learning_rate=0.0005
      -s steps=2000`
    - `torchrun --nproc-per-node=8 -m kedge train go sgf/ --folder big --recipe paper --device cuda`
    """
    _need_torch()
    from kedge.records.go.arrays import go_arrays
    from kedge.specs import suggest
    from kedge.training.go.policy import RECIPES, train

    if recipe not in RECIPES:
        raise InputError(f"recipe {recipe!r}: {suggest(recipe, list(RECIPES))}")
    chosen = _changed(RECIPES[recipe], settings)
    with _training(device, folder) as rank:
        table = go_arrays(data)
        if rank.is_first:
            typer.echo(f"{len(table):,} games", err=True)
        reports = train(
            table,
            folder,
            chosen,
            rank=rank,
            modern=modern,
            seconds=seconds or math.inf,
            teacher=teacher,
            begin_as=begin_as,
        )
        _tell(reports, rank, chosen.steps, folder)


@train_app.command()
def diplomacy(
    data: Annotated[
        list[Path],
        typer.Argument(help="Games as JSON lines, plain or compressed: ours or `diplomacy`'s."),
    ],
    folder: Folder,
    settings: Settings = None,
    tiers: Annotated[
        str, typer.Option(help="Of Droidippy's games; A: every power gave orders throughout.")
    ] = "AB",
    device: Device = "cpu",
    seconds: Seconds = None,
) -> None:
    """A Diplomacy model: what each power orders, unit by unit, and how the game ends.

    One game in twenty is held out. It needs the `[train]` extra; torchrun works as for chess.

    **Examples**

    - `kedge train diplomacy droidippy.jsonl.xz --folder mine --device cuda`
    - `kedge train diplomacy droidippy.jsonl.xz --folder small -s width=64 -s blocks=2 -s heads=4
      --device cuda --seconds 540`
    """
    _need_torch()
    from kedge.training.diplomacy.policy import DiplomacyRecipe, train

    recipe = _changed(DiplomacyRecipe(), settings)
    with _training(device, folder) as rank:
        games = [game for game in _diplomacy_games(data) if game.tier is None or game.tier in tiers]
        if not games:
            raise InputError(f"{', '.join(map(str, data))}: no game, or none of tiers {tiers}")
        if rank.is_first:
            typer.echo(f"{len(games):,} games", err=True)
        reports = train(games, folder, recipe, rank=rank, seconds=seconds or math.inf)
        _tell(reports, rank, recipe.steps, folder)


@train_app.command("diplomacy-value")
def diplomacy_value(
    data: Annotated[
        list[Path],
        typer.Argument(help="Games as JSON lines, plain or compressed: ours or `diplomacy`'s."),
    ],
    folder: Folder,
    settings: Settings = None,
    rollouts: Annotated[
        int,
        typer.Option(min=0, help="Play on from so many positions, and learn from that instead."),
    ] = 0,
    policy: Annotated[
        str, typer.Option(help="With rollouts: the human model that plays on.")
    ] = "diplomacy",
    value: Annotated[
        str, typer.Option(help="With rollouts: the model to begin as, which values their ends.")
    ] = "diplomacy-value",
    to_the_end: Annotated[
        bool, typer.Option("--to-the-end", help="With rollouts: play every one of them out.")
    ] = False,
    workers: Annotated[
        int, typer.Option(min=1, help="With rollouts: processes that play them.")
    ] = 1,
    device: Device = "cpu",
    seconds: Seconds = None,
) -> None:
    """What Diplomacy positions are worth to each power: the small network that searches ask.

    First from how people's games ended; then, as in the paper's appendix J, from what it says
    itself four to eight phases later, when the human model has played on; or from how the games
    of that model end. One game in twenty is held out, and tested on. Rollouts are kept in the
    folder; run again to go on.

    **Examples**

    - `kedge train diplomacy-value droidippy.jsonl.xz --folder ended`
    - `kedge train diplomacy-value droidippy.jsonl.xz --folder later --value ended/model.onnx
      --rollouts 20000 --device cuda`
    """
    _need_torch()
    from kedge.agents.diplomacy.models import value_weights
    from kedge.interfaces.progress import counting_games
    from kedge.training.diplomacy.policy import split
    from kedge.training.diplomacy.rollouts import Rollouts
    from kedge.training.diplomacy.value import ValueRecipe, begun, positions_of, train

    recipe = _changed(ValueRecipe(), settings)
    before = value_weights(value) if rollouts else None
    network = begun(recipe, before)
    with _training(device, folder) as rank:
        ours, others = split(_diplomacy_games(data))
        if rank.is_first:
            typer.echo(f"{len(ours):,} games, and {len(others):,} held out", err=True)
        tested = positions_of(others)
        if before is None:
            learned = positions_of(ours)
        else:
            rolling = Rollouts(folder, ours, policy, None if to_the_end else before, device)
            with counting_games(rollouts, quiet=not rank.is_first, noun="rollouts") as told:
                for done in rolling.play(rollouts, workers):
                    told(done, done)
            learned = rolling.positions(rollouts)
        reports = train(
            network, learned, tested, folder, recipe, rank=rank, seconds=seconds or math.inf
        )
        _tell(reports, rank, recipe.steps, folder)


@train_app.command()
def hanabi(
    data: Annotated[
        list[Path],
        typer.Argument(help="Games as JSON lines, plain or compressed: ours or hanab.live's."),
    ],
    folder: Folder,
    settings: Settings = None,
    begin_as: Annotated[
        str | None,
        typer.Option(help="A model to begin as, of the recipe's shape.", show_default=False),
    ] = None,
    device: Device = "cpu",
    seconds: Seconds = None,
) -> None:
    """A Hanabi model: what people play next or, where a game has none, what programs do.

    The games of one participant in five are held out; of games that tell of none, one in twenty.
    With `-s moves=all` the moves of programs that play with people are learned as well: what to
    begin as, where people's games are few. It needs the `[train]` extra; torchrun works as for
    chess.

    **Examples**

    - `kedge train hanabi bots.jsonl.xz people.jsonl.xz --folder first -s moves=all`
    - `kedge train hanabi people.jsonl.xz --folder mine --begin-as first/model.onnx`
    """
    _need_torch()
    from kedge.agents.hanabi.models import policy_weights
    from kedge.records import replayed_hanabi_games
    from kedge.training.hanabi.policy import HanabiRecipe, train

    recipe = _changed(HanabiRecipe(), settings)
    before = None if begin_as is None else policy_weights(begin_as)
    with _training(device, folder) as rank:
        games = list(chain.from_iterable(replayed_hanabi_games(path) for path in data))
        if rank.is_first:
            typer.echo(f"{len(games):,} games", err=True)
        reports = train(
            games, folder, recipe, rank=rank, before=before, seconds=seconds or math.inf
        )
        _tell(reports, rank, recipe.steps, folder)


@train_app.command("hanabi-belief")
def hanabi_belief(
    folder: Folder,
    blueprint: Annotated[
        str, typer.Option(help="Whose games are learned from: a model, or another agent.")
    ],
    game: Annotated[str, typer.Option(help="With which rules.")] = "hanabi",
    settings: Settings = None,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="It makes its likeliest move each time.")
    ] = False,
    device: Device = "cpu",
    seconds: Seconds = None,
) -> None:
    """What a player of Hanabi believes of its own cards, from games of a blueprint with itself.

    Games are played as they are needed, and learned from once. It needs the `[train]` extra;
    torchrun works as for chess.

    **Examples**

    - `kedge train hanabi-belief --blueprint mine/model.onnx --folder belief --device cuda`
    - `kedge train hanabi-belief --blueprint mine/model.onnx --greedy --folder belief-greedy`
    """
    _need_torch()
    from kedge.agents import make_player
    from kedge.agents.board.networks import computing_on
    from kedge.agents.hanabi.players import BlueprintAgent
    from kedge.games import load_game
    from kedge.games.hanabi import Hanabi
    from kedge.training.hanabi.belief import BeliefRecipe, train

    rules = load_game(game)
    if not isinstance(rules, Hanabi):
        raise InputError(f"--game {game}: not a game of Hanabi")
    recipe = dataclasses.replace(_changed(BeliefRecipe(), settings), greedy=greedy)
    with _training(device, folder) as rank, computing_on(str(rank.device)):
        anchor = make_player(blueprint, "hanabi")
        if not isinstance(anchor, BlueprintAgent) or anchor.temperature != 1.0 or anchor.greedy:
            raise InputError(
                f"--blueprint {blueprint}: a model's name, or conventions, and no more"
            )
        reports = train(
            anchor.blueprint, rules, folder, recipe, rank=rank, seconds=seconds or math.inf
        )
        _tell(reports, rank, recipe.steps, folder)


@train_app.command("hanabi-value")
def hanabi_value(
    model: Annotated[str, typer.Option(help="What is played: a model's name or file.")],
    folder: Annotated[Path, typer.Option(help="Where the model goes, with the value in it.")],
    greedy: Annotated[
        bool, typer.Option("--greedy", help="It makes its likeliest move each time.")
    ] = False,
    games: Annotated[
        int, typer.Option("--games", "-n", min=5, help="How many; one in five is held out.")
    ] = 4000,
    bomb: Bomb = "zero",
    seed: Annotated[int, typer.Option(min=0, help="Of decks, and of moves that are drawn.")] = 0,
    as_json: Json = False,
) -> None:
    """What games of Hanabi come to, for searches that do not play them to the end.

    A model plays with itself, and one more row beside those of its moves is fitted to the scores,
    in seconds and without torch. What it plays stays the same. Told is how much of the scores'
    variance it explains in games that are held out, by how many moves were made.

    **Examples**

    - `kedge train hanabi-value --model mine/model.onnx --folder valued`
    - `kedge train hanabi-value --model mine/model.onnx --greedy --bomb stack --folder stack`
    """
    import numpy as np

    from kedge.interfaces.progress import waiting
    from kedge.training.hanabi.value import train

    rng = np.random.default_rng(seed)
    with waiting("playing", quiet=as_json):
        found = train(model, folder, games, rng, bomb=bomb, greedy=greedy)
    path = str(folder / "model.onnx")
    if as_json:
        told = {"model": path, "games": games, "bomb": bomb, "greedy": greedy}
        print_json({**told, "held_out": [part._asdict() for part in found]})
        return
    for part in found:
        shown = f"R² {part.r2:6.3f}  {part.positions:>7,} positions"
        typer.echo(f"after {part.moves:>2}+ moves  {shown}")
    typer.echo(path)


def _need_torch() -> None:
    try:
        import torch  # noqa: F401
    except ImportError:
        raise InputError("training needs torch: pip install 'kedge[train]'") from None


@contextmanager
def _training(device: str, folder: Path) -> "Iterator[Rank]":
    """Around what goes on from its folder, which is seen to be writable before games are read."""
    from kedge.files import make_folder
    from kedge.training.distributed import joined

    with joined(device) as rank, resumable():
        is_new = not folder.exists()
        make_folder(folder)
        try:
            yield rank
        except InputError:
            if is_new:
                with suppress(OSError):  # there is something in it
                    folder.rmdir()
            raise


def _changed(recipe: R, settings: list[str] | None) -> R:
    """The recipe with what ``--set`` changes in it."""
    from kedge.interfaces.inputs import fields_of

    return dataclasses.replace(recipe, **fields_of(type(recipe), "the recipe", settings or []))


def _diplomacy_games(data: list[Path]) -> "Iterator[DiplomacyGame]":
    from kedge.records import read_diplomacy_games

    return chain.from_iterable(read_diplomacy_games(path) for path in data)


def _tell(reports: Iterable[Mapping[str, float]], rank: "Rank", steps: int, folder: Path) -> None:
    """How training goes, and in the end where the model is."""
    for report in reports:
        if rank.is_first:
            typer.echo(
                f"step {report['step']:,} of {steps:,}  loss {report['loss']:.3f}  "
                f"top-1 {report['top1']:.1%}  held out {report['held_out_top1']:.1%}  "
                f"{report['seconds']:.0f} s"
            )
    if rank.is_first:
        typer.echo(f"{folder / 'model.onnx'}")


@train_app.command("move-times")
def move_times(
    data: Annotated[list[Path], typer.Argument(help="Chess games with clocks: PGN or JSON lines.")],
    model: Annotated[str, typer.Option(help="Which tells how open a choice was.")] = "chess",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Read only so many games.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """How long people take for a chess move: the numbers behind `HumanTime` of `kedge uci`.

    The logarithm of the seconds is fitted by least squares, at most twenty games a player, and
    scored on one player in twenty beside a constant share of the clock.

    **Example**

    - `kedge train move-times lichess_2024-01.pgn.zst --limit 20000`
    """
    from kedge.agents.board.networks import network
    from kedge.agents.chess.move_times import FEATURES
    from kedge.records import read_chess_games
    from kedge.training.chess.move_times import fit, fit_share, score, timed_moves

    games = chain.from_iterable(read_chess_games(path) for path in data)
    moves = timed_moves(islice(games, limit), network(model))
    times, share = fit(moves), fit_share(moves)
    found: dict[str, Any] = {
        "moves": len(moves),
        "players": moves.players,
        "weights": dict(zip(FEATURES, times.weights, strict=True)),
        "spread": times.spread,
        "held_out": {
            "moves": int(moves.held_out.sum()),
            "fitted": score(times, moves),
            "share": score(share, moves),
        },
    }
    if as_json:
        print_json(found)
        return
    typer.echo(f"{found['moves']:,} moves of {found['players']:,} players")
    for name, weight in found["weights"].items():
        typer.echo(f"{name:>10} {weight:+.3f}")
    typer.echo(f"{'spread':>10} {times.spread:.3f}")
    typer.echo(f"\nheld out: {found['held_out']['moves']:,} moves")
    for name in ("fitted", "share"):
        one = found["held_out"][name]
        typer.echo(
            f"{name:>10}  log-likelihood {one['log_likelihood']:.3f}  "
            f"error of log seconds {one['log_error']:.3f}"
        )
        for speed, median in one["medians"].items():
            typer.echo(
                f"{'':>12}{speed}: median {median['model']:.1f} s, people {median['people']:.1f} s "
                f"({median['moves']:,} moves)"
            )
