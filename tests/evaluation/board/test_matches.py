"""Matches: games in lock-step by scripted agents, and scores known by hand."""

import math

import numpy as np
import pytest

from kedge.agents.agent import Analysis
from kedge.evaluation.board.matches import MatchScore, elo_difference, play_games
from kedge.games.chess import ChessState

FOOLS_MATE = ["f2f3", "e7e5", "g2g4", "d8h4"]
SHUFFLE = ["g1f3", "g8f6", "f3g1", "f6g8"] * 2
PAWNS = [move for file in "abcdef" for move in (f"{file}2{file}3", f"{file}7{file}6")]


class Scripted:
    """Plays the same line in every game, and always holds white to stand alike."""

    def __init__(self, moves, value_for_white=0.0):
        self.moves, self.value, self.batches = moves, value_for_white, []

    def analyse_many(self, states, rng):
        self.batches.append(len(states))
        found = []
        for state in states:
            wanted = state.parse_uci(self.moves[len(state.history) % len(self.moves)])
            policy = np.array([float(action == wanted) for action in state.legal_actions()])
            value = self.value if state.current_player() == 0 else -self.value
            found.append(Analysis(policy, policy, np.full(len(policy), np.nan), value))
        return found


class Uniform:
    """Any legal move; thinks well of itself."""

    def analyse_many(self, states, rng):
        counts = [len(state.legal_actions()) for state in states]
        policies = [np.full(count, 1.0 / count) for count in counts]
        return [Analysis(policy, policy, policy, 0.9) for policy in policies]


def play(one, other, count, seed=0, **rules):
    return play_games((one, other), ChessState, count, np.random.default_rng(seed), **rules)


def uci(record):
    return [ChessState.uci(action) for action in record.moves]


def test_colours_alternate_and_the_score_is_of_the_first_agent():
    one, other = Scripted(FOOLS_MATE), Scripted(FOOLS_MATE)
    records = play(one, other, 5)
    assert [record.first for record in records] == [0, 1, 0, 1, 0]
    assert [record.score for record in records] == [0.0, 1.0, 0.0, 1.0, 0.0]  # black mates
    assert {record.termination for record in records} == {"checkmate"}
    assert all(uci(record) == FOOLS_MATE for record in records)


def test_an_agent_is_asked_about_all_its_games_at_once():
    one, other = Scripted(SHUFFLE), Scripted(SHUFFLE)
    records = play(one, other, 6)
    assert one.batches == [3, 6, 6, 6, 3]  # those with white first; then all wait for the same
    assert other.batches == [6, 6, 6, 6]
    assert {(record.score, record.termination) for record in records} == {
        (0.5, "threefold repetition")
    }


def test_a_game_does_not_know_what_is_played_beside_it():
    assert (
        play(Uniform(), Uniform(), 2, max_plies=30)
        == (play(Uniform(), Uniform(), 7, max_plies=30)[:2])
    )
    games = play(Uniform(), Uniform(), 7, max_plies=30)
    assert len({record.moves for record in games}) == 7
    assert games != play(Uniform(), Uniform(), 7, seed=1, max_plies=30)


def test_games_replay_to_their_results():
    for record in play(Uniform(), Uniform(), 8, max_plies=5000):
        state = ChessState()
        for action in record.moves:
            state.apply_action(action)
        assert state.termination() == record.termination
        assert state.returns()[record.first] == 2 * record.score - 1


def test_a_game_too_long_is_a_draw():
    records = play(Uniform(), Uniform(), 3, max_plies=6)
    assert all(len(record.moves) == 6 for record in records)
    assert all((record.score, record.termination) == (0.5, "move limit") for record in records)


def endings(*arguments, **rules):
    return [(r.score, r.termination, len(r.moves)) for r in play(*arguments, **rules)]


def test_resignation_takes_two():
    sure, surer, doubter = (Scripted(PAWNS, value) for value in (0.8, 0.95, 0.0))
    white_wins = [(1.0, "resignation", 8), (0.0, "resignation", 8)]
    undecided = [(0.5, "move limit", 12)] * 2
    assert endings(sure, surer, 2, resign=0.7) == white_wins
    assert endings(sure, surer, 2, resign=0.9, max_plies=12) == undecided
    assert endings(sure, doubter, 2, resign=0.7, max_plies=12) == undecided
    # Each believes in itself.
    assert endings(Uniform(), Uniform(), 2, resign=0.7, max_plies=12) == undecided
    # The rules come before opinions.
    certain = Scripted(SHUFFLE, 1.0)
    assert endings(certain, certain, 1, resign=0.7) == [(0.5, "threefold repetition", 8)]


@pytest.mark.parametrize("counts", [(15, 2, 3), (1, 1, 0), (400, 350, 250), (0, 3, 1)])
def test_score_and_error(counts):
    points = np.repeat([1.0, 0.5, 0.0], counts)
    score = MatchScore.from_results({"score": x} for x in points)
    assert (score.wins, score.draws, score.losses) == counts
    assert score.games == len(points)
    assert score.score == pytest.approx(points.mean())
    assert score.score_se == pytest.approx(points.std(ddof=1) / np.sqrt(len(points)))


def test_elo_by_hand():
    assert elo_difference(0.5) == 0.0
    assert elo_difference(10 / 11) == pytest.approx(400.0)
    assert elo_difference(1 / 11) == pytest.approx(-400.0)
    score = MatchScore(wins=15, draws=2, losses=3)
    # Squares off 0.8: 15 · 0.04 + 2 · 0.09 + 3 · 0.64 = 2.7 of 19 · 20.
    assert score.score_se == pytest.approx(math.sqrt(2.7 / 380))
    assert score.elo == pytest.approx(400 * math.log10(4))
    assert score.elo_interval == pytest.approx((96.0, 577.3), abs=0.1)
    assert str(score) == "+15 =2 −3, score 80.0 ± 8.4 %, Elo +241 (95 %: +96 … +577)"
    low, high = MatchScore(wins=27, draws=3, losses=0).elo_interval
    assert low == pytest.approx(400 * math.log10(0.8954 / 0.1046), abs=0.3)
    assert high == math.inf
    assert MatchScore(0, 3, 27).elo_interval == pytest.approx((-math.inf, -low))


def test_few_games_leave_doubt_however_they_end():
    # Two wins and a draw have a small spread; Wilson's interval of 2.5 points of 3.
    low, high = MatchScore(wins=2, draws=1, losses=0).elo_interval
    assert (low, high) == pytest.approx((-139.0, 700.0), abs=30.0)
    assert MatchScore(0, 1, 2).elo_interval == pytest.approx((-high, -low))
    for wins in range(1, 6):
        low, high = MatchScore(wins, 1, 0).elo_interval
        assert low < MatchScore(wins, 1, 0).elo < high


@pytest.mark.parametrize("games", [1, 2, 20, 1000])
def test_games_that_all_end_alike_still_leave_doubt(games):
    low, high = MatchScore(games, 0, 0).elo_interval
    assert low == pytest.approx(400 * math.log10(games / 1.96**2))
    assert high == math.inf
    assert MatchScore(0, 0, games).elo_interval == pytest.approx((-math.inf, -low))
    low, high = MatchScore(0, games, 0).elo_interval
    assert low < 0.0 < high
    assert MatchScore(games, 0, 0).elo == math.inf
    assert math.isnan(MatchScore(games, 0, 0).score_se) == (games == 1)


def test_no_games_are_no_score():
    assert math.isnan(MatchScore.from_results([]).score)
    assert math.isnan(MatchScore(0, 0, 0).elo_interval[0])
