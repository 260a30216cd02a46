"""Connect Four as a package of its own: the rules, and all that kedge makes of its entry."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from kedge_connect_four import ENTRY
from kedge_connect_four.game import COLUMNS, ROWS, ConnectFourState

from kedge import catalogue
from kedge.agents import make_agent
from kedge.errors import InputError
from kedge.games.conformance import check_game

KEDGE = str(Path(sys.executable).with_name("kedge"))


def kedge(*words):
    return subprocess.run([KEDGE, *words], capture_output=True, text=True, timeout=120)


def played(moves):
    state = ConnectFourState()
    for column in moves:
        state.apply_action(int(column) - 1)
    return state


def test_kedge_finds_the_game():
    assert catalogue.find("connect-four") == ENTRY


def test_conforms():
    for seed in range(5):
        check_game("connect-four", seed)


@pytest.mark.parametrize(
    "moves",
    ["1212121", "1121314", "12233434474", "76655454414"],
    ids=["column", "row", "rising", "falling"],
)
def test_four_in_a_line_wins(moves):
    assert played(moves[:-1]).winner is None
    state = played(moves)
    assert state.winner == (len(moves) - 1) % 2
    assert state.termination() == "four in a line"
    assert state.legal_actions() == []


def brute_force_wins(state):
    """Whether a line of four is anywhere on the board."""
    board = {(x, y): state.disc(x, y) for x in range(COLUMNS) for y in range(ROWS)}
    for (x, y), disc in board.items():
        for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
            line = [board.get((x + k * dx, y + k * dy)) for k in range(4)]
            if disc is not None and line == [disc] * 4:
                return True
    return False


def test_random_games_end_as_a_look_at_the_whole_board_says():
    rng = np.random.default_rng(0)
    for _ in range(200):
        state = ConnectFourState()
        while not state.is_terminal():
            assert not brute_force_wins(state)
            state.apply_action(int(rng.choice(state.legal_actions())))
        assert brute_force_wins(state) == (state.winner is not None)


def test_bad_moves_are_refused():
    with pytest.raises(InputError, match="column 1 is full"):
        played("1111111")
    with pytest.raises(InputError, match="column 8"):
        played("8")


def test_search_takes_and_stops_four_in_a_line():
    agent = make_agent("puct(uniform, playouts=400, temperature=0)")
    assert agent.analyse_many([played("121212")])[0].rows()[0].action == 0
    assert agent.analyse_many([played("12131")])[0].rows()[0].action == 0


def test_policy():
    shown = kedge("policy", "connect-four", "--moves", "1 2 1 2 1 2", "--json")
    assert (shown.returncode, shown.stderr) == (0, "")
    rows = json.loads(shown.stdout)["moves"]
    assert rows[0]["move"] == "1"
    assert {"move", "anchor", "policy", "q", "visits"} <= set(rows[0])


def test_match(tmp_path):
    done = kedge(
        "match", "connect-four", "puct(uniform, playouts=200)", "puct(uniform, playouts=20)",
        "--games", "8", "--folder", str(tmp_path / "run"), "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["games"] == 8
    assert result["score"] > 0.5


def ask(url, **body):
    data = json.dumps(body).encode() if body else None
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=30) as answer:
        return answer.read().decode()


def test_page(tmp_path):
    """The server offers the game, hands out its board, and answers a move."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [KEDGE, "play", "connect-four", "--no-browser", "--port", str(port)],
        env={**os.environ, "KEDGE_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        line = server.stdout.readline()
        assert f":{port}" in line, line
        site = f"http://127.0.0.1:{port}"
        games = json.loads(ask(f"{site}/api/v1/games"))
        game = next(game for game in games if game["game"] == "connect-four")
        assert game["title"] == "Connect Four"
        assert "export function Board" in ask(site + game["script"])
        seats = [{"human": True}, {"agent": "puct(uniform, playouts=50)"}]
        session = json.loads(ask(f"{site}/api/v1/sessions", game="connect-four", seats=seats))
        path = f"{site}/api/v1/sessions/{session['id']}"
        ask(f"{path}/move", seat=0, move="4", turn=0)
        for _ in range(100):
            session = json.loads(ask(path))
            if len(session["turns"]) == 2:
                break
            time.sleep(0.1)
        assert session["turns"][0]["name"] == "4"
        assert len(session["turns"]) == 2
    finally:
        server.terminate()
        server.wait(20)
