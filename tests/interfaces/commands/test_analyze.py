"""``kedge analyze`` as a user meets it."""

import contextlib
import io
import json
import math
import os
import pty
import signal
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import chess.pgn
import pytest
import tiny_go
from command import KEDGE, kedge
from sgfmill import sgf

from kedge import catalogue
from kedge.evaluation.chess import review as chess_review
from kedge.evaluation.review import Review
from kedge.experiments.engines import progress
from kedge.games.diplomacy import Diplomacy
from kedge.games.hanabi import Hanabi
from kedge.models.board.network import to_onnx
from kedge.records import Phase, replayed_games, replayed_hanabi_games
from kedge.records.formats import RecordFormat

TAGS = '[Event "?"]\n[White "Ann"]\n[Black "Bob"]\n[Result "{}"]\n{}\n'
RATED = '[WhiteElo "1512"]\n[BlackElo "1388"]\n'
SCHOLAR = "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n\n"
ITALIAN = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 4. d3 Bc5 5. c3 d6 6. O-O O-O *\n\n"
GAMES = (
    TAGS.format("1-0", RATED) + SCHOLAR
    + TAGS.format("*", "") + "1. e4 e4 *\n\n"
    + TAGS.format("*", '[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 7"]\n') + "7... Kd7 8. e4 *\n\n"
    + TAGS.format("*", "") + "*\n\n"
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_lines(monkeypatch):
    """Print no lines of progress, however slow the machine is."""
    monkeypatch.setattr(progress, "_FIRST_SECONDS", math.inf)


def analyze(*arguments):
    return kedge("analyze", *arguments)


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
        "ply", "number", "player", "name", "move", "opening", "anchor", "rank", "people", "policy",
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


def test_the_agent_is_named_with_the_rating_it_was_given(games):
    done = analyze(games, "--game", 3, "--elo", 2010, "--no-fit-rating", "--json")
    found = json.loads(done.stdout)
    assert found["agent"] == "puct(chess(elo=2000, opponent=2000), c_puct=2, playouts=50)"
    assert found["games"][0]["ratings"] == [2000, 2000]


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


def test_an_anchor_that_is_no_model_of_people_is_not_called_people(games, tmp_path):
    picture = tmp_path / "game.svg"
    agent = ("--game", 1, "--agent", "puct(uniform, playouts=8)")
    done = analyze(games, *agent, "--svg", picture)
    assert (done.returncode, done.stderr) == (0, "")
    assert "people" not in done.stdout
    assert "anchor" in done.stdout
    assert "what it plays" in done.stdout
    assert "How likely the anchor plays it" in picture.read_text()
    printed = analyze(games, *agent, "--out", "-").stdout
    assert "5% for the anchor" in printed
    assert "people" not in printed


def test_mates_that_were_missed_are_written_as_mates(tmp_path):
    game = tmp_path / "missed.pgn"
    game.write_text("1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. d3 d6 5. Qxf7# 1-0\n")
    done = analyze(game, "--agent", "chess", "--out", "-")
    nodes = chess.pgn.read_game(io.StringIO(done.stdout)).mainline()
    mates = {node.san(): score.white().mate() for node in nodes if (score := node.eval())}
    assert {name: mate for name, mate in mates.items() if mate} == {"Nf6": 1, "d6": 1}


def test_broken_games_are_told_of(games):
    done = analyze(games, "--limit", 2, "--agent", "puct(chess, playouts=2)", "--brief")
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "(game 2 skipped)" in done.stderr


def _obey_ctrl_c():
    # In a job started in the background Ctrl-C is ignored, and a child inherits that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # On one core no thread is started just then: Python would wait for it for ever.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def on_a_terminal(*arguments, interrupt_at=None):
    """The exit code of a process of its own, and what it shows; Ctrl-C once it has shown that."""
    screen, terminal = pty.openpty()
    shown = ""
    with subprocess.Popen(
        [KEDGE, "analyze", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        preexec_fn=_obey_ctrl_c,
    ) as running:
        os.close(terminal)
        with contextlib.suppress(OSError):  # Linux's word for the end
            while piece := os.read(screen, 4096):
                shown += piece.decode(errors="replace")
                if interrupt_at is not None and interrupt_at in shown:
                    interrupt_at = None
                    running.send_signal(signal.SIGINT)
    os.close(screen)
    return running.returncode, shown


def test_moves_are_counted_on_a_terminal(games):
    code, shown = on_a_terminal(games, "--limit", 1, "--agent", "chess", "--brief")
    assert code == 0
    assert "game 1: 7 of 7 moves" in shown


def test_lines_count_moves_elsewhere(games, monkeypatch):
    monkeypatch.setattr(progress, "_FIRST_SECONDS", 0.0)
    done = analyze(games, "--game", 1, "--agent", "chess", "--brief")
    assert (done.returncode, done.stderr) == (0, "game 1: 7 of 7 moves\n")
    assert analyze(games, "--game", 1, "--agent", "chess", "--json").stderr == ""


def test_ctrl_c_keeps_finished_games(tmp_path):
    games, out = tmp_path / "games.pgn", tmp_path / "out.pgn"
    games.write_text(TAGS.format("*", "") + "1. e4 *\n\n" + TAGS.format("*", "") + ITALIAN)
    options = ("--agent", "puct(chess, playouts=200)", "--out", out)
    code, shown = on_a_terminal(games, *options, interrupt_at="game 2")
    assert code == 130
    assert shown.endswith("kedge: interrupted; what was finished is kept\r\n")
    assert "Traceback" not in shown
    text = io.StringIO(out.read_text())
    assert "of people" in chess.pgn.read_game(text).next().comment
    assert chess.pgn.read_game(text) is None
    assert not list(tmp_path.glob(".*.partial"))


def interrupted(monkeypatch, after, *arguments):
    """As if Ctrl-C came within the game that follows so many."""
    whole = chess_review.analyse_game

    def analyse(*given, **options):
        nonlocal after
        after -= 1
        if after < 0:
            raise KeyboardInterrupt
        return whole(*given, **options)

    monkeypatch.setattr(chess_review, "analyse_game", analyse)
    return analyze(*arguments)


def test_a_picture_of_several_games_is_refused_before_any_review(games, monkeypatch):
    monkeypatch.setattr(chess_review, "analyse_game", None)
    done = analyze(games, "--agent", "chess", "--svg", "it.svg", "--out", "out.pgn")
    said = "kedge: --svg: draws one game; choose it with --game\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    assert not Path("out.pgn").exists()


def test_finished_games_are_reported_when_interrupted(games, monkeypatch):
    done = interrupted(monkeypatch, 1, games, "--agent", "chess", "--json")
    assert (done.returncode, done.stderr.count("\n")) == (130, 1)
    assert [game["game"] for game in json.loads(done.stdout)["games"]] == [1]


def test_an_interrupt_before_the_first_game_overwrites_nothing(games, tmp_path, monkeypatch):
    out = tmp_path / "out.pgn"
    out.write_text(older := '[Annotator "kedge analyze"]')
    done = interrupted(monkeypatch, 0, games, "--agent", "chess", "--out", out)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "kedge: interrupted\n")
    assert out.read_text() == older


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.pgn",), "No such file"),
        (("nowhere", "--agent", "go"), "No such file"),
        (("text.txt",), "text.txt: holds no game"),
        (("games.pgn", "--game", "9"), "no game 9; the file has 4 games"),
        (("games.pgn", "--game", "2"), "game 2 is invalid"),
        (("games.pgn", "--agent", "conventions"), "does not play chess"),
        (("games.pgn", "--agent", "ches"), "did you mean chess"),
        (("games.pgn", "--agent", "chess", "--elo", "1500"), "--elo"),
        (("games.pgn", "--elo", "0"), "--elo"),
        (("games.pgn", "--out", "games.pgn"), "holds the games themselves"),
        (("games.pgn", "--svg", "./games.pgn"), "--svg: games.pgn: the file name must end in .svg"),
        (("games.pgn", "--agent", "chess", "--svg", "it.svg"), "choose it with --game"),
        (("games.pgn", "--out", "-", "--json"), "name a file"),
        (("games.pgn", "--out", "."), ".: cannot write (it is a folder)"),
        (("games.pgn", "--svg", "."), "--svg: .: the file name must end in .svg"),
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


# --- Go -----------------------------------------------------------------------------------------

EVEN = "(;PB[Ann]BR[3d]PW[Bob]RE[B+R]EV[Cup];B[pd];W[dp](;B[pp];W[dd];B[qq])(;B[aa]))"
GO_GAMES = EVEN + "\n(;B[aa];W[aa])\n(;KM[0]HA[2]AB[dp][pd]PW[Ann];W[dd];B[];W[])\n(;)"


@pytest.fixture
def go_games(tmp_path, monkeypatch):
    (tmp_path / "go.onnx").write_bytes(to_onnx(tiny_go.weights()).SerializeToString())
    (tmp_path / "games.sgf").write_text(GO_GAMES)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("go_games")
def test_games_of_go():
    done = analyze("games.sgf", "-a", "puct(./go.onnx, playouts=4)", "--out", "out.sgf", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert [game["game"] for game in found["games"]] == [1, 3, 4]
    [broken] = found["broken"]
    assert (broken["game"], broken["where"]) == (2, "games.sgf, line 2")
    assert broken["reason"].startswith("move 2: 'A19' is illegal")
    first, handicap, empty = found["games"]
    assert first["black_rank"] == "3d"
    assert (first["komi"], handicap["komi"], handicap["handicap"]) == (None, 0.0, 2)
    assert [move["move"] for move in first["moves"]] == ["Q16", "D4", "Q4", "D16", "R3"]
    assert [move["player"] for move in handicap["moves"]] == [1, 0, 1]
    assert handicap["value"] == handicap["moves"][2]["value"], "two passes change nothing"
    assert empty["moves"] == []
    assert first["players"][0]["scored"] == 3, "all moves"
    assert first["players"][0]["fit"] is None
    assert [player["name"] for player in found["players"]] == ["Ann"]
    texts = Path("out.sgf").read_text().split("(;FF")[1:]
    assert len(texts) == 3
    read = sgf.Sgf_game.from_string("(;FF" + texts[0])
    nodes = read.get_main_sequence()
    assert len(nodes) == 6
    assert read.root.get("AN") == "kedge analyze"
    assert "of people" in nodes[1].get("C")
    assert "Black " in nodes[1].get("C")
    assert nodes[1].has_property("LB")


def test_the_agent_is_named_with_the_rank_it_was_given(tmp_path):
    (tmp_path / "one.sgf").write_text("(;B[pd])")
    done = analyze(tmp_path / "one.sgf", "--rank", "12k", "--no-fit-rating", "--json")
    found = json.loads(done.stdout)
    assert found["agent"] == 'puct(go-large(rank="kyu"), c_puct=2, playouts=16)'
    assert found["games"][0]["ratings"] == ["kyu", "kyu"]


@pytest.mark.usefixtures("go_games")
def test_ranks_from_moves(monkeypatch):
    options = ("--agent", "./go.onnx", "--fit-rating", "--limit", 3)
    found = json.loads(analyze("games.sgf", *options, "--json").stdout)
    black, white = found["games"][0]["players"]
    assert set(black["fit"]) == {"rating", "error", "likeliest", "moves", "shares"}
    assert (black["fit"]["moves"], white["fit"]["moves"]) == (3, 2)
    assert black["fit"]["rating"] in black["fit"]["shares"]
    monkeypatch.setattr(progress, "_FIRST_SECONDS", 0.0)
    done = analyze("games.sgf", *options, "--brief")
    assert "game 1: 0 of 5 moves; rank fit: 0 of 22\n" in done.stderr
    shown = done.stdout
    assert "plays like" in shown
    assert "its error is provisional" in shown
    assert f"{black['fit']['rating']} ± {black['fit']['error']}" in shown


@pytest.mark.usefixtures("go_games")
def test_a_game_of_go_on_a_terminal():
    done = analyze("games.sgf", "-a", "./go.onnx", "--game", 1, "--svg", "it.svg")
    assert (done.returncode, done.stderr) == (0, "")
    for said in ("Ann (3d) – Bob", "B+R, Cup", "1. B Q16", "2. W D4", "3 of 3", "black"):
        assert said in done.stdout
    assert "Black's expected score" in Path("it.svg").read_text()
    Path("copy").write_text(EVEN)
    copied = analyze("copy", "-a", "./go.onnx", "-o", "-")
    assert copied.stdout.startswith("(;FF[4]GM[1]"), "known by its content"


@pytest.mark.usefixtures("go_games")
def test_ctrl_c_keeps_finished_games_of_go():
    Path("two.sgf").write_text("(;B[pd])\n" + EVEN)
    options = ("--agent", "puct(./go.onnx, playouts=400)", "--out", "out.sgf")
    code, shown = on_a_terminal("two.sgf", *options, interrupt_at="game 2")
    assert code == 130
    assert shown.endswith("kedge: interrupted; what was finished is kept\r\n")
    [text] = Path("out.sgf").read_text().split("(;FF")[1:]
    assert len(sgf.Sgf_game.from_string("(;FF" + text).get_main_sequence()) == 2


@pytest.mark.usefixtures("go_games")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.sgf",), "No such file"),
        (("text.sgf",), "text.sgf: holds no game (text.sgf: no game found)"),
        (("small.sgf",), "small.sgf: game 1: the model plays on 19×19, not on 9×9"),
        (("games.sgf", "--game", "2"), "game 2 is invalid: move 2"),
        (("games.sgf", "--elo", "1500"), "--elo"),
        (("games.sgf", "--rank", "3d"), "--rank: has no effect with --agent"),
        (("games.sgf", "--agent", "chess"), "does not play go"),
    ],
)
def test_bad_input_of_go_is_one_line(arguments, said):
    Path("text.sgf").write_text("no games here")
    Path("small.sgf").write_text("(;SZ[9];B[ee])")
    agent = () if {"--agent", "--elo"} & {*arguments} else ("--agent", "./go.onnx")
    done = analyze(*arguments, *agent)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


