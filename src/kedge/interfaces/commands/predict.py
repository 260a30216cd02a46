"""``kedge predict``: how well an agent predicts people."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kedge.interfaces.options import HERE, Device, Dtype, Json, Running, unfolded
from kedge.interfaces.output import finished, print_json

if TYPE_CHECKING:
    from kedge.experiments.predict import Predict

Limit = Annotated[
    int | None, typer.Option(min=1, help="Only so many positions.", show_default=False)
]
Chunk = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Games in one task. [default: 32 after a few small ones, 1024 on a GPU; more if "
        "there are very many]",
        show_default=False,
    ),
]

predict_app = typer.Typer(no_args_is_help=True, help="How well an agent predicts what people play.")


@predict_app.callback()
def _root() -> None:
    """One command a game."""


@predict_app.command()
@unfolded
def chess(
    data: Annotated[list[Path], typer.Argument(help="PGN or JSON lines, plain or compressed.")],
    agent: Annotated[str, typer.Option("--agent", "-a", help="An agent for chess.")],
    limit: Limit = None,
    bucket: Annotated[
        int | None,
        typer.Option(help="Only games of two players within 100 points above.", show_default=False),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Only games of this source (JSON lines).", show_default=False)
    ] = None,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="Only games that `kedge train` does not train on.")
    ] = False,
    unrated: Annotated[
        bool,
        typer.Option(
            "--unrated",
            help="Also games that do not say that they are rated, such as chess.com's.",
        ),
    ] = False,
    told_ratings: Annotated[
        bool,
        typer.Option(
            "--told-ratings",
            help="Tell `chess`, a model of your own, or a search over one, both players' ratings "
            "in every position.",
        ),
    ] = False,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    chunk: Chunk = None,
    running: Running = HERE,
    as_json: Json = False,
) -> None:
    """Top-1, top-5 and cross-entropy on human moves, by rating, time control and phase.

    Positions are those of the paper and of Maia: rated games, no bullet, no bots, after ten plies,
    with thirty seconds left where clocks are known. Standard errors are clustered by game.

    Finished chunks of games are kept: interrupt it, run it again, and it goes on from there.

    **Examples**

    - `kedge predict chess lichess_2024-01.pgn.zst --agent maia-1900 --bucket 1900 --limit 20000`
    - `kedge predict chess games.pgn --agent "puct(chess, c_puct=2, playouts=50)"`
    - `kedge predict chess games.pgn --agent chess --told-ratings --json`
    """
    from kedge.experiments.chess.predict import ChessPredict

    prediction = ChessPredict(
        agent=agent,
        data=tuple(map(str, data)),
        limit=limit,
        bucket=bucket,
        source=source,
        held_out=held_out,
        unrated=unrated,
        told_ratings=told_ratings,
        device=device,
        dtype=dtype,
        chunk=chunk,
    )
    _report(prediction, running, as_json)


@predict_app.command()
@unfolded
def go(
    data: Annotated[
        list[Path], typer.Argument(help="SGF files, folders and archives of them, or a table.")
    ],
    agent: Annotated[str, typer.Option("--agent", "-a", help="An agent for Go.")],
    split: Annotated[
        Literal["test", "train", "modern", "modern-test", "all"],
        typer.Option(
            help="The paper's sets, 2015 and 2016 or 1900 to 2014; later years, or one game in "
            "twenty of them, which `kedge train go --modern` holds out; or all."
        ),
    ] = "test",
    limit: Limit = None,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    chunk: Chunk = None,
    running: Running = HERE,
    as_json: Json = False,
) -> None:
    """Top-1, top-5 and cross-entropy on human moves of Go, by year, komi and phase.

    Games are those of the paper: even games of people on the full board, of 2015 and 2016; your own
    may need `--split all`. Standard errors are clustered by game.

    Finished chunks of games are kept: interrupt it, run it again, and it goes on from there.

    **Examples**

    - `kedge predict go games.sgf --split all --agent "puct(go, c_puct=2)"`
    - `kedge predict go games.tsv.xz --agent '"mine/model.onnx"' --limit 20000`
    - `kedge predict go sgf/ --split all --agent 'puct("mine/model.onnx", c_puct=2)' --device cuda`
    """
    from kedge.experiments.go.predict import GoPredict

    prediction = GoPredict(
        agent=agent,
        data=tuple(map(str, data)),
        limit=limit,
        split=split,
        device=device,
        dtype=dtype,
        chunk=chunk,
    )
    _report(prediction, running, as_json)


@predict_app.command()
@unfolded
def diplomacy(
    data: Annotated[list[Path], typer.Argument(help="Games as JSON lines, plain or compressed.")],
    agent: Annotated[str, typer.Option("--agent", "-a", help="An agent for Diplomacy.")],
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only so many movement phases.", show_default=False)
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also games that models may have been trained on.")
    ] = False,
    tier: Annotated[
        str | None, typer.Option(help="Only games of this tier.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of what the agent draws.")] = 0,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    chunk: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Games in one task. [default: 4, 32 on a GPU; more if there are very many]",
            show_default=False,
        ),
    ] = None,
    running: Running = HERE,
    as_json: Json = False,
) -> None:
    """Top-1 and cross-entropy on what people ordered, by power, season, years, tier and rating.

    Top-1 compares the orders of the agent's likeliest joint action with those given, unit by unit,
    in movement phases. Games are those that models are not trained on. Standard errors are
    clustered by game.

    Finished chunks of games are kept: interrupt it, run it again, and it goes on from there.

    **Examples**

    - `kedge predict diplomacy droidippy.jsonl.xz --agent diplomacy`
    - `kedge predict diplomacy games.jsonl --all --agent "pikl-hedge(diplomacy)" --limit 500 --json`
    """
    from kedge.experiments.diplomacy.predict import DiplomacyPredict

    prediction = DiplomacyPredict(
        agent=agent,
        data=tuple(map(str, data)),
        limit=limit,
        everything=everything,
        tier=tier,
        seed=seed,
        device=device,
        dtype=dtype,
        chunk=chunk,
    )
    _report(prediction, running, as_json)


@predict_app.command()
@unfolded
def hanabi(
    data: Annotated[
        list[Path],
        typer.Argument(help="Games as JSON lines or as hanab.live exports them, plain or not."),
    ],
    agent: Annotated[str, typer.Option("--agent", "-a", help="An agent for Hanabi.")],
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only so many moves.", show_default=False)
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also games that models may have been trained on.")
    ] = False,
    bots: Annotated[
        bool, typer.Option("--bots", help="The moves of programs, not those of people.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of what the agent draws.")] = 0,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    chunk: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Games in one task. [default: 8, 64 on a GPU; more if there are very many]",
            show_default=False,
        ),
    ] = None,
    running: Running = HERE,
    as_json: Json = False,
) -> None:
    """Top-1 and cross-entropy on what people did, by score, participant and kind of move.

    Only their own moves count. Games are those of participants that models are not trained on.
    Scores are as the source counts them. Standard errors are clustered by participant.

    Finished chunks of games are kept: interrupt it, run it again, and it goes on from there.

    **Examples**

    - `kedge predict hanabi human_ai_2p.jsonl.xz --agent hanabi`
    - `kedge predict hanabi games.jsonl --agent "sparta(hanabi, lambda=1, rollouts=500)" --json`
    - `kedge predict hanabi smartbot_selfplay_2p.jsonl.xz --bots --agent conventions`
    """
    from kedge.experiments.hanabi.predict import HanabiPredict

    prediction = HanabiPredict(
        agent=agent,
        data=tuple(map(str, data)),
        limit=limit,
        everything=everything,
        bots=bots,
        seed=seed,
        device=device,
        dtype=dtype,
        chunk=chunk,
    )
    _report(prediction, running, as_json)


def _report(
    prediction: "Predict",
    running: Running,
    as_json: bool,
) -> None:
    if running.engine != "ray":  # whose workers may have a device, and models, that are not here
        prediction.player()
    done, _ = finished(prediction, running)
    if as_json:
        print_json({**(done.report().data or {}), "folder": done.folder})
        return
    typer.echo(done.report().text(), nl=False)
    typer.echo(f"{done.folder}")
