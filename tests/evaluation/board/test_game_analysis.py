"""Game reports: exact numbers from a scripted agent, and sense from the shipped model."""

from dataclasses import replace
from math import log
from unittest.mock import ANY

import numpy as np
import pytest
from chess_games import recorded

from kedge.agents import make_agent
from kedge.agents.agent import Analysis
from kedge.agents.chess.mates import forced_end
from kedge.evaluation.board import game_analysis
from kedge.evaluation.board.game_analysis import (
    analyse_game,
    frequent_players,
)
from kedge.evaluation.board.rating_fit import fit_rating
from kedge.evaluation.chess.rating_fit import move_likelihoods, rating_networks
from kedge.models.chess.conditioning import KNOTS
from kedge.records import GoGame

FOOLS = "f3 e5 g4 Qh4#"
RUY = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O"


class Scripted:
    """People play `likely` with 0.7, the rest alike; the agent plays `best` with 0.8.

    Both are SAN; where one is not legal, it is the first legal move. `worth` maps the last move (as
    UCI) to the value of the position for the player to move.
    """

    def __init__(self, likely, best, worth=None, searched=True):
        self.likely, self.best, self.worth, self.searched = likely, best, worth or {}, searched
        self.batches = []

    def explain_many(self, states, rng=None):
        self.batches.append(len(states))
        return [self._analysis(state) for state in states]

    def _analysis(self, state):
        actions = state.board.legal_actions()
        sans = [state.board.san(action) for action in actions]

        def policy(san, share):
            found = np.full(len(actions), (1.0 - share) / (len(actions) - 1))
            found[sans.index(san) if san in sans else 0] = share
            return found

        anchor, chosen = policy(self.likely, 0.7), policy(self.best, 0.8)
        last = state.uci(state.history[-1]) if state.history else ""
        return Analysis(
            anchor,
            chosen,
            np.full(len(actions), np.nan),
            self.worth.get(last, 0.0),
            visits=np.ones(len(actions), np.int64) if self.searched else None,
            lines=[[action] for action in actions],
        )


def test_exact_numbers():
    white = Scripted("e4", "e4")
    # What black thinks of the position after each of white's moves: g4 is bad for white.
    black = Scripted("e5", "Qh4#", {"e2e4": -0.2, "f2f3": 0.1, "g2g4": 0.9})
    report = analyse_game(recorded(FOOLS), [white, black])
    f3, e5, g4, mate = report.moves
    assert (f3.ply, f3.number, f3.player, f3.name, f3.move) == (0, 1, 0, "f3", "f2f3")
    assert f3.anchor == pytest.approx(0.3 / 19)
    assert f3.rank == 2
    assert f3.people[0].name == "e4"
    assert (f3.choice.name, f3.choice.anchor, f3.choice.policy) == ("e4", 0.7, 0.8)
    assert (f3.q, f3.best_q) == (pytest.approx(-0.1), pytest.approx(0.2))
    assert f3.loss == pytest.approx(0.15)
    assert f3.mark == "?"
    rest = 19 * (0.2 / 19) * log((0.2 / 19) / (0.3 / 19))
    assert f3.kl_to_anchor == pytest.approx(0.8 * log(0.8 / 0.7) + rest)
    assert (e5.rank, e5.anchor, e5.mark) == (1, pytest.approx(0.7), "")
    assert (g4.q, g4.best_q, g4.mark) == (pytest.approx(-0.9), pytest.approx(0.2), "??")
    assert g4.value == 0.0
    assert mate.value == pytest.approx(-0.9), "white's view"
    assert (mate.q, mate.best_q, mate.loss) == (1.0, 1.0, 0.0), "a mate is exact"
    assert (mate.choice.name, mate.mark) == ("Qh4#", "!")
    assert report.value == -1.0
    assert [move.ply for move in report.mistakes] == [0, 2]
    assert all(move.opening for move in report.moves)
    # Each agent is asked once about the game, once about what was not played.
    assert (white.batches, black.batches) == ([2, 1], [2, 2])


