"""Go Text Protocol sessions, scripted: the grammar, every command, and a process."""

import io
import json
import random
import re
import subprocess
import time
import zipfile
from dataclasses import fields

import numpy as np
import pytest
import tiny_go
from uci_session import KEDGE

from kedge.agents.agent import Analysis
from kedge.agents.board.engine import Control, Progress
from kedge.agents.go.engine import GoEngine, Options
from kedge.games.go.rules import GoRules
from kedge.interfaces.protocols.gtp.analysis import Request, line
from kedge.interfaces.protocols.gtp.engine import COMMANDS, Gtp
from kedge.interfaces.protocols.gtp.options import PARAMS
from kedge.models.board.network import to_onnx
from kedge.records import read_sgf

ANSWER = r"[=?]\d*(?: [^\n]*)?\n(?:[^\n]+\n)*\n"


class Uniform(GoEngine):
    """Every legal move alike, on boards of every size."""

    def load(self):
        return None

    def think(self, limits, control):
        count = len(self.state.legal_actions())
        policy = np.full(count, 1.0 / count)
        found = Analysis(policy, policy, policy * np.nan, 0.0, visits=np.zeros(count, np.int64))
        for made in range(1, 4):
            yield Progress(lambda: found, made, float(made))
        if limits.infinite:
            control.wait_for_leave(limits)


class Out(io.StringIO):
    """The output of an engine, and a way to wait for it."""

    def wait_for(self, text, count=1, seconds=10.0):
        end = time.monotonic() + seconds
        while self.getvalue().count(text) < count:
            assert time.monotonic() < end, f"{text!r} never came"
            time.sleep(0.002)


def talk(*lines, engine=None):
    """Return the answer to each line, in order; each must follow the protocol's grammar."""
    out = io.StringIO()
    Gtp(out, engine or Uniform(), seed=1).run(line + "\n" for line in lines)
    return answers(out.getvalue())


def answers(said):
    assert re.fullmatch(f"(?:{ANSWER})*", said)
    assert all(letter.isprintable() or letter == "\n" for letter in said)
    return [answer[:-2] for answer in re.findall(ANSWER, said)]


@pytest.fixture(scope="module")
def engine(go_model):
    found = GoEngine(Options(model=go_model, playouts=4))
    found.load()
    return found


def test_grammar():
    assert talk("name", "7 name", "007 protocol_version", "  12\tname # who?") == [
        "= kedge", "=7 kedge", "=007 2", "=12 kedge",
    ]  # fmt: skip
    assert talk("", "   ", "# only a comment", "\t", "\x01\x7f", "\r") == []
    assert talk("na\x00me\x07\r") == ["= kedge"]
    assert talk("clear_board", "3 clear_board") == ["=", "=3"]
    assert talk("xyzzy", "5 xyzzy", "5", "-3 name", "NAME") == [
        "? unknown command", "?5 unknown command", "?5 unknown command", "? unknown command",
        "? unknown command",
    ]  # fmt: skip
    assert talk("1 quit", "2 name") == ["=1"]


def test_administration():
    (listed, *known) = talk("list_commands", *(f"known_command {name}" for name in COMMANDS))
    assert listed.removeprefix("= ").split("\n") == list(COMMANDS)
    assert set(known) == {"= true"}
    assert talk("known_command fly", "known_command")[0] == "= false"
    assert re.fullmatch(r"= \d\S+", talk("version")[0])


def test_every_command_without_arguments():
    for name in COMMANDS:
        (answer,) = talk(name)
        assert re.match(r"=|\? (syntax error|cannot undo)", answer), name


def test_a_player_that_fails_is_no_end():
    class Broken(Uniform):
        def think(self, limits, control):
            raise RuntimeError("no\n\nmemory")

    assert talk("1 genmove b", "2 name", "3 lz-analyze", "4 name", engine=Broken()) == [
        "?1 no memory", "=2 kedge", "?3 no memory", "=4 kedge",
    ]  # fmt: skip


