"""``kedge diplomacy join``, on the `diplomacy` package's own server and on one that misbehaves."""

import base64
import hashlib
import importlib.util
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from command import answer, kedge
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from kedge.agents import AGENTS, make_player
from kedge.agents.diplomacy.players import OrdersAgent
from kedge.errors import InputError
from kedge.games.diplomacy import POWERS, Diplomacy
from kedge.interfaces.protocols.diplomacy import bot as diplomacy_bot
from kedge.interfaces.protocols.diplomacy.bot import DiplomacyBot
from kedge.interfaces.protocols.diplomacy.client import connected
from kedge.interfaces.protocols.diplomacy.seats import NewGame, Seats


class RandomOrders(OrdersAgent):
    """Moves and supports of them; `before` is called first, with the position."""

    def __init__(self, before=lambda state: None):
        self._before = before

    model = None  # which a seat does not ask

    def analyse_many(self, questions, rng):
        raise NotImplementedError

    def act_many(self, questions, rng):
        self._before(questions[0][0])
        return [self._orders(state, POWERS[power], rng) for state, power in questions]

    @staticmethod
    def _orders(state, power, rng):
        places = list(state.orders(power).values())
        rng.shuffle(places)
        if state.phase.endswith("A"):
            places = places[: abs(state.adjustment(power))]
        given = []
        for orders in places:
            helps = [order for order in orders if order.partition(" S ")[2] in given]
            moves = [order for order in orders if order[-6:-3] == " - " and " S " not in order]
            given.append(str(rng.choice(helps or moves or orders)))
        return state.pack({power: given})


@pytest.fixture(autouse=True)
def _quick_and_random(monkeypatch):
    monkeypatch.setattr(AGENTS, "_makers", {**AGENTS._makers, "random-orders": RandomOrders})
    monkeypatch.setattr(diplomacy_bot, "_SHORTEST_WAIT", 0.05)


class Server:
    """The package's, as its users start it."""

    def __init__(self, folder):
        self.folder = folder
        with socket.create_server(("localhost", 0)) as one:
            self.port = one.getsockname()[1]
        self.start()

    def start(self):
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "diplomacy.server.run", "--port", str(self.port)],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                # Where tests run in the background Ctrl-C is ignored, and by all that they start.
                preexec_fn=partial(signal.signal, signal.SIGINT, signal.default_int_handler),
            )
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                socket.create_connection(("localhost", self.port)).close()
                return
            except OSError:
                time.sleep(0.05)
        pytest.fail((self.folder / "log").read_text())

    def restart(self):
        self.stop()
        self.start()

    def stop(self):
        self.process.send_signal(signal.SIGINT)  # it saves its games
        self.process.wait(60)

    def join(self, *words):
        return ("diplomacy", "join", "--port", self.port, "--agent", "random-orders", *words)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    found = importlib.util.find_spec("diplomacy")
    if found is None:
        pytest.skip("the package diplomacy is not installed")
    import bcrypt  # the package needs it too

    folder = tmp_path_factory.mktemp("server")
    # Its own hashes take a second each. And when it first starts, it would compute the convoys of
    # all its maps, for minutes.
    secret = base64.b64encode(hashlib.sha256(b"kedge").digest())
    hashed = bcrypt.hashpw(secret, bcrypt.gensalt(4)).decode()
    users = {
        name: {"username": name, "password_hash": hashed} for name in ("kedge", "ann", "admin")
    }
    maps = {path.stem: {} for path in Path(found.origin).parent.glob("maps/*.map")}
    (folder / "data").mkdir()
    (folder / "data/server.json").write_text(
        json.dumps(
            {
                "allow_registrations": True,
                "backup_delay_seconds": 600,
                "ping_seconds": 30,
                "max_games": 0,
                "remove_canceled_games": False,
                "users": {"users": users},
                "available_maps": {**maps, "standard": {"powers": POWERS}},
                "maps_mtime": 2 * time.time(),
            }
        )
    )
    one = Server(folder)
    yield one
    one.stop()


def seats(server, **fields):
    return Seats("localhost", server.port, **{"user": "kedge", "password": "kedge", **fields})


class Bot:
    """One that plays in a thread, with what it said."""

    def __init__(self, seats, agent=None):
        self.told, self.warned, self.result = [], [], None
        self._bot = DiplomacyBot(
            seats,
            agent or RandomOrders(),
            np.random.default_rng(0),
            lambda *told: self.told.append(told),
            self.warned.append,
        )
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    @property
    def powers(self):
        return self._bot.powers

    def _play(self):
        try:
            self.result = self._bot.play()
        except InputError as error:
            self.result = error

    def wait(self):
        self._thread.join(90)
        assert not self._thread.is_alive(), self.warned
        return self.result


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


