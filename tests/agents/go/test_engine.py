"""A player of Go at a board of its own: when it passes and resigns, and how long it thinks."""

import time

import numpy as np
import onnx
import pytest
import tiny_go

from kedge.agents.agent import Analysis
from kedge.agents.board.engine import Control, Limits, Progress
from kedge.agents.go.endings import idle_points, is_late
from kedge.agents.go.engine import GoEngine, Options, TimeControl
from kedge.errors import InputError
from kedge.games.go import BLACK, WHITE, GoState
from kedge.models.board.network import to_onnx

HALVES = ("C3", "D3", "C2", "D2", "C4", "D4", "C5", "D5", "C1", "D1")
PASS = 25


class ScriptedEngine(GoEngine):
    """An engine on a small board with given policies of people and a given value."""

    def __init__(self, options=None, *, people=None, value=0.0, dead=()):
        super().__init__(options, lambda state: dead)
        self.people, self.value = people or {}, value
        self.new_game(5)

    def think(self, limits, control):
        actions = self.state.legal_actions()
        anchor = np.array([self.people.get(action, 1e-3) for action in actions])
        anchor /= anchor.sum()
        found = Analysis(anchor, anchor, anchor * np.nan, self.value)
        yield Progress(lambda: found, 1, 0.0)

    def set_up(self, *points, komi=0.5):
        self.set_komi(komi)
        for turn, point in enumerate(points):
            self.play(turn % 2, self.state.parse_gtp(point))
        return self


def test_points_that_one_colour_reaches():
    engine = ScriptedEngine().set_up(*HALVES)
    assert is_late(engine.state)
    idle = idle_points(engine.state).reshape(5, 5)
    assert idle[:, :2].all()
    assert idle[:, 4].all()
    assert not idle[:, 2:4].any(), "stones are no empty points"
    engine.play(WHITE, engine.state.parse_gtp("B3"))
    assert not idle_points(engine.state).reshape(5, 5)[:, :2].any()
    assert idle_points(engine.state, [11]).reshape(5, 5)[:, :2].all()
    assert not is_late(GoState())
    assert idle_points(GoState()).all()


def test_it_passes_when_nothing_is_left():
    assert ScriptedEngine().set_up(*HALVES).find(BLACK) == PASS
    assert ScriptedEngine().set_up(*HALVES).find(WHITE) == PASS
    alive = ScriptedEngine(dead=()).set_up(*HALVES, "A1", "B3")
    assert alive.find(BLACK) != PASS
    assert ScriptedEngine(dead=[11]).set_up(*HALVES, "A1", "B3").find(BLACK) == PASS
    assert alive.find(WHITE, cleanup=True) != PASS
    needed = ScriptedEngine(people={6: 5.0}).set_up(*HALVES)
    assert needed.find(BLACK) == 6, "what most people play is played"


def test_it_does_not_pass_early():
    for people in ({}, {PASS: 100.0}):
        engine = ScriptedEngine(people=people)
        assert engine.find(BLACK) != PASS
        engine.play(BLACK, 12)
        engine.play(WHITE, PASS)
        assert engine.find(BLACK) != PASS, "nor because the opponent does"


def test_it_fills_no_territory():
    """An open point is left, and most of what search would play is not there."""
    left = [point for point in range(25) if point % 5 < 2]
    engine = ScriptedEngine(people=dict.fromkeys(left, 0.05)).set_up(*HALVES[:-1])
    idle = idle_points(engine.state)
    for seed in range(20):
        engine.seed(seed)
        assert not idle[engine.find(WHITE)]


def test_it_answers_a_pass():
    open_board = HALVES[:-1]
    ahead = ScriptedEngine().set_up(*open_board, "pass", komi=3.5)
    assert ahead.find(BLACK) == PASS, "who is ahead ends it"
    ahead.value = -0.8
    assert ahead.find(BLACK) != PASS, "a group that is counted as dead may live"
    behind = ScriptedEngine().set_up(*open_board, "pass", komi=14.5)
    assert behind.find(BLACK) != PASS


def lost_moves(engine, count):
    """Play `count` moves of Black; return which of them were resignations."""
    found = []
    for _ in range(count):
        found.append(engine.find(BLACK) is None)
        engine.play(BLACK, engine.state.legal_actions()[0])
        engine.play(WHITE, engine.state.legal_actions()[-2])
    return found


def test_it_resigns_lost_games():
    engine = ScriptedEngine(value=-0.95).set_up(komi=24.5)
    assert lost_moves(engine, 6) == [False] * 4 + [True] * 2
    assert engine.find(WHITE) is not None, "each player for itself"
    engine.new_game()
    assert engine.find(BLACK) is not None


