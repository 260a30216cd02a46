"""SPARTA in Hanabi: over the conventions, over anything else, and when it knows nothing."""

import numpy as np
import pytest

from kedge.agents import make_agent
from kedge.agents.agent import Agent
from kedge.agents.hanabi.players import BlueprintAgent, HanabiAgent
from kedge.agents.hanabi.search import SpartaAgent
from kedge.errors import InputError
from kedge.games.hanabi import Hanabi
from kedge.models.hanabi.conventions import ConventionsBlueprint
from kedge.models.hanabi.exact import ExactBelief, exact_belief
from kedge.models.hanabi.model import UniformBlueprint
from kedge.regularize import forward_kl, kl_divergence
from kedge.search.sparta import Budget

GAME = Hanabi()
SMALL = Hanabi(colors=2, ranks=3, hand_size=2)
BOT = BlueprintAgent(ConventionsBlueprint())
EVEN = BlueprintAgent(UniformBlueprint(len(SMALL.moves)))


class Certain:
    """Believes in the cards that there are."""

    def draw(self, states, count, rng):
        return [
            np.maximum(state.games.hands()[:, state.current_player()], 0)
            .astype(np.uint8)
            .repeat(count, 0)
            for state in states
        ]


class Nothing:
    def draw(self, states, count, rng):
        return [np.zeros((0, state.game.hand_size), np.uint8) for state in states]


def sparta(anchor=BOT, **options):
    options = {"budget": Budget(200)} | options
    return SpartaAgent(anchor, exact_belief(anchor.blueprint), **options)


def played(plies, seed=0, game=GAME):
    state, rng = game.initial_state(rng=np.random.default_rng(seed)), np.random.default_rng(seed)
    while not state.is_terminal() and len(state.history) < plies:
        state.apply_action(BOT.act(state, state.current_player(), rng))
    return state


