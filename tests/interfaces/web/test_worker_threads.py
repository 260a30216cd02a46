"""Threads that think, when the program ends before them."""

import subprocess
import sys

import pytest

SCRIPT = """
import asyncio
import time
import numpy as np
from kedge.games.diplomacy import Diplomacy, adjudicate_many
from kedge.interfaces.web.play.agents import worker_threads

worker_threads._PATIENCE = {patience}
board = Diplomacy().initial_state().board
nothing = np.zeros((2000, 1), np.uint32)

def think():
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        adjudicate_many(board, nothing, threads=2)

async def main():
    task = asyncio.ensure_future(worker_threads.WorkerThreads(1, 1).run(think))
    await asyncio.sleep(0.1)
    task.cancel()

asyncio.run(main())
print("the end")
"""


@pytest.mark.parametrize(("patience", "status"), [(30.0, 0), (0.1, 1)])
def test_the_program_ends_cleanly_while_an_agent_thinks(patience, status):
    script = SCRIPT.format(patience=patience)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (status, "the end\n", "")