# --- The package's server -----------------------------------------------------------------------


def record(server, game):
    """Return all orders by phase, as the server stores them."""
    with connected("localhost", server.port) as admin:
        admin.sign_in("admin", "kedge")
        return admin.ask("join_game", game_id=game)["order_history"]


def test_a_game_of_seven_powers(server):
    """Two players play five years to a draw; the server has every order that was sent."""
    new = NewGame(deadline=0)
    one = Bot(seats(server, game="seven", powers=POWERS[:4], new_game=new, last_year=1905))
    until(lambda: one.powers)
    other = Bot(seats(server, game="seven", user="ann", powers="all"))
    results = one.wait()["powers"], other.wait()["powers"]
    assert (tuple(results[0]), tuple(results[1])) == (POWERS[:4], POWERS[4:])
    assert (one.warned, other.warned) == ([], [])
    ends = {**results[0], **results[1]}
    assert {end["outcome"] for end in ends.values()} == {"drawn"}
    assert sum(end["share"] for end in ends.values()) == pytest.approx(1)
    assert int(one.result["last_phase"][1:5]) == 1906
    sent = {(phase, power): orders for phase, power, orders, _ in one.told + other.told}
    assert {phase[-1] for phase, _ in sent} == {"M", "R", "A"}
    *phases, (_, drawn) = record(server, "seven").items()
    assert not any(drawn.values()), "nothing is carried out in the phase that ends it"
    for phase, orders in phases:
        for power in POWERS:
            # A retreat or a build of others' may be over before we hear of it.
            wanted = sent[phase, power] if phase[-1] == "M" else sent.get((phase, power), [])
            assert sorted(orders[power]) == sorted(set(wanted) - {"WAIVE"}), (phase, power)


def test_the_model_that_ships_searches_there(server):
    """The player gets everyone's orders of the phase before."""
    player = make_player("pikl-hedge(diplomacy, iterations=16)", "diplomacy")
    seen = {}

    class Watched(RandomOrders):
        def act_many(self, questions, rng):
            seen.update({state.phase: state.previous for state, _ in questions})
            return player.act_many(questions, rng)

    fields = {"powers": "all", "new_game": NewGame(deadline=0), "last_year": 1901}
    bot = Bot(seats(server, game="model", **fields), Watched())
    assert bot.wait()["last_phase"] == "S1902M", bot.warned
    assert not bot.warned
    assert (len(seen["S1901M"]), len(seen["F1901M"])) == (0, 22)


def test_a_late_agent_a_restarted_server_and_a_failing_agent(server):
    """The bot keeps its seats, comes back, and loses no phase but those its agent did not play."""
    troubles = {
        "S1901M": lambda: time.sleep(3.2),
        "F1901M": server.restart,
        "S1902M": lambda: 1 / 0,
    }
    agent = RandomOrders(lambda state: troubles.pop(state.phase, lambda: None)())
    new = NewGame(deadline=3)
    bot = Bot(seats(server, game="troubles", powers="all", new_game=new, last_year=1902), agent)
    assert bot.wait()["last_phase"] == "S1903M", bot.warned
    late, lost, failed = bot.warned
    assert late == "S1901M: ended before the orders were ready; the units held"
    assert lost.startswith("connection lost (")
    assert failed == (
        "S1902M: the agent failed (ZeroDivisionError: division by zero); the units hold"
    )
    orders = record(server, "troubles")
    assert [any(orders[phase].values()) for phase in ("S1901M", "S1902M")] == [False, False]
    assert all(orders["F1901M"].values())
    assert all(orders["F1902M"].values())


