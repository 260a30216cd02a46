"""PUCT over any game: plain states, many at once, and natively where a game has a forest."""

import numpy as np
import pytest
from tiny_games import Nim

from kedge.agents import make_agent, make_player
from kedge.agents.agent import Analysis, Player
from kedge.agents.board.any_game import StateAnchor
from kedge.errors import InputError
from kedge.games.chess import ChessState
from kedge.games.go import GoState
from kedge.games.normal_form import rock_paper_scissors
from kedge.search.puct import Settings
from kedge.search.puct.plain import search


def uniform(state):
    actions = state.legal_actions()
    return [1.0 / len(actions)] * len(actions), 0.0


def test_finds_the_winning_move():
    agent = make_agent("puct(uniform, playouts=300, temperature=0)")
    assert isinstance(agent, Player)
    for heap, best in ((5, 1), (6, 2), (7, 3)):
        (analysis,) = agent.analyse_many([Nim(heap)])
        assert analysis.rows()[0].action == best
        assert agent.act(Nim(heap), 0, np.random.default_rng(0)) == best
        assert analysis.rows()[0].q > 0.5


def test_each_root_is_searched_as_if_alone():
    agent = make_agent("puct(uniform, playouts=40, c_puct=1)")
    states = [Nim(heap, heap % 2) for heap in range(1, 12)]
    for state, analysis in zip(states, agent.analyse_many(states), strict=True):
        alone = search(state, uniform, Settings(1.0, 40))
        assert analysis.visits.tolist() == alone.visits.tolist()
        assert analysis.value == alone.value


@pytest.mark.parametrize("state", [ChessState(), GoState(5)])
def test_native_forests_search_as_the_plain_twin(state):
    (native,) = make_agent("puct(uniform, playouts=60)").analyse_many([state])
    plain = search(state, uniform, Settings(2.0, 60))
    assert native.visits.tolist() == plain.visits.tolist()
    assert native.actions.tolist() == plain.actions.tolist()
    assert make_player("puct(uniform)", "chess").states is object


def test_a_state_with_a_board_of_its_own_needs_no_forest():
    class Mine(Nim):
        board = "anything"

    (analysis,) = make_agent("puct(uniform, playouts=20)").analyse_many([Mine(5)])
    assert analysis.visits.sum() == 19


class Greedy(StateAnchor):
    """Takes as much as it may, and thinks that it loses."""

    states = Nim

    def analyse_many(self, questions, rng=None):
        analyses = []
        for state in questions:
            actions = np.array(state.legal_actions())
            policy = actions / actions.sum()
            nothing = np.full(len(actions), np.nan)
            analyses.append(Analysis(policy, policy, nothing, -0.5, actions=actions))
        return analyses


def test_any_agent_can_be_the_anchor():
    agent = Greedy().puct_search(None, Settings(playouts=1))
    (analysis,) = agent.analyse_many([Nim(9)])
    assert analysis.anchor.tolist() == pytest.approx([1 / 6, 2 / 6, 3 / 6])
    assert analysis.value == -0.5
    judged = Greedy().puct_search(make_agent("uniform"), Settings(playouts=1))
    assert judged.analyse_many([Nim(9)])[0].value == 0.0


def test_bad_input():
    agent = make_agent("puct(uniform)")
    with pytest.raises(InputError, match="the game is over"):
        agent.analyse_many([Nim(0)])
    with pytest.raises(InputError, match="two players who move in turn"):
        agent.analyse_many([rock_paper_scissors().initial_state()])
    for anchor in ("conventions", "uniform-orders", "rm(uniform)", "puct(uniform)"):
        with pytest.raises(InputError, match="cannot search over"):
            make_agent(f"puct({anchor})")
    with pytest.raises(InputError, match="uniform: does not play diplomacy; diplomacy and pikl"):
        make_player("uniform", "diplomacy")
