"""Files of Diplomacy games, in both formats; what is broken in them; and real games."""

import copy
import gzip
import io
import itertools
import json
import lzma
import os
import tracemalloc
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from damage import damaged
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.errors import InputError
from kedge.games.diplomacy import POWERS, Diplomacy
from kedge.records import (
    DiplomacyGame,
    ReadReport,
    read_diplomacy_games,
    read_positions,
    replayed_games,
    streams,
    write_diplomacy_games,
)
from kedge.records.diplomacy.files import saved_game
from kedge.records.diplomacy.games import is_for_testing, part_of
from kedge.records.splits import CHOOSE, LEARN, TEST

ORDERS = [
    {
        "RUSSIA": ["F SEV - RUM"],
        "ITALY": ["A VEN - TYR", "A ROM - VEN"],
        "AUSTRIA": ["A BUD - SER", "F TRI H"],
        "ENGLAND": ["A LVP - EDI", "F EDI - NTH"],
    },
    {
        "ITALY": ["A VEN - TRI", "A TYR S A VEN - TRI"],
        "ENGLAND": ["A EDI - NWY VIA", "F NTH C A EDI - NWY"],
    },
    {"AUSTRIA": ["F TRI R ALB"]},
    {"ENGLAND": ["A EDI B"], "ITALY": ["F ROM B"], "RUSSIA": ["WAIVE"]},
]


def plain_game() -> dict[str, Any]:
    """A year of play as the files of people's games have it."""
    state = Diplomacy().initial_state()
    phases = []
    for orders in ORDERS:
        position = state.to_json()
        position.pop("retreats", None)
        phases.append({**position, "orders": orders})
        state.apply(orders)
    counts = dict(zip(POWERS, map(len, state.board.centres()), strict=True))
    return {
        "id": "game 1",
        "source": "a test",
        "press": "none",
        "human_powers": ["RUSSIA", "ENGLAND", "FRANCE"],
        "quality": {"tier": "A", "active_frac": {"RUSSIA": 1.0, "ENGLAND": 0.5}},
        "players": {"RUSSIA": "Ann", "ENGLAND": None},
        "ratings": {"RUSSIA": 1250.5, "FRANCE": 980},
        "phases": phases,
        "final": {"phase": "S1902M", "centers": counts, "done": False},
    }


GAME = plain_game()


def lines(*objects: object) -> bytes:
    return b"".join(json.dumps(found).encode() + b"\n" for found in objects)


def read(content: bytes) -> tuple[list[DiplomacyGame], ReadReport]:
    report = ReadReport()
    return list(read_diplomacy_games(io.BytesIO(content), report)), report


def changed(*path: str | int, value: object) -> dict[str, Any]:
    """The game with one thing in it changed."""
    game = copy.deepcopy(GAME)
    place: Any = game
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return game


# --- Formats ------------------------------------------------------------------------------------


def test_json_lines():
    games, report = read(lines(GAME, GAME))
    assert (report.games, report.positions, report.broken) == (2, 8, [])
    game = games[0]
    assert [phase.name for phase in game.phases] == ["S1901M", "F1901M", "F1901R", "W1901A"]
    spring, _, retreats, winter = game.phases
    assert (spring.kind, spring.year) == ("M", 1901)
    assert list(spring.orders) == ["AUSTRIA", "ENGLAND", "ITALY", "RUSSIA"]
    assert spring.orders["ENGLAND"] == ("A LVP - EDI", "F EDI - NTH")
    assert "FRANCE" not in spring.orders
    assert spring.units["FRANCE"] == ("A MAR", "A PAR", "F BRE")
    assert retreats.dislodged == {"AUSTRIA": ("F TRI",)}
    assert "A TRI" in retreats.units["ITALY"]
    assert winter.orders.flat == ("A EDI B", "F ROM B", "WAIVE")
    assert game.human_powers == ("ENGLAND", "FRANCE", "RUSSIA")
    assert game.bot_powers == ("AUSTRIA", "GERMANY", "ITALY", "TURKEY")
    assert game.activity == (0, 0.5, 0, 0, 0, 1.0, 0)
    assert (game.id, game.press, game.tier, game.licence) == ("game 1", "none", "A", None)
    assert game.final is not None
    assert (game.final.phase, sum(game.final.counts), game.final.done) == ("S1902M", 25, False)
    assert spring.to_json() == {
        "name": "S1901M",
        "units": GAME["phases"][0]["units"],
        "centers": GAME["phases"][0]["centers"],
        "orders": {power: ORDERS[0][power] for power in spring.orders},
    }


