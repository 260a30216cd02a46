"""Agents for Diplomacy, on stand-ins that need no network."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from kedge import _core
from kedge.agents import add_model, make_agent, make_player
from kedge.agents.devices import computing_on
from kedge.agents.diplomacy.players import OrdersAgent, search_agent
from kedge.agents.diplomacy.search import (
    CandidateSettings,
    JointValues,
    choose_candidates,
    place_among,
    play_on,
)
from kedge.errors import InputError
from kedge.games.diplomacy import POWERS, Diplomacy, DiplomacyState
from kedge.models import shipped_models
from kedge.models.diplomacy.model import Drawn
from kedge.models.diplomacy.plain import CentreShares, UniformOrders
from kedge.search.one_ply import OnePlySearch
from kedge.search.regret import PiKLHedge, solve, tabulate

SPECS = [
    "uniform-orders",
    "rm(uniform-orders, iterations=40)",
    "hedge(uniform-orders, iterations=40, candidates=5)",
    "pikl-hedge(uniform-orders, lambda=1e-3, iterations=40)",
    "pikl-hedge(uniform-orders, lambda=1e-3, iterations=40, preset=authors, value=uniform-orders)",
    'dil-pikl(uniform-orders, lambdas="1e-3,1e-1", iterations=40)',
    "best-response(uniform-orders, iterations=40)",
    "searchbot(uniform-orders, iterations=3, candidates=2, rollout=1)",
]
FRANCE, GERMANY, ITALY = (POWERS.index(power) for power in ("FRANCE", "GERMANY", "ITALY"))


@pytest.fixture
def duel():
    """Fall: who takes Belgium, Holland and Denmark?"""
    return DiplomacyState.from_json(
        {
            "name": "F1901M",
            "units": {"FRANCE": ["A BUR", "F ENG"], "GERMANY": ["A RUH", "F HEL"]},
            "centers": {"FRANCE": ["PAR", "BRE"], "GERMANY": ["BER", "KIE"]},
        }
    )


class Fixed:
    """A human model that draws from a few joint orders, by power."""

    def __init__(self, state, joint):
        self.known = {
            POWERS.index(power): [state.pack({power: orders}) for orders in each]
            for power, each in joint.items()
        }

    def draw(self, questions, count, rng, *, temperature=1.0, top_p=1.0, most=None):
        nothing = [np.zeros(0, np.uint32)]
        each = [self.known.get(power, nothing) for _, power in questions]
        return [
            Drawn(orders, np.full(len(orders), count), -np.arange(len(orders), dtype=float))
            for orders in each
        ]


@pytest.fixture
def few(duel):
    return Fixed(
        duel,
        {
            "FRANCE": [["A BUR H", "F ENG - BEL"], ["A BUR - BEL", "F ENG S A BUR - BEL"]],
            "GERMANY": [
                ["A RUH - BEL", "F HEL - HOL"],
                ["A RUH - HOL", "F HEL - DEN"],
                ["A RUH H", "F HEL S A RUH - HOL"],
            ],
        },
    )


@pytest.fixture
def phases():
    """The opening; retreats of France and Italy; builds of France, removals of Germany."""
    start, units = Diplomacy().initial_state(), {"FRANCE": ["A MAR"], "ITALY": ["A TUN"]}
    fled = {"FRANCE": ["A BUR", "F LYO"], "ITALY": ["A PIE"]}
    homes = {"FRANCE": ["PAR", "MAR", "BRE"], "ITALY": ["ROM"], "GERMANY": ["BER"]}
    position = {"units": units, "centers": homes}
    removals = {"GERMANY": ["A BER", "A RUH"]}
    return [
        start,
        DiplomacyState.from_json(position | {"name": "F1901R", "dislodged": fled}),
        DiplomacyState.from_json(position | {"name": "W1901A", "units": units | removals}),
    ]


@pytest.mark.parametrize("spec", SPECS)
def test_conformance(spec, phases):
    agent = make_player(spec, "diplomacy")
    questions = [(state, power) for state in phases for power in range(len(POWERS))]
    found = agent.analyse_many(questions, np.random.default_rng(1))
    for (state, power), one in zip(questions, found, strict=True):
        assert len(one.orders) == len(one.anchor) == len(one.policy) == len(one.q) > 0
        assert one.policy.sum() == pytest.approx(1.0)
        assert one.anchor.sum() == pytest.approx(1.0)
        assert np.isnan(one.q).all() or one.value == pytest.approx(float(one.policy @ one.q))
        for orders in one.orders:
            texts = [_core.diplomacy_format_order(order) for order in orders]
            assert len(texts) == state.board.orders_due(power)
            assert not state.illegal({POWERS[power]: texts})
    assert all(len(found[7 * phase + FRANCE].orders) > 1 for phase in range(3))
    once, again = (agent.act_many(questions, np.random.default_rng(2)) for _ in range(2))
    assert all(map(np.array_equal, once, again))
    state, rng = phases[0], np.random.default_rng(0)
    assert agent.policy(state, FRANCE).sum() == pytest.approx(1.0)
    assert len(agent.act(state, FRANCE, rng)) == 3


def test_joint_values_are_those_of_the_rules(duel):
    """Every utility, from two roots, against states that play the joint orders."""
    roots = [duel, Diplomacy().initial_state()]
    rng = np.random.default_rng(0)
    candidates = [
        choose_candidates(
            UniformOrders(), [(state, p) for p in range(7)], CandidateSettings(4), rng
        )
        for state in roots
    ]
    valued = np.ones((2, 7), bool)
    valued[0, GERMANY] = False
    joint = JointValues(roots, candidates, valued, UniformOrders(), CentreShares(), 0, rng)
    for _ in range(20):
        sampled = rng.integers(joint.counts)
        found = iter(joint.utilities(sampled.ravel()))
        for root, state in enumerate(roots):
            for power in range(7):
                for orders in candidates[root][power].orders:
                    actions = [candidates[root][p].orders[sampled[root, p]] for p in range(7)]
                    actions[power] = orders
                    after = state.clone()
                    after.apply_packed(np.concatenate(actions))
                    assert next(found) == after.shares()[power] * valued[root, power]


def test_each_position_is_valued_once(duel, few):
    class Counting(CentreShares):
        boards = 0

        def values(self, boards):
            self.boards += len(boards)
            return super().values(boards)

    value = Counting()
    agent = replace(make_agent("hedge(uniform-orders, iterations=300)"), model=few, value=value)
    agent.analyse_many([(duel, FRANCE), (duel, GERMANY)], np.random.default_rng(0))
    assert value.boards <= 2 * 3 + 2  # all joint actions, and the state for each question


def payoffs_of(duel, few):
    """Return the payoffs of France and Germany for all their joint actions."""

    def shares(joint):
        after = duel.clone()
        orders = [few.known[p][a] for p, a in zip((FRANCE, GERMANY), joint, strict=True)]
        after.apply_packed(np.concatenate(orders))
        return [after.shares()[FRANCE], after.shares()[GERMANY]]

    return tabulate(shares, (2, 3))


def test_near_the_solver_on_the_whole_tensor(duel, few):
    agent = search_agent("pikl-hedge", make_agent("uniform-orders"), lam=0.1, iterations=20_000)
    agent = replace(agent, model=few)
    questions = [(duel, FRANCE), (duel, GERMANY)]
    found = agent.analyse_many(questions, np.random.default_rng(0))
    anchors = [one.anchor for one in found]
    exact = solve(payoffs_of(duel, few), PiKLHedge(0.1), 20_000, anchors=anchors)
    for one, policy in zip(found, exact.policies, strict=True):
        np.testing.assert_allclose(one.policy, policy, atol=0.02)
    assert found[0].policy.max() < 0.99


def test_the_twin_of_the_whole_search(duel):
    """The plain learners make the same draws from the same utilities."""
    rng = np.random.default_rng(0)
    questions = [(duel, power) for power in range(7)]
    candidates = [choose_candidates(UniformOrders(), questions, CandidateSettings(6), rng)]
    settings = make_agent("pikl-hedge(uniform-orders, lambda=0.01, iterations=60)").search_settings
    policies = []
    for engine in ("native", "python"):
        joint = JointValues(
            [duel], candidates, np.ones((1, 7), bool), UniformOrders(), CentreShares(), 0, rng
        )
        anchors = [[one.anchor for one in candidates[0]]]
        searching = OnePlySearch(joint.counts, anchors, settings, [7], engine)
        for sampled in searching.samples():
            searching.observe(joint.utilities(sampled))
        [found] = searching.finals()
        policies.append(np.concatenate(found.policies))
    np.testing.assert_allclose(*policies, atol=1e-9)


def test_best_response(duel, few):
    """The best candidate against the other's anchor, whatever one's own."""
    agent = replace(make_agent("best-response(uniform-orders, iterations=3000)"), model=few)
    questions = [(duel, FRANCE), (duel, GERMANY)]
    france, germany = agent.analyse_many(questions, np.random.default_rng(0))
    payoffs = payoffs_of(duel, few)
    np.testing.assert_allclose(france.q, payoffs[0] @ germany.anchor, atol=0.02)
    np.testing.assert_allclose(germany.q, france.anchor @ payoffs[1], atol=0.02)
    for one in (france, germany):
        assert one.policy.tolist() == np.eye(len(one.q))[np.argmax(one.q)].tolist()
    [alone] = agent.analyse_many(questions[:1], np.random.default_rng(0))
    np.testing.assert_array_equal(alone.q, france.q)


def test_candidates(duel):
    joint = [
        ["A BUR H", "F ENG S A BUR - BEL"],
        ["A BUR - BEL", "F ENG S A BUR - BEL"],
        ["A BUR - PIC", "F ENG H"],
    ]
    model = Fixed(duel, {"FRANCE": joint})
    texts = []
    for settings in (
        CandidateSettings(2),
        CandidateSettings(2, coordinated_first=True),
        CandidateSettings(9, per_unit=0.7),
    ):
        [one] = choose_candidates(model, [(duel, FRANCE)], settings, np.random.default_rng(0))
        texts.append([_core.diplomacy_format_order(orders[0]) for orders in one.orders])
        assert one.anchor.sum() == pytest.approx(1.0)
    assert texts == [["A BUR H", "A BUR - BEL"], ["A BUR - BEL", "A BUR - PIC"], texts[0]]


def test_orders_that_were_given_are_candidates(duel):
    """Each has the model's likelihood, and a value."""
    agent = search_agent("pikl-hedge", make_agent("uniform-orders"), lam=0.1, iterations=16)
    given = duel.pack({"FRANCE": duel_orders(duel, "FRANCE")})
    rng = np.random.default_rng(0)
    [found] = agent.analyse_played([(duel, FRANCE)], [given], rng)
    place = place_among(found.orders, given)
    assert place is not None
    assert np.isfinite(found.q[place])
    assert found.anchor == pytest.approx(np.full(len(found.orders), 1 / len(found.orders)))
    assert found.policy.sum() == pytest.approx(1.0)
    [again] = agent.analyse_played([(duel, FRANCE)], [found.orders[0]], rng)
    assert sum(place_among([one], found.orders[0]) == 0 for one in again.orders) == 1