def test_a_game():
    said = talk(
        "boardsize 5", "komi 0.5", "play b c3", "play WHITE D3", "play black C3", "play w e9",
        "play red a1", "play b pass", "undo", "play b C2", "showboard", "final_score",
    )  # fmt: skip
    assert said[:4] == ["="] * 4
    assert said[4] == "? illegal move: C3 is not a legal move: occupied"
    assert said[5].startswith("? syntax error: 'e9' is not a point of a 5")
    assert said[6] == "? syntax error: 'red' is neither black nor white"
    assert said[7:10] == ["="] * 3
    assert said[10].startswith("= \n    A B C D E\n 5 ")
    assert " 2  . .(X). . 2" in said[10]
    assert said[11] == "= B+0.5"


def test_anyone_may_move_at_any_time():
    said = talk("boardsize 5", "play b A1", "play b A2", "play b A3", "play w pass", "play w pass",
                "play w E5", "genmove w", "undo", "undo", "undo", "undo", "undo", "undo", "undo",
                "undo")  # fmt: skip
    assert said[:7] == ["="] * 7
    assert re.fullmatch(r"= ([A-E][1-5]|pass)", said[7])
    assert said[8:15] == ["="] * 7
    assert said[15] == "? cannot undo: no move to undo"


def test_generated_moves_are_legal_and_played():
    engine = Uniform()
    said = talk("boardsize 3", *("genmove b", "genmove w") * 40, engine=engine)
    assert all(re.fullmatch(r"= ([A-C][1-3]|pass)", answer) for answer in said[1:])
    assert len(engine.state.history) == 80
    over = talk("play b pass", "play w pass", "genmove b", engine=engine)
    assert over == ["=", "=", "= pass"], "nothing is left to play"


def test_a_ko_by_the_opponents_rule():
    """A ko retaken after passes repeats the board: we never do, and take it from others."""
    moves = (
        "play b B1",
        "play b A2",
        "play b B3",
        "play w C1",
        "play w D2",
        "play w C3",
        "play w B2",
    )
    engine = Uniform()
    assert talk("boardsize 5", *moves, "play b C2", "play w B2", engine=engine)[-1].startswith(
        "? illegal move"
    )
    assert talk("play w pass", "play b pass", "play w B2", engine=engine) == ["="] * 3
    assert talk("komi 3", "undo", "undo", engine=engine) == ["="] * 3
    assert engine.state.komi == 3.0


def test_komi_and_sizes():
    said = talk("boardsize 9", "komi 5.5", "play b E5", "komi -2", "final_score", "komi x",
                "komi nan", "boardsize 25", "boardsize 1", "boardsize nine", "boardsize",
                "final_score", "boardsize 2", "komi 0", "final_score")  # fmt: skip
    assert said[4] == "= B+83"
    assert said[5] == "? syntax error: 'x' is not a number"
    assert said[6].startswith("? syntax error")
    assert said[7:9] == ["? unacceptable size"] * 2
    assert said[9].startswith("? syntax error")
    assert said[10] == "? syntax error: boardsize needs more arguments"
    assert said[11] == "= B+83", "what was refused has changed nothing"
    assert said[14] == "= 0"


def test_handicaps():
    assert talk("boardsize 9", "fixed_handicap 2", "fixed_handicap 2", "clear_board",
                "fixed_handicap 5") == [
        "=", "= C3 G7", "? board not empty", "=", "= C3 G7 C7 G3 E5",
    ]  # fmt: skip
    assert talk("fixed_handicap 10")[0].startswith("? handicap: from 2 to 9 stones")
    for stones, placed in ((4, 4), (9, 9), (30, 30), (400, 36)):
        engine = Uniform()
        points, again = talk(*[f"place_free_handicap {stones}"] * 2, engine=engine)
        assert len(set(points.split())) == 1 + placed == 1 + len(engine.game().black_stones)
        assert again == "? board not empty"
    assert len(talk("boardsize 8", "place_free_handicap 7")[1].split()) == 7
    assert talk("place_free_handicap 1")[0].startswith(
        "? handicap: from 2 to 9 stones on 19×19, not 1"
    )
    engine = Uniform()
    said = talk("set_free_handicap D4 D4", "set_free_handicap D4", "set_free_handicap D4 pass",
                "set_free_handicap D4 z9", "set_free_handicap D4 Q16 K10", "undo",
                "komi 0.5", engine=engine)  # fmt: skip
    assert said[:3] == ["? bad vertex list"] * 3
    assert said[3].startswith("? syntax error")
    assert said[4:] == ["=", "? cannot undo: no move to undo", "="]
    assert engine.state.score() == 360.5
    assert engine.state.current_player() == 1


