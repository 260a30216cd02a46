"""The command itself: killed, interrupted, and where it cannot listen."""

import json
import os
import re
import signal
import socket
import subprocess
import time

import httpx
import pytest
from command import KEDGE, kedge
from websockets.sync.client import connect


@pytest.fixture
def start(own_home):
    """Start the server, and return its process and its address."""
    processes = []

    def begin(*words):
        process = subprocess.Popen(
            [KEDGE, "play", "--no-browser", "--port", "0", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "KEDGE_HOME": str(own_home)},
        )
        processes.append(process)
        line = process.stdout.readline()
        address = re.fullmatch(r"kedge plays at (http://\S+)\n", line)
        assert address, line + process.stderr.read()
        return process, address[1]

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


def answered(address, method="GET", **told):
    return httpx.request(method, address, timeout=20, **told)


def after(address, id, turns):
    """Wait until the game has so many turns, and return it."""
    with connect(f"{address.replace('http', 'ws')}api/v1/sessions/{id}/live") as live:
        while True:
            message = json.loads(live.recv(20))
            if message["type"] == "session" and len(message["session"]["turns"]) >= turns:
                return message["session"]


def test_games_of_a_killed_server_go_on(start):
    process, address = start()
    seats = [{"human": True}, {"dial": 1.0, "settings": {"playouts": 20_000}}]
    told = {"game": "chess", "seats": seats, "setup": {"clock": 600}}
    game = answered(f"{address}api/v1/sessions", "POST", json=told).json()
    path = f"api/v1/sessions/{game['id']}"
    move = {"seat": 0, "move": "e4", "turn": 0}
    assert answered(f"{address}{path}/move", "POST", json=move).json()["thinking"] in ([], [1])
    process.send_signal(signal.SIGKILL)
    process.wait()

    process, address = start()
    found = answered(f"{address}{path}").json()
    assert [turn["name"] for turn in found["turns"]] == ["e4"]
    assert found["seats"][1]["settings"] == {"playouts": 20_000}
    assert found["clock"]["running"] == 1
    quick = {"dial": 0.0}  # the change restarts the thinking agent, which then answers
    answered(f"{address}{path}/seats/1", "PUT", json=quick)
    assert after(address, game["id"], 2)["deciding"] == [0]


def test_ctrl_c_ends_it_at_once_with_games_kept(start):
    process, address = start("chess")
    assert address.endswith("#/chess")
    address = address.removesuffix("#/chess")
    seats = [{"human": True}, {"dial": 1.0, "settings": {"playouts": 20_000}}]
    game = answered(
        f"{address}api/v1/sessions", "POST", json={"game": "chess", "seats": seats, "turns": ["e4"]}
    ).json()
    with connect(f"{address.replace('http', 'ws')}api/v1/sessions/{game['id']}/live") as live:
        live.recv(10)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=10)
    assert time.monotonic() - began < 2.0
    assert process.returncode == 130
    assert said.splitlines()[-1] == "kedge: stopped; games stay saved"
    assert "Traceback" not in said


def test_beyond_this_machine_it_wants_a_token(start):
    process, address = start("--host", "0.0.0.0")
    port, token = re.fullmatch(r"http://[^/]+:(\d+)/\?token=(\S{22})", address).groups()
    here = f"http://127.0.0.1:{port}"
    assert answered(f"{here}/").status_code == 401
    assert httpx.get(f"{here}/api/v1/games", params={"token": token}).status_code == 200
    process.send_signal(signal.SIGINT)
    assert (
        "anyone who reaches this machine and has the address" in process.communicate(timeout=10)[1]
    )


def test_it_answers_where_it_listens(start):
    _, address = start("--host", "127.0.0.2")
    assert answered(f"{address}api/v1/agents").status_code == 200


def test_a_taken_port_is_one_line():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = kedge("play", "--no-browser", "--port", taken.getsockname()[1])
    assert done.returncode == 2
    assert re.fullmatch(r"kedge: port \d+ is in use, .*\n", done.stderr)
    assert done.stdout == ""


@pytest.mark.parametrize("words", [("--host", "no.such.host.invalid"), ("--host", "192.0.2.1")])
def test_a_port_that_cannot_be_used_is_one_line(words):
    done = kedge("play", "--no-browser", "--port", "0", *words)
    assert done.returncode == 2
    assert re.fullmatch(r"kedge: cannot listen on .*\n", done.stderr)


def test_a_broken_file_of_games_is_one_line(own_home):
    own_home.mkdir(parents=True)
    (own_home / "games.sqlite").write_text("not a database\n" * 100)
    done = kedge("play", "--no-browser", "--port", "0")
    assert done.returncode == 2
    assert re.fullmatch(r"kedge: \S+games.sqlite: cannot save games .*\n", done.stderr)


def test_a_game_that_is_not_there_is_one_line():
    done = kedge("play", "ches", "--no-browser")
    said = "kedge: unknown game 'ches'; did you mean chess?\n"
    assert (done.returncode, done.stderr) == (2, said)
