"""Agents that play Hanabi as a blueprint does."""

import numpy as np
import pytest

from kedge.agents import make_player
from kedge.agents.agent import Agent
from kedge.agents.hanabi.players import BlueprintAgent, HanabiAgent
from kedge.errors import InputError
from kedge.games.hanabi import Hanabi
from kedge.models.hanabi.model import Followed, Stepwise, UniformBlueprint, drawn

GAME = Hanabi()
ACTIONS = len(GAME.moves)


class Counting(UniformBlueprint):
    """Remembers how often it looked, and everyone's last move."""

    def begin(self, count):
        return np.zeros(count, np.int64), np.full((count, 3), -1)

    def observe(self, games, memory):
        seen, moves = memory
        return seen + 1, np.append(moves, games.last_moves()[:, :1], 1)[:, -3:]


def games(count, plies, seed=0):
    rng = np.random.default_rng(seed)
    states = [GAME.initial_state(rng=rng) for _ in range(count)]
    for state, moves in zip(states, plies, strict=True):
        for _ in range(moves):
            state.apply_action(int(rng.choice(state.legal_actions())))
    return states


def test_every_position_is_observed_once():
    followed = Followed(Counting(ACTIONS))
    states = games(3, (3, 3, 5))
    seen, moves = followed.memories(states[:2])
    assert seen.tolist() == [4, 4]
    assert moves.tolist() == [state.history[-3:] for state in states[:2]]
    states[0].apply_action(states[0].legal_actions()[0])
    states[2] = states[2].clone()
    seen, moves = followed.memories([states[2], states[0]])
    assert seen.tolist() == [6, 5]
    assert moves.tolist() == [states[2].history[-3:], states[0].history[-3:]]


def test_a_blueprint_plays_at_a_temperature_or_greedily():
    class Leaning(UniformBlueprint):
        def policy(self, games, memory):
            weights = super().policy(games, memory) * np.arange(1, ACTIONS + 1)
            return weights / weights.sum(1, keepdims=True)

    [state] = games(1, (4,))
    player = state.current_player()
    hot, warm, cold = (
        BlueprintAgent(Leaning(ACTIONS), temperature).policy(state, player)
        for temperature in (4.0, 1.0, 0.1)
    )
    assert hot.max() < warm.max() < cold.max()
    greedy = BlueprintAgent(Leaning(ACTIONS), greedy=True)
    assert greedy.policy(state, player).tolist() == [0.0] * (len(warm) - 1) + [1.0]
    assert greedy.act(state, player, np.random.default_rng(0)) == state.legal_actions()[-1]
    found = next(greedy.analyse(state, player))
    assert found.anchor.sum() == pytest.approx(1.0)
    assert found.smooth is not None
    assert (found.smooth > 0.0).all()
    assert isinstance(greedy, HanabiAgent)
    as_agent: Agent = greedy
    with pytest.raises(InputError, match="is not to move"):
        as_agent.policy(state, 1 - player)
    with pytest.raises(InputError, match="temperature: a number above 0"):
        BlueprintAgent(Leaning(ACTIONS), 0.0)


def test_every_legal_move_alike():
    agent = make_player("uniform-hanabi", "hanabi")
    for players in (2, 5):
        state = Hanabi(players).initial_state(rng=np.random.default_rng(0))
        legal = len(state.legal_actions())
        assert agent.policy(state, 0).tolist() == [1 / legal] * legal
    for spec in ("chess", "uniform"):
        with pytest.raises(InputError, match=f"agent {spec}: does not play hanabi"):
            make_player(spec, "hanabi")


def test_games_are_played_out_move_by_move():
    states = games(20, [i % 5 for i in range(20)])
    blueprint = UniformBlueprint(ACTIONS)
    batch = type(states[0].games).join([state.games for state in states])
    scores = blueprint.play_out(batch, (), np.random.default_rng(0), greedy=False)
    assert scores.shape == (20,)
    assert ((scores >= 0) & (scores <= 25)).all()
    # The likeliest of equals is the first legal move: discards, until hints are all there again.
    batch = GAME.deal(3, np.random.default_rng(1))
    scores = Stepwise.play_out(blueprint, batch, (), np.random.default_rng(0), greedy=True)
    assert (scores <= 25).all()


def test_drawn_actions_are_as_likely_as_the_policy():
    policy = np.array([0.0, 0.2, 0.0, 0.5, 0.3, 0.0])
    actions = drawn(np.tile(policy, (20_000, 1)), np.random.default_rng(0))
    shares = np.bincount(actions, minlength=6) / 20_000
    np.testing.assert_allclose(shares, policy, atol=0.015)

    class AtTheEnd:
        def random(self, shape):
            return np.full(shape, np.nextafter(1.0, 0.0))

    assert drawn(policy[np.newaxis], AtTheEnd()).tolist() == [4]  # type: ignore[arg-type]
