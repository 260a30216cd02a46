"""The engine behind UCI: models by rating, how moves are drawn, how long it thinks."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import tiny_lc0 as tiny

from kedge.agents.board.engine import Control, Limits
from kedge.agents.chess.engine import Engine, Options, choose_models, human_seconds
from kedge.errors import InputError
from kedge.games.chess import ChessState
from kedge.models import store
from kedge.models.board.mixture import MixedNetwork
from kedge.models.board.onnx_backends import OnnxNetwork
from kedge.models.chess.encoding import encode_chess
from kedge.models.chess.lc0 import parse_lc0


@pytest.fixture
def rated(tmp_path, monkeypatch):
    """Stored models that go by Maia's names."""
    monkeypatch.setattr(store, "public", dict)
    for rating in (1100, 1500, 1900):
        path = tiny.write(tmp_path / f"{rating}.pb.gz", tiny.net(seed=rating))
        store.add(f"maia-{rating}", path)


@pytest.mark.parametrize(
    ("elo", "names", "share"),
    [
        (1500, ["maia-1500"], 0.0),
        (1900, ["maia-1900"], 0.0),
        (1000, ["chess(elo=1000)"], 0.0),
        (2500, ["chess(elo=2500)"], 0.0),
        (1600, ["maia-1500", "maia-1900"], 0.25),
    ],
)
@pytest.mark.usefixtures("rated")
def test_a_rating_picks_the_models_around_it(elo, names, share):
    assert choose_models(Options(elo=elo)) == (names, share)
    assert choose_models(Options(elo=elo, model="other")) == (names, share)


@pytest.mark.usefixtures("rated")
def test_the_shipped_model_is_told_the_rating_if_it_is_named():
    for model in ("chess", "chess(elo=2000)"):
        assert choose_models(Options(elo=1500, model=model)) == (["chess(elo=1500)"], 0.0)
    assert choose_models(Options(model="chess(elo=2000)")) == (["chess(elo=2000)"], 0.0)


def test_one_rated_model_plays_its_rating_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "public", dict)
    store.add("maia-1900", tiny.write(tmp_path / "net.pb", tiny.net()))
    assert choose_models(Options(elo=1900)) == (["maia-1900"], 0.0)
    assert choose_models(Options(elo=800)) == (["chess(elo=800)"], 0.0)


def test_the_shipped_model_knows_every_rating():
    assert choose_models(Options()) == (["chess"], 0.0)
    assert choose_models(Options(elo=1650)) == (["chess(elo=1650)"], 0.0)
    engine = Engine()
    engine.options = Options(elo=1500)
    assert engine.load() == "plays chess(elo=1500)"
    assert engine.load() is None


def test_a_rating_counts_before_a_named_model(tmp_path):
    store.add("beta", tiny.write(tmp_path / "net.pb", tiny.net()))
    engine = Engine()
    engine.options = Options(model="beta", elo=1500)
    assert engine.load() == "by rating, not with beta: plays chess(elo=1500)"
    engine.options = Options(model="chess", elo=1600)
    assert engine.load() == "plays chess(elo=1600)"


def test_a_model_that_cannot_be_had_leaves_another(tmp_path):
    engine = Engine()
    engine.options = Options(model="nobody")
    with pytest.raises(InputError, match=r"nobody.*; the engine now plays chess$"):
        engine.load()
    assert think(engine, Limits(playouts=3)).playouts == 3
    path = str(tiny.write(tmp_path / "net.pb.gz", tiny.net()))
    engine.options = Options(model=path)
    assert engine.load() == f"plays {path}"
    engine.options = Options(model=path, value_model="nobody")
    with pytest.raises(InputError, match=r"net.pb.gz$"):
        engine.load()
    engine.options = Options(model=path)
    assert engine.load() is None, "it was there all the time"


def test_mixture():
    first, second = (OnnxNetwork(parse_lc0(tiny.net(seed=seed), "net")) for seed in (0, 1))
    packed = encode_chess([ChessState()])
    a, b = first.evaluate_packed(*packed), second.evaluate_packed(*packed)
    mixed = MixedNetwork(first, second, 0.25).evaluate_packed(*packed)
    np.testing.assert_allclose(mixed.policy, 0.75 * a.policy + 0.25 * b.policy, rtol=1e-6)
    np.testing.assert_allclose(mixed.value, 0.75 * a.value + 0.25 * b.value, rtol=1e-6)
    assert mixed.policy.dtype == np.float32


