"""``kedge gtp``: the engine for Go programs, with its options."""

from typing import Annotated

import typer

from kedge.interfaces.options import Device, Dtype, unfolded
from kedge.interfaces.protocols.gtp.options import Params


@unfolded
def gtp(
    params: Params,
    rules: Annotated[
        str, typer.Option(help="`chinese`, `japanese`, `tromp-taylor`, `aga`, …; programs say.")
    ] = "chinese-ogs",
    device: Device = "cpu",
    dtype: Dtype = "float32",
) -> None:
    """A Go engine for any Go program: it speaks GTP 2 on its input and output.

    It draws its moves as people would, passes when nothing is left, and resigns lost games.
    `kata-set-param` changes the options while it runs; `lz-analyze` and `kata-analyze` show how
    many people play each move as the prior.

    **Examples**

    - `kedge gtp --playouts 1`: the human model by itself
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