def test_one_text_for_all_games_and_equal_centres_once():
    first, second = read(lines(GAME, GAME))[0]
    assert first == second
    assert first.phases[0].orders.flat[0] is second.phases[0].orders.flat[0]
    assert first.phases[0].centers is first.phases[1].centers


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_what_is_written_comes_back(suffix, tmp_path):
    games, _ = read(lines(GAME, changed("id", value="game 2")))
    path = tmp_path / f"games.jsonl{suffix}"
    assert write_diplomacy_games(games, path) == 2
    assert list(read_diplomacy_games(path)) == games
    assert list(replayed_games(path)) == games


def test_a_saved_game_ends_in_a_position():
    """The package appends the phase that is to come, with no orders yet, or COMPLETED."""
    saved = saved_game(read(lines(GAME))[0][0])
    del saved["final"]
    nobody = dict.fromkeys(POWERS)
    for name, done in (("S1902M", None), ("COMPLETED", True)):
        last = {"name": name, "state": saved["phases"][-1]["state"], "orders": nobody}
        [game], _ = read(lines({**saved, "phases": [*saved["phases"], last]}))
        assert len(game) == 4
        assert game.final is not None
        assert game.final.position is not None
        assert (game.final.phase, game.final.done) == (name, done)
        assert read(lines(saved_game(game)))[0] == [game]


def test_spread_over_lines():
    text = json.dumps(GAME, indent=2).encode()
    assert len(read(b"\xef\xbb\xbf" + text)[0]) == 1
    by_hand = lines(GAME).replace(b', "phases": [', b',\n"phases": [\n').strip()
    assert by_hand.count(b"\n") == 2
    assert len(read(by_hand)[0]) == 1
    games, report = read(text[:-5])
    assert (games, [one.reason for one in report.broken]) == ([], ["not JSON, or cut short"])


def test_other_ways_to_write_an_order():
    orders = {"ENGLAND": ["F  EDI -  NTH"], "RUSSIA": ["A MOS S A WAR - UKR VIA"]}
    [game], _ = read(lines(changed("phases", 0, "orders", value=orders)))
    assert game.phases[0].orders.flat == ("F EDI - NTH", "A MOS S A WAR - UKR")


# --- What is broken -----------------------------------------------------------------------------