def test_command(server, tmp_path, monkeypatch):
    """What it prints, and what it says to mistakes."""
    words = ("--game", "command", "--power", "all", "--deadline", 0)
    found = answer(*server.join(*words, "--create", "--last-year", 1901))
    assert (found["agent"], found["game"]) == ("random-orders", "command")
    assert found["last_phase"] == "S1902M"
    assert set(found["powers"]) == set(POWERS)
    assert found["phases"] in range(2, 6)

    def interrupt(state):
        raise KeyboardInterrupt

    # A game that two powers start, one of them by somebody who leaves it for now.
    monkeypatch.setitem(AGENTS._makers, "leaves", lambda: RandomOrders(interrupt))
    other = Bot(seats(server, game="two", user="ann", powers=("ITALY",), new_game=NewGame(2)))
    until(lambda: other.powers)
    done = kedge(*server.join("--game", "two", "--power", "france", "--agent", "leaves"))
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "kedge: interrupted; --power FRANCE resumes, without --create\n"

    password = tmp_path / "password"
    password.write_text("other\n")
    for words, said in (
        (
            ("--game", "two", "--power", "ITALY"),
            "ITALY is controlled by someone else. (free powers: A",
        ),
        (("--game", "two", "--power", "GERMANY"), "maximum number of allowed"),
        (("--game", "two", "--create"), "game two exists already; leave out --create"),
        (("--game", "command", "--power", "all"), "This game is finished."),
        (("--game", "none"), "game none is not on this server; create it with --create"),
        (("--game", "two", "--password-file", password), "user kedge: wrong password"),
    ):
        fails(server.join(*words), said)
    with connected("localhost", server.port) as admin:
        admin.sign_in("admin", "kedge")
        role = admin.ask("join_game", game_id="two")["role"]
        admin.ask("delete_game", game_id="two", game_role=role, phase="S1901M")
    assert str(other.wait()) == "game two: was deleted on the server"


def fails(words, said):
    done = kedge(*words)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_mistakes_before_a_server_is_asked(tmp_path):
    empty = tmp_path / "empty"
    empty.touch()
    with socket.create_server(("localhost", 0)) as one:
        port = one.getsockname()[1]
    join = ("diplomacy", "join", "--game", "g", "--agent", "random-orders", "--port", port)
    fails(join, f"localhost:{port}: no Diplomacy server answers (Connection refused)")
    fails((*join, "--host", "no such host"), "no Diplomacy server answers")
    fails((*join, "--power", "france,spain"), "'SPAIN' is not a power")
    fails((*join, "--agent", "go"), "agent go: does not play diplomacy")
    fails((*join, "--password-file", empty), "the first line is empty")
    fails((*join, "--password-file", tmp_path / "none"), "none: No such file")


# --- A server that misbehaves -------------------------------------------------------------------