def test_it_resigns_though_the_game_is_told_anew():
    """Programs that serve many games with few engines tell all of one before every move."""
    engine, moves, resigned = ScriptedEngine(value=-0.95), [], []
    for point in range(5):
        engine.new_game()
        for player, action in moves:
            engine.play(player, action)
        resigned.append(engine.find(BLACK) is None)
        moves += [(BLACK, point), (WHITE, 24 - point)]
    assert resigned == [False] * 4 + [True]
    assert not any(engine.find(WHITE) is None for _ in range(9)), "one position counts once"
    engine.new_game()
    engine.play(BLACK, 12)
    assert not any(lost_moves(engine, 3)), "another game"


def test_it_does_not_resign():
    never = ScriptedEngine(Options(resign=-1.0), value=-1.0)
    hopeful = ScriptedEngine(value=-0.85)
    close = ScriptedEngine(value=-1.0).set_up(*HALVES, komi=9.5)
    for engine in (never, hopeful, close):
        assert not any(lost_moves(engine, 5))
    lost = ScriptedEngine(value=-1.0).set_up(*HALVES, komi=24.5)
    assert any(lost_moves(lost, 5))


def test_a_better_position_is_no_reason():
    engine = ScriptedEngine(value=-0.95)
    for value in (-0.95, -0.95, -0.95, -0.95, -0.2, -0.95, -0.95):
        engine.value = value
        assert not any(lost_moves(engine, 1))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "tiny.onnx"
    onnx.save(to_onnx(tiny_go.weights()), path)
    return str(path)


def engine_of(model, **options):
    engine = GoEngine(Options(model=model, **options))
    engine.load()
    return engine


def playouts(engine, limits=None):
    *_, last = engine.think(limits or engine.limits(BLACK), Control())
    return last.playouts


def test_playouts_bound_it_in_overtime_too(model):
    engine = engine_of(model, playouts=3)
    assert playouts(engine) == 3
    engine.time_control = TimeControl(0.0, 30.0, 1, 3)
    assert engine.limits(BLACK) == Limits(seconds=30.0)
    assert playouts(engine) == 3


@pytest.mark.parametrize(
    ("control", "left", "most"),
    [
        (TimeControl(0.0, 0.4, 1, 3), None, 0.4),
        (TimeControl(0.0, 1.0, 5), (0.4, 2), 0.2),
        (TimeControl(3.0), None, 0.2),
        (TimeControl(3.0), (0.0, 0), 0.2),
        (TimeControl(0.0, 1.0, 1, 3), (0.0, 2), 0.2),
        (TimeControl(3.0, increment=0.1), None, 0.3),
    ],
)
def test_it_never_flags(model, control, left, most):
    engine = engine_of(model, playouts=0, overhead=0.05)
    engine.time_control = control
    if left is not None:
        control.left[BLACK] = left
    start = time.perf_counter()
    assert playouts(engine) >= 1
    assert time.perf_counter() - start < most + 0.5


def test_a_bound_for_every_move(model):
    engine = engine_of(model, playouts=0, max_time=0.1, overhead=0.0)
    start = time.perf_counter()
    assert playouts(engine) > 1
    assert time.perf_counter() - start < 1.5


def test_a_kept_tree(model):
    engine = engine_of(model, playouts=60, reuse_tree=True, c_puct=0.2)
    engine.find(BLACK)
    engine.play(BLACK, engine.choose(engine._last[1].analysis(), best=True).action)
    first = next(engine.think(Limits(), Control()))
    assert first.kept > 1
    engine.set_player(BLACK)
    assert next(engine.think(Limits(), Control())).kept == 0, "another player, another tree"


def test_models_of_other_games_are_refused():
    with pytest.raises(InputError, match="a model of chess, not of go"):
        engine_of("chess")


def test_a_rank_chooses_the_model():
    engine = GoEngine(Options(rank="3d"))
    assert engine.models(engine.options) == (['go-large(rank="3d")'], 0.0)
    named = Options(model="go-large(year=2003)", rank="pro")
    assert engine.models(named) == (['go-large(rank="pro")'], 0.0)
    assert engine.models(Options()) == (["go"], 0.0)
    against = Options(rank="3d", opponent_rank="6d")
    assert engine.models(against) == (['go-large(rank="3d", opponent="6d")'], 0.0)
    kyu = Options(rank="30k", opponent_rank="9p")
    assert engine.models(kyu) == (['go-large(rank="kyu", opponent="pro")'], 0.0)
    unknown = Options(rank="unknown")
    assert engine.models(unknown) == (['go-large(rank="unknown")'], 0.0)
    said = "opponent rank: has no effect without a rank; set a rank too, such as 3d"
    with pytest.raises(InputError, match=said):
        engine.models(Options(opponent_rank="6d"))
    with pytest.raises(InputError, match="unknown model 'zzz'"):
        engine.models(Options(model="zzz", rank="3d"))


def test_the_model_that_plays_has_a_name():
    assert GoEngine(Options()).model == GoEngine(Options(model="go")).model == "go"
    assert GoEngine(Options(model="go", rank="3d", opponent_rank="6d")).model == "go-large"
    assert GoEngine(Options(model="go-large(year=2003)")).model == "go-large(year=2003)"