@pytest.mark.parametrize(
    ("lines", "limits"),
    [
        ([], {}),
        (["time_settings 600 0 0"], {"remaining": 600.0}),
        (["time_settings 0 1 0"], {}),
        (["time_settings 600 30 5"], {"remaining": 600.0, "increment": 6.0}),
        (["time_settings 0 30 5"], {"seconds": 6.0}),
        (["time_settings 600 30 5", "time_left b 20 4"], {"seconds": 5.0}),
        (["time_settings 600 30 5", "time_left w 20 4"], {"remaining": 600.0, "increment": 6.0}),
        (["kgs-time_settings absolute 60", "time_left black 9 0"], {"remaining": 9.0}),
        (["kgs-time_settings byoyomi 60 10 3"], {"remaining": 60.0, "increment": 10.0}),
        (["kgs-time_settings byoyomi 60 10 3", "time_left b 8 2"], {"seconds": 8.0}),
        (["kgs-time_settings canadian 0 60 10"], {"seconds": 6.0}),
        (["time_settings 600 0 0", "kgs-time_settings none"], {}),
        (["time_left b 30 0"], {"remaining": 30.0}),
    ],
)
def test_clocks(lines, limits):
    engine = Uniform()
    assert talk(*lines, engine=engine) == ["="] * len(lines)
    found = engine.limits(0)
    assert {"remaining": None, "seconds": None, "increment": 0.0, **limits} == {
        "remaining": found.remaining, "seconds": found.seconds, "increment": found.increment,
    }  # fmt: skip


@pytest.mark.parametrize(
    "bad",
    ["time_settings 1 2", "time_settings a b c", "time_settings -1 0 0", "time_left b 1",
     "time_left x 1 1", "kgs-time_settings", "kgs-time_settings fast", "time_settings inf 0 0"],
)  # fmt: skip
def test_bad_clocks(bad):
    assert talk(bad)[0].startswith("? ")


def test_garbage_never_kills_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # printsgf writes files
    rng = random.Random(0)
    whole = ("play b {}", "play w {}", "undo", "genmove b", "genmove w", "kata-analyze {} 1",
             "fixed_handicap {}", "final_score", "final_status_list {}", "kata-set-rules {}",
             "kata-genmove_analyze b {}", "time_left b {} 1", "komi {}", "loadsgf {} 9",
             "kata-set-param playouts {}", "place_free_handicap {}", "showboard")  # fmt: skip
    words = [*COMMANDS, "b", "w", "D4", "pass", "I5", "19", "9", "-1", "1e400", "nan", "7.5", "#",
             "\x00", "\x1b[2J", "×", "9" * 30, "T19", "none", "byoyomi", "5", "interval",
             "maxmoves", "rootInfo", "true", *PARAMS, "ko", "{}", '{"ko":[]}', "{", "seki",
             "japanese", "fischer", "tests/late_game.sgf"]  # fmt: skip
    lines = [" ".join(rng.choices(words, k=rng.randint(1, 5))) for _ in range(600)]
    lines += [rng.choice(whole).format(rng.choice(words)) for _ in range(600)]
    rng.shuffle(lines)
    lines = [line for line in lines if "quit" not in line]
    said = talk(*(f"{number} {line}" for number, line in enumerate(lines)))
    heads = [re.match(r"[=?](\d+)", answer)[1] for answer in said]
    assert heads == [str(number) for number in range(len(lines))], "each is answered, in order"


def test_a_small_board_with_a_model_for_any(engine, tmp_path):
    path = tmp_path / "points.onnx"
    path.write_bytes(to_onnx(tiny_go.weights(policy="points")).SerializeToString())
    any_size = GoEngine(Options(model=str(path), playouts=4, resign=-1))
    any_size.load()
    said = talk("boardsize 9", "clear_board", *("genmove b", "genmove w") * 3, "showboard",
                f"kata-set-param model {engine.options.model}", "genmove b", "boardsize 20",
                "genmove w", engine=any_size)  # fmt: skip
    moves = [answer.removeprefix("= ") for answer in said[2:8]]
    assert len(set(moves)) == 6
    assert all(re.fullmatch(r"[A-HJ][1-9]", move) for move in moves)
    assert said[9] == "? the model plays on 19×19, not on 9×9"
    assert said[10].startswith("= "), "the last model stays"
    assert said[11] == "? unacceptable size"
    assert said[12].startswith("= ")


