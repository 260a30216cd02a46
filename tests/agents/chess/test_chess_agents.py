"""Specs of chess agents: a model alone, and PUCT over it."""

import os
from dataclasses import replace

import numpy as np
import pytest
import tiny_lc0 as tiny

from kedge import _core
from kedge.agents import make_agent
from kedge.agents.board.puct import NetworkAgent, PuctAgent, Search
from kedge.errors import InputError
from kedge.games import load_game
from kedge.games.chess import ChessState
from kedge.models import store
from kedge.models.board.lanes import open_lanes
from kedge.models.board.network import to_onnx
from kedge.models.chess.lc0 import parse_lc0
from kedge.regularize import forward_kl
from kedge.search.puct import search_many

STATE = ChessState.from_fen("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4")


@pytest.fixture
def weights(tmp_path):
    return tiny.write(tmp_path / "a net.pb.gz", tiny.net())


@pytest.fixture
def mine(weights):
    store.add("mine", weights)
    return "mine"


def test_specs_name_models_and_searches(mine, weights):
    raw = make_agent("mine(temperature=0.5)")
    assert isinstance(raw, NetworkAgent)
    assert raw.temperature == 0.5
    search = make_agent("puct(mine(temperature=0.5), c_puct=1, playouts=20, temperature=0)")
    assert isinstance(search, PuctAgent)
    assert search.settings.c_puct == 1.0
    assert search.settings.playouts == 20
    assert (search.temperature, search.prior_temperature) == (0.0, 0.5)
    assert search.network is raw.network, "a model is loaded once"
    by_path = make_agent(f'puct("{weights}", c_puct=2)')
    np.testing.assert_array_equal(
        by_path.policy(STATE, 0), make_agent("puct(mine)").policy(STATE, 0)
    )
    for spec in (f'"{weights}"', f'"{weights}"(temperature=1)'):
        np.testing.assert_array_equal(
            make_agent(spec).policy(STATE, 0), make_agent("mine").policy(STATE, 0)
        )


def test_conformance(mine):
    for spec in (
        "mine",
        "puct(mine, playouts=30)",
        "puct(mine, playouts=30, batch=8)",
        "puct(mine, playouts=30, gumbel=8)",
        "puct(mine, playouts=30, forward_lambda=0.1)",
        "puct(mine, playouts=30, value=chess(elo=2000))",
    ):
        agent = make_agent(spec)
        policy = agent.policy(STATE, 0)
        assert policy.sum() == pytest.approx(1.0)
        moves = {agent.act(STATE, 0, np.random.default_rng(seed)) for seed in (0, 0)}
        assert len(moves) == 1
        assert moves <= set(STATE.legal_actions())
        *_, last = agent.analyse(STATE, 0)
        np.testing.assert_array_equal(last.policy, policy)


def test_the_anchors_temperature_is_the_priors(mine):
    plain = next(make_agent("mine").analyse(STATE, 0)).anchor
    prior = next(make_agent("puct(mine(temperature=0.5))").analyse(STATE, 0)).anchor
    np.testing.assert_allclose(prior, plain**2 / (plain**2).sum(), atol=1e-6)


def test_many_states_are_searched_as_each_alone(mine, monkeypatch):
    monkeypatch.setattr("kedge.agents.board.puct.batch_size", lambda network: 3)  # several chunks
    rng = np.random.default_rng(0)
    states = []
    for plies in range(8):
        state = ChessState()
        for _ in range(plies):
            state.apply_action(int(rng.choice(state.legal_actions())))
        states.append(state)
    for spec in ("mine", "puct(mine, playouts=30, temperature=0.5)"):
        agent = make_agent(spec)
        many, with_lines = agent.analyse_many(states), agent.explain_many(states)
        for state, one, lined in zip(states, many, with_lines, strict=True):
            (alone,) = agent.analyse_many([state])
            for found in (one, lined):
                np.testing.assert_allclose(found.policy, alone.policy, atol=1e-5)
                assert found.top1 == alone.top1
                assert found.actions.tolist() == state.legal_actions()
            assert all(line[0] == a for line, a in zip(lined.lines, one.actions, strict=True))
    over = ChessState.from_fen("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")
    with pytest.raises(InputError, match="over"):
        make_agent("mine").analyse_many([STATE, over])


def test_only_some_moves_are_searched(mine):
    agent = make_agent("puct(mine, playouts=200, c_puct=0.5)")
    only = STATE.legal_actions()[::7]
    search = Search(agent, STATE, only)
    *_, playouts = search.run()
    found = search.analysis()
    assert playouts == 200
    allowed = np.isin(STATE.legal_actions(), only)
    assert found.visits[~allowed].sum() == 0
    assert found.visits.sum() == 199
    for policy in (found.anchor, found.policy, found.smooth):
        assert policy[allowed].sum() == pytest.approx(1.0)
    with pytest.raises(InputError, match="legal"):
        Search(agent, STATE, [0])


