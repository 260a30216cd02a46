"""What powers see of a position, and what the small network makes of it, held to plain twins."""

import numpy as np
import pytest
from random_diplomacy import CENTRE_NAMES, random_states

from kedge import _core
from kedge.games.diplomacy import BORDERS, LOCATIONS, POWERS
from kedge.models.diplomacy.values import SEEN, SEEN_ROWS, alive

# Where the rows of each kind begin.
UNIT, DISLODGED, CENTRE, PHASE, SELF = 1, 325, 649, 892, 897
OWN, OTHER, STRENGTH, END = 904, 1009, 1079, 4679
PROVINCES = sorted({place[:3] for place in LOCATIONS})


def plain_seen(state, power):
    """The rows that `power` sees, in any order."""
    position = state.to_json()
    me = POWERS[power]
    rows = []
    for first, field in ((UNIT, "units"), (DISLODGED, "dislodged")):
        for owner, units in position.get(field, {}).items():
            for kind, place in map(str.split, units):
                for name in {place, place[:3]}:
                    at = 4 * LOCATIONS.index(name) + 2 * (kind == "F")
                    rows.append(first + at + (owner == me))
    owners = {name: power for power, names in position["centers"].items() for name in names}
    for name in CENTRE_NAMES:
        whose = 2 if name not in owners else int(owners[name] == me)
        rows.append(CENTRE + 3 * LOCATIONS.index(name) + whose)
    rows.append(PHASE + ["SM", "SR", "FM", "FR", "WA"].index(state.phase[0] + state.phase[-1]))
    centres = {name: len(position["centers"].get(name, [])) for name in POWERS}
    units = {name: len(position["units"].get(name, [])) for name in POWERS}
    rows += [SELF + power, OWN + centres[me], OWN + 35 + units[me]]
    rows.append(OWN + 70 + 17 + state.adjustment(me))
    for name in POWERS:
        if name != me:
            rows += [OTHER + centres[name], OTHER + 35 + units[name]]
    for i, province in enumerate(PROVINCES):
        there = [o for o, us in position["units"].items() for u in us if u[2:5] == province]
        reach = {
            name: sum(
                any((unit[2:], to) in BORDERS[unit[0]] for to in LOCATIONS if to[:3] == province)
                for unit in position["units"].get(name, [])
            )
            for name in POWERS
        }
        who = 0 if not there else 1 if there == [me] else 2
        other = max(count for name, count in reach.items() if name != me)
        rows.append(STRENGTH + ((i * 3 + who) * 4 + min(reach[me], 3)) * 4 + min(other, 3))
    return sorted(rows)


@pytest.fixture(scope="module")
def states():
    found = [state for seed in range(2) for state in random_states(seed)][::4]
    assert {state.phase[-1] for state in found} == set("MRA")
    return found


def batch_of(states):
    return _core.DiplomacyBatch([state.board for state in states])


def test_powers_see_what_the_plain_twin_does(states):
    assert END == SEEN_ROWS
    seen = _core.diplomacy_seen(batch_of(states))
    assert seen.shape == (len(states), len(POWERS), SEEN)
    for state, by_power in zip(states, seen, strict=True):
        for power, rows in enumerate(by_power):
            assert sorted(rows[rows > 0].tolist()) == plain_seen(state, power), (state.phase, power)


def test_powers_that_are_alive(states):
    left = [
        [bool(units or gone or centres) for units, gone, centres in zip(*lists, strict=True)]
        for lists in ((s.board.units(), s.board.dislodged(), s.board.centres()) for s in states)
    ]
    np.testing.assert_array_equal(alive(_core.diplomacy_seen(batch_of(states))), left)


def test_the_native_network_sums_the_rows(states):
    rng = np.random.default_rng(0)
    shapes = ((SEEN_ROWS, 24), (24,), (24, 8), (8,), (8,))
    rows, bias, layer, layer_bias, out = (
        rng.normal(size=shape).astype(np.float32) * 0.2 for shape in shapes
    )
    rows[0] = 0.0
    network = _core.DiplomacyValues(rows, bias, layer, layer_bias, out)
    seen = _core.diplomacy_seen(batch_of(states))
    hidden = np.maximum(np.maximum(rows[seen].sum(2) + bias, 0.0) @ layer + layer_bias, 0.0)
    shares = np.where(alive(seen), np.exp(hidden @ out), 0.0)
    shares /= shares.sum(1, keepdims=True)
    np.testing.assert_allclose(network.shares(batch_of(states)), shares, atol=1e-5)
    with pytest.raises(ValueError, match="shapes"):
        _core.DiplomacyValues(rows[1:], bias, layer, layer_bias, out)
