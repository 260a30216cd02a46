"""``kedge gtp``: the engine for Go programs, with its options."""

from typing import Annotated

import typer

from kedge.interfaces.options import Device, Dtype, unfolded
from kedge.interfaces.protocols.gtp.options import Params


@unfolded
def gtp(
    params: Params,
    rules: Annotated[
        str,
        typer.Option(
            help="`chinese`, `japanese`, `tromp-taylor`, `aga`, …; programs may change them."
        ),
    ] = "chinese-ogs",
    device: Device = "cpu",
    dtype: Dtype = "float32",
) -> None:
    """Run a Go engine that speaks GTP 2, for any Go program.

    The engine draws its moves as people would, passes when nothing is left to play, and resigns
    lost games. `kata-set-param` changes the options while it runs. In `lz-analyze` and
    `kata-analyze` the prior is the share of people who play a move.

    **Examples**

    - `kedge gtp --playouts 1`: the human model alone
    - `kedge gtp --rank 3d --playouts 1`: like amateurs of 3 dan
    - `kedge gtp --rank 3d --opponent-rank 6d`: like them against someone stronger, with handicap
    - `kedge gtp --c-puct 0.5 --playouts 400 --temperature 0.3`: far stronger
    - Sabaki: Engines, Manage Engines, Add; path `kedge`, arguments `gtp --playouts 100`
    - gtp2ogs: `"bot": {"command": ["kedge", "gtp", "--overhead", "2", "--max-time", "20"]}`
    """
    from kedge.agents.go.engine import GoEngine, Options
    from kedge.evaluation.go.scorers import dead_stones
    from kedge.games.go.rules import GoRules
    from kedge.interfaces.protocols.gtp.engine import run
    from kedge.machine import cores

    options = {**vars(params), "threads": params.threads or cores()}
    seed = options.pop("seed")
    engine = GoEngine(Options(**options, device=device, dtype=dtype), dead_stones)
    engine.set_rules(GoRules.named(rules))
    run(engine, seed)
