"""The page under load: many games at once, against the same games one after the other.

    python benchmarks/web.py [MODEL]        searches alone (chess, go, or a file such as Maia's)
    python benchmarks/web.py --served       games of chess over HTTP and WebSockets, and how long
                                            other requests take meanwhile
    python benchmarks/web.py --memory 10000 the server's memory over so many games

Both modes use all cores and are timed alternately; the best of each counts. The network alone is
timed in the same run: the gain of a batch is the most that shared searches can gain. ONNX Runtime
shows the speed of sequential searches with a good network library.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import httpx
import numpy as np
import uvicorn
import websockets
from puct import bare, random_states
from timing import rate

from kedge.agents.board.networks import network
from kedge.agents.board.puct import PuctAgent
from kedge.agents.board.shared_search import SharedSearches
from kedge.agents.devices import computing_on
from kedge.interfaces.web.app import ServerOptions, make_app
from kedge.machine import cores
from kedge.models.board.backends import Network
from kedge.models.board.onnx_backends import OnnxNetwork
from kedge.search.puct import Settings

_MOVES = 10  # a game


def network_alone(model: Network, most: int) -> None:
    print("The network alone")
    single = 0.0
    for batch in (1, 8, most, 2 * most):
        forward, rounds = bare(model, batch), max(1, 64 // batch)

        def evaluated(forward=forward, rounds=rounds, batch=batch) -> int:
            for _ in range(rounds):
                forward()
            return rounds * batch

        speed = rate(evaluated, 10)
        single = single or speed
        print(f"  batch {batch:3} {speed:12,.0f} positions/s   {speed / single:.2f}× batch 1")


def shared_against_sequential(
    model: Network, onnx: Network, games: int, playouts: int, rounds: int
) -> None:
    """Compare moves per second of games at once and one after the other."""
    agent, by_onnx = (PuctAgent(each, Settings(2.0, playouts)) for each in (model, onnx))
    states = random_states(model.encoding.game, games)
    together = apart = plain = 0.0
    with closing(SharedSearches(together=games)) as searches:

        def at_once() -> int:
            for search in [searches.submit(agent, state) for state in states]:
                search.result()
            return games

        def in_turn(agent: PuctAgent) -> int:
            for state in states:
                agent.analyse_many([state])
            return games

        for _ in range(rounds):  # alternately, so that other load affects all alike
            together = max(together, rate(at_once, 1))
            apart = max(apart, rate(partial(in_turn, agent), 1))
            plain = max(plain, rate(partial(in_turn, by_onnx), 1))
    print(f"\n{games} searches of {playouts} playouts")
    print(f"  at once                          {together:8.1f} moves/s")
    for name, speed in (("one after the other", apart), ("the same in ONNX Runtime", plain)):
        print(f"  {name:32} {speed:8.1f} moves/s   at once {together / speed:.2f}× as many")


@contextmanager
def server() -> Iterator[tuple[str, int]]:
    """Start a server in its own process; yield its address and process id."""
    with socket.socket() as listener, tempfile.TemporaryDirectory() as folder:
        listener.bind(("127.0.0.1", 0))
        listener.listen(256)
        games = Path(folder) / "games.sqlite"
        process = multiprocessing.Process(target=_serve, args=(listener, games), daemon=True)
        process.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}", process.pid or 0
        finally:
            process.terminate()
            process.join()


def _serve(listener: socket.socket, games: Path) -> None:
    options = ServerOptions(games=games, rate=1e9)  # one client makes all requests
    config = uvicorn.Config(
        make_app(options), log_level="warning", ws_per_message_deflate=False, proxy_headers=False
    )
    uvicorn.Server(config).run(sockets=[listener])


class Player:
    """A client that plays at random and follows the game as the page does."""

    def __init__(self, client: httpx.AsyncClient, address: str, agent: dict) -> None:
        self._client, self._address, self._agent = client, address, agent
        self._random = random.Random(0)

    async def play(self, moves: int) -> int:
        """Play a new game of `moves` moves per side; return how many the agent made."""
        body = {"game": "chess", "seats": [{"human": True}, self._agent]}
        session = (await self._client.post("sessions", json=body)).json()
        path = f"sessions/{session['id']}"
        async with websockets.connect(f"ws://{self._address}/api/v1/{path}/live") as live:
            for made in range(moves):
                legal = session["position"]["legal"]
                if not legal:  # a random player may be mated early
                    return made
                move = self._random.choice(legal)
                body = {"seat": 0, "move": move, "turn": 2 * made}
                (await self._client.post(f"{path}/move", json=body)).raise_for_status()
                while len(session["turns"]) < 2 * made + 2:
                    message = json.loads(await live.recv())
                    session = message.get("session", session)
        return moves


async def together(address: str, agent: dict, games: int, at_once: int, moves: int) -> float:
    """Moves per second of `games` games, `at_once` of them at a time."""
    limits = httpx.Limits(max_connections=at_once, keepalive_expiry=2)  # shorter than the server's
    url = f"http://{address}/api/v1/"
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=600) as client:
        seats = asyncio.Semaphore(at_once)

        async def game() -> int:
            async with seats:
                return await Player(client, address, agent).play(moves)

        began = time.perf_counter()
        made = sum(await asyncio.gather(*(game() for _ in range(games))))
        return made / (time.perf_counter() - began)


class Prober(threading.Thread):
    """Repeats requests that need no search, and records their response times."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self.seconds: list[float] = []
        self._url, self._ended = f"http://{address}/api/v1/", threading.Event()

    def run(self) -> None:
        with httpx.Client(base_url=self._url, timeout=60) as client:
            id = client.post("sessions", json={"game": "chess"}).json()["id"]
            while not self._ended.wait(0.02):
                for path in ("games", f"sessions/{id}"):
                    began = time.perf_counter()
                    client.get(path).raise_for_status()
                    self.seconds.append(time.perf_counter() - began)

    def end(self) -> list[float]:
        self._ended.set()
        self.join()
        return self.seconds