def duel_orders(state, power):
    """The last that each unit may be given."""
    return [texts[-1] for texts in state.orders(power).values()]


def test_the_end_of_a_game_has_its_worth():
    """A value model is not believed where somebody has won."""

    class Wrong:
        def values(self, boards):
            return np.full((len(boards), 7), 0.5)

    homes = ["PAR", "MAR", "BRE", "LON", "EDI", "LVP", "BER", "MUN", "KIE"]
    centres = [*homes, "BEL", "HOL", "DEN", "SPA", "POR", "VEN", "ROM", "NAP"]
    state = DiplomacyState.from_json(
        {"name": "F1910M", "units": {"FRANCE": ["A TYR"]}, "centers": {"FRANCE": centres}}
    )
    few = Fixed(state, {"FRANCE": [["A TYR H"], ["A TYR - VIE"]]})
    agent = make_agent("hedge(uniform-orders, iterations=20)")
    agent = replace(agent, model=few, value=Wrong())
    [one] = agent.analyse_many([(state, FRANCE)], np.random.default_rng(0))
    assert one.q.tolist() == [0.5, 1.0]


def test_a_power_without_choices_asks_no_model():
    """The model is not asked for other powers."""
    state = DiplomacyState.from_json(
        {"name": "W1901A", "units": {"FRANCE": ["A PAR"]}, "centers": {"GERMANY": ["BER"]}}
    )

    class Unasked:
        def draw(self, questions, count, rng, **options):
            assert not questions
            return []

    agent = replace(make_agent("rm(uniform-orders)"), model=Unasked())
    [one] = agent.analyse_many([(state, ITALY)], np.random.default_rng(0))
    assert [orders.tolist() for orders in one.orders] == [[]]
    assert one.policy.tolist() == [1.0]
    assert one.value == 0.0