# --- Hanabi and Diplomacy -----------------------------------------------------------------------


@pytest.fixture
def decided(tmp_path, monkeypatch):
    """A game of Hanabi with two moves, and one of Diplomacy with a phase."""
    deck = [{"suitIndex": color, "rank": rank} for color, rank in Hanabi().cards]
    moves = [{"type": 0, "target": 0}, {"type": 3, "target": 0, "value": 1}]
    live = {"players": ["Ann", "Bob"], "deck": deck, "actions": moves}
    (tmp_path / "hanabi.json").write_text(json.dumps(live))
    phase = Phase.of(Diplomacy().initial_state(), {"FRANCE": ["A PAR - BUR"]})
    game = {"id": "one", "phases": [phase.to_json()]}
    (tmp_path / "diplomacy.jsonl").write_text(json.dumps(game) + "\n")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("decided")
@pytest.mark.parametrize(
    ("file", "agent", "reader"),
    [
        ("hanabi.json", "sparta(uniform-hanabi, lambda=1, rollouts=20)", replayed_hanabi_games),
        ("diplomacy.jsonl", "pikl-hedge(uniform-orders, iterations=8)", replayed_games),
    ],
)
def test_games_of_decisions(file, agent, reader):
    done = analyze(file, "-a", agent, "--out", "out.jsonl", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["agent"], found["players"], found["broken"]) == (agent, [], [])
    [game] = found["games"]
    assert set(game) == {
        "game", "id", "agent", "scale", "turns", "players", "decisions", "values", "mistakes",
        "disagreements",
    }  # fmt: skip
    assert set(game["decisions"][0]) == {
        "turn", "player", "played", "rank", "people", "choice", "kl_to_anchor", "parts", "loss",
        "mark",
    }  # fmt: skip
    assert set(game["decisions"][0]["played"]) == {"name", "move", "anchor", "policy", "q"}
    assert list(reader("out.jsonl")) == list(reader(file))
    text = Path("out.jsonl").read_text()
    assert '"review"' in text
    assert ('"turn 1: ' in text) == (file == "hanabi.json")
    printed = analyze(file, "-a", agent)
    assert printed.returncode == 0
    assert "people" not in printed.stdout, "the anchor is uniform"
    assert "top-1" in printed.stdout
    assert game["decisions"][0]["played"]["name"][:9] in printed.stdout