def test_a_model_with_weights_for_places_refuses_other_boards(engine):
    said = talk("boardsize 9", "boardsize 19", "boardsize 19 19", "boardsize 19 13",
                "rectangular_boardsize 19 19", engine=engine)  # fmt: skip
    assert said == ["? unacceptable size", "=", "=", "? unacceptable size", "="]


def test_rules():
    engine = Uniform()
    said = talk("kata-get-rules", "kata-set-rules japanese", "kata-get-rules", "kgs-rules chinese",
                "kata-set-rule ko simple", "kata-set-rule suicide true",
                'kata-set-rules {"ko": "SITUATIONAL", "scoring": "AREA", "hasButton": false}',
                engine=engine)  # fmt: skip
    told = json.loads(said[0].removeprefix("= "))
    assert told["scoring"] == "AREA"
    assert json.loads(said[2].removeprefix("= "))["scoring"] == "TERRITORY"
    assert all(answer.startswith("=") for answer in said)
    assert engine.rules == GoRules(ko="SITUATIONAL")
    for bad in ("kata-set-rules mongolian", "kata-set-rules {", "kata-set-rules [1]",
                "kata-set-rule ko 3", "kata-set-rule hasButton true", "kata-set-rule tax ALL",
                'kata-set-rules {"suicide": 1}', "kgs-rules",
                "kata-set-rule fun true"):  # fmt: skip
        assert talk(bad, engine=engine)[0].startswith("? ")
    assert engine.rules == GoRules(ko="SITUATIONAL")


# Black has the left of a small board and White the right; B3 is White's.
HALVES = ("boardsize 5", "komi 0.5", *(
    f"play {'bw'[turn % 2]} {point}"
    for turn, point in enumerate(
        ["C3", "D3", "C2", "D2", "C4", "D4", "C5", "D5", "C1", "B3", "pass", "D1"]
    )
))  # fmt: skip
B3 = 11


def test_rules_count():
    engine = Uniform(dead_stones=lambda state: [B3])
    said = talk(*HALVES, "kata-set-rules chinese", "final_score", "kata-set-rules japanese",
                "final_score", engine=engine)  # fmt: skip
    assert said[-3::2] == ["= B+4.5", "= B+5.5"]
    for rules, answer in (("tromp-taylor", "360.5"), ("chinese", "356.5"), ("aga", "357.5")):
        said = talk("komi 0.5", f"kata-set-rules {rules}", "fixed_handicap 4", "final_score")
        assert said[-1] == f"= B+{answer}"


def test_suicide_by_the_rules():
    corner = ("boardsize 5", "play w A2", "play w B2", "play w C1", "play b A1", "play b B1")
    assert talk("kata-set-rules chinese", *corner)[-1].startswith("? illegal move")
    assert talk("kata-set-rules tromp-taylor", *corner)[-1] == "="


def test_the_command_line_begins_as_the_engine_does():
    usual = {one.name: one.default for one in fields(Options)}
    told = {name: option.default for name, option in PARAMS.items()}
    assert told.pop("seed") == 0
    differing = {name: told[name] for name in told if told[name] != usual[name]}
    assert differing == {"model": "go", "threads": None}