def test_rollouts_end_after_their_movement_phases():
    state = Diplomacy().initial_state()
    states = [state.clone(), state.clone()]
    states[1].end_in_draw()
    play_on(UniformOrders(), states, 3, np.random.default_rng(0))
    assert states[1].phase == "S1901M"
    assert states[0].board.year == 1902
    assert states[0].phase[:5] in ("S1902", "F1902")


def test_states_travel(phases):
    for state in [*phases, Diplomacy(last_year=1935).initial_state()]:
        copy = pickle.loads(pickle.dumps(state))
        assert copy.board == state.board
        assert (copy.to_json(), str(copy.game)) == (state.to_json(), str(state.game))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("pikl-hedge(uniform-orders, preset=book)", "preset: one of paper, authors"),
        ("pikl-hedge(uniform-orders, candidate=9)", "has no parameter 'candidate'"),
        ("pikl-hedge(uniform-orders, candidates=65)", "candidates: from 1 to 64"),
        ("pikl-hedge(uniform-orders, per_unit=0)", "per_unit"),
        ("pikl-hedge(uniform-orders, per_unit=inf)", "per_unit"),
        ("pikl-hedge(uniform-orders, rollout=-1)", "rollout"),
        ("rm(uniform-orders, lambda=1)", "lambda"),
        ("pikl-hedge(uniform-orders, lambda=-1)", "lambda: must be at least 0, not -1"),
        ("rm(uniform-orders, samples=0)", "samples"),
        ("rm(uniform-orders, value=uniform)", "value uniform is not a model of Diplomacy"),
        ("rm(uniform-orders, value=chess)", "chess is not a model of Diplomacy"),
        ("rm(uniform-orders, value=nothere)", "unknown model 'nothere'"),
        ("rm(uniform-orders, value=3)", "value: a name, not 3"),
        (
            "rm(uniform-orders, value=diplomacy(temperature=3))",
            "value: a name",
        ),
        ("diplomacy-value", "gives no orders; use it in a search: .*value=diplomacy-value"),
        (
            "pikl-hedge(chess)",
            "anchor chess: [a-z-]+ does not search the game",
        ),
        ("rm(uniform-orders(temperature=0.5))", "temperature 1"),
        ("mmd(uniform-orders)", "algorithm: one of rm"),
        ("uniform-orders(temperature=0)", "temperature"),
        ("uniform-orders(temperature=warm)", "temperature"),
        ("uniform-orders(top_p=2)", "top_p"),
        ("best-response(uniform)", "anchor: only models of Diplomacy"),
        ("uniform", "does not play diplomacy"),
    ],
)
def test_bad_specs(spec, said):
    with pytest.raises(InputError, match=said):
        make_player(spec, "diplomacy")


def test_diplomacy_does_not_run_on_openvino():
    with computing_on("openvino"), pytest.raises(InputError, match="not on openvino"):
        make_player("diplomacy", "diplomacy")


def test_a_stored_model_is_held_to_its_sum():
    added = add_model("mine", shipped_models.info("diplomacy").path)
    added.path.write_bytes(shipped_models.info("diplomacy-value").path.read_bytes())
    with pytest.raises(InputError, match="damaged; run: kedge models remove mine"):
        make_player("mine", "diplomacy")


def test_no_orders_when_the_game_is_over():
    state = Diplomacy().initial_state()
    state.end_in_draw()
    for spec in ("uniform-orders", "rm(uniform-orders)"):
        agent = make_agent(spec)
        assert isinstance(agent, OrdersAgent)
        with pytest.raises(InputError, match="over"):
            agent.act_many([(state, 0)], np.random.default_rng(0))
