"""Searches that share batches: each as if it were alone, whatever becomes of the others."""

import threading
import time
from concurrent.futures import CancelledError
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import tiny_go
import tiny_lc0 as tiny

from kedge.agents import make_agent
from kedge.agents.board.puct import NetworkAgent, PuctAgent
from kedge.agents.board.shared_search import SharedSearch, SharedSearches
from kedge.errors import InputError
from kedge.games.chess import ChessState
from kedge.games.go import GoState
from kedge.models.board.onnx_backends import OnnxNetwork
from kedge.search.puct import Settings

LONG = 1_000_000  # playouts: not to be spent in a test


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return OnnxNetwork(tiny.write(tmp_path_factory.mktemp("models") / "net.pb.gz", tiny.net()))


@pytest.fixture
def agent(network):
    return PuctAgent(network, Settings(playouts=30))


@pytest.fixture
def shared():
    with closing(SharedSearches(together=8, most=40)) as searches:
        yield searches
    assert not threads()


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "searches"]


def positions(start, count):
    rng = np.random.default_rng(0)
    states = []
    for plies in range(count):
        state = start.clone()
        for _ in range(plies):
            state.apply_action(int(rng.choice(state.legal_actions())))
        states.append(state)
    return states


class Counted:
    """A network that notes its batches, waits to be let go on, and fails when told to."""

    def __init__(self, network):
        self.name, self.encoding, self._network = "counted", network.encoding, network
        self.batches, self.fails = [], False
        self.open = threading.Event()
        self.open.set()

    def evaluate_packed(self, masks, numbers):
        self.open.wait(30)
        self.batches.append(len(masks))
        if self.fails:
            raise InputError("out of order")
        return self._network.evaluate_packed(masks, numbers)


def assert_same(found, alone, within=1e-6):
    np.testing.assert_array_equal(found.visits, alone.visits)
    np.testing.assert_allclose(found.policy, alone.policy, atol=within)
    np.testing.assert_allclose(found.value, alone.value, atol=within)


def test_each_is_the_sequential_search_whatever_the_others_dials(shared, network):
    agents = [
        PuctAgent(network, Settings(c_puct=0.5, playouts=40)),
        PuctAgent(network, Settings(c_puct=3.0, playouts=25), temperature=0.3),
        PuctAgent(network, Settings(constant_lambda=0.1), prior_temperature=0.5),
        PuctAgent(network, Settings(playouts=40, batch=4)),
        PuctAgent(network, Settings(playouts=40, gumbel=8, gumbel_seed=1)),
        PuctAgent(network, Settings(playouts=20), forward_lambda=0.1),
        NetworkAgent(network, temperature=0.5),
    ]
    asked = [(each, state) for state in positions(ChessState(), 5) for each in agents]
    searches = [shared.submit(each, state) for each, state in asked]
    for (each, state), search in zip(asked, searches, strict=True):
        (alone,) = each.explain_many([state])
        assert_same(search.result(30), alone)
        assert search.result().lines == alone.lines


def test_shipped_models_too(shared):
    agent = make_agent("puct(chess(elo=1500), playouts=12, c_puct=0.5)")
    states = positions(ChessState(), 12)
    searches = [shared.submit(agent, state) for state in states]
    for state, search in zip(states, searches, strict=True):
        assert_same(search.result(30), agent.analyse_many([state])[0])


def test_go_beside_chess(shared, agent):
    go = PuctAgent(OnnxNetwork(tiny_go.weights()), Settings(playouts=12))
    asked = [(agent, state) for state in positions(ChessState(), 4)]
    asked += [(go, state) for state in positions(GoState(), 4)]
    searches = [shared.submit(each, state) for each, state in asked]
    for (each, state), search in zip(asked, searches, strict=True):
        assert_same(search.result(30), each.analyse_many([state])[0])


def test_the_network_sees_full_batches(shared, network):
    counted = Counted(network)
    counted.open.clear()
    agent = PuctAgent(counted, Settings(playouts=20))
    searches = [shared.submit(agent, ChessState()) for _ in range(16)]
    counted.open.set()
    for search in searches:
        search.result(30)
    assert max(counted.batches) == 8, "the others stand in line"
    assert sum(counted.batches) == 16 * 20
    assert len(counted.batches) <= 3 * 20


def test_a_search_yields_its_analyses_as_it_grows(shared, network):
    agent = PuctAgent(Counted(network), Settings(playouts=30))

    def visits(**options):
        return [int(seen.visits.sum()) for seen in shared.submit(agent, ChessState(), **options)]

    assert visits(every=0.0) == list(range(30))
    assert visits(every=60.0) == [0, 29], "the first look at once"
    assert visits() == [29]
    search = shared.submit(agent, ChessState(), every=0.0)
    assert list(search)[-1] is search.result(0)