def test_proven_values_replace_the_agents():
    """White may mate, and plays on; the agent has seen nothing of it."""
    agents = Scripted("Nc3", "a3"), Scripted("a6", "Qe7")
    game = recorded("e4 e5 Bc4 Nc6 Qh5 Nf6 d3 d6 Qxf7#")
    report = analyse_game(game, agents, proven=forced_end)
    missed, allowed = report.moves[6], report.moves[5]
    assert (missed.choice.name, missed.line, missed.value) == ("Qxf7#", ("Qxf7#",), 1.0)
    assert (missed.mark, missed.best_q) == ("??", 1.0)
    assert (allowed.mark, allowed.q) == ("??", -1.0)
    assert report.moves[8].mark == "!"
    assert [move.value for move in report.moves[:6]] == [0.0] * 6


def test_players_are_scored_after_the_opening():
    agent = Scripted("Re1", "Re1")
    report = analyse_game(recorded(RUY, white="a", black="b", white_elo=1490), [agent, agent])
    white, black = report.players
    assert (white.name, white.rating, white.moves, white.scored) == ("a", 1490, 8, 3)
    assert (black.name, black.rating, black.games) == ("b", None, 1)
    assert white.top1 == pytest.approx(1 / 3)  # Re1
    scored = [move.anchor for move in report.moves if move.player == 0 and not move.opening]
    assert white.probability == pytest.approx(np.mean(scored))
    assert white.cross_entropy == pytest.approx(-np.log(scored).mean())
    assert white.perplexity == pytest.approx(np.exp(white.cross_entropy))
    assert white.fit is None


def test_ties_share_the_first_place():
    """Under the uniform anchor, no move is anyone's first choice."""
    game, agent = recorded(RUY, white="a", black="b"), make_agent("puct(uniform, playouts=16)")
    report = analyse_game(game, [agent, agent])
    for player, row in enumerate(report.players):
        moves = [
            len(state.board.legal_actions())
            for ply, state in enumerate(game.states())
            if ply >= game.opening and ply % 2 == player and ply < len(game.moves)
        ]
        assert row.top1 == pytest.approx(np.mean([1.0 / count for count in moves]))
    assert {move.mark for move in report.moves} <= {"", "?", "??"}, "nothing is rare"
    assert report.disagreements == [], "search prefers nothing that the anchor does not"


def test_no_moves_and_black_to_move():
    agent = Scripted("e4", "e4", searched=False)
    nothing = analyse_game(recorded(""), [agent, agent])
    assert (nothing.moves, nothing.values, nothing.searched) == ((), [0.0], False)
    assert np.isnan(nothing.players[0].top1)
    report = analyse_game(recorded("Kd7 e4", "4k3/8/8/8/8/8/4P3/4K3 b - - 0 7"), [agent, agent])
    assert [(move.number, move.player) for move in report.moves] == [(7, 1), (8, 0)]
    assert report.to_json()["fen"].split()[1] == "b"


def test_moves_are_counted_and_stretches_change_nothing(monkeypatch):
    agents = [Scripted("e4", "d4"), Scripted("e5", "d5")]
    whole = analyse_game(recorded(RUY), agents)
    monkeypatch.setattr(game_analysis, "_STRETCH", 3)
    counted = []
    assert analyse_game(recorded(RUY), agents, tell=counted.append) == replace(whole, game=ANY)
    assert counted == [3, 6, 9, 12, 15, 16]


def test_a_move_after_a_draw_that_nobody_claimed():
    agent = Scripted("Nf3", "Nf3", {"f6g8": 0.5})
    moves = "Nf3 Nf6 Ng1 Ng8 " * 2 + "e4"
    report = analyse_game(recorded(moves), [agent, agent])
    assert len(report.moves) == 9
    assert report.moves[8].value == 0.0, "the third time it is a draw"
    assert report.moves[4].value == 0.5


def test_players_over_several_games():
    agent = Scripted("e4", "e4")
    games = [
        recorded(RUY, white="a", black="b"),
        recorded(RUY, white="c", black="a"),
        recorded(FOOLS),
    ]
    [found] = frequent_players(analyse_game(one, [agent, agent]) for one in games)
    assert (found.name, found.games, found.moves) == ("a", 2, 16)


