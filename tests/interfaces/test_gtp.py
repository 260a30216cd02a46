"""Go Text Protocol sessions, scripted: the grammar, every command, and a process."""

import io
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kedge.agents.agent import Analysis
from kedge.agents.go_engine import GoEngine
from kedge.interfaces.gtp import COMMANDS, Gtp


class Uniform:
    """Every legal move alike."""

    def analyse_many(self, states):
        counts = [len(state.legal_actions()) for state in states]
        policies = [np.full(count, 1.0 / count) for count in counts]
        return [Analysis(policy, policy, policy * np.nan, 0.0) for policy in policies]


def talk(*lines, engine=None):
    """What is answered to each line, in order."""
    out = io.StringIO()
    Gtp(out, engine or GoEngine(Uniform(), seed=0)).run(line + "\n" for line in lines)
    said = out.getvalue()
    assert said == "" or said.endswith("\n\n")
    return said.split("\n\n")[:-1]


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
    class Broken:
        def analyse_many(self, states):
            raise RuntimeError("no\n\nmemory")

    assert talk("1 genmove b", "2 name", engine=GoEngine(Broken())) == ["?1 no memory", "=2 kedge"]


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
    assert said[15] == "? cannot undo: there is no move to take back"


def test_generated_moves_are_legal_and_played():
    engine = GoEngine(Uniform(), seed=1)
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
    engine = GoEngine(Uniform())
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
    assert said[10] == "? syntax error: boardsize wants more"
    assert said[11] == "= B+83", "what was refused has changed nothing"
    assert said[14] == "= 0"


def test_handicaps():
    assert talk("boardsize 9", "fixed_handicap 2", "fixed_handicap 2", "clear_board",
                "fixed_handicap 5") == [
        "=", "= C3 G7", "? board not empty", "=", "= C3 G7 C7 G3 E5",
    ]  # fmt: skip
    assert talk("fixed_handicap 10")[0].startswith("? 10 handicap stones")
    assert len(talk("place_free_handicap 30")[0].split()) == 10
    assert len(talk("boardsize 8", "place_free_handicap 7")[1].split()) == 5
    assert talk("place_free_handicap 1")[0].startswith("? 1 handicap stones")
    engine = GoEngine(Uniform())
    said = talk("set_free_handicap D4 D4", "set_free_handicap D4", "set_free_handicap D4 pass",
                "set_free_handicap D4 z9", "set_free_handicap D4 Q16 K10", "undo",
                "komi 0.5", engine=engine)  # fmt: skip
    assert said[:3] == ["? bad vertex list"] * 3
    assert said[3].startswith("? syntax error")
    assert said[4:] == ["=", "? cannot undo: there is no move to take back", "="]
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
    engine = GoEngine(Uniform())
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


def test_garbage_never_kills_it():
    rng = random.Random(0)
    words = [*COMMANDS, "b", "w", "D4", "pass", "I5", "19", "9", "-1", "1e400", "nan", "7.5", "#",
             "\x00", "\x1b[2J", "×", "9" * 30, "T19", "none", "byoyomi", "5"]  # fmt: skip
    lines = [" ".join(rng.choices(words, k=rng.randint(1, 5))) for _ in range(600)]
    lines = [line for line in lines if "quit" not in line]
    said = talk(*lines, "99 name")
    assert said[-1] == "=99 kedge"
    assert all(answer[0] in "=?" for answer in said)


@pytest.mark.parametrize("end", [b"quit\n", b""], ids=["quit", "eof"])
def test_a_process(end):
    script = "from kedge.interfaces.gtp import run; from test_gtp import Uniform; run(Uniform())"
    found = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parent,
        input=b"1 boardsize 9\r\n2 genmove b\r\n\xff\xfe\n" + end, capture_output=True, timeout=20,
    )  # fmt: skip
    assert found.returncode == 0
    assert found.stderr == b""
    assert re.match(rb"=1\n\n=2 ([A-HJ][1-9]|pass)\n\n\? unknown command\n\n", found.stdout)