def test_many_decisions_are_searched_together():
    states = [played(plies, seed=plies) for plies in (0, 5, 20, 33)]
    agent = sparta()
    found = agent.analyse_many(states, np.random.default_rng(0))
    for state, one in zip(states, found, strict=True):
        assert one.actions.tolist() == state.legal_actions()
        assert one.visits.tolist() == [200 // len(one.actions)] * len(one.actions)
        assert one.anchor.tolist() == BOT.policy(state, state.current_player()).tolist()
        assert one.policy.argmax() == one.q.argmax()
        assert one.value == one.q.max()
        assert ((one.q >= 0.0) & (one.q <= 25.0)).all()
    again = sparta().analyse_many(states, np.random.default_rng(0))
    assert all((a.q == b.q).all() for a, b in zip(found, again, strict=True))
    assert isinstance(agent, HanabiAgent)
    as_agent: Agent = agent
    assert as_agent.act(states[1], 1, np.random.default_rng(0)) in states[1].legal_actions()


def test_values_are_the_scores_of_games_that_the_blueprint_plays_out():
    """With no card to draw and a hand that is known, one rollout says it all."""
    state = next(s for s in (played(40 + n, seed=n) for n in range(60)) if ends_soon(s))
    agent = SpartaAgent(BOT, Certain(), budget=Budget(100))
    found = agent.explain(state, np.random.default_rng(0))
    for action, q in zip(found.actions.tolist(), found.q, strict=True):
        after = state.clone()
        after.apply_action(action)
        while not after.is_terminal():
            after.apply_action(BOT.act(after, after.current_player(), np.random.default_rng(0)))
        assert q == after.score
    hand = state.hands[state.current_player()]
    assert [found.cards[slot, c.colour * 5 + c.rank - 1] for slot, c in enumerate(hand)] == [1] * 5


def test_what_the_next_player_would_answer():
    """Where one's hand is known, it is what the blueprint does with these cards."""
    state, rng = played(12), np.random.default_rng(0)
    found = SpartaAgent(BOT, Certain(), budget=Budget(100)).explain(state, rng)
    for action, answer in zip(found.actions.tolist(), found.answers, strict=True):
        after = state.clone()
        after.apply_action(action)
        if state.game.moves[action].kind in ("color", "rank"):  # no card is drawn that may matter
            assert answer == (BOT.act(after, after.current_player(), rng), 1.0)
    even = sparta(EVEN).explain(played(1, 1, SMALL), rng)
    assert all(0.0 < share < 0.5 for _, share in even.answers)
    np.testing.assert_allclose(even.cards.sum(1), np.ones(len(even.cards)))
    nothing = SpartaAgent(BOT, Nothing()).explain(state, rng)
    assert (nothing.answers, nothing.cards) == (None, None)


def test_the_last_move_has_no_answer():
    state = next(s for s in (played(40 + n, seed=n) for n in range(60)) if ends_soon(s))
    rng = np.random.default_rng(0)
    while not state.is_terminal():
        last, action = state.clone(), BOT.act(state, state.current_player(), rng)
        state.apply_action(action)
    found = SpartaAgent(BOT, Certain(), budget=Budget(20)).explain(last, rng)
    assert found.answers[found.actions.tolist().index(action)] is None


def ends_soon(state):
    return not state.is_terminal() and state.deck_size == 0


def test_search_is_better_than_its_blueprint():
    rng, agent = np.random.default_rng(0), sparta(threshold=0.5)
    states = [GAME.initial_state(rng=rng) for _ in range(8)]
    alone = [state.clone() for state in states]
    for both in (True, False):
        going = states if both else alone
        while live := [state for state in going if not state.is_terminal()]:
            first = len(live[0].history) % 2 == 0
            moves = (agent if both and first else BOT).act_many(live, rng)
            for state, action in zip(live, moves, strict=True):
                state.apply_action(action)
    assert sum(s.score for s in states) > sum(s.score for s in alone)


@pytest.mark.parametrize("greedy", [False, True])
def test_lambda_says_how_far_to_go(greedy):
    """Over any blueprint: here one that thinks alike of all moves, and a belief that weighs."""
    states = [played(plies, plies, SMALL) for plies in (1, 3)]
    for lam in (0.5, np.inf):
        agent = sparta(EVEN, lam=lam, greedy=greedy)
        assert isinstance(agent.belief, ExactBelief)
        for one in agent.analyse_many(states, np.random.default_rng(0)):
            policy = forward_kl(one.anchor, one.q, lam)
            np.testing.assert_allclose(one.smooth, policy)
            assert one.policy.argmax() == policy.argmax()
            assert (one.policy.max() == 1.0) == greedy
    for one in sparta(EVEN, kl=0.05).analyse_many(states, np.random.default_rng(0)):
        assert kl_divergence(one.policy, one.anchor) == pytest.approx(0.05, rel=1e-4)


def test_budgets_that_look_at_what_was_found():
    state = played(9)
    for agent in (
        sparta(budget=Budget(400, "ucb")),
        sparta(EVEN_BIG, lam=1.0, budget=Budget(400, "ucb", stop=2.0)),
    ):
        [found] = agent.analyse_many([state], np.random.default_rng(0))
        assert found.visits.sum() <= 400
        assert len(set(found.visits.tolist())) > 1


EVEN_BIG = BlueprintAgent(UniformBlueprint(len(GAME.moves)))


def test_without_a_belief_search_plays_the_blueprint():
    state = played(6)
    agent = SpartaAgent(BOT, Nothing(), budget=Budget(50))
    [found] = agent.analyse_many([state], np.random.default_rng(0))
    assert found.policy.tolist() == found.anchor.tolist()
    assert np.isnan(found.q).all()
    assert found.cards is None
    assert found.visits is None


def test_only_decisions_with_a_belief_are_searched():
    class First(Certain):
        def draw(self, states, count, rng):
            return [*super().draw(states[:1], count, rng), *Nothing().draw(states[1:], count, rng)]

    agent, states = SpartaAgent(BOT, First(), budget=Budget(50)), [played(12), played(6)]
    searched, unsearched = agent.analyse_many(states, np.random.default_rng(0))
    assert np.isfinite([*searched.q, searched.value]).all()
    assert searched.visits.all()
    assert unsearched.policy.tolist() == unsearched.anchor.tolist()
    assert np.isnan([*unsearched.q, unsearched.value]).all()
    assert not unsearched.visits.any()


def test_specs():
    agent = make_agent("sparta(conventions, lambda=0.5, rollouts=100, belief=exact, greedy=true)")
    assert isinstance(agent, SpartaAgent)
    assert (agent.lam, agent.budget, agent.greedy) == (0.5, Budget(100), True)
    assert make_agent("sparta").budget == Budget(10_000)
    assert isinstance(make_agent("conventions"), BlueprintAgent)


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("sparta(uniform)", "anchor uniform is not a blueprint of Hanabi"),
        ("sparta(conventions, lambda=-1)", "lambda: a number that is at least 0, not -1"),
        ("sparta(conventions, rollouts=0)", "rollouts: a whole number from 1 to 1,000,000, not 0"),
        ("sparta(conventions, rollouts=10000000)", "not 10000000"),
        ("sparta(conventions, kl=1, lambda=2)", "give lambda or kl, not both"),
        ("sparta(conventions, threshold=1, lambda=2)", "threshold needs lambda=0, without kl"),
        (
            "sparta(hanabi(greedy=true))",
            "its anchor must be a blueprint of Hanabi at temperature 1",
        ),
        ("hanabi(greedy=maybe)", "greedy: true or false, not maybe"),
        ("sparta(conventions, kl=near)", "kl: a number that is at least 0, not near"),
        ("sparta(conventions, greedy=maybe)", "greedy: true or false, not maybe"),
        ("sparta(conventions, belief=vague)", "unknown model 'vague'"),
        (
            "sparta(conventions, belief=learned)",
            "there is no model conventions-belief; use belief=ex",
        ),
        ("sparta(conventions, belief=learned, greedy=true)", "no model conventions-belief-greedy"),
        ("sparta(conventions, belief=go)", "go is not a belief model of Hanabi"),
        ("sparta(conventions, allocation=odd)", "allocation: even or ucb, not odd"),
        ("sparta(conventions, depth=-1)", "depth: a whole number of moves, at least 0, not -1"),
    ],
)
def test_specs_that_make_no_sense(spec, line):
    with pytest.raises(InputError, match=line):
        make_agent(spec)


def test_an_anchor_plays_as_its_blueprint_does():
    with pytest.raises(InputError, match="temperature 1"):
        SpartaAgent(BlueprintAgent(ConventionsBlueprint(), 0.5), Nothing())