@pytest.mark.usefixtures("decided")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("hanabi.json", "--elo", "1500"), "--elo: reviews of hanabi have no such option"),
        (("diplomacy.jsonl", "--svg", "game.svg"), "--svg: games of diplomacy are not drawn"),
        (("diplomacy.jsonl", "-a", "chess"), "agent chess: does not play diplomacy"),
        (("hanabi.json", "-a", "chess"), "agent chess: does not play hanabi"),
        (("hanabi.json", "--game", "2"), "no game 2; the file has 1 game"),
    ],
)
def test_bad_input_of_decisions_is_one_line(arguments, said):
    done = analyze(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no game"),
        ('{"phases": [', "not JSON, or cut short"),
        ('{"phases": 3}', "is not a list of phases"),
    ],
)
def test_a_file_without_games_is_not_the_agents_fault(tmp_path, text, said):
    path = tmp_path / "games.json"
    path.write_text(text)
    done = kedge("analyze", path, "--agent", "diplomacy")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


# --- A game of another package ------------------------------------------------------------------


class CoinReport:
    """A review of a kind that kedge does not know."""

    def __init__(self, tosses):
        self.tosses = tosses

    def to_json(self):
        return {"tosses": self.tosses}


def _review_coins(agent=None):
    return lambda tosses, progress: CoinReport(tosses)


