"""``kedge policy`` as a user meets it."""

import contextlib
import json
import os
import pty
import re
import subprocess
import xml.etree.ElementTree
from importlib.metadata import EntryPoint
from pathlib import Path

import command
import pytest
import tiny_go
import tiny_lc0 as tiny
from command import KEDGE, kedge

from kedge import catalogue
from kedge.models import store
from kedge.models.board.network import to_onnx


def policy(*arguments, game="chess"):
    return kedge("policy", game, *arguments)


def answer(*arguments):
    return command.answer("policy", "chess", *arguments)


@pytest.fixture(autouse=True)
def mine(tmp_path):
    store.add("mine", tiny.write(tmp_path / "net.pb.gz", tiny.net()))


def test_raw_network():
    found = answer("--agent", "mine")
    assert found["agent"] == "mine"
    assert found["fen"] == "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    assert -1 <= found["value"] <= 1
    moves = found["moves"]
    assert len(moves) == 20
    assert sum(move["policy"] for move in moves) == pytest.approx(1.0)
    shares = [move["policy"] for move in moves]
    assert shares == sorted(shares, reverse=True)
    assert all(move["q"] is None and move["visits"] is None for move in moves)


def test_search_after_moves():
    found = answer("--moves", "e2e4 e7e5", "--agent", "puct(mine, c_puct=1, playouts=40)")
    assert found["agent"] == "puct(mine, c_puct=1, playouts=40)"
    assert found["fen"].split()[1] == "w"
    moves = found["moves"]
    assert set(moves[0]) == {"move", "name", "anchor", "policy", "smooth", "q", "visits"}
    visits = [move["visits"] for move in moves]
    assert sum(visits) == 39
    assert visits == sorted(visits, reverse=True)
    assert all((move["q"] is None) == (move["visits"] == 0) for move in moves)
    assert {"Nf3", "d4"} <= {move["name"] for move in moves}
    for kind in ("anchor", "policy", "smooth"):
        assert sum(move[kind] for move in moves) == pytest.approx(1.0)


def test_moves_in_san_or_uci():
    fens = {answer("--agent", "mine", "--moves", moves)["fen"] for moves in ("e4 e5", "e2e4 e5")}
    assert len(fens) == 1


def test_playouts_are_counted_on_a_terminal():
    ours, theirs = pty.openpty()
    words = [KEDGE, "policy", "chess", "--agent", "puct(mine, playouts=40)"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=theirs, text=True)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # a terminal that nobody writes to any more
        while b"playouts" not in shown:
            shown += os.read(ours, 1 << 16)
    os.close(ours)
    assert b"playouts" in shown
    assert done.stdout == policy("--agent", "puct(mine, playouts=40)").stdout


def test_table_and_picture(tmp_path):
    picture = tmp_path / "it.svg"
    done = policy("--agent", "puct(mine)", "--top", 3, "--svg", picture)
    assert (done.returncode, done.stderr) == (0, "")
    assert "and 17 more moves" in done.stdout
    assert "█ search ░ people; 50 playouts: the root and 49 visits" in done.stdout
    assert re.search(r"^\w+ +\d+\.\d% +\d+\.\d% ", done.stdout, re.MULTILINE)
    assert done.stdout.splitlines()[-1] == str(picture)
    drawn = xml.etree.ElementTree.parse(picture).getroot()
    titles = [title.text for title in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert 2 <= len(titles) <= 10
    assert titles[-1].split()[0] in {move["move"] for move in answer("--agent", "mine")["moves"]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--agent", "mine", "--fen", "nonsense"), "FEN 'nonsense'"),
        (("--agent", "mine", "--moves", "e2e4 e2e4"), "move 2: 'e2e4' is not a legal move"),
        (("--agent", "mine", "--fen", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), "the game is over"),
        (("--agent", "maia-1500"), "kedge models pull maia-1500"),
        (("--agent", "mine("), "ends too early"),
        (("--agent", "conventions"), "does not play chess"),
        (("--agent", "mine", "--svg", "/no/such/folder/it.svg"), "cannot write"),
        (("--agent", "mine", "--top", "0"), "--top"),
        (("--agent", "mine", "--svg", "."), "--svg: .: the file name must end in .svg"),
        (("--agent", "mine", "--svg", "it.png"), "--svg: it.png: the file name must end in .svg"),
        (("--agent", "puct(mine, playouts=2000000000)"), "playouts: at most 10,000,000"),
    ],
)
def test_bad_input_is_one_line(arguments, said):
    done = policy(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


# --- Go -----------------------------------------------------------------------------------------

RECORD = "(;SZ[19]KM[5.5]HA[2]AB[dp][pd];W[dd];B[pp];W[](;B[qf])(;B[cf]))(;SZ[9];B[ee])(;B[aa]"


@pytest.fixture
def tiny_path(tmp_path, monkeypatch):
    (tmp_path / "go.onnx").write_bytes(to_onnx(tiny_go.weights()).SerializeToString())
    (tmp_path / "game.sgf").write_text(RECORD)
    monkeypatch.chdir(tmp_path)
    return "./go.onnx"


def test_go_on_a_small_board(tmp_path, monkeypatch):
    weights = tiny_go.weights(policy="points")
    (tmp_path / "any.onnx").write_bytes(to_onnx(weights).SerializeToString())
    monkeypatch.chdir(tmp_path)
    told = ("--agent", "./any.onnx", "--size", "9", "--moves", "E5")
    found = json.loads(policy(*told, "--json", game="go").stdout)
    assert (found["size"], len(found["moves"])) == (9, 81)
    assert "models learned on 19×19" in policy(*told, game="go").stdout


def test_go_after_moves(tiny_path):
    search = f"puct({tiny_path}, playouts=9)"
    done = policy("--agent", search, "--moves", "Q16 d4 pass", "--json", game="go")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["agent"], found["size"], found["komi"]) == (search, 19, 7.5)
    assert (found["player"], found["history"]) == ("white", ["Q16", "D4", "pass"])
    moves = found["moves"]
    assert len(moves) == 360
    assert set(moves[0]) == {"move", "name", "anchor", "policy", "smooth", "q", "visits"}
    assert sum(move["visits"] for move in moves) == 8
    for kind in ("anchor", "policy", "smooth"):
        assert sum(move[kind] for move in moves) == pytest.approx(1.0)