def test_people_take_longer_over_hard_choices():
    rng = np.random.default_rng(0)
    late = ChessState.from_fen("8/8/8/4k3/8/4K3/4P3/8 w - - 0 20")
    limits = Limits(remaining=300.0)

    def median(policy, state=late, limits=limits, longest=300.0):
        drawn = [human_seconds(policy, state, limits, longest, rng) for _ in range(500)]
        return np.median(drawn)

    hard, easy = np.full(8, 0.125), np.array([1.0])
    assert median(easy) < 0.5 * median(hard)
    assert median(hard, ChessState()) < 0.3 * median(hard)
    assert 2.0 < median(hard) < 10.0
    assert median(hard) < median(hard, limits=Limits(remaining=300.0, increment=10.0))
    assert median(hard) < 0.7 * median(hard, limits=Limits(remaining=1800.0), longest=1800.0)
    assert median(hard, limits=Limits(remaining=300.0, moves_to_go=5)) > median(hard)
    assert median(hard, limits=Limits(remaining=1.0)) == pytest.approx(0.1)
    assert human_seconds(hard, late, Limits(remaining=0.0), 0.0, rng) == 0.0


def test_a_game_by_human_time_is_not_lost_on_time():
    rng = np.random.default_rng(0)
    state, policy = ChessState.from_fen("8/8/8/4k3/8/4K3/4P3/8 w - - 0 20"), np.full(8, 0.125)
    remaining = 60.0
    for _ in range(80):
        taken = human_seconds(policy, state, Limits(remaining=remaining), 60.0, rng)
        assert taken <= remaining / 10
        remaining -= taken
    assert remaining < 10.0


@pytest.fixture
def engine(tmp_path):
    engine = Engine()
    path = tiny.write(tmp_path / "net.pb.gz", tiny.net())
    engine.options = Options(model=str(path))
    engine.load()
    return engine


def think(engine, limits, control=None):
    *_, last = engine.think(limits, control or Control())
    return last


@pytest.mark.parametrize(
    ("limits", "playouts"),
    [
        (Limits(), 50),
        (Limits(playouts=7), 7),
        (Limits(playouts=7, seconds=60.0), 7),
        (Limits(remaining=1000.0), 50),
        (Limits(remaining=0.0), 1),
        (Limits(seconds=0.0), 1),
    ],
)
def test_limits(engine, limits, playouts):
    assert think(engine, limits).playouts == playouts


def test_a_depth_is_so_many_playouts_where_nothing_else_is_said(engine):
    assert think(engine, Limits(depth=3)).playouts == 50
    engine.options = replace(engine.options, playouts=0)
    assert think(engine, Limits(depth=3)).playouts == 150
    assert think(engine, Limits(depth=3, playouts=7)).playouts == 7


def test_leaves_wait_together(engine):
    engine.options = replace(engine.options, batch=8)
    seen = [thought.playouts for thought in engine.think(Limits(playouts=60), Control())]
    assert seen[0] == 1
    assert seen[-1] == 60
    assert len(seen) < 30
    assert think(engine, Limits(playouts=60)).analysis().visits.sum() == 59


def test_another_model_may_judge(engine, tmp_path):
    other = str(tiny.write(tmp_path / "other.pb.gz", tiny.net(seed=4)))
    alone = think(engine, Limits(playouts=1)).analysis()
    engine.options = replace(engine.options, value_model=other)
    assert engine.load().endswith(f"; {other} values positions")
    assert engine.load() is None
    both = think(engine, Limits(playouts=1)).analysis()
    engine.options = replace(engine.options, model=other, value_model=None)
    engine.load()
    judged = think(engine, Limits(playouts=1)).analysis()
    np.testing.assert_array_equal(both.anchor, alone.anchor)
    assert both.value == judged.value != alone.value


def test_the_tree_is_kept_for_the_next_move(engine):
    engine.options = replace(engine.options, c_puct=0.5)
    fresh = think(engine, Limits(playouts=200)).analysis()
    line = [engine.state.uci(action) for action in max(fresh.lines, key=len)]
    index = [moves[0] for moves in fresh.lines].index(max(fresh.lines, key=len)[0])
    engine.set_position(None, line[:1])
    alone = think(engine, Limits(playouts=300))
    assert alone.kept == 0, "off unless asked for"

    def begin(**change):
        engine.options = replace(engine.options, reuse_tree=True, **change)
        engine.set_position(None)
        again = think(engine, Limits(playouts=200))
        assert again.analysis().visits.tolist() == fresh.visits.tolist()
        engine.set_position(None, line[:1])

    begin()
    first = next(engine.think(Limits(playouts=1), Control()))
    assert first.kept == first.playouts == fresh.visits[index], "at least as many as asked for"
    last = think(engine, Limits(playouts=300))
    assert (last.kept, last.playouts) == (fresh.visits[index], 300)
    found = last.analysis()
    assert found.visits.sum() == 299
    assert len(found.visits) == len(engine.state.legal_actions())
    reply = found.visits.argmax()
    engine.set_position(None, [*line[:1], engine.state.uci(engine.state.legal_actions()[reply])])
    assert think(engine, Limits(playouts=300)).kept == found.visits[reply]
    begin()
    engine.set_position(None, line[:2])
    assert think(engine, Limits(playouts=300)).kept > 0, "two moves"