class FakeServer:
    """It plays FRANCE's game by our rules, and does once, in its Fall, what `fault` says."""

    def __init__(self, fault):
        self.state = Diplomacy().initial_state()
        self.fault, self.asked, self.orders = fault, [], []
        self.refusal, self.record = None, []
        self._server = serve(self._talk, "localhost", 0)
        self.port = self._server.socket.getsockname()[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()

    def _talk(self, client):
        with suppress(ConnectionClosed):
            for text in client:
                request = json.loads(text)
                self.asked.append(request)
                answer = {"name": "ok", "request_id": request["request_id"]}
                if self.fault is not None and self.state.phase == "F1901M":
                    fault, self.fault = self.fault, None
                    if fault(self, client, answer):
                        continue
                name = request["name"]
                if name == "join_game" and self.refusal is not None:
                    client.send(json.dumps({**answer, **self.refusal}))
                elif name != "set_orders":
                    client.send(json.dumps({**answer, "data": self._data(name)}))
                elif request["phase"] != self.state.phase:
                    client.send(json.dumps({**answer, **refused("ResponseException", "too late")}))
                else:
                    client.send(json.dumps(answer))
                    client.send(json.dumps(self.process(request["orders"])))

    def _data(self, name):
        if name == "get_playable_powers":
            return ["FRANCE"]
        if name == "save_game":
            return {"phases": self.record}
        return self.game() if name == "join_game" else "token"

    def game(self):
        found = {"powers": {}, "map_name": "standard", "status": "active", "deadline": 0}
        position = self.state.to_json()
        for power in POWERS:
            units, centers = (position[kind].get(power, []) for kind in ("units", "centers"))
            retreats = position.get("retreats", {}).get(power, {})
            flags = {"order_is_set": 0, "wait": True}
            found["powers"][power] = dict(units=units, centers=centers, retreats=retreats, **flags)
        return {
            **found, "phase_abbr": self.state.phase, "state_history": {}, "order_history": {},
        }  # fmt: skip

    def process(self, given):
        before, orders = self.state.to_json(), {"FRANCE": given}
        self.state.apply(orders)
        self.orders.append((before["name"], given))
        after = self.state.to_json()
        over = self.state.board.year > 1901
        self.record = [
            {"name": before["name"], "state": before, "orders": orders},
            {"name": "COMPLETED" if over else after["name"], "state": after},
        ]
        names = ("previous_phase_data", "current_phase_data")
        return note("game_processed", **dict(zip(names, self.record, strict=True)))


def refused(kind, message):
    return {"name": "error", "error_type": kind, "message": message}


def note(name, **fields):
    return {"name": name, "notification_id": "1", "game_id": "g", **fields}


def says(text):
    def fault(server, client, answer):
        client.send(text)

    return fault


def cut(server, client, answer):
    client.socket.shutdown(socket.SHUT_RDWR)


def mute(server, client, answer):
    return True


def lose_word_of_a_phase(server, client, answer):
    client.send(json.dumps(answer))
    server.process([])
    return True


def be_late(server, client, answer):
    """The phase ends while orders for it are under way."""
    server.process([])


def broken_position(server, client, answer):
    before, after = server.record
    after = {**after, "state": {**after["state"], "units": {"FRANCE": ["A XYZ"]}}}
    broken = note("game_processed", previous_phase_data=before, current_phase_data=after)
    client.send(json.dumps(broken))


FAULTS = {
    "garbage": says('{"name": "game_proc'),
    "no object": says("[1, 2]"),
    "deep": says("[" * 100_000),
    "bytes": says(b"\xff\xfe"),
    "cut": cut,
    "mute": mute,
    "silence": lose_word_of_a_phase,
    "late": be_late,
    "broken position": broken_position,
    "stranger": says(json.dumps({**note("game_processed"), "game_id": "another"})),
    "unknown": says(json.dumps({"name": 7, "request_id": None})),
}


@pytest.fixture
def fake(request):
    server = FakeServer(request.param)
    yield server
    server.close()


def fake_seats(server, **fields):
    return seats(server, game="g", timeout=0.3, silence=0.3, **fields)


@pytest.mark.parametrize("fake", FAULTS.values(), ids=FAULTS, indirect=True)
def test_faults(fake):
    """None of them ends the game, or leaves out a phase that the server did not."""
    fault = fake.fault
    bot = Bot(fake_seats(fake))
    assert bot.wait()["powers"]["FRANCE"]["outcome"] == "drawn", bot.result
    phases = [phase for phase, _ in fake.orders]
    assert phases[:2] == ["S1901M", "F1901M"]
    assert len(phases) == len(set(phases))
    unplayed = [phase for phase, orders in fake.orders if not orders]
    assert unplayed == (["F1901M"] if fault in (lose_word_of_a_phase, be_late) else [])
    assert len(bot.warned) <= 1


def end_without_us(server, client, answer):
    while server.state.board.year == 1901:
        server.process([])
    cancel(server, client, answer)


def cancel(server, client, answer):
    server.refusal = refused("GameFinishedException", "This game is finished.")
    cut(server, client, answer)


def win(server, client, answer):
    server.record[1]["name"] = "COMPLETED"
    centers = server.record[1]["state"]["centers"]
    for power in ("AUSTRIA", "ENGLAND", "GERMANY", "ITALY", "TURKEY"):
        centers["FRANCE"] += centers.pop(power)
    cancel(server, client, answer)


def eliminate(server, client, answer):
    for kind in ("units", "centers"):
        del server.record[1]["state"][kind]["FRANCE"]
    server.refusal = refused("ResponseException", "FRANCE is eliminated.")
    cut(server, client, answer)


@pytest.mark.parametrize(
    ("fake", "outcome"),
    [
        (end_without_us, "drawn"),
        (win, "won"),
        (cancel, "cancelled"),
        (eliminate, "eliminated"),
    ],
    indirect=["fake"],
)
def test_ends_while_away(fake, outcome):
    assert Bot(fake_seats(fake)).wait()["powers"]["FRANCE"]["outcome"] == outcome


def delete(server, client, answer):
    server.refusal = refused("GameIdException", "Invalid game ID.")
    cut(server, client, answer)


@pytest.mark.parametrize("fake", [delete], indirect=True)
def test_deleted_while_away(fake):
    assert str(Bot(fake_seats(fake)).wait()) == "game g: was deleted on the server"


def vote(server, client, answer):
    client.send(json.dumps(note("power_vote_updated", count_voted=1)))


@pytest.mark.parametrize("fake", [vote], indirect=True)
def test_votes(fake):
    Bot(fake_seats(fake, draw="no")).wait()
    votes = [(one["phase"], one["vote"]) for one in fake.asked if one["name"] == "vote"]
    assert votes == [("F1901M", "no")]


def gone(server, client, answer):
    threading.Thread(target=server.close).start()
    cut(server, client, answer)


@pytest.mark.parametrize("fake", [gone], indirect=True)
def test_a_server_that_is_gone(fake):
    bot = Bot(fake_seats(fake, patience=0.1))
    assert str(bot.wait()).endswith(
        "to go on, run this again with --power FRANCE and without --create"
    )