@pytest.fixture
def other(tmp_path):
    store.add("other", tiny.write(tmp_path / "other.pb.gz", tiny.net(seed=9)))
    return "other"


def test_one_model_plays_and_another_judges(mine, other):
    agent = make_agent("puct(mine, value=other, playouts=60, c_puct=1)")
    moves, judge = (make_agent(name).network for name in (mine, other))
    (mine_lane,), (other_lane,) = (open_lanes(network, 1) for network in (moves, judge))

    def by_hand(forest):
        (logits, _), (_, values) = (
            lane.evaluate(*forest.encode(lane.masks, lane.numbers, lane.moves))
            for lane in (mine_lane, other_lane)
        )
        forest.update_logits(logits, values)

    (expected,) = search_many(_core.ChessForest(1), [STATE.board], by_hand, agent.settings)
    (found,) = agent.analyse_many([STATE])
    assert found.visits.tolist() == expected.visits.tolist()
    np.testing.assert_array_equal(found.q, expected.q)
    assert (
        found.visits.tolist()
        != make_agent("puct(mine, playouts=60, c_puct=1)").analyse_many([STATE])[0].visits.tolist()
    )
    planes = np.zeros((1, 112, 8, 8), np.float32)
    split = agent.network.evaluate(planes)
    np.testing.assert_array_equal(split.policy, moves.evaluate(planes).policy)
    np.testing.assert_array_equal(split.value, judge.evaluate(planes).value)
    assert make_agent("puct(mine, value=mine)").network is moves, "asked once"


def test_the_forward_choice(mine):
    agent = make_agent("puct(mine, playouts=60, forward_lambda=0.2, temperature=0.5)")
    (found,) = agent.analyse_many([STATE])
    tried = found.visits > 0
    q = np.where(tried, found.q, found.q[tried].mean())
    np.testing.assert_allclose(found.smooth, forward_kl(found.anchor, q, 0.2), atol=1e-12)
    np.testing.assert_allclose(found.policy, found.smooth**2 / (found.smooth**2).sum(), atol=1e-12)
    assert found.top1 == found.smooth.argmax()
    (plain,) = make_agent("puct(mine, playouts=60)").analyse_many([STATE])
    assert found.visits.tolist() == plain.visits.tolist(), "the search is the same"
    (greedy,) = make_agent(
        "puct(mine, playouts=60, forward_lambda=0.2, temperature=0)"
    ).analyse_many([STATE])
    assert greedy.policy[found.top1] == 1.0


def test_analyses_tell_how_far_the_search_is(mine, monkeypatch):
    agent = make_agent("puct(mine, playouts=20)")
    monkeypatch.setattr("kedge.agents.board.puct._EVERY", 0.0)
    analyses = list(agent.analyse(STATE, 0))
    assert [analysis.progress for analysis in analyses] == [n / 20 for n in range(1, 21)]
    assert [int(analysis.visits.sum()) for analysis in analyses] == list(range(20))
    monkeypatch.setattr("kedge.agents.board.puct._EVERY", 60.0)
    first, last = agent.analyse(STATE, 0)
    assert (first.progress, last.progress) == (1 / 20, 1.0)
    assert last.visits.tolist() == analyses[-1].visits.tolist()


def test_a_search_is_watched_left_and_resumed(mine):
    agent = make_agent("puct(mine, playouts=60, batch=8)")
    search = Search(agent, STATE)
    seen = []
    for playouts in search.run():
        seen.append(playouts)
        assert search.analysis().visits.sum() == playouts - 1
        if playouts > 30:
            break
    assert seen[0] == 1
    assert seen == sorted(set(seen))
    *_, last = search.run()
    assert last == search.playouts == 60
    assert list(search.run(40)) == [60], "there is nothing to do"
    (whole,) = agent.analyse_many([STATE])
    assert search.analysis().visits.tolist() == whole.visits.tolist()