DEEP: Any = json.loads("[" * 900 + "]" * 900)


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        ([], "not a JSON object"),
        ({}, '"phases" is not a list of phases'),
        (changed("phases", value=[]), '"phases" is not a list of phases'),
        (changed("phases", 1, value=None), '"phases" is not a list of phases'),
        (changed("map", value="ancmed"), "'ancmed' is not the standard map"),
        (changed("map", value=DEEP), "a non-text value is not the standard map"),
        (changed("id", value=None), '"id" is missing'),
        (changed("id", value=7), '"id" is not text'),
        (changed("phases", 0, "name", value="X1901M"), "'X1901M' is not a phase"),
        (changed("phases", 0, "name", value="W1901M"), "'W1901M' is not a phase"),
        (changed("phases", 0, "name", value=DEEP), "a non-text value is not a phase"),
        (
            changed("phases", 1, "name", value="S1901M"),
            "phase 'S1901M': comes after a later phase",
        ),
        (
            changed("phases", 0, "orders", value={"FRANCE": ["A PAR - MARS"]}),
            "phase 'S1901M': 'A PAR - MARS' is not an order to move, support, convoy or hold",
        ),
        (
            changed("phases", 0, "orders", value={"FRANCE": ["A PAR B"]}),
            "phase 'S1901M': 'A PAR B' is not an order to move, support, convoy or hold",
        ),
        (
            changed("phases", 0, "orders", value={"FRANCE": [DEEP]}),
            "phase 'S1901M': \"orders\" has an entry that is not text",
        ),
        (
            changed("phases", 0, "orders", value={"FRANCE": [7]}),
            "phase 'S1901M': a non-text value is not an order to move, support, convoy or hold",
        ),
        (
            changed("phases", 0, "orders", value={"SPAIN": []}),
            "phase 'S1901M': 'SPAIN' is not a power",
        ),
        (
            changed("phases", 0, "orders", value={"FRANCE": ["A PAR H"] * 101}),
            "phase 'S1901M': \"orders\" has more than 100 entries",
        ),
        (
            changed("phases", 0, "units", value=None),
            "phase 'S1901M': \"units\" is not an object with one list per power",
        ),
        (
            changed("phases", 0, "units", "FRANCE", value="A PAR"),
            "phase 'S1901M': \"units\" is not an object with one list per power",
        ),
        (
            changed("phases", 0, "units", "FRANCE", value=["A PAR", "F STP"]),
            "phase 'S1901M': 'F STP' is not a unit of the map",
        ),
        (
            changed("phases", 0, "units", "FRANCE", value=["*A PAR"]),
            "phase 'S1901M': '*A PAR' is not a unit of the map",
        ),
        (
            changed("phases", 0, "units", "FRANCE", value=["F STP/NC"]),
            "phase 'S1901M': 'STP' has two units",
        ),
        (
            changed("phases", 2, "units", "FRANCE", value=[7]),
            "phase 'F1901R': a non-text value is not a unit of the map",
        ),
        (
            changed("phases", 0, "units", "FRANCE", value=["A \ud800"]),
            r"phase 'S1901M': 'A \ud800' is not a unit of the map",
        ),
        (
            changed("phases", 0, "orders", value={"FRANCE": ["A PAR" + " " * 99 + "H"]}),
            f"phase 'S1901M': {'A PAR'.ljust(40)!r} is not an order to move, support, convoy or "
            "hold",
        ),
        (
            changed("phases", 0, "centers", "FRANCE", value=["PAR", "BUR"]),
            "phase 'S1901M': 'BUR' is not a supply centre",
        ),
        (
            changed("phases", 0, "centers", "FRANCE", value=["MOS"]),
            "phase 'S1901M': 'MOS' has two owners",
        ),
        (changed("phases", 0, "state", value=[]), "phase 'S1901M': \"state\" is not a JSON object"),
        (changed("phases", 3, "name", value="COMPLETED"), "orders after the end of the game"),
        (changed("final", value={}), '"final" has no phase'),
        (
            changed("final", "centers", value={"FRANCE": 35}),
            '"centers" has a value that is not a number from 0 to 34',
        ),
        (changed("bot_powers", value=["FRANCE"]), "a power is in human_powers or bot_powers twice"),
        (changed("quality", value="good"), '"quality" is not a JSON object'),
        (changed("players", "SPAIN", value="Ann"), '"players" has a key that is not a power'),
        (changed("players", "ITALY", value=7), '"players" has an invalid value'),
        (changed("ratings", "ITALY", value=True), '"ratings" has an invalid value'),
        (changed("ratings", "ITALY", value=1e9), '"ratings" has an invalid value'),
    ],
)
def test_broken_games_are_told_and_left_out(game, reason):
    games, report = read(lines(GAME, game, GAME))
    assert len(games) == 2
    [broken] = report.broken
    assert (broken.number, broken.where, broken.reason) == (2, "stream, line 2", reason)
    assert report.noise == ("phases" not in game)


def test_kinds_are_the_same_whatever_the_phase():
    games = [changed("phases", i, "orders", value={"FRANCE": ["?"]}) for i in (0, 1)]
    _, report = read(lines(*games))
    assert report.kinds == {"phase …: … is not an order to move, support, convoy or hold": 2}


