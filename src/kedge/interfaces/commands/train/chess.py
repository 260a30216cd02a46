"""``kedge train chess`` and ``kedge train move-times``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.catalogue import CHESS
from kedge.errors import InputError
from kedge.interfaces.commands.train.shared import (
    BEGINNING,
    Beginning,
    Training,
    need_torch,
    say,
    valid_games,
)
from kedge.interfaces.options import Json, unfolded
from kedge.interfaces.output import print_json
from kedge.words import counted

if TYPE_CHECKING:
    from kedge.training.chess.positions import GameTable

Limit = Annotated[
    int | None, typer.Option(min=1, help="Read only the first N games.", show_default=False)
]


@dataclass(frozen=True)
class Selection:
    """The games of the files to learn from."""

    limit: Limit = None
    most_of_one: Annotated[
        int,
        typer.Option(min=1, help="Learn from at most this many games per player."),
    ] = 200
    without: Annotated[
        list[str] | None,
        typer.Option(help="Leave out the games of this source (JSON lines); may be repeated."),
    ] = None

    def table(self, data: list[Path]) -> "GameTable":
        """Return the selected games."""
        from kedge.records import read_chess_games
        from kedge.records.report import first_games
        from kedge.training.chess.positions import table_of

        games = valid_games(data, read_chess_games)
        people = (game for game in games if game.source not in (self.without or ()))
        return table_of(first_games(people, self.limit), self.most_of_one)


EVERYTHING = Selection()


@unfolded
def chess(
    data: Annotated[
        list[Path],
        typer.Argument(help="PGN or JSON lines, plain or compressed, such as a Lichess month."),
    ],
    training: Training,
    beginning: Beginning = BEGINNING,
    selection: Selection = EVERYTHING,
    teacher_at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RATING=MODEL",
            help="Also learn from this model what people near RATING play (see panel_weight); may "
            "be repeated, such as for all Maias.",
        ),
    ] = None,
) -> None:
    """Train a chess model that takes the players as input: ratings, speed, clock.

    People are split by a hash of their names: one in twenty is held out to test on, one in fifty
    shows how well training goes. The model learns from games among the others.

    Where games have an engine's evaluations (`[%eval 0.24]` in PGN), `-s eval_weight=0.7` lets the
    value learn from them too: they are less noisy than results.

    Training needs the `[train]` extra. torchrun trains in several processes, each with its own GPU
    and its share of every batch; checkpoints do not depend on the number of processes.

    **Examples**

    - `kedge train chess month.pgn.zst --folder big -s filters=128 -s blocks=12 --device cuda`
    - `kedge train chess month.pgn.zst --folder small -s blocks=8 -s teacher_weight=0.7
      --teacher big/checkpoint.pt --device cuda --seconds 540`
    - `kedge train chess month.pgn.zst --folder judge -s eval_weight=0.7 --device cuda`
    - `torchrun --nproc-per-node=8 -m kedge train chess month.pgn.zst --folder big --device cuda`
    """
    need_torch()
    from kedge.records.splits import LEARN
    from kedge.training.chess.policy import ChessRecipe, train

    recipe = training.changed(ChessRecipe())
    with training.started() as rank:
        table = selection.table(data)
        learned = int(table.sides(LEARN).any(axis=1).sum())
        if len(table):
            say(rank, f"{counted(len(table), 'game')}, {learned:,} of them to learn from")
        reports = train(
            table,
            training.folder,
            recipe,
            rank=rank,
            seconds=training.time,
            teacher=beginning.teacher,
            begin_as=beginning.begin_as,
            panel=dict(map(_model_at, teacher_at or ())),
        )
        training.print_progress(reports, rank, recipe.steps)


def _model_at(text: str) -> tuple[int, str]:
    """Parse ``RATING=MODEL``."""
    rating, _, model = text.partition("=")
    if not (rating.isdecimal() and model):
        raise InputError(f"--teacher-at {text!r}: expected RATING=MODEL, such as 1500=maia-1500")
    return int(rating), model


def move_times(
    data: Annotated[list[Path], typer.Argument(help="Chess games with clocks: PGN or JSON lines.")],
    model: Annotated[
        str, typer.Option(help="Model that measures how open a choice was.")
    ] = CHESS.name,
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Fit how long people take for a chess move, for the option `HumanTime` of `kedge uci`.

    The logarithm of the seconds is fitted by least squares, with at most twenty games per player.
    The fit is scored on one player in twenty, beside a constant share of the clock.

    **Example**

    - `kedge train move-times lichess_2024-01.pgn.zst --limit 20000`
    """
    from kedge.agents.board.networks import network
    from kedge.agents.chess.move_times import FEATURES
    from kedge.records import read_chess_games
    from kedge.records.report import first_games
    from kedge.training.chess.move_times import fit, fit_share, score, timed_moves

    games = valid_games(data, read_chess_games)
    moves = timed_moves(first_games(games, limit), network(model))
    times, share = fit(moves), fit_share(moves)
    fitted: dict[str, Any] = {
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
        print_json(fitted)
    else:
        _print_times(fitted)


def _print_times(fitted: dict[str, Any]) -> None:
    typer.echo(f"{counted(fitted['moves'], 'move')} of {counted(fitted['players'], 'player')}")
    for name, weight in fitted["weights"].items():
        typer.echo(f"{name:>10} {weight:+.3f}")
    typer.echo(f"{'spread':>10} {fitted['spread']:.3f}")
    typer.echo(f"\nheld out: {counted(fitted['held_out']['moves'], 'move')}")
    for name in ("fitted", "share"):
        scores = fitted["held_out"][name]
        typer.echo(
            f"{name:>10}  log-likelihood {scores['log_likelihood']:.3f}  "
            f"error of log seconds {scores['log_error']:.3f}"
        )
        for speed, median in scores["medians"].items():
            typer.echo(
                f"{'':>12}{speed}: median {median['model']:.1f} s, people {median['people']:.1f} s "
                f"({counted(median['moves'], 'move')})"
            )


#: The commands by name, for the catalogue.
COMMANDS = {CHESS.name: chess, "move-times": move_times}