def test_a_search_that_fails_leaves_no_leaf_waiting(mine, monkeypatch):
    search = Search(make_agent("puct(mine, playouts=40)"), STATE)
    for playouts in search.run():
        if playouts == 20:
            break
    before = search.analysis().visits.tolist()
    monkeypatch.setattr(search._grove, "_evaluate", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        list(search.run())
    monkeypatch.undo()
    assert search.analysis().visits.tolist() == before
    list(search.run())
    (whole,) = search.agent.analyse_many([STATE])
    assert search.analysis().visits.tolist() == whole.visits.tolist()


def test_a_search_goes_on_after_a_move(mine):
    search = Search(make_agent("puct(mine, playouts=100, c_puct=0.5)"), STATE)
    list(search.run())
    found = search.analysis()
    index = max(range(len(found.lines)), key=lambda i: (len(found.lines[i]), found.visits[i]))
    action, reply, *_ = found.lines[index]
    search.advance(action)
    assert search.playouts == found.visits[index]
    kept = search.analysis()
    assert kept.visits.sum() == found.visits[index] - 1
    assert kept.value == pytest.approx(-found.q[index])
    list(search.run())
    assert search.playouts == 100
    assert (search.analysis().visits >= kept.visits).all()
    search.advance(reply)
    assert search.state.history == [action, reply]
    assert search.playouts > 0
    with pytest.raises(InputError, match="legal"):
        search.advance(0)
    gumbel = Search(make_agent("puct(mine, gumbel=4)"), STATE)
    with pytest.raises(InputError, match="Gumbel"):
        gumbel.advance(action)
    # The mated cannot go on.
    mate = Search(search.agent, STATE)
    mate.advance(STATE.parse_san("Qxf7#"))
    with pytest.raises(InputError, match="over"):
        next(mate.run())


def test_another_games_state_is_refused(mine):
    state = load_game("rock-paper-scissors").initial_state()
    for spec in ("mine", "puct(mine)"):
        agent = make_agent(spec)
        for ask in (
            lambda agent=agent: agent.policy(state, 0),
            lambda agent=agent: agent.act(state, 0, np.random.default_rng(0)),
            lambda agent=agent: next(agent.analyse(state, 0)),
        ):
            with pytest.raises(InputError, match="agent plays chess, not states"):
                ask()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("maia-1900", "kedge models pull maia-1900"),
        ("puct(maia-1900)", "kedge models pull maia-1900"),
        ("mien", "did you mean mine"),
        ("pcut(mine)", "did you mean puct"),
        ("mine(heat=1)", "heat"),
        ("mine(temperature=-1)", "temperature"),
        ("mine(0.5)", "too many values without a name; it takes temperature"),
        ("puct(mine, 2)", "too many values without a name; it takes anchor, c_puct"),
        ("mine(temperature=warm)", "temperature: a number"),
        ("puct(conventions)", "cannot search over conventions"),
        ("puct(3)", "anchor"),
        ("puct(puct(mine))", r"cannot search over puct\(mine\)"),
        ("puct(mine, playouts=0)", "playouts"),
        ("puct(mine, playouts=2.5)", "playouts"),
        ("puct(mine, c_puct=-1)", "c_puct"),
        ("puct(mine(temperature=0))", "anchor"),
        ("puct(mine, value=uniform)", "value"),
        ("puct(mine, value=3)", "value"),
        ("puct(mine, value=go)", "a model of go cannot value positions of chess"),
        ("puct(mine, value=mien)", "did you mean mine"),
        ("puct(mine, batch=0)", "batch"),
        ("puct(mine, batch=1.5)", "batch: a whole number"),
        ("puct(mine, gumbel=-1)", "gumbel"),
        ("puct(mine, forward_lambda=-1)", "forward_lambda"),
        ("puct(mine, forward_lambda=much)", "forward_lambda: a number"),
        ("none.pb.gz", "none.pb.gz: no such file"),
        ("pikl-hedge(mine)", "anchor mine: [a-z-]+ does not search the game"),
        ("mmd(puct(mine))", r"anchor puct\(mine\): [a-z-]+ does not search the game"),
        ("dil-pikl(chess)", "anchor chess: [a-z-]+ does not search the game"),
        ('puct("no such/net.pb.gz")', "no such/net.pb.gz: no such file"),
    ],
)
def test_bad_specs_are_one_line(mine, spec, said):
    with pytest.raises(InputError, match=said) as caught:
        make_agent(spec)
    assert "\n" not in str(caught.value)


def test_a_network_that_overflows_is_named(tmp_path):
    weights = parse_lc0(tiny.net(), "net")
    arrays = {name: array * np.float32(1e18) for name, array in weights.arrays.items()}
    path = tmp_path / "huge.onnx"
    path.write_bytes(to_onnx(replace(weights, arrays=arrays)).SerializeToString())
    store.add("huge", path)
    for spec in ("puct(huge)", "huge", f'puct("{path}")'):
        with pytest.raises(InputError, match=r"huge.*: the network's outputs are not finite"):
            make_agent(spec).analyse_many([STATE])


def test_a_changed_file_is_loaded_anew(weights):
    first = make_agent(f'"{weights}"').policy(STATE, 0)
    tiny.write(weights, tiny.net(seed=5))
    os.utime(weights, ns=(1, 1))
    assert not np.array_equal(first, make_agent(f'"{weights}"').policy(STATE, 0))


def test_maia_sees_the_mate(shared):
    store.add("maia-1900", shared("weights/maia/maia-1900.pb.gz"))
    agent = make_agent("puct(maia-1900, c_puct=2, playouts=50, temperature=1)")
    found = agent.analyse_many([STATE])[0]
    assert STATE.san(STATE.legal_actions()[found.top1]) == "Qxf7#"
    assert found.policy.max() > found.anchor.max()
