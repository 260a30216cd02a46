"""``kedge gtp`` as Go programs meet it: what they send, in their order, and a game with GNU Go."""

import json
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from uci_session import KEDGE, Session

from kedge.agents.go.gtp_program import GtpProgram

HELPERS = Path(__file__).parents[2] / "helpers"
LATE = HELPERS / "late_game.sgf"
SESSION = HELPERS / "interfaces" / "sabaki_session.js"
MOVE = r"([A-HJ-T]\d+|pass)"


@pytest.fixture
def session(go_model):
    one = Session("gtp", "--model", go_model, "--playouts", "3", "--seed", "1")
    yield one
    if one.process.poll() is None:
        one.process.kill()
    one.process.wait()


def ask(session, *lines):
    """The lines of every answer; all are sent at once, as some programs do."""
    session.send(*lines)
    return [until_blank(session) for _ in lines]


def until_blank(session):
    said = []
    while not said or said[-1]:
        said.append(session.lines.get(timeout=20))
    return said[:-1]


def test_sabaki(go_model):
    """Its own controller: a session with handicap, clocks, analyses, a record and an end.

    ``npm install --prefix FOLDER @sabaki/gtp``, and NODE_PATH is FOLDER/node_modules.
    """
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    if subprocess.run([node, "-e", "require('@sabaki/gtp')"], capture_output=True).returncode:
        pytest.skip("npm's @sabaki/gtp is not installed where NODE_PATH leads")
    found = subprocess.run(
        [node, SESSION, LATE, KEDGE, "gtp", "--model", go_model, "--playouts", "3"],
        capture_output=True, timeout=60,
    )  # fmt: skip
    assert found.stderr == b""
    told = json.loads(found.stdout)
    assert (told["stderr"], told["exit"]) == ([], 0)
    assert [one["content"] for one in told["hello"][:3:2]] == ["kedge", "2"]
    assert re.fullmatch(MOVE, told["move"]["content"])
    for stream in (told["kata"], told["lz"]):
        assert not stream["error"]
        head, *infos, last = stream["lines"]
        assert (head, last) == ("=", "")
        assert all(line.startswith("info move ") for line in infos)
    assert told["kata"]["next"]["content"] == "2"
    assert re.fullmatch(f"play {MOVE}", told["moveWithAnalysis"][-2])
    assert told["history"][:3] == [
        ["set_free_handicap", "D4", "Q16", "D16"], ["play", "W", "Q4"], ["play", "B", "C10"],
    ]  # fmt: skip
    assert told["history"][3] == ["play", "W", told["moveWithAnalysis"][-2].split()[1].upper()]
    assert "10  . .(X)" in told["board"]["content"]
    assert told["fresh"]["content"].count("X") == 2, "a stone, and the prisoners"
    assert re.fullmatch(r"[BW]\+[\d.]+", told["score"]["content"])
    assert all(re.fullmatch(MOVE, point) for point in told["dead"]["content"].split())
    assert not any(one["error"] for one in told.values() if isinstance(one, dict))


def test_what_sabaki_sends(session):
    """It aborts by protocol_version, and keeps a position by undo and play."""
    name, _, protocol, commands = ask(session, "name", "version", "protocol_version",
                                      "list_commands")  # fmt: skip
    assert (name, protocol) == (["= kedge"], ["= 2"])
    known = {commands[0].removeprefix("= "), *commands[1:]}
    assert {"kata-analyze", "kata-genmove_analyze", "undo", "set_free_handicap"} <= known
    synced = ask(session, "komi 6.5", "boardsize 19", "clear_board", "play B Q16", "play W D4")
    assert synced == [["="]] * 5
    session.send("kata-analyze B 1")
    said = session.until("info ")
    assert said[0] == "="
    session.send("protocol_version", "undo", "play W C3", "kata-genmove_analyze B 1")
    while session.lines.get(timeout=20):
        pass
    assert [until_blank(session) for _ in range(3)] == [["= 2"], ["="], ["="]]
    *_, move = until_blank(session)
    assert re.fullmatch(f"play {MOVE}", move)
    assert ask(session, "undo", "boardsize 9") == [["="], ["? unacceptable size"]]
    assert ask(session, "set_free_handicap D4 Q16 D16", "genmove W")[1][0].startswith("= ")


