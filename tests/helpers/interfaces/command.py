"""The command line, with its output and its exit code."""

import contextlib
import gc
import io
import json
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest import mock

from kedge.__main__ import main

#: For what only a process of its own has: signals, pipes, terminals.
KEDGE = str(Path(sys.executable).with_name("kedge"))


def kedge(*words: object, cwd: str | Path = ".") -> CompletedProcess[str]:
    """What the command does, within this process: starting Python takes longer than most do."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    argv = mock.patch.object(sys, "argv", ["kedge", *map(str, words)])
    streams = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    with contextlib.chdir(cwd), argv, streams[0], streams[1]:
        try:
            main()
        except SystemExit as end:
            code = end.code
    gc.unfreeze()  # what main froze for its own end
    return CompletedProcess(list(words), int(code or 0), _text(out), _text(err))


def answer(*words: object, cwd: str | Path = ".") -> dict[str, Any]:
    """The JSON object that it prints, and nothing else but, on a busy machine, how far it is."""
    done = kedge(*words, "--json", cwd=cwd)
    trouble = [line for line in done.stderr.splitlines() if " tasks done" not in line]
    assert (done.returncode, trouble) == (0, [])
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
