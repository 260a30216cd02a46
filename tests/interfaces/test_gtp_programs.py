"""``kedge gtp`` as Go programs meet it: what they send, in their order, and a game with GNU Go."""

import re
import shutil
from pathlib import Path

import pytest
from uci_session import KEDGE, Session

from kedge.agents.gtp_program import GtpProgram

LATE = Path(__file__).with_name("late_game.sgf")
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


def test_sabaki(session):
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


def test_the_end_of_a_game_with_gnu_go():
    """It plays on while points are open, then passes, and both count alike."""
    program = shutil.which("gnugo") or shutil.which("/usr/games/gnugo")
    if program is None:
        pytest.skip("gnugo is not installed")
    ours = [KEDGE, "gtp", "--playouts", "1", "--seed", "1", "--resign", "-1"]
    theirs = [program, "--mode", "gtp", "--level", "1", "--chinese-rules"]
    with GtpProgram(ours) as kedge, GtpProgram(theirs) as gnugo:
        for one in (kedge, gnugo):
            one.send(f"loadsgf {LATE}")
        moves = []
        while len(moves) < 100 and moves[-2:] != ["PASS", "PASS"]:
            mover, other = ((kedge, gnugo), (gnugo, kedge))[len(moves) % 2]
            colour = "bw"[len(moves) % 2]
            moves.append(mover.send(f"genmove {colour}").upper())
            other.send(f"play {colour} {moves[-1]}")
        assert 4 < len(moves) < 60
        assert kedge.send("final_score") == gnugo.send("final_score")
        dead = [one.send("final_status_list dead").split() for one in (kedge, gnugo)]
        assert sorted(dead[0]) == sorted(dead[1])