def test_go_records(tiny_path):
    def position(*arguments):
        done = policy("--agent", tiny_path, "--sgf", "game.sgf", *arguments, "--json", game="go")
        assert (done.returncode, done.stderr) == (0, "")
        found = json.loads(done.stdout)
        return found["player"], found["komi"], found["history"]

    assert position() == ("white", 5.5, ["D16", "Q4", "pass", "R14"])
    assert position("--move", 0) == ("white", 5.5, [])
    assert position("--move", 2, "--moves", "C3", "--komi", -3) == (
        "black",
        -3.0,
        ["D16", "Q4", "C3"],
    )


def test_go_board_and_picture(tiny_path):
    arguments = ("--agent", f"puct({tiny_path}, playouts=20)", "--sgf", "game.sgf")
    done = policy(*arguments, "--svg", "it.svg", "--top", 2, game="go")
    assert (done.returncode, done.stderr) == (0, "")
    for said in (
        "    A B C D E F G H J K L M N O P Q R S T",
        "16  ├─┼─┼─○─",
        "14  ├─┼─┼─┼─┼─┼─┼─┼─┼─┼─┼─┼─┼─┼─┼─┼(●)┼─┤ 14",
        "White to move, komi 5.5; captured: 0 black, 0 white",
        "and 355 more moves",
    ):
        assert said in done.stdout
    assert len(re.findall(r"[─ ][12]─", done.stdout)) == 2, "the two that the table shows"
    drawn = xml.etree.ElementTree.parse("it.svg").getroot()
    titles = [title.text for title in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert titles
    assert done.stdout.splitlines()[-1] == "it.svg"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sgf", "nowhere.sgf"), "No such file"),
        (("--sgf", "game.sgf", "--move", "9"), "game.sgf: has 4 moves, no move 9"),
        (("--sgf", "game.sgf", "--game", "2"), "the model plays on 19×19, not on 9×9"),
        (("--sgf", "game.sgf", "--game", "3"), "game 3 is invalid: cut short"),
        (("--sgf", "game.sgf", "--game", "4"), "no game 4; the file has 3 games"),
        (("--sgf", "game.sgf", "--size", "9"), "--size, --handicap"),
        (("--sgf", "illegal.sgf"), "illegal.sgf: A19 is not a legal move"),
        (("--move", "3"), "give one with --sgf"),
        (("--size", "13"), "the model plays on 19×19, not on 13×13"),
        (("--size", "20"), "size: from 2 to 19 lines, not 20"),
        (("--handicap", "17"), "handicap: from 2 to 9 stones on 19×19, not 17"),
        (("--moves", "Q16 Q16"), "move 2: Q16 is not a legal move"),
        (("--moves", "I1"), "move 1: 'I1' is not a point"),
        (("--moves", "pass pass"), "the game is over"),
        (("--agent", "mine"), "does not play go; go and puct(go, …) do"),
        (("--komi", "nan"), "komi: at most 361 points either way, not nan"),
        (("--komi", "1e9"), "komi: at most 361"),
    ],
)
def test_bad_input_of_go_is_one_line(tiny_path, arguments, said):
    Path("illegal.sgf").write_text("(;B[aa];W[aa])")
    done = policy("--agent", tiny_path, *arguments, game="go")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


@pytest.fixture
def nim(monkeypatch):
    """A game of another package, with states and no command of its own."""
    point = EntryPoint("nim", "tiny_games:ENTRY", catalogue.GROUP)
    monkeypatch.setattr(catalogue, "entry_points", lambda group: [point])
    catalogue._installed.cache_clear()
    yield
    catalogue._installed.cache_clear()


@pytest.mark.usefixtures("nim")
def test_any_game():
    found = command.answer("policy", "nim", "--moves", "take 1 take 2, take 1")
    assert (found["agent"], found["game"], found["player"]) == ("puct(uniform)", "nim", 1)
    assert found["history"] == ["take 1", "take 2", "take 1"]
    best = found["moves"][0]
    assert set(best) == {"move", "name", "anchor", "policy", "smooth", "q", "visits"}
    assert (best["name"], best["anchor"]) == ("take 3", pytest.approx(1 / 3))
    text = policy("--top", 1, game="nim").stdout
    assert "and 2 more moves" in text
    assert "nim" in kedge("policy", "--help").stdout


@pytest.mark.usefixtures("nim")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--moves", "take 9"), "move 1: 'take' is not a legal move; legal: take 1, take 2"),
        (("--moves", "take 3 take 3 take 1"), "--moves: the game is over"),
        (("--svg", "it.svg"), "--svg: nim draws no pictures"),
        (("--agent", "chess"), "agent chess: does not play nim"),
    ],
)
def test_bad_input_of_any_game_is_one_line(arguments, said):
    done = policy(*arguments, game="nim")
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert said in line


def test_moves_may_have_the_numbers_of_a_record():
    plain, *numbered = (
        answer("--agent", "chess", "--moves", moves)["fen"]
        for moves in ("e4 e5 Nf3 Nc6", "1. e4 e5 2. Nf3 Nc6", "1.e4 1...e5 2.Nf3 Nc6")
    )
    assert numbered == [plain, plain]
