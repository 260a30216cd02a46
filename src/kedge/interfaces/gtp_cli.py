"""``kedge gtp``: the engine for Go programs, with its options."""

from typing import Annotated

import typer

from kedge.interfaces.options import Device, Dtype


def gtp(
    model: Annotated[
        str,
        typer.Option(help="Who to play like: `go`, which ships, a stored model, or a path."),
    ] = "go",
    value_model: Annotated[
        str | None,
        typer.Option(help="Another that says what positions are worth. [default: the same]"),
    ] = None,
    c_puct: Annotated[
        float,
        typer.Option(min=0, max=1000, help="The dial: lower moves further from people to winning."),
    ] = 2.0,
    playouts: Annotated[
        int,
        typer.Option(
            min=0, max=10_000_000, help="A move; 1 is the model by itself, 0 all the time allows."
        ),
    ] = 50,
    temperature: Annotated[
        float,
        typer.Option(min=0, max=100, help="Of the moves that are drawn; 0 plays the most visited."),
    ] = 1.0,
    prior_temperature: Annotated[
        float, typer.Option(min=0.01, max=100, help="Of the anchor: below 1 it is more certain.")
    ] = 1.0,
    top_p: Annotated[
        float,
        typer.Option(min=0.001, max=1, help="Draw only of the likeliest that have this share."),
    ] = 1.0,
    resign: Annotated[
        float,
        typer.Option(
            min=-1, max=0, help="Resign when it has been worth less than this; -1 never does."
        ),
    ] = -0.9,
    max_time: Annotated[
        float, typer.Option(min=0, help="Seconds for a move at most; 0 is no bound.")
    ] = 0.0,
    overhead: Annotated[
        float, typer.Option(min=0, max=60, help="Seconds lost between engine and clock.")
    ] = 0.5,
    rules: Annotated[
        str, typer.Option(help="`chinese`, `japanese`, `tromp-taylor`, `aga`, …; programs say.")
    ] = "chinese-ogs",
    reuse_tree: Annotated[
        bool,
        typer.Option(
            "--reuse-tree", help="Keep of the last search what is below the moves made since."
        ),
    ] = False,
    batch: Annotated[
        int, typer.Option(min=1, max=256, help="Leaves that wait for the network together.")
    ] = 1,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    threads: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Of the network. [default: all cores]"),
    ] = None,
    memory: Annotated[
        int, typer.Option(min=1, max=1_048_576, help="MB that the tree may take.")
    ] = 1024,
    seed: Annotated[
        int,
        typer.Option(min=0, max=2**31 - 1, help="Of the draws; 0 is another every time."),
    ] = 0,
) -> None:
    """A Go engine for any Go program: it speaks GTP 2 on its input and output, on 19×19.

    It draws its moves as people would, passes when nothing is left, and resigns lost games.
    `kata-set-param` changes the options while it runs; `lz-analyze` and `kata-analyze` show how
    many people play each move as the prior.

    **Examples**

    - `kedge gtp --playouts 1`: the human model by itself
    - `kedge gtp --c-puct 0.5 --playouts 400 --temperature 0.3`: far stronger
    - Sabaki: Engines, Manage Engines, Add; path `kedge`, arguments `gtp --playouts 100`
    - gtp2ogs: `"bot": {"command": ["kedge", "gtp", "--overhead", "2", "--max-time", "20"]}`
    """
    from kedge.agents.go_engine import GoEngine, Options
    from kedge.evaluation.go_judges import dead_stones
    from kedge.games.go_rules import GoRules
    from kedge.interfaces.gtp import run
    from kedge.models.backends import cores

    engine = GoEngine(
        Options(
            model=model,
            value_model=value_model,
            c_puct=c_puct,
            playouts=playouts,
            temperature=temperature,
            prior_temperature=prior_temperature,
            top_p=top_p,
            resign=resign,
            max_time=max_time,
            overhead=overhead,
            reuse_tree=reuse_tree,
            batch=batch,
            device=device,
            dtype=dtype,
            threads=threads or cores(),
            memory=memory,
        ),
        dead_stones,
    )
    engine.set_rules(GoRules.named(rules))
    run(engine, seed)
