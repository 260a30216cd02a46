"""What every agent must do, and how specs name them."""

import numpy as np
import pytest

from kedge.agents import AGENTS, Analysis, make_agent, make_player, registry
from kedge.errors import InputError
from kedge.games import load_game
from kedge.regularize import kl_divergence

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


def test_plugins_are_found_through_entry_points(monkeypatch, request):
    class Point:
        name = "theirs"

        def load(self):
            return lambda size=1: f"their agent of size {size}"

    class Broken(Point):
        name = "broken"

        def load(self):
            raise ImportError("no module named theirs")

    points = {"kedge.agents": [Point(), Broken()]}
    monkeypatch.setattr("kedge.agents.registry.entry_points", lambda group: points[group])
    registry._plugins.cache_clear()
    request.addfinalizer(registry._plugins.cache_clear)
    assert {"theirs", "broken"} < set(AGENTS.names())
    assert make_agent("theirs(size=4)") == "their agent of size 4"
    with pytest.raises(InputError, match="agent 'broken': cannot load its plugin: no module"):
        make_agent("broken")


def test_every_agent_is_tested():
    here = {spec.partition("(")[0] for spec in SPECS}
    # In the tests of each game.
    elsewhere = {"puct", "uniform-orders", "best-response", "searchbot"}
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


def test_distance_and_entropies_of_an_analysis():
    found = Analysis(np.array([0.5, 0.5]), np.array([1.0, 0.0]), np.zeros(2), 0.0)
    assert (found.kl, found.entropy) == (pytest.approx(np.log(2.0)), 0.0)
    assert found.anchor_entropy == pytest.approx(np.log(2.0))


def test_no_analysis_is_nearer_to_its_anchor_than_at_it():
    anchor = np.array([0.1, 0.2, 0.7])
    policy = anchor - [1e-16, 0.0, 0.0]
    assert kl_divergence(policy, anchor) < 0.0
    assert Analysis(anchor, policy, np.zeros(3), 0.0).kl == 0.0


def test_analysis_of_what_no_person_plays_is_infinitely_far():
    assert Analysis(np.array([1.0, 0.0]), np.array([0.5, 0.5]), np.zeros(2), 0.0).kl == np.inf


@pytest.mark.parametrize(
    ("name", "game", "said"),
    [
        ("zzz", "hanabi", "agents of Hanabi: conventions, sparta, uniform-hanabi; models: kedge"),
        ("unifrm", "hanabi", "did you mean uniform-hanabi?"),
        ("go-larg", "go", "did you mean go-large"),
        ("maia-110", "chess", "did you mean maia-1100"),
        ("conventoins", "chess", "agents of Chess: puct, uniform; models: kedge models list"),
    ],
)
def test_an_unknown_agent_gets_suggestions_of_its_game(name, game, said):
    with pytest.raises(InputError) as error:
        make_player(f"puct({name})", game)
    assert str(error.value).startswith(f"unknown agent {name!r}; {said}")


def test_an_unknown_agent_without_a_game_gets_all():
    with pytest.raises(InputError, match=r"agents: best-response, conventions, .*; models: kedge"):
        make_agent("zzz")
    with pytest.raises(InputError, match="did you mean conventions"):
        make_agent("conventoins")
