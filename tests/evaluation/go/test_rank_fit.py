"""Ranks from the likelihoods of moves, and whose likelihoods they are."""

import numpy as np
import pytest

from kedge.agents import make_agent
from kedge.evaluation.board.game_analysis import player_report
from kedge.evaluation.go.rank_fit import fit_rank, move_likelihoods
from kedge.evaluation.go.review import go_reviewer
from kedge.games.go.ranks import RANKS
from kedge.records import GoGame

GAME = GoGame(
    np.array([60, 300, 72, 361, 288], np.int16), black_rank="5d", white_rank="3d", date="2003"
)


def moves_like(rank, count, nats=0.02):
    """Likelihoods of moves that get `nats` less likely with every rank between."""
    return np.tile(-nats * np.abs(np.arange(len(RANKS)) - RANKS.index(rank)), (count, 1))


def test_more_moves_say_more_about_the_rank():
    few, many = (fit_rank(moves_like("4d", count)) for count in (20, 2000))
    assert (many.rating, many.likeliest, many.moves) == ("4d", "4d", 2000)
    assert many.error < few.error
    assert many.shares["4d"] > few.shares["4d"]
    for fit in (few, many):
        assert sum(fit.shares.values()) == pytest.approx(1.0)
        at = RANKS.index(fit.rating)
        within = RANKS[max(0, at - fit.error) : at + fit.error + 1]
        assert sum(fit.shares[rank] for rank in within) >= 0.68
        assert str(fit) == f"{fit.rating} ± {fit.error}"


def test_moves_that_say_nothing():
    fit = fit_rank(np.zeros((100, len(RANKS))))
    assert (fit.rating, fit.error) == ("5d", 4), "the middle, and nearly all ranks"
    assert fit_rank(np.empty((0, len(RANKS)))) is None


def test_a_person_counts_as_a_limited_number_of_moves():
    some, more = (fit_rank(moves_like("4d", count, nats=0.005)) for count in (10**5, 10**6))
    assert more.shares["4d"] == pytest.approx(some.shares["4d"], abs=0.02)
    assert more.shares["4d"] < 0.99, "people have styles, whatever the number of moves"


def test_likelihoods_are_the_models_own():
    found = move_likelihoods(GAME)
    assert found.shape == (5, len(RANKS))
    states = [GAME.state(ply) for ply in range(5)]
    for ply, rank, opponent in ((0, "3d", "3d"), (3, "pro", "5d")):
        agent = make_agent(f"go-large(rank={rank}, opponent={opponent}, server=KGS, year=2003)")
        (analysis,) = agent.explain_many([states[ply]])
        played = states[ply].legal_actions().index(int(GAME.moves[ply]))
        likelihood = np.exp(found[ply, RANKS.index(rank)])
        assert likelihood == pytest.approx(analysis.anchor[played], rel=1e-4)


def test_small_boards_have_no_ranks():
    assert move_likelihoods(GoGame(np.array([40], np.int16), size=9)) is None


def test_a_reader_who_leaves_stops_it():
    def leave(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        move_likelihoods(GAME, leave)


def test_reviews_have_the_ranks_of_both_players():
    told = []
    report = go_reviewer("go", fit=True)(GAME, lambda *progress: told.append(progress))
    stages = [stage for done, *stage in told if done == 0]
    assert stages == [[f"rank fit: {done} of 22"] for done in range(22)], "two players, 11 ranks"
    assert told[22:] == [(5,)]
    black, white = report.players
    assert (black.fit.moves, white.fit.moves) == (3, 2)
    both = player_report([(report, 0), (report, 0)])
    assert both.fit.moves == 6, "over several games"
    assert go_reviewer("go")(GAME, lambda moves: None).players[0].fit is None


def test_people_of_a_rank_review():
    report = go_reviewer(rank="3 dan", fit=False)(GAME, lambda moves: None)
    assert report.ratings == ("3d", "3d")
    agent = make_agent("go-large(rank=3d)")
    (analysis,) = agent.explain_many([GAME.state(0)])
    played = GAME.state(0).legal_actions().index(60)
    assert report.moves[0].anchor == pytest.approx(analysis.anchor[played], rel=1e-4)