def test_parameters(engine):
    assert talk("kata-list-params", engine=engine) == ["= " + " ".join(PARAMS)]
    said = talk("kata-set-param playouts 7", "kata-get-param maxVisits",
                "kata-set-param resignThreshold -1", "kata-get-param resign",
                "kata-set-param seed 9", "kata-get-param seed", "kata-get-params",
                "kata-set-param reuse_tree true", "kata-get-param reuse_tree",
                "kata-set-param reuse_tree false", "kata-set-param maxPlayouts 4",
                "kata-get-param value_model", engine=engine)  # fmt: skip
    assert said[:6] == ["=", "= 7", "=", "= -1.0", "=", "= 9"]
    assert set(json.loads(said[6].removeprefix("= "))) == set(PARAMS)
    assert said[7:] == ["=", "= true", "=", "=", "= auto"]
    assert engine.options.playouts == 4
    was = engine.options
    for bad in ("playouts -1", "playouts many", "c_puct nan", "model nobody", "model chess",
                "temperature 1e400", "playoutDoublingAdvantage 2", "top_p 0", "seed"):  # fmt: skip
        assert talk(f"kata-set-param {bad}", engine=engine)[0].startswith("? ")
    assert engine.options == was
    assert talk("genmove b", engine=engine)[0].startswith("= ")


def test_the_model_that_plays_is_told():
    engine = Uniform(Options(model="go", rank="3d"))
    one, every = talk("kata-get-param model", "kata-get-params", engine=engine)
    assert one == "= go-large"
    params = json.loads(every.removeprefix("= "))
    assert (params["model"], params["rank"]) == ("go-large", "3d")
    assert talk("kata-set-param rank auto", "kata-get-param model", engine=engine)[1] == "= go"


def infos(text):
    """The keys of every move of a line, in order."""
    parts = text.split("info ")[1:]
    found = []
    for part in parts:
        words, _, pv = part.partition(" pv ")
        keys = dict(zip(*[iter(words.split())] * 2, strict=True))
        found.append({**keys, "pv": pv.split()})
    return found


def test_analyses_stop_at_the_next_line(engine):
    for command, end in (("lz-analyze b 1", ""), ("kata-analyze w 1", "7 name"),
                         ("kata-analyze interval 1 ownership true rootInfo true", "stop"),
                         ("lz-analyze 1 maxmoves 3", "protocol_version")):  # fmt: skip
        out = Out()

        def lines(command=command, end=end, out=out):
            yield f"5 {command}\n"
            out.wait_for("info ", 2)
            yield f"{end}\n"
            yield "name\n"

        Gtp(out, engine).run(lines())
        first, *rest = answers(out.getvalue())
        head, *told = first.split("\n")
        assert head == "=5"
        assert rest == ([{"7 name": "=7 kedge", "stop": "="}.get(end, "= 2")] if end else []) + [
            "= kedge"
        ]
        moves = infos(told[-1].partition(" rootInfo")[0])
        assert [int(move["order"]) for move in moves] == list(range(len(moves)))
        assert len(moves) == 3 if "maxmoves" in command else len(moves) >= 10
        assert all(move["pv"][0] == move["move"] for move in moves)
        visits = [int(move["visits"]) for move in moves]
        assert visits == sorted(visits, reverse=True)
        most = 10_000 if command.startswith("lz") else 1
        assert all(0 <= float(move[key]) <= most for move in moves for key in ("winrate", "prior"))
        assert ("." in moves[0]["prior"]) == command.startswith("kata")


def test_an_analysis_ends_with_the_input(engine):
    assert talk("kata-analyze b 100000", engine=engine) == ["="]
    over = talk("clear_board", "play b pass", "play w pass", "kata-analyze", engine=engine)
    assert over[3].startswith("? the game is over")
    talk("clear_board", engine=engine)


def test_the_prior_is_what_people_play(engine):
    talk("clear_board", engine=engine)
    found = [*engine.think(engine.limits(0), Control())][-1].analysis()
    moves = infos(line(engine.state, found, Request(least=400), "kata"))
    assert sum(float(move["prior"]) for move in moves) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("name", ["lz-genmove_analyze", "kata-genmove_analyze"])
def test_moves_with_analysis(engine, name):
    said = talk("clear_board", f"{name} b 0", f"{name} w interval 0 maxmoves 1", f"{name} 0",
                "kata-search_analyze b 0", "undo", "undo", "undo", "undo",
                engine=engine)  # fmt: skip
    for answer in said[1:5]:
        head, *told, move = answer.split("\n")
        assert head == "="
        assert all(line.startswith("info move ") for line in told)
        assert re.fullmatch(r"play ([A-HJ-T]\d+|pass)", move)
        assert told
    assert said[5:] == ["=", "=", "=", "? cannot undo: no move to undo"]
    for bad in ("b 0 loudly", "b 0 avoid b D4 3", "b 0 maxmoves x", "interval"):
        assert talk(f"{name} {bad}", engine=engine)[0].startswith("? syntax error")


