"""The drawing of the Diplomacy map: its geometry against the rules, and what it shows."""

import json
import lzma
import os
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from importlib.resources import files
from itertools import islice
from math import dist
from pathlib import Path

import pytest

from kedge.errors import InputError
from kedge.games.diplomacy.drawing import draw

SVG = "{http://www.w3.org/2000/svg}"
MAP = json.loads((files("kedge.games.diplomacy") / "map.json").read_text(encoding="utf-8"))
#: Which provinces the rules call adjacent, each pair once.
ADJACENT = """
ADR: ALB APU ION TRI VEN
AEG: BUL CON EAS GRE ION SMY
ALB: GRE ION SER TRI
ANK: ARM BLA CON SMY
APU: ION NAP ROM VEN
ARM: BLA SEV SMY SYR
BAL: BER BOT DEN KIE LVN PRU SWE
BAR: NWG NWY STP
BEL: BUR ENG HOL NTH PIC RUH
BER: KIE MUN PRU SIL
BLA: BUL CON RUM SEV
BOH: GAL MUN SIL TYR VIE
BOT: FIN LVN STP SWE
BRE: ENG GAS MAO PAR PIC
BUD: GAL RUM SER TRI VIE
BUL: CON GRE RUM SER
BUR: GAS MAR MUN PAR PIC RUH
CLY: EDI LVP NAO NWG
CON: SMY
DEN: HEL KIE NTH SKA SWE
EAS: ION SMY SYR
EDI: LVP NTH NWG YOR
ENG: IRI LON MAO NTH PIC WAL
FIN: NWY STP SWE
GAL: RUM SIL UKR VIE WAR
GAS: MAO MAR PAR SPA
GRE: ION SER
HEL: HOL KIE NTH
HOL: KIE NTH RUH
ION: NAP TUN TYS
IRI: LVP MAO NAO WAL
KIE: MUN RUH
LON: NTH WAL YOR
LVN: MOS PRU STP WAR
LVP: NAO WAL YOR
LYO: MAR PIE SPA TUS TYS WES
MAO: NAF NAO POR SPA WES
MAR: PIE SPA
MOS: SEV STP UKR WAR
MUN: RUH SIL TYR
NAF: TUN WES
NAO: NWG
NAP: ROM TYS
NTH: NWG NWY SKA YOR
NWG: NWY
NWY: SKA STP SWE
PAR: PIC
PIE: TUS TYR VEN
POR: SPA
PRU: SIL WAR
ROM: TUS TYS VEN
RUM: SER SEV UKR
SER: TRI
SEV: UKR
SIL: WAR
SKA: SWE
SMY: SYR
SPA: WES
TRI: TYR VEN VIE
TUN: TYS WES
TUS: TYS VEN
TYR: VEN VIE
TYS: WES
UKR: WAR
WAL: YOR
"""
START = {
    "name": "S1901M",
    "units": {
        "AUSTRIA": ["A BUD", "A VIE", "F TRI"],
        "ENGLAND": ["A LVP", "F EDI", "F LON"],
        "FRANCE": ["A MAR", "A PAR", "F BRE"],
        "GERMANY": ["A BER", "A MUN", "F KIE"],
        "ITALY": ["A ROM", "A VEN", "F NAP"],
        "RUSSIA": ["A MOS", "A WAR", "F SEV", "F STP/SC"],
        "TURKEY": ["A CON", "A SMY", "F ANK"],
    },
    "centers": {"FRANCE": ["BRE", "MAR", "PAR"], "TURKEY": ["ANK", "CON", "SMY"]},
}


def corners(border):
    return [tuple(map(int, corner.split(","))) for corner in border.split()]


def inside(point, border):
    """Whether a ray to the right of `point` leaves through an odd number of sides."""
    x, y = point
    ring = corners(border)
    crossed = [
        (b > y) != (d > y) and x < a + (c - a) * (y - b) / (d - b)
        for (a, b), (c, d) in zip(ring, ring[1:] + ring[:1], strict=True)
    ]
    return sum(crossed) % 2 == 1


@pytest.fixture(scope="module")
def sides():
    """Who has which side of a border."""
    found = defaultdict(list)
    borders = {name: province["border"] for name, province in MAP["provinces"].items()}
    for name, border in (borders | MAP["impassable"]).items():
        ring = corners(border)
        for side in zip(ring, ring[1:] + ring[:1], strict=True):
            found[frozenset(side)].append(name)
    return found


def test_neighbours_are_those_of_the_rules(sides):
    shared = defaultdict(float)
    for side, names in sides.items():
        if set(names) <= MAP["provinces"].keys() and len(names) == 2:
            shared[frozenset(names)] += dist(*side)
    rows = (row.split(": ") for row in ADJACENT.strip().splitlines())
    adjacent = {frozenset((name, other)) for name, others in rows for other in others.split()}
    assert shared.keys() == adjacent
    assert min(shared.values()) > 8, "a border must be seen"


def test_no_gaps_and_no_overlaps(sides):
    width, height = MAP["size"]
    for side, names in sides.items():
        (a, b), (c, d) = side
        at_frame = a == c in (0, width) or b == d in (0, height)
        alone = at_frame or not set(names) & MAP["provinces"].keys()
        assert len(names) == (1 if alone else 2), f"{names} at {set(side)}"