@pytest.mark.parametrize("why", ["takeback", "position", "option", "model", "searchmoves", "game"])
def test_the_tree_is_not_kept(engine, why, tmp_path):
    engine.options = replace(engine.options, reuse_tree=True)
    limits = Limits(playouts=50)
    engine.set_position(None, ["e2e4"])
    think(engine, limits)
    assert think(engine, limits).kept == 50
    if why == "takeback":
        engine.set_position(None, [])
    elif why == "position":  # the same board, by another road
        engine.set_position(engine.state.fen())
    elif why == "option":
        engine.options = replace(engine.options, c_puct=1.0)
    elif why == "model":
        path = tiny.write(tmp_path / "other.pb.gz", tiny.net(seed=4))
        engine.options = replace(engine.options, model=str(path))
        engine.load()
    elif why == "searchmoves":
        limits = replace(limits, only=tuple(engine.state.legal_actions()[:3]))
    else:
        engine.new_game()
        engine.set_position(None, ["e2e4"])
    found = think(engine, limits)
    assert found.kept == 0
    if why == "searchmoves":
        assert think(engine, Limits(playouts=50)).kept == 0, "nor is one of some moves only"


def test_time_is_kept(engine):
    start = time.perf_counter()
    assert think(engine, Limits(seconds=0.2)).playouts > 50
    assert 0.1 < time.perf_counter() - start < 1.5
    engine.options = Options(model=engine.options.model, playouts=0)
    start = time.perf_counter()
    assert think(engine, Limits(remaining=6.0)).playouts > 50
    assert 0.1 < time.perf_counter() - start < 1.5


def test_memory_bounds_the_tree(engine):
    engine.options = Options(model=engine.options.model, memory=1)
    control = Control()
    threading.Timer(1.5, control.stop).start()
    last = think(engine, Limits(infinite=True), control)
    assert last.playouts == 333
    assert control.seconds >= 1.5, "infinite is until stopped"


def test_pondering_waits_for_the_hit(engine):
    control = Control(pondering=True)
    threading.Timer(0.3, control.ponderhit).start()
    assert think(engine, Limits(), control).playouts == 50
    assert control.seconds >= 0.3
    assert control.clock < 0.2


def test_human_time_waits(engine):
    engine.options = Options(model=engine.options.model, human_time=True)
    control = Control()
    think(engine, Limits(remaining=20.0), control)
    assert control.seconds >= 0.15
    control = Control()
    threading.Timer(0.1, control.stop).start()
    think(engine, Limits(remaining=10_000.0), control)
    assert control.seconds < 2.0, "stop ends the wait"


def test_choices(engine):
    engine.set_position(None, ["e2e4"])
    found = think(engine, Limits(playouts=100)).analysis()
    best = engine.choose(found, best=True).action
    drawn = {engine.choose(found).action for _ in range(200)}
    assert len(drawn) > 1
    engine.options = Options(top_p=1e-6)
    assert {engine.choose(found).action for _ in range(20)} == {best}
    engine.seed(5)
    assert drawn <= set(engine.state.legal_actions())


def test_the_legal_start_of_moves_is_kept(engine):
    with pytest.raises(InputError, match="move 3"):
        engine.set_position(None, ["e2e4", "e7e5", "e4e5", "d7d5"])
    assert [engine.state.uci(action) for action in engine.state.history] == ["e2e4", "e7e5"]
    with pytest.raises(InputError, match="FEN"):
        engine.set_position("rubbish")
    assert len(engine.state.history) == 2


@pytest.mark.parametrize(
    "bad",
    [
        {"c_puct": -1.0},
        {"temperature": -1.0},
        {"prior_temperature": 0.0},
        {"top_p": 0.0},
        {"batch": 0},
    ],
)
def test_bad_options(bad):
    with pytest.raises(InputError):
        Options(**bad)


def test_a_model_takes_the_clock_as_input_if_it_can(tmp_path):
    engine = Engine()
    assert engine.load() == "plays chess"
    engine.set_clock(Limits(remaining=170.0, increment=2.0))
    assert engine.load() == "plays chess(speed=blitz, clock=120)"
    engine.set_clock(Limits(remaining=160.0, increment=2.0))
    assert engine.load() is None, "a game needs few networks"
    engine.set_clock(Limits(remaining=6.0, increment=2.0))
    assert engine.load() == "plays chess(speed=blitz, clock=5)", "the speed is that of the game"
    engine.options = replace(engine.options, elo=1700, model="chess")
    assert engine.load() == "plays chess(speed=blitz, clock=5, elo=1700)"
    engine.options = Options(model=str(tiny.write(tmp_path / "net.pb", tiny.net())))
    assert "clock=" not in engine.load(), "other models take no clock"
    engine.options = Options()
    engine.set_clock(Limits(seconds=1.0))
    assert engine.load() == "plays chess"