def test_records(tmp_path):
    path = tmp_path / "two words.sgf"
    engine = Uniform()
    said = talk("boardsize 9", "komi 5.5", "set_free_handicap C3 G7", "play w E5", "play w D4",
                "play b pass", f"printsgf {path}", "printsgf", engine=engine)  # fmt: skip
    assert said[6] == "="
    assert said[7] == f"= {path.read_text().rstrip()}"
    (game,) = read_sgf(path.read_bytes())
    assert (game.handicap, game.komi, len(game)) == (2, 5.5, 3)
    other = Uniform()
    assert talk(f"loadsgf {path}", engine=other) == ["="]
    assert str(other.state) == str(engine.state)
    assert talk(f"loadsgf {path} 2", "undo", "undo", engine=other) == [
        "=", "=", "? cannot undo: no move to undo",
    ]  # fmt: skip
    (tmp_path / "empty.sgf").write_text("")
    (tmp_path / "large.sgf").write_text("(;SZ[21])")
    zipfile.ZipFile(tmp_path / "empty.zip", "w").close()
    (answer,) = talk(f"loadsgf {tmp_path / 'large.sgf'}", engine=other)
    assert answer.startswith("? cannot load file: 21×21 board")
    for bad in ("nowhere.sgf", "empty.sgf", "empty.zip", "", "x" * 5000):
        (answer,) = talk(f"loadsgf {tmp_path / bad}", engine=other)
        assert answer.startswith("? cannot load file: ")
    (answer,) = talk(f"printsgf {tmp_path / ('x' * 5000)}")
    assert answer.endswith("cannot write (File name too long)")


def test_who_is_dead():
    engine = Uniform(dead_stones=lambda state: [B3])
    said = talk(*HALVES, "final_status_list dead", "final_status_list alive",
                "final_status_list seki", "final_status_list ghosts", engine=engine)  # fmt: skip
    assert said[-4] == "= B3"
    assert sorted(said[-3].split()[1:]) == [
        f"{column}{row}" for column in "CD" for row in range(1, 6)
    ]
    assert said[-2] == "="
    assert said[-1].startswith("? syntax error")
    early = Uniform(dead_stones=lambda state: [0])
    assert talk("play b A19", "final_status_list dead", engine=early)[1] == "="


@pytest.mark.parametrize("end", [b"quit\n", b""], ids=["quit", "eof"])
def test_a_process(end, go_model):
    found = subprocess.run(
        [KEDGE, "gtp", "--model", go_model, "--playouts", "2"],
        input=b"1 boardsize 19\r\n2 genmove b\r\n\xff\xfe\nloadsgf x\n3 kata-analyze 1\n" + end,
        capture_output=True, timeout=20,
    )  # fmt: skip
    assert found.returncode == 0
    assert found.stderr == b""
    said = answers(found.stdout.decode())
    assert re.fullmatch(r"=2 ([A-HJ-T]\d+|pass)", said[1])
    assert [said[0], said[2], said[4][:2]] == ["=1", "? unknown command", "=3"]


def test_openvino(go_model):
    pytest.importorskip("openvino")
    found = subprocess.run(
        [KEDGE, "gtp", "--model", go_model, "--device", "openvino", "--dtype", "bfloat16"],
        input=b"genmove b\n", capture_output=True, timeout=60,
    )  # fmt: skip
    assert re.fullmatch(rb"= [A-HJ-T]\d+\n\n", found.stdout)


@pytest.mark.parametrize("bad", [["--model", "nobody"], ["--model", "chess"], ["--rules", "odd"],
                                 ["--c-puct", "-1"], ["--dtype", "bfloat16"]])  # fmt: skip
def test_bad_options(bad):
    found = subprocess.run([KEDGE, "gtp", *bad], input=b"", capture_output=True, timeout=20)
    assert found.returncode == 2
    assert found.stdout == b""
    assert found.stderr.startswith(b"kedge: ")
    assert found.stderr.count(b"\n") == 1