def test_many_searches_report_less_often(monkeypatch):
    now, heard = [0.0], {4: 0, 32: 0}
    agent = SimpleNamespace(settings=None, analysis=lambda result: None)
    monkeypatch.setattr("kedge.agents.board.shared_search.perf_counter", lambda: now[0])
    monkeypatch.setattr("kedge.agents.board.shared_search.root_result", lambda *_: None)
    for crowd in heard:
        search = SharedSearch(agent, None, None, every=0.1)
        for step in range(160):  # of ten milliseconds
            now[0] = 100.0 * crowd + step / 100.0
            search.update(None, 0, False, crowd)
        heard[crowd] = search._analyses.qsize()
    assert heard == {4: pytest.approx(16, abs=2), 32: 2}


def test_only_some_moves_and_other_playouts(shared, agent):
    state = ChessState()
    only = state.legal_actions()[3:5]
    beside = shared.submit(agent, state)
    found = shared.submit(agent, state, only=only, playouts=50).result(30)
    assert found.visits.sum() == 49
    assert found.actions[found.visits > 0].tolist() == only
    assert_same(beside.result(30), agent.analyse_many([state])[0])
    with pytest.raises(InputError, match="legal"):
        shared.submit(agent, state, only=[0])
    with pytest.raises(InputError, match="does not search"):
        shared.submit(NetworkAgent(agent.network), state, playouts=50)
    with pytest.raises(InputError, match="batch: at most 8"):
        shared.submit(replace(agent, settings=Settings(batch=9)), state)
    with pytest.raises(InputError, match="agent plays chess"):
        shared.submit(agent, GoState())


def test_the_state_may_go_on_meanwhile(shared, network):
    counted = Counted(network)
    counted.open.clear()
    agent, state = PuctAgent(counted, Settings(playouts=5)), ChessState()
    search = shared.submit(agent, state)
    state.apply_action(state.legal_actions()[0])
    counted.open.set()
    assert search.result(30).actions.tolist() == ChessState().legal_actions()


def test_stopping_gives_what_is_known(shared, agent):
    search = shared.submit(agent, ChessState(), every=0.1, playouts=LONG)
    next(iter(search))
    short = shared.submit(agent, ChessState())
    assert_same(short.result(30), agent.analyse_many([ChessState()])[0])
    assert not search.done(), "a short search does not wait for a long one"
    search.stop()
    found = search.result(30)
    assert 0 < found.visits.sum() < LONG - 1


def test_first_come_first_served_and_not_too_many(agent):
    order = []
    with closing(SharedSearches(together=2, most=5)) as shared:
        long = [shared.submit(agent, ChessState(), playouts=LONG) for _ in range(2)]
        line = [shared.submit(agent, ChessState(), playouts=3) for _ in range(3)]
        with pytest.raises(InputError, match="busy with 5 searches"):
            shared.submit(agent, ChessState())
        line[0].stop()
        with pytest.raises(CancelledError):
            line[0].result(30)
        assert list(line[0]) == []
        line.append(shared.submit(agent, ChessState(), playouts=3))  # there is room again
        for number, search in enumerate(line):
            search.add_done_callback(lambda _, number=number: order.append(number))
        assert not any(search.done() for search in line[1:])
        long[0].stop()
        assert [search.result(30).visits.sum() for search in line[1:]] == [2, 2, 2]
        assert order == [0, 1, 2, 3]
        assert not long[1].done()


def test_a_network_that_fails_fails_its_own_searches_alone(shared, agent, network):
    counted = Counted(network)
    failing = PuctAgent(counted, Settings(playouts=LONG))
    searches = [shared.submit(failing, ChessState()) for _ in range(3)]
    other = shared.submit(agent, ChessState())
    counted.fails = True
    for search in searches:
        with pytest.raises(InputError, match="out of order"):
            search.result(30)
        with pytest.raises(InputError, match="out of order"):
            list(search)
    assert other.result(30).visits.sum() == 29
    counted.fails = False
    assert shared.submit(failing, ChessState(), playouts=9).result(30).visits.sum() == 8


def test_an_agent_that_fails_fails_its_own_search_alone(shared, agent):
    class Failing(PuctAgent):
        def analysis(self, result):
            raise ZeroDivisionError

    other = shared.submit(agent, ChessState())
    with pytest.raises(ZeroDivisionError):
        shared.submit(Failing(agent.network, Settings(playouts=30)), ChessState()).result(30)
    assert other.result(30).visits.sum() == 29


def test_the_thread_ends_when_idle_and_comes_back(agent):
    with closing(SharedSearches(idle=0.05)) as shared:
        assert not threads()
        for _ in range(2):
            shared.submit(agent, ChessState()).result(30)
            until = time.monotonic() + 30
            while threads() and time.monotonic() < until:
                time.sleep(0.01)
            assert not threads()
        assert not shared._groves, "nor does any tree stay"


def test_closing_ends_all(agent):
    shared = SharedSearches(together=1)
    growing = shared.submit(agent, ChessState(), every=0.1, playouts=LONG)
    in_line = shared.submit(agent, ChessState())
    next(iter(growing))
    shared.close()
    assert growing.result(0).visits.sum() < LONG - 1
    assert in_line.cancelled()
    assert not threads()
    with pytest.raises(InputError, match="closed"):
        shared.submit(agent, ChessState())
    shared.close()