def test_ratings_from_likelihoods():
    """A likelihood that is a bell around 1700 gives its mean and its width."""
    bell = -((KNOTS - 1700.0) ** 2) / (2 * 100.0**2)
    fit = fit_rating(np.stack([bell / 2, bell / 2]), KNOTS)
    assert (fit.rating, fit.error) == (pytest.approx(1700, abs=1), pytest.approx(100, abs=1))
    assert (fit.likeliest, fit.moves) == (1700, 2)
    assert fit_rating(np.empty((0, len(KNOTS))), KNOTS) is None


def test_likelihoods_are_the_models_own():
    one = recorded(RUY)
    found = move_likelihoods(one, rating_networks())
    assert found.shape == (16, len(KNOTS))
    agent = make_agent("chess(elo=1200)")
    states = [one.state(ply) for ply in range(16)]
    for ply, (state, analysis) in enumerate(zip(states, agent.explain_many(states), strict=True)):
        played = state.legal_actions().index(int(one.moves[ply]))
        assert np.exp(found[ply, 2]) == pytest.approx(analysis.anchor[played], rel=1e-4)
    assert move_likelihoods(recorded(""), rating_networks()).shape == (0, len(KNOTS))


@pytest.mark.parametrize("spec", ["puct(chess, playouts=30)", "chess"])
def test_the_shipped_model(spec):
    agent = make_agent(spec)
    report = analyse_game(recorded("e4 e5 Nf3 Nc6 Qe2 Nf6"), [agent, agent])
    assert report.searched == spec.startswith("puct")
    assert [move.rank for move in report.moves[:3]] == [1, 1, 1]
    for move in report.moves:
        assert 0.0 < move.anchor < 1.0
        assert np.isfinite([move.loss, move.value, move.q, move.best_q, move.kl_to_anchor]).all()


def test_search_sees_a_blunder():
    agent = make_agent("puct(chess, playouts=30)")
    queen = analyse_game(recorded("e4 e5 Qh5 Nc6 Qxe5+"), [agent, agent]).moves[-1]
    assert queen.mark == "??", "a queen for a pawn"
    assert queen.anchor < 0.1


class Reviewer:
    """An agent of Go: positions have the values `worth`, and the first legal move is the best."""

    def __init__(self, *worth):
        self.worth = worth

    def explain_many(self, states, rng=None):
        return [self._analysis(state) for state in states]

    def _analysis(self, state):
        policy = np.zeros(len(state.legal_actions()))
        policy[0] = 1.0
        worth = self.worth[len(state.history)]
        return Analysis(policy, policy, policy, worth if state.board.player() == 0 else -worth)


def test_a_game_of_go():
    moves = np.array([0, 40, 81, 81], np.int16)
    record = GoGame(moves, size=9, black="a", white_rank="5k", result="W+R")
    agent = Reviewer(0.1, 0.3, 0.8, 0.6, 0.9)
    report = analyse_game(record, [agent, agent])
    assert report.values == [0.1, 0.3, 0.8, 0.6, 0.6], "what is agreed is what it was"
    first, second, third, fourth = report.moves
    assert (first.name, first.move, first.number, first.player) == ("A9", "A9", 1, 0)
    assert (first.q, first.best_q, first.mark) == (0.3, 0.3, "")
    assert (second.q, second.choice.name, second.opening) == (-0.8, "B9", False)
    assert (second.best_q, second.number) == (-0.8, 2)
    assert (third.name, third.q, third.line) == ("pass", 0.6, ("B9",))
    assert (fourth.q, fourth.loss) == (-0.6, 0.0)
    assert (report.players[1].rating, report.players[0].scored) == ("5k", 2)
    assert report.to_json()["size"] == 9


def test_a_side_that_moves_twice():
    record = GoGame(np.array([1, 2, 3], np.int16), np.array([0, 0, 1], np.uint8), size=9)
    agent = Reviewer(0.0, 0.4, -0.2, 0.5)
    report = analyse_game(record, [agent, agent])
    assert [move.player for move in report.moves] == [0, 0, 1]
    assert [move.q for move in report.moves] == [0.4, -0.2, -0.5], "for the mover"
    assert [move.loss for move in report.moves] == [0.0, 0.0, 0.0], "other moves are reviewed alike"
