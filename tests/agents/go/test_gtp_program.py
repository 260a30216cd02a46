import sys

import pytest

from kedge.agents.go.gtp_program import GtpProgram
from kedge.agents.program import LateError
from kedge.errors import InputError

FAKE = """
import sys, time
for line in sys.stdin:
    match line.split():
        case ["list"]: print("noise\\n= one\\ntwo\\n", flush=True)
        case ["refuse"]: print("? not\\tthat\\n", flush=True)
        case ["sleep"]: time.sleep(60)
        case ["die"]: sys.exit("no network\\nat all")
        case ["quit"]: break
        case _: print("=\\n", flush=True)
"""


def fake(timeout=20.0):
    return GtpProgram([sys.executable, "-c", FAKE], timeout)


def test_it_answers_commands():
    with fake() as program:
        assert program.send("list") == "one\ntwo"
        assert program.send("clear_board") == ""
        with pytest.raises(InputError, match=r"refuse: not that$"):
            program.send("refuse")
        assert program.send("list") == "one\ntwo"
        assert program.is_running
    assert not program.is_running


def test_a_program_that_ends_says_why():
    with fake() as program:
        for command in ("die", "list"):
            with pytest.raises(InputError, match=rf"{command}: .* ended with 1 \(at all\)$"):
                program.send(command)
        assert not program.is_running
    with pytest.raises(InputError, match="list: the program was closed"):
        program.send("list")
    program.close()


def test_a_late_program_is_ended():
    with fake(timeout=0.2) as program:
        with pytest.raises(InputError, match=r"sleep: no answer in 0.2 seconds"):
            program.send("sleep")
        assert not program.is_running


def test_the_first_answer_may_take_longer():
    slow = "import time; time.sleep(0.5); print('= up\\n', flush=True); time.sleep(60)"
    with GtpProgram([sys.executable, "-c", slow], timeout=0.2, startup=20.0) as program:
        assert program.send("name") == "up"
        with pytest.raises(LateError, match=r"name: no answer in 0.2 seconds"):
            program.send("name")


@pytest.mark.parametrize("command", ["/nowhere/gnugo", "/tmp"])
def test_a_missing_program_is_reported(command):
    with pytest.raises(InputError, match=rf"{command}: cannot be started \(.+\)$"):
        GtpProgram([command])
