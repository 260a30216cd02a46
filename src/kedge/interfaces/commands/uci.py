"""``kedge uci``: the engine for chess programs."""

from kedge.interfaces.options import Device, Dtype


def uci(device: Device = "cpu", dtype: Dtype = "float32") -> None:
    """Run a chess engine that speaks UCI, for any chess program.

    UCI options: `Model` and `WeightsFile` choose who to play like. `CPuct` and `Playouts` set how
    far search may move from that. `Temperature` and `TopP` set how moves are drawn.
    `UCI_LimitStrength` and `UCI_Elo` set a rating. `HumanTime` takes about as long as people do.

    **Example**

    - `kedge uci`: enter this command in the program's list of engines
    """
    from kedge.interfaces.protocols.uci import run

    run(device, dtype)
