"""Games of random orders, for tests of what sees positions."""

import numpy as np

from kedge.games.diplomacy import POWERS, Diplomacy

HOMES = {
    power: places.split()
    for power, places in zip(
        POWERS,
        ["BUD TRI VIE", "EDI LON LVP", "BRE MAR PAR", "BER KIE MUN", "NAP ROM VEN",
         "MOS SEV STP WAR", "ANK CON SMY"],
        strict=True,
    )
}  # fmt: skip
CENTRE_NAMES = {name for names in HOMES.values() for name in names} | {
    "NWY", "SWE", "DEN", "HOL", "BEL", "SPA", "POR", "TUN", "GRE", "SER", "BUL", "RUM"
}  # fmt: skip


def random_states(seed, phases=60):
    """A game of random orders, one state a phase."""
    rng = np.random.default_rng(seed)
    state = Diplomacy().initial_state()
    for _ in range(phases):
        if state.is_terminal():
            return
        yield state
        orders = {
            power: [str(rng.choice(texts)) for texts in state.orders(power).values()]
            for power in POWERS
        }
        state = state.clone()
        state.apply(orders)