def served(games: int, playouts: int, rounds: int) -> None:
    agent = {"dial": 1.0, "settings": {"playouts": playouts}}
    best, spent, seconds = {games: 0.0, 1: 0.0}, {games: np.inf, 1: np.inf}, []
    with server() as (address, process):
        asyncio.run(together(address, agent, 1, 1, 1))  # loads the model
        for at_once in (games, 1) * rounds:  # alternately: other load affects both alike
            prober = Prober(address)
            if at_once > 1:
                prober.start()
            before, played = _processor(process), games if at_once > 1 else games // 4
            speed = asyncio.run(together(address, agent, played, at_once, _MOVES))
            used = (_processor(process) - before) / (played * _MOVES)
            best[at_once] = max(best[at_once], speed)
            spent[at_once] = min(spent[at_once], used)
            if at_once > 1:
                seconds += prober.end()
    load = os.getloadavg()[0]
    print(f"{games} games of {playouts} playouts over loopback, {cores()} cores, load {load:.1f}")
    for at_once, name in ((games, "at once"), (1, "one after the other")):
        ratio = f"   {best[games] / best[1]:.2f}× at once" if at_once == 1 else ""
        cpu = f"{1000 * spent[at_once]:6.0f} ms of a core each"
        print(f"  {name:19} {best[at_once]:8.1f} moves/s   {cpu}{ratio}")
    middle, late = 1000 * np.quantile(seconds, (0.5, 0.95))
    print(f"  other requests meanwhile ({len(seconds)}): median {middle:.1f} ms, p95 {late:.1f} ms")


def memory(games: int, step: int) -> None:
    print("games started, played and left   the server's memory")
    with server() as (address, process):
        for done in range(step, games + 1, step):
            asyncio.run(together(address, {"dial": 0.0}, step, 32, 2))
            print(f"{done:30,}   {_resident(process):8.0f} MB", flush=True)


def _processor(process: int) -> float:
    """CPU seconds that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", default="chess(elo=1500)", help="chess, go, a path, …")
    parser.add_argument("--device", default="cpu", help="cpu, openvino, cuda, …")
    parser.add_argument("--games", type=int, default=32)
    parser.add_argument("--playouts", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--served", action="store_true", help="play through the server")
    parser.add_argument("--memory", type=int, metavar="GAMES", help="measure the server's memory")
    options = parser.parse_args()
    if options.served:
        served(options.games, options.playouts, options.rounds)
    elif options.memory:
        memory(options.memory, max(1, options.memory // 10))
    else:
        with computing_on(options.device):
            model = network(options.model)
        print(f"{options.model} on {options.device}, {cores()} cores")
        network_alone(model, options.games)
        onnx = OnnxNetwork(model.weights(), threads=cores())
        shared_against_sequential(model, onnx, options.games, options.playouts, options.rounds)


if __name__ == "__main__":
    main()