def test_nesting_and_cuts():
    cut = lines(GAME)[:-100]
    content = b'{"phases":' + b"[" * 100_000 + b"\n" + cut + b"\n" + lines(GAME)
    games, report = read(content)
    assert len(games) == 1
    assert report.kinds == {"not JSON, or cut short": 2}


def test_too_long_and_too_much(tmp_path, monkeypatch):
    for name, content in (
        ("a.gz", bytes(65 << 20)),
        ("b.gz", (b'{"a": "%b"}\n' % bytes(1 << 20)) * 65),
    ):
        (tmp_path / name).write_bytes(gzip.compress(content, 1))
        with pytest.raises(InputError, match="no game in its first 64 MiB"):
            list(read_diplomacy_games(tmp_path / name))
    bomb = gzip.compress(b"{\n" + b" " * (60 << 20), 1)
    tracemalloc.start()
    games, report = read(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (games, [one.reason for one in report.broken]) == ([], ["longer than 4 MiB"])
    assert peak < 40 << 20
    monkeypatch.setattr(streams, "LONGEST", 1000)
    assert read(lines(GAME))[1].kinds == {"longer than … MiB": 1}


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"PK\3\4" + bytes(50))
    with pytest.raises(InputError, match="zip archives are not read"):
        list(read_diplomacy_games(tmp_path / "a.zip"))
    with pytest.raises(InputError, match="No such file"):
        next(read_diplomacy_games("nowhere.jsonl"))
    whole = lzma.compress(b"".join(lines({**GAME, "id": os.urandom(99).hex()}) for _ in range(200)))
    games, report = read(whole[: len(whole) // 2])
    assert 0 < len(games) < 200
    assert report.broken[-1].reason.startswith("compressed file ends early")


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_damage(data):
    content = lines(GAME, GAME)
    raw = damaged(data, content)
    report, reason = ReadReport(limit=3), ""
    try:
        count = sum(1 for _ in replayed_games(io.BytesIO(raw), report))
        assert count == report.games
        assert sum(report.kinds.values()) == report.broken_games >= len(report.broken)
    except InputError as error:
        reason = str(error)
    assert "\n" not in reason


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
PLACES = [
    *((name,) for name in GAME),
    *(("phases", i, name) for i in range(4) for name in ("name", "units", "centers", "orders")),
    ("phases", 2, "dislodged"),
    *(("phases", 0, name) for name in ("auto", "invalid", "state", "dislodged")),
    *(("phases", i, name, "ITALY") for i in (0, 2) for name in ("units", "centers")),
    ("phases", 0, "orders", "ITALY"),
    *(("final", name) for name in GAME["final"]),
    *(("quality", name) for name in GAME["quality"]),
]


@given(st.sampled_from(PLACES), JSON)
@settings(max_examples=300, deadline=None)
def test_any_json_in_any_place(place, value):
    content = lines(changed(*place, value=value))
    report = ReadReport()
    for game in replayed_games(io.BytesIO(content), report):
        assert read(lines(saved_game(game)))[0] == [game]
    assert report.games + report.broken_games == 1


# --- By the rules -------------------------------------------------------------------------------


def test_replayed():
    [game], _ = read(lines(GAME))
    assert [state.phase for state in game.states()][-2:] == ["W1901A", "S1902M"]
    units = GAME["phases"][1]["units"]
    wrong = [
        changed("phases", 0, "orders", value={}),
        changed("phases", 1, "units", value={**units, "FRANCE": ["A MAR", "A PAR"]}),
        changed("phases", 3, "centers", value=GAME["phases"][0]["centers"]),
        changed("final", "phase", value="S1903M"),
        changed("phases", value=GAME["phases"][:1] + GAME["phases"][3:]),
    ]
    report = ReadReport()
    assert list(replayed_games(io.BytesIO(lines(*wrong, GAME)), report)) == [game]
    assert [one.reason for one in report.broken] == [
        "other units after 'S1901M'",
        "other units after 'S1901M'",
        "other centres after 'F1901R'",
        "another phase after 'W1901A', the last phase",
        "other units after 'S1901M'",
    ]


def test_positions(tmp_path):
    path = tmp_path / "positions.jsonl"
    path.write_bytes(lines(*GAME["phases"]))
    names = []
    for state, orders in read_positions(path):
        state.apply(orders)
        names.append(state.phase)
    assert names == ["F1901M", "F1901R", "W1901A", "S1902M"]
    first = GAME["phases"][0]
    eighteen = [name for names in first["centers"].values() for name in names][:18]
    for text, reason in (
        ("", "no position found"),
        ("{", "line 1: not JSON"),
        (json.dumps(GAME), "line 1: this is a game, not a position"),
        (json.dumps({"name": "S1901M", "centers": {}}), 'line 1: "units" is missing'),
        (json.dumps({**first, "units": {"FRANCE": "A PAR"}}), "line 1: position: not of the form"),
        (json.dumps({**first, "units": {"FRANCE": ["A X"]}}), "line 1: position: A X"),
        (json.dumps({**first, "centers": {"FRANCE": eighteen}}), "line 1: the game is over"),
        (json.dumps({**first, "orders": {"FRANCE": [1]}}), "line 1: .orders. is not"),
        (json.dumps({**first, "orders": {"SPAIN": []}}), "line 1: 'SPAIN' is not a"),
        (json.dumps({**first, "previous_orders": {"ITALY": ["A X H"]}}), "line 1: 'A X H' is not"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=reason):
            list(read_positions(path))


def test_held_out():
    [game], _ = read(lines(GAME))
    others = [replace(game, id=f"game {i}") for i in range(8000)]
    assert part_of(game) == LEARN
    parts = [part_of(other) for other in others]
    held_out = len(parts) - parts.count(LEARN)
    assert 300 < held_out < 500
    assert 0.25 < parts.count(CHOOSE) / held_out < 0.42
    assert [part == TEST for part in parts] == [is_for_testing(other) for other in others]


# --- Programs and people ------------------------------------------------------------------------


def test_the_package_loads_what_is_written():
    export = pytest.importorskip("diplomacy.utils.export", reason="needs the diplomacy package")
    [game], _ = read(lines(GAME))
    loaded = export.from_saved_game_format(json.loads(json.dumps(saved_game(game))))
    assert (loaded.game_id, loaded.get_current_phase()) == ("game 1", "W1901A")
    saved = json.loads(json.dumps(export.to_saved_game_format(loaded)))
    [back], report = read(lines(saved))
    assert report.broken == []
    assert back.phases[:3] == game.phases[:3]
    loaded.process()
    [more], _ = read(lines(json.loads(json.dumps(export.to_saved_game_format(loaded)))))
    assert more.final is not None
    assert more.final.position is not None
    assert more.final.position.name == "S1902M"
    assert len(list(replayed_games(io.BytesIO(lines(saved_game(more)))))) == 1


@pytest.fixture(scope="module")
def people() -> Path:
    root = os.environ.get("KEDGE_DATA")
    if root is None:
        pytest.skip("KEDGE_DATA is not set: no data/diplomacy")
    path = Path(root) / "data" / "diplomacy"
    if not path.exists():
        pytest.skip("KEDGE_DATA has no data/diplomacy")
    return path


def test_games_of_people(people):
    report = ReadReport()
    games = list(itertools.islice(replayed_games(people / "droidippy.jsonl.xz", report), 150))
    assert report.broken == []
    assert set(Counter(game.tier for game in games)) == {"A", "B", "C"}
    assert any(phase.auto for game in games for phase in game.phases)
    assert any(phase.invalid for game in games for phase in game.phases)
    for game in games[::15]:
        assert read(lines(saved_game(game)))[0] == [game]


def test_games_against_a_program(people):
    games = list(replayed_games(people / "cicero40.jsonl.xz"))
    assert len(games) == 26
    assert {len(game.bot_powers or ()) for game in games} == {1}
    assert {game.press for game in games} == {"full"}