def _read_coins(file, report):
    for number, line in enumerate(Path(file).read_text().split(), 1):
        report.add_game(number, f"line {number}", len(line))
        yield line


COIN_FORMAT = RecordFormat(_read_coins, lambda path: path.suffix == ".coins", "coin tosses")
COIN_REVIEW = Review(
    _review_coins,
    agent=lambda: "chance",
    show=lambda report, number, *, brief: print(f"{number}. {report.tosses}"),
    annotated=lambda report: f"{report.tosses} {{fair}}\n",
)


def test_a_review_of_another_package(tmp_path, monkeypatch):
    """The command asks the entry, not the classes of the reports."""
    monkeypatch.setitem(sys.modules, "coins", sys.modules[__name__])
    entry = catalogue.GameEntry(
        "coins", "Coins", game="", records="coins:COIN_FORMAT", review="coins:COIN_REVIEW"
    )
    monkeypatch.setattr(catalogue, "_installed", lambda: ([entry], {}))
    monkeypatch.chdir(tmp_path)
    Path("it.coins").write_text("HTH TTT")
    done = analyze("it.coins", "--json")
    assert json.loads(done.stdout)["games"] == [
        {"game": 1, "tosses": "HTH"},
        {"game": 2, "tosses": "TTT"},
    ]
    assert analyze("it.coins").stdout == "1. HTH\n2. TTT\n"
    assert analyze("it.coins", "-o", "-").stdout == "HTH {fair}\nTTT {fair}\n"
    refused = analyze("it.coins", "--svg", "it.svg")
    assert (refused.returncode, refused.stderr) == (
        2,
        "kedge: --svg: games of coins are not drawn\n",
    )