def test_units_and_names_lie_in_their_provinces():
    provinces = MAP["provinces"]
    assert sum(len(province["units"]) for province in provinces.values()) == 81
    assert sum("centre" in province for province in provinces.values()) == 34
    assert sum(province["sea"] for province in provinces.values()) == 19
    for name, province in provinces.items():
        points = [province["label"], *province["units"].values()]
        points += [province["centre"]] if "centre" in province else []
        astray = [point for point in points if not inside(point, province["border"])]
        assert not astray, name
    points = [point for province in provinces.values() for point in province["units"].values()]
    assert min(dist(a, b) for a in points for b in points if a != b) > 24, "units overlap"


def test_shows_all_provinces_units_and_owners():
    picture = draw(START)
    assert len(picture) < 100_000
    titles = {title.text for title in ElementTree.fromstring(picture).iter(f"{SVG}title")}
    for name, province in MAP["provinces"].items():
        assert any(title.startswith(f"{province['name']} ({name})") for title in titles)
    assert {"Paris (PAR), France", "Switzerland", "Russia: F STP/SC"} <= titles
    assert "Spring 1901, movement" in picture


def test_land_without_a_centre_is_tinted_by_who_stands_there():
    picture = draw(
        {"units": {"ITALY": ["A TYR", "F ADR", "F TRI"]}, "centers": {"TURKEY": ["TRI"]}}
    )
    assert "Tyrolia (TYR), Italy" in picture
    assert "Trieste (TRI), Turkey" in picture
    assert "Adriatic Sea (ADR)<" in picture


@pytest.mark.parametrize(
    "order",
    [
        "A PAR H",
        "A PAR - BUR",
        "A LON - BEL VIA",
        "F MAO S A PAR - BUR",
        "A PAR S A BUR",
        "F NTH C A LON - BEL",
        "A PAR R GAS",
        "*A PAR R GAS",
        "A PAR D",
        "F STP/SC B",
    ],
)
def test_every_kind_of_order_leaves_a_mark(order):
    bare, ordered = draw(START), draw(START, {"FRANCE": [order]})
    ElementTree.fromstring(ordered)
    assert len(ordered) > len(bare)
    assert ordered == draw(START | {"orders": {"FRANCE": [order]}})
    assert draw(START, {"FRANCE": ["WAIVE"]}) == bare


def test_failed_moves_are_dashed():
    orders = {"FRANCE": ["A PAR - BUR"]}
    assert "dasharray" not in draw(START, orders)
    assert "dasharray" in draw(START, orders, failed=["A PAR - BUR"])


def test_supports_meet_the_move_on_the_coast_it_names():
    move = {"FRANCE": ["F MAO - SPA/SC"]}
    whole = draw(START, move | {"ITALY": ["F WES S F MAO - SPA/SC"]})
    assert whole == draw(START, move | {"ITALY": ["F WES S F MAO - SPA"]})


def test_dislodged_units_stand_aside():
    aside = draw({"units": {"FRANCE": ["A BUR"]}, "dislodged": {"GERMANY": ["A BUR"]}})
    starred = {"units": {"FRANCE": ["A BUR"], "GERMANY": ["*A BUR"]}}
    assert aside == draw(starred) == draw(starred | {"dislodged": {"GERMANY": ["A BUR"]}})
    assert aside.count("A BUR</title>") == 2


@pytest.mark.parametrize(
    ("position", "orders", "message"),
    [
        ({"units": {"FRANCE": ["A XYZ"]}}, None, "'XYZ' is not a place"),
        ({"units": {"FRANCE": ["PAR"]}}, None, "'PAR' is not a unit"),
        ({"units": {"SPAIN": ["A SPA"]}}, None, "'SPAIN' is not a power"),
        ({"centers": {"FRANCE": ["BUR"]}}, None, "'BUR' is not a supply centre"),
        ({"dislodged": {"FRANCE": ["A STP/WC"]}}, None, "'STP/WC' is not a place"),
        ({}, {"FRANCE": ["A PAR - XYZ"]}, "'XYZ' is not a place"),
        ({}, {"FRANCE": ["A PAR -"]}, "'A PAR -' is not an order"),
        ({}, {"FRANCE": ["A PAR C A LON - BEL"]}, "is not an order"),
    ],
)
def test_bad_input_is_named(position, orders, message):
    with pytest.raises(InputError, match=message):
        draw(position, orders)


def test_draws_every_position_of_real_games():
    path = Path(os.environ.get("KEDGE_DATA", "")) / "data/diplomacy/droidippy.jsonl.xz"
    if not path.exists():
        pytest.skip("KEDGE_DATA has no data/diplomacy/droidippy.jsonl.xz")
    with lzma.open(path, "rt") as lines:
        games = [json.loads(line) for line in islice(lines, 40)]
    for phase in (phase for game in games for phase in game["phases"]):
        picture = draw(phase)
        ElementTree.fromstring(picture)
        assert len(picture) < 100_000
