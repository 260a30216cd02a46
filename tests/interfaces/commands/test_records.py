"""``kedge replay``."""

import gzip
import json
import re
import subprocess
from pathlib import Path

import pytest
from command import KEDGE, kedge

from kedge.games.hanabi import Hanabi

GOOD = '[Event "?"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n\n'
BAD = '[Event "?"]\n[Result "1-0"]\n\n1. e4 e4 1-0\n\n'


def replay(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return kedge("replay", *words)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    contents = {
        "good.pgn": GOOD * 3,
        "mixed.pgn": GOOD + BAD * 3,
        "bad.pgn": BAD,
        "games.jsonl": '{"moves": "e2e4 e7e5 g1f3", "result": "*"}\n',
        "empty.pgn": "",
        "text.txt": "no game at all\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "noise.pgn").write_bytes(bytes(range(256)) * 9)
    (tmp_path / "nul.pgn").write_bytes(GOOD.replace("e5", "\0\0").encode())
    return {path.name: path for path in tmp_path.iterdir() if path.is_file()}


def test_json(files):
    done = replay("chess", files["mixed.pgn"], files["games.jsonl"], "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert (result["games"], result["positions"], result["broken_games"]) == (2, 5, 3)
    assert result["broken"][0] == {
        "game": 2,
        "where": f"{files['mixed.pgn']}, line 6",
        "reason": "half-move 2, 'e4', is not a legal move",
    }
    assert len(result["broken"]) == 3


def test_text_and_standard_input(files):
    words = [KEDGE, "replay", "chess", "-", "--broken", "1"]
    done = subprocess.run(
        words, input=files["mixed.pgn"].read_text(), capture_output=True, text=True
    )
    assert done.returncode == 0
    first, *rest = done.stdout.splitlines()
    assert re.fullmatch(r"1 game, 2 positions; [\d,]+ games/s", first)
    assert rest == [
        "3 invalid",
        "  <stdin>, line 6 (game 2): half-move 2, 'e4', is not a legal move",
        "  and 2 more",
    ]


def test_no_valid_game_at_all_is_reported_and_fails(files):
    done = replay("chess", files["bad.pgn"], "--json")
    assert (done.returncode, done.stderr) == (2, f"kedge: {files['bad.pgn']}: no game is valid\n")
    result = json.loads(done.stdout)
    assert (result["games"], result["broken_games"]) == (0, 1)
    assert replay("chess", files["bad.pgn"], files["good.pgn"]).returncode == 0


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("empty.pgn", "holds no game"),
        ("text.txt", "holds no game"),
        ("noise.pgn", "holds no game"),
        ("nul.pgn", "holds no game"),
        ("absent.pgn", "No such file"),
        ("", "Is a directory"),
    ],
)
def test_bad_input(files, name, reason):
    path = files["good.pgn"].parent / name
    done = replay("chess", files["good.pgn"], path, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert str(path) in line
    assert reason in line


def test_a_file_that_unpacks_to_nothing_is_given_up(tmp_path):
    bomb = tmp_path / "bomb.pgn.gz"
    bomb.write_bytes(gzip.compress(bytes(2**27), 1))
    done = replay("chess", bomb)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("bomb.pgn.gz: no game in its first 64 MiB\n")


def test_go(tmp_path):
    stones = "(;SZ[9];B[aa];W[ba];B[ee];W[ab];B[{}])"
    texts = {
        "good": stones.format("ff"),
        "taken": stones.format("ee"),
        "suicide": stones.format("aa"),
        "after the end": "(;SZ[9];B[aa];W[];B[];W[bb])",
        "setup": "(;SZ[2]AB[aa][ab][ba][bb];W[aa])",
        "chess": "(;GM[2])",
        "cut": "(;SZ[9];B[aa];W[b",
    }
    path = tmp_path / "games.sgf"
    path.write_text("\n".join(texts.values()))
    done = replay("go", path, "--json")
    assert (done.returncode, done.stderr) == (
        0,
        f"kedge: {path}: moves after two passes; left out\n",
    )
    result = json.loads(done.stdout)
    assert (result["game"], result["games"], result["positions"]) == ("go", 2, 8)
    assert result["broken_games"] == 5
    assert sum(result["kinds"].values()) == 5
    reasons = {one["game"]: one["reason"] for one in result["broken"]}
    assert reasons[2].startswith("move 5: 'E5' is illegal: ")
    assert reasons[3].startswith("move 5: 'A9' is illegal: ")
    assert reasons[5].startswith("setup: ")
    assert (reasons[6], reasons[7]) == ("not Go: game type '2'", "cut short")
    assert [one["where"] for one in result["broken"]][:2] == [f"{path}, line 2", f"{path}, line 3"]
    words = replay("go", path, tmp_path, "--broken", "0").stdout
    assert "10 invalid" in words
    assert "  2 × not Go: game type …" in words


@pytest.mark.parametrize(
    "content", [b"", b"no game", bytes(range(256)) * 9, b"\xff\x00(;\x90\x01" * 9], ids=repr
)
def test_files_without_go_games(tmp_path, content):
    path = tmp_path / "it.sgf"
    path.write_bytes(content)
    done = replay("go", path)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert f"{path}: holds no game" in line


def test_an_unknown_game(files):
    done = replay("checkers", files["good.pgn"])
    assert done.returncode == 2
    assert "unknown game 'checkers'" in done.stderr


# --- Diplomacy ----------------------------------------------------------------------------------

POSITION = {
    "name": "S1901M",
    "units": {"FRANCE": ["A PAR", "A MAR"], "GERMANY": ["A BUR"]},
    "centers": {"FRANCE": ["MAR", "PAR"], "GERMANY": ["MUN"]},
    "orders": {"FRANCE": ["A PAR - BUR", "A MAR S A PAR - BUR", "A MAR - LON"], "GERMANY": None},
}


def adjudicate(text: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [KEDGE, "adjudicate", "diplomacy", "-", *words]
    return subprocess.run(
        command, input=text, capture_output=True, timeout=60, check=False, encoding="utf-8"
    )


def test_diplomacy(tmp_path):
    path = tmp_path / "games.jsonl"
    good = {"id": "a", "phases": [POSITION]}
    wrong = {**good, "final": {"phase": "F1901M", "centers": {"FRANCE": 2, "GERMANY": 1}}}
    path.write_text("\n".join(json.dumps(game) for game in (good, wrong, {"phases": 3})))
    done = replay("diplomacy", path, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert (result["games"], result["positions"], result["broken_games"]) == (1, 1, 2)
    assert [(one["game"], one["reason"]) for one in result["broken"]] == [
        (2, "another phase after 'S1901M', the last phase"),
        (3, '"phases" is not a list of phases'),
    ]
    path.write_text("{}\n")
    done = replay("diplomacy", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "holds no game" in done.stderr


def test_hanabi(tmp_path):
    path = tmp_path / "games.jsonl"
    good = {"id": "a", "seats": ["Ann", "Bob"], "deck": Hanabi().cards, "actions": []}
    games = [
        {**good, "actions": [[0, "play", 0, -1]], "score": 1},
        {**good, "actions": [[0, "discard", 0, -1]]},
        {**good, "deck": good["deck"][1:]},
    ]
    path.write_text("\n".join(map(json.dumps, games)))
    done = replay("hanabi", path, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert (result["games"], result["positions"], result["broken_games"]) == (1, 1, 2)
    illegal, short = result["broken"]
    assert illegal["game"] == 2
    assert illegal["reason"].startswith("move 1: discard card 1")
    assert (short["game"], short["reason"]) == (3, "the deck has 49 cards, expected 50")


def test_adjudicate():
    done = adjudicate(json.dumps(POSITION, indent=1), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert result["name"] == "S1901R"
    assert result["units"] == {"FRANCE": ["A BUR", "A MAR"]}
    assert result["centers"] == POSITION["centers"]
    assert result["dislodged"] == {"GERMANY": ["A BUR"]}
    assert result["illegal"] == {"FRANCE": ["A MAR - LON"]}
    line = json.dumps({**POSITION, "orders": {}})
    done = adjudicate(f"{line}\n{line}\n", "--json")
    first, second = json.loads(done.stdout)["positions"]
    assert first == second
    assert (first["name"], first["dislodged"]) == ("F1901M", {})
    words = adjudicate(json.dumps(POSITION)).stdout.splitlines()
    assert words[0] == "S1901R"
    assert words[-1] == "not legal, FRANCE: A MAR - LON"
    twice = {**POSITION, "orders": {"GERMANY": ["A BUR H", "A BUR - PAR"]}}
    assert json.loads(adjudicate(json.dumps(twice), "--json").stdout)["surplus"] == {
        "GERMANY": ["A BUR - PAR"]
    }
    words = adjudicate(json.dumps(twice)).stdout.splitlines()
    assert words[-1] == "too many, GERMANY: A BUR - PAR"


@pytest.mark.parametrize("missing", ["units", "centers", "orders"])
def test_what_a_position_lacks_is_named(missing):
    position = {key: value for key, value in POSITION.items() if key != missing}
    done = adjudicate(json.dumps({**position, missing[:-1]: {}}))
    assert done.returncode == 2
    assert f'line 1: "{missing}" is missing' in done.stderr


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": "X"}, "X is not a phase"),
        ({"name": "S0000M"}, "S0000M is not a phase"),
        ({"units": {"FRANCE": ["A SEA"]}}, "A SEA is not a unit"),
        ({"orders": [1]}, '"orders" is not of the form'),
        ({"orders": {"SPAIN": []}}, "'SPAIN' is not a power"),
    ],
)
def test_positions_that_are_none(change, reason):
    done = adjudicate(json.dumps({**POSITION, **change}), "--json")
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("kedge: <stdin>, line 1: ")
    assert reason in line
