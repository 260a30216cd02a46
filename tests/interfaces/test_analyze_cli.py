"""``kedge analyze`` as a user meets it."""

import io
import json
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import chess.pgn
import pytest

KEDGE = str(Path(sys.executable).with_name("kedge"))
TAGS = '[Event "?"]\n[White "Ann"]\n[Black "Bob"]\n[Result "{}"]\n{}\n'
RATED = '[WhiteElo "1512"]\n[BlackElo "1388"]\n'
SCHOLAR = "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n\n"
GAMES = (
    TAGS.format("1-0", RATED) + SCHOLAR
    + TAGS.format("*", "") + "1. e4 e4 *\n\n"
    + TAGS.format("*", '[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 7"]\n') + "7... Kd7 8. e4 *\n\n"
    + TAGS.format("*", "") + "*\n\n"
)  # fmt: skip


def analyze(*arguments):
    command = [KEDGE, "analyze", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8")


@pytest.fixture
def games(tmp_path):
    path = tmp_path / "games.pgn"
    path.write_text(GAMES)
    return path


def test_a_file_of_games(games, tmp_path):
    out = tmp_path / "out.pgn"
    done = analyze(games, "--out", out, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert set(found) == {"agent", "games", "players", "broken"}
    assert found["agent"] == "puct(chess, c_puct=2, playouts=50)"
    assert [game["game"] for game in found["games"]] == [1, 3, 4]
    assert [one["game"] for one in found["broken"]] == [2]
    first, ending, empty = found["games"]
    assert first["ratings"] == [1500, 1400]
    assert ending["ratings"] == [1500, 1500], "unknown"
    assert empty["moves"] == []
    assert empty["players"][0]["top1"] is None
    assert set(first["moves"][0]) == {
        "ply", "number", "player", "san", "move", "opening", "anchor", "rank", "people", "policy",
        "choice", "line", "kl_to_anchor", "value", "q", "best_q", "loss", "mark",
    }  # fmt: skip
    assert set(first["players"][0]) == {
        "name", "rating", "games", "moves", "scored", "top1", "probability", "cross_entropy",
        "perplexity", "loss", "mistakes", "blunders", "fit",
    }  # fmt: skip
    assert set(first["players"][0]["fit"]) == {"rating", "error", "likeliest", "moves"}
    assert first["moves"][5]["mark"] == "??", "Nf6 lets the mate in"
    assert first["moves"][5]["ply"] in first["mistakes"]
    assert first["value"] == 1.0
    assert [player["name"] for player in found["players"]] == ["Ann", "Bob"]

    text = io.StringIO(out.read_text())
    read = [chess.pgn.read_game(text) for _ in found["games"]]
    assert chess.pgn.read_game(text) is None
    for game, report in zip(read, found["games"], strict=True):
        assert not game.errors
        assert [move.uci() for move in game.mainline_moves()] == [
            move["move"] for move in report["moves"]
        ]
    nodes = list(read[0].mainline())
    assert "% of 1500s" in nodes[0].comment
    assert "% of 1400s; search prefers" in nodes[5].comment
    assert nodes[5].nags == {chess.pgn.NAG_BLUNDER}
    assert len(nodes[4].variations) == 2, "what search would have played"
    assert nodes[0].eval() is not None


def test_report_picture_and_pgn_on_a_terminal(games, tmp_path):
    picture = tmp_path / "game.svg"
    done = analyze(games, "--game", 1, "--svg", picture)
    assert (done.returncode, done.stderr) == (0, "")
    for said in ("Ann (1512) – Bob (1388)", "3… Nf6??", "plays like", "Mistakes", "of 1400s"):
        assert said in done.stdout
    assert done.stdout.splitlines()[-1] == str(picture)
    assert xml.etree.ElementTree.parse(picture).getroot().tag.endswith("svg")
    raw = analyze(games, "--game", 3, "--agent", "chess", "--brief")
    assert (raw.returncode, raw.stderr) == (0, "")
    assert "plays like" not in raw.stdout
    assert "Kd7" not in raw.stdout
    printed = analyze(games, "--game", 3, "--agent", "chess", "-o", "-")
    assert chess.pgn.read_game(io.StringIO(printed.stdout)).end().board().fen().startswith("8/3k4")
    assert "of people" in printed.stdout


def test_broken_games_are_told_of(games):
    done = analyze(games, "--limit", 2, "--agent", "puct(chess, playouts=2)", "--brief")
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "game 2) is broken" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.pgn",), "No such file"),
        (("text.txt",), "text.txt: holds no game"),
        (("games.pgn", "--game", "9"), "holds 4 games, and no game 9"),
        (("games.pgn", "--game", "2"), "game 2 is broken"),
        (("games.pgn", "--agent", "uniform"), "does not play chess"),
        (("games.pgn", "--agent", "ches"), "did you mean chess"),
        (("games.pgn", "--agent", "chess", "--elo", "1500"), "--elo"),
        (("games.pgn", "--elo", "0"), "--elo"),
        (("games.pgn", "--out", "games.pgn"), "holds the games themselves"),
        (("games.pgn", "--svg", "./games.pgn"), "holds the games themselves"),
        (("games.pgn", "--agent", "chess", "--svg", "it.svg"), "choose it with --game"),
        (("games.pgn", "--out", "-", "--json"), "name a file"),
        (("games.pgn", "--out", "."), ".: cannot write (it is a folder)"),
        (("games.pgn", "--svg", "."), ".: cannot write (it is a folder)"),
        (("games.pgn", "--elo", "9999"), "--elo"),
        (("games.pgn", "--game", "3", "--agent", "chess", "-o", "no/such.pgn"), "cannot write"),
    ],
)
def test_bad_input_is_one_line(games, monkeypatch, arguments, said):
    monkeypatch.chdir(games.parent)
    Path("text.txt").write_text("no games here")
    done = analyze(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    assert games.read_text() == GAMES
    assert sorted(path.name for path in games.parent.iterdir()) == ["games.pgn", "text.txt"]