def test_gtp2ogs(session):
    """Clocks without waiting for their answers, and lines that end with a carriage return."""
    ask(session, "list_commands")
    (times,) = ask(session, "kata-list_time_settings")
    assert "fischer-capped" in times[0]
    said = ask(session, *(line + "\r" for line in (
        "boardsize 19", "clear_board", "komi 7.5", "play black D4", "play white Q16",
        "kgs-time_settings byoyomi 600 30 5", "time_left black 595 0", "time_left white 30 5",
        "genmove black",
        "kgs-time_settings canadian 600 300 25", "time_left black 0 3", "time_left white 20 3",
        "genmove white",
        "kata-time_settings fischer-capped 600 30 900 -1", "time_left black 12 0",
        "time_left white 0 0", "genmove black",
        "time_settings 0 20 1", "time_left white 20 1", "genmove white",
        "time_settings 600 0 0", "genmove black", "kgs-time_settings none", "genmove white",
        "showboard", "final_score",
    )))  # fmt: skip
    assert all(answer[0].startswith("=") for answer in said)
    moves = [answer[0] for answer in said if re.fullmatch(f"= {MOVE}", answer[0])]
    assert len(moves) == 6
    assert said[-1][0][:4] in ("= B+", "= W+")
    assert ask(session, "quit") == [["="]]
    assert session.process.wait(10) == 0


def test_programs_for_katago(session):
    """Rules and parameters first, then an analysis that the next command ends."""
    said = ask(session, "name", "version", "kata-get-rules", "kata-set-rules japanese", "komi 6.5",
               "kata-get-param playoutDoublingAdvantage", "kata-list-params",
               "kata-set-param maxVisits 5")  # fmt: skip
    assert [answer[0][0] for answer in said] == list("=====?==")
    session.send("kata-analyze 1 ownership true pvVisits true", "play b D4", "lz-analyze 1")
    assert until_blank(session)[0] == until_blank(session)[0] == "="
    session.until("info move")
    session.send("")
    while session.lines.get(timeout=20):
        pass
    assert ask(session, "name") == [["= kedge"]]


@pytest.fixture
def kedge_and_gnugo():
    """The model alone, and its opponent."""
    program = shutil.which("gnugo") or shutil.which("/usr/games/gnugo")
    if program is None:
        pytest.skip("gnugo is not installed")
    ours = [KEDGE, "gtp", "--playouts", "1", "--seed", "1", "--resign", "-1"]
    theirs = [program, "--mode", "gtp", "--level", "1", "--seed", "1"]
    theirs += ["--chinese-rules", "--never-resign"]
    with GtpProgram(ours) as kedge, GtpProgram(theirs) as gnugo:
        yield kedge, gnugo


def play_on(black, white, seconds=60.0):
    """The moves to the second pass, each taken by both, or in so much time."""
    moves, end = [], time.monotonic() + seconds
    while moves[-2:] != ["PASS", "PASS"] and time.monotonic() < end:
        mover, other = ((black, white), (white, black))[len(moves) % 2]
        colour = "bw"[len(moves) % 2]
        moves.append(mover.send(f"genmove {colour}").upper())
        other.send(f"play {colour} {moves[-1]}")
    return moves


def check_the_end(kedge, gnugo):
    assert kedge.send("final_score") == gnugo.send("final_score")
    dead = [one.send("final_status_list dead").split() for one in (kedge, gnugo)]
    assert sorted(dead[0]) == sorted(dead[1])


def test_the_end_of_a_game_with_gnu_go(kedge_and_gnugo):
    """It plays on while points are open, then passes, and both count alike."""
    for one in kedge_and_gnugo:
        one.send(f"loadsgf {LATE}")
    assert 4 < len(play_on(*kedge_and_gnugo)) < 60
    check_the_end(*kedge_and_gnugo)


def test_a_whole_game_with_gnu_go(kedge_and_gnugo):
    """Where the machine is busy, only as much of it as there is time for."""
    for one in kedge_and_gnugo:
        for command in ("boardsize 19", "clear_board", "komi 7.5"):
            one.send(command)
    moves = play_on(*kedge_and_gnugo, seconds=25.0)
    assert "RESIGN" not in moves
    if moves[-2:] == ["PASS", "PASS"]:
        assert len(moves) > 120
        check_the_end(*kedge_and_gnugo)


def test_a_program_that_leaves(go_model):
    """Nobody reads the analysis any more, then nobody writes."""
    command = [KEDGE, "gtp", "--model", go_model]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, **pipes) as process:
        process.stdin.write(b"kata-analyze 1\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"=\n"
        process.stdout.close()
        process.stdin.write(b"name\ngenmove b\n")
        process.stdin.close()
        assert process.wait(20) in (0, 1)
        assert process.stderr.read() == b""
