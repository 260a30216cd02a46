"""What every agent must do, and how specs name them."""

import numpy as np
import pytest

from kedge.agents import AGENTS, make_agent
from kedge.errors import InputError
from kedge.games import load_game

SPECS = [
    "uniform",
    "pikl-hedge(uniform, lambda=0.5, iterations=500)",
    "mmd(uniform, lambda=0.5)",
    "hedge(iterations=500)",
    "rm",
    "rm+",
    'dil-pikl(uniform, lambdas="0.1,1", iterations=100)',
]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("game", ["blotto(coins=4, fields=3)", "matching-pennies(players=3)"])
def test_conformance(spec, game):
    agent = make_agent(spec)
    state = load_game(game).initial_state()
    for player in range(state.game.num_players):
        policy = agent.policy(state, player)
        assert policy.shape == (state.game.num_actions[player],)
        assert policy.sum() == pytest.approx(1.0)
        moves = {agent.act(state, player, np.random.default_rng(seed)) for seed in (0, 0)}
        assert len(moves) == 1
        assert moves <= set(state.legal_actions(player))
        *_, last = agent.analyse(state, player)
        np.testing.assert_allclose(last.policy, policy)
        assert last.value == pytest.approx(float(last.policy @ last.q))
        assert last.anchor.sum() == pytest.approx(1.0)


def test_every_agent_is_tested():
    here = {spec.partition("(")[0] for spec in SPECS}
    # In the tests of each game.
    elsewhere = {"chess", "go", "puct"}
    elsewhere |= {"diplomacy", "diplomacy-bots", "uniform-orders", "best-response", "searchbot"}
    elsewhere |= {"uniform-hanabi", "conventions", "sparta"}
    assert here | elsewhere == set(AGENTS.names())


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("pikl-hege", "did you mean pikl-hedge"),
        ("rm(lambda=1)", "agent rm"),
        ("pikl-hedge(unifrom)", "did you mean uniform"),
        ("pikl-hedge(lambda=-1)", "lambda"),
        ("hedge(candidates=9)", "has no parameter 'candidates'"),
        ("rm(500)", "a spec such as"),
        ('dil-pikl(lambdas="a,b")', "lambdas"),
    ],
)
def test_bad_specs(spec, said):
    with pytest.raises(InputError, match=said):
        make_agent(spec).policy(load_game("rock-paper-scissors").initial_state(), 0)


def test_no_policy_when_the_game_is_over():
    state = load_game("rock-paper-scissors").initial_state()
    state.apply_actions([0, 0])
    for spec in ("uniform", "rm"):
        with pytest.raises(InputError, match="over"):
            make_agent(spec).policy(state, 0)
