"""Moves of Hanabi predicted: known answers, and games followed move by move."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hanabi_players import Peeking, imitation, people, registered  # noqa: F401

from kedge.agents.hanabi.players import BlueprintAgent, HanabiAnalysis
from kedge.errors import InputError
from kedge.evaluation.diplomacy.prediction import ANCHOR_SHARE, LEAST
from kedge.evaluation.hanabi.prediction import (
    analysed_games,
    at_lambda,
    is_searched,
    predict_analysed,
    predict_at,
)
from kedge.evaluation.prediction import GameScore, clustered
from kedge.models.hanabi.conventions import ConventionsBlueprint
from kedge.models.hanabi.model import UniformBlueprint
from kedge.records.hanabi.games import is_for_testing
from kedge.records.hanabi.positions import hanabi_sieve

pytestmark = pytest.mark.usefixtures("registered")


def chosen(games, **options):
    sieve = hanabi_sieve(everything=True, **options)
    return [(game, sieve.plies(game).tolist()) for game in games]


def predict_moves(pairs, agent, rng):
    return predict_analysed(analysed_games(pairs, agent, rng))


def test_which_moves_count():
    [game] = people(1)
    [(_, plies)] = chosen([game])
    assert plies == list(range(1, len(game), 2))
    [(_, plies)] = chosen([game], bots=True)
    assert plies == list(range(0, len(game), 2))
    [(_, plies)] = chosen([replace(game, slips=(1, 2))])
    assert plies == list(range(3, len(game), 2))
    held = [n for n in map(str, range(40)) if is_for_testing(replace(game, participant=n))]
    assert 0 < len(held) < 40
    assert len(hanabi_sieve().plies(replace(game, participant=held[0])))
    sieve = hanabi_sieve(everything=True, bots=True)
    assert not len(sieve.plies(replace(game, actions=())))
    assert sieve.left_out == {"without moves of programs": 1}


def test_a_perfect_predictor_scores_every_move():
    games = people(6)
    result = predict_moves(chosen(games), Peeking(), np.random.default_rng(0))
    total = result.to_json()
    assert total["top1"] == 1.0
    moves = sum(len(plies) for _, plies in chosen(games))
    assert (total["games"], total["positions"], total["clusters"]) == (6, moves, 2)
    by_kind = {label: one["positions"] for label, one in total["groups"]["move"].items()}
    assert by_kind.keys() <= {"play", "discard", "hint"}
    assert sum(by_kind.values()) == moves
    assert total["groups"]["participant"]["A"]["games"] == 3
    uniform = predict_moves(chosen(games), imitation(), np.random.default_rng(0)).to_json()
    assert uniform["top1"] < 0.5
    assert 1.0 < uniform["cross_entropy"] < 3.1
    assert [GameScore.from_json(game.to_json()).cluster for game in result.games] == [*"ABABAB"]


def test_scores_are_groups_that_overlap():
    points = (3, 10, 25, None)
    games = [game for score in points for game in people(1, score=score)]
    result = predict_moves(chosen(games), imitation(), np.random.default_rng(0))
    labels = [game.groups["score"] for game in result.games]
    # Where the record tells no score, what was built counts.
    assert labels == ["< 10", ["≥ 10"], ["≥ 10", "≥ 20"], ["≥ 10"]]
    groups = result.to_json()["groups"]["score"]
    counts = [(label, one["games"]) for label, one in groups.items()]
    assert counts == [("< 10", 1), ("≥ 10", 3), ("≥ 20", 1)]


def test_games_are_followed_not_replayed():
    class Counting(UniformBlueprint):
        observed = 0

        def observe(self, games, memory):
            self.observed += len(games)
            return memory

    blueprint = Counting(48)
    games = [*people(3), *people(2, players=3)]  # those by the same rules side by side
    pairs = chosen(games)
    predict_moves(pairs, BlueprintAgent(blueprint), np.random.default_rng(0))
    assert blueprint.observed == sum(plies[-1] + 1 for _, plies in pairs)
    agent = Peeking()
    predict_moves(pairs, agent, np.random.default_rng(0))
    assert [len(states) for states in agent.batches][:1] == [3]
    assert len({id(state) for states in agent.batches for state in states}) == 5


@pytest.mark.parametrize("options", [{}, {"temperature": 0.5}, {"greedy": True}])
def test_games_side_by_side_are_analysed_as_alone(options):
    agent, rng = BlueprintAgent(ConventionsBlueprint(), **options), np.random.default_rng(0)
    games = people(3)
    plies = [list(range(0, len(game), step)) for step, game in enumerate(games, 1)]
    count = 0
    for ply, due, analysis in agent.analyse_games(games, plies, rng):
        assert [ply in own for own in plies] == [number in due for number in range(len(games))]
        for row, number in enumerate(due.tolist()):
            [alone] = agent.analyse_many([list(games[number].states())[ply]], rng)
            for name in ("actions", "anchor", "policy", "smooth"):
                assert getattr(analysis[row], name).tolist() == getattr(alone, name).tolist()
            count += 1
    assert count == sum(map(len, plies))


def test_no_move_after_an_illegal_one_is_predicted():
    [game] = people(1)
    cut = replace(game, actions=(*game.actions[:4], -1, *game.actions[5:]))
    for plies in ([1, 3, 4], [1, 3, 5]):
        with pytest.raises(InputError, match="illegal move"):
            predict_moves([(cut, plies)], imitation(), np.random.default_rng(0))
    assert predict_moves([(cut, [1, 3])], imitation(), np.random.default_rng(0)).games


def test_one_search_serves_every_lambda():
    pairs = chosen(people(4))
    games = analysed_games(pairs, Peeking(lam=7.0), np.random.default_rng(0))
    result = {lam: predict_at(lam, games).to_json() for lam in (0.0, 0.5, inf)}
    for lam, one in result.items():
        by_itself = predict_moves(pairs, Peeking(lam=lam), np.random.default_rng(0)).to_json()
        for key in ("top1", "cross_entropy"):
            assert one[key] == pytest.approx(by_itself[key])
    assert result[0.0]["top1"] == 1.0 > result[inf]["top1"]
    uniform = predict_moves(pairs, imitation(), np.random.default_rng(0)).to_json()
    assert result[inf]["cross_entropy"] == pytest.approx(uniform["cross_entropy"])


def test_the_anchors_share_bounds_cross_entropy():
    pairs = chosen(people(4), bots=True)
    result = predict_moves(pairs, Peeking(), np.random.default_rng(0)).to_json()
    assert 2.0 < result["cross_entropy"] < -np.log(ANCHOR_SHARE / 20)

    class Stubborn(UniformBlueprint):
        def policy(self, games, memory):
            legal = super().policy(games, memory)
            return np.where(np.arange(48) == legal.argmax(1, keepdims=True), 1.0, 0.0)

    agent = BlueprintAgent(Stubborn(48))
    result = predict_moves(pairs, agent, np.random.default_rng(0)).to_json()
    assert result["cross_entropy"] == pytest.approx((result["top1"] - 1.0) * np.log(LEAST))


def analysis(anchor, q):
    """Return the analysis of a search before it chooses."""
    anchor = np.array(anchor)
    return HanabiAnalysis(anchor=anchor, policy=anchor, q=np.array(q), value=0.0)


def test_policies_at_any_lambda():
    result = analysis([0.7, 0.3, 0.0], [1.0, 2.0, 4.0])
    assert at_lambda(result, 0.0).policy.tolist() == [0.0, 0.0, 1.0]  # be it the anchor's or not
    assert at_lambda(result, 1e-6).policy.tolist() == [0.0, 1.0, 0.0]
    assert at_lambda(result, inf).policy.tolist() == [0.7, 0.3, 0.0]
    assert at_lambda(analysis([0.2, 0.8], [1.0, 1.0]), 0.0).policy.tolist() == [0.0, 1.0]


def test_without_values_every_lambda_plays_the_anchor():
    result = analysis([0.7, 0.3], [np.nan, np.nan])
    assert not is_searched(result)
    assert at_lambda(result, 0.0).policy.tolist() == [0.7, 0.3]


def test_one_persons_games_are_one_cluster():
    sums = np.array([[10, 5, 5, 9.0], [10, 7, 7, 8.0], [20, 2, 5, 30.0]])
    together = clustered(sums, ["a", "a", None])
    apart = clustered([sums[0] + sums[1], sums[2]])
    assert (together["games"], together["clusters"]) == (3, 2)
    assert together["top1_se"] == apart["top1_se"] != clustered(sums)["top1_se"]
    assert "clusters" not in clustered(sums, [None] * 3)
