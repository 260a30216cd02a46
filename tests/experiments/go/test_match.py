"""Matches of Go: the same as of chess, but for a scorer."""

import numpy as np
import pytest
import tiny_go

from kedge.agents.agent import Analysis
from kedge.errors import InputError
from kedge.experiments import run
from kedge.experiments.go.match import GoMatch, even_game, play_go
from kedge.games.go import GoState, format_gtp
from kedge.models.board.network import to_onnx
from kedge.paper.go.accuracy import GoAccuracy
from kedge.paper.go.strength import GoStrength, GoTradeoff
from kedge.records import write_sgf_file
from kedge.records.go.files import read_go_games

PASS = 361


def quick(model, **fields):
    usual = {"a": model, "b": model, "games": 4, "max_plies": 16, "judge": "playouts"}
    return GoMatch(**{**usual, **fields})


class Scripted:
    """Plays given points by the number of the move, then passes."""

    def __init__(self, moves, value_for_black=0.0):
        self.moves, self.value = moves, value_for_black

    def analyse_many(self, states, rng):
        found = []
        for state in states:
            ply = len(state.history)
            wanted = self.moves[ply] if ply < len(self.moves) else PASS
            policy = np.array([float(action == wanted) for action in state.legal_actions()])
            value = self.value if state.current_player() == 0 else -self.value
            found.append(Analysis(policy, policy, policy, value))
        return found


def play(moves, count=2, value=0.0, beginning=even_game, **rules):
    player = Scripted(moves, value)
    rng = np.random.default_rng(0)
    return play_go((player, player), count, rng, beginning, scorer="playouts", **rules)


def test_a_scorer_has_the_last_word():
    # Two passes on an empty board: White has the komi, and agent 1 is White first.
    assert play([]) == [
        {"first": 0, "moves": "pass pass", "score": 0.0, "termination": "two passes",
         "margin": -6.5, "judge": "playouts"},
        {"first": 1, "moves": "pass pass", "score": 1.0, "termination": "two passes",
         "margin": -6.5, "judge": "playouts"},
    ]  # fmt: skip
    [drawn] = play([], count=1, beginning=lambda: GoState(komi=0.0))
    assert (drawn["score"], drawn["margin"]) == (0.5, 0.0)
    [long] = play([60, 300, 72], count=1, max_plies=3)
    assert (long["termination"], long["moves"]) == ("move limit", "D16 Q4 Q16")
    assert long["judge"] == "playouts"


def test_resigned_games_need_no_scorer():
    [game] = play(range(20), count=1, value=0.99, resign=0.9)
    assert (game["score"], game["termination"]) == (1.0, "resignation")
    assert "judge" not in game
    match = quick("x", games=1)
    [record] = match.records({"games 1-1": {"games": [game]}})
    assert (record.result, record.black, record.komi) == ("B+R", "x", 6.5)


def test_the_engine_does_not_matter(go_model, tmp_path):
    match = quick(go_model, a=f"puct({go_model}, playouts=3)")
    one = run(match, engine="inline", progress=False, folder=tmp_path / "inline")
    two = run(match, workers=2, progress=False, folder=tmp_path / "local")
    assert one.results == two.results
    records = list(match.records(one.results))
    assert [record.black for record in records] == [match.a, match.b] * 2
    assert all(len(record) == 16 for record in records)
    lines = one.report().text().splitlines()
    assert [line.split()[0] for line in lines[4:7]] == ["black", "white", "both"]
    assert lines[-1] == "scorers: playouts 4"


def test_the_scorer_makes_another_match(go_model):
    assert quick(go_model).digest != quick(go_model, judge="gnugo").digest
    assert quick(go_model).identity()["config"]["judge"] == "playouts"
    assert quick(go_model, judge=None).judge in ("gnugo", "playouts")
    strength = GoStrength(models=(go_model,), judge="playouts")
    assert strength.digest != GoStrength(models=(go_model,), judge="gnugo").digest
    with pytest.raises(InputError, match="unknown scorer"):
        quick(go_model, judge="me")


def test_a_match_on_a_small_board(go_model, tmp_path):
    path = tmp_path / "points.onnx"
    path.write_bytes(to_onnx(tiny_go.weights(policy="points")).SerializeToString())
    small = quick(f"'{path}'", games=2, chunk=2, size=9)
    results = run(small, engine="inline").results
    for game in small.records(results):
        assert game.size == 9
        assert game.moves.max() <= 81
    with pytest.raises(InputError, match="the model plays on 19×19, not on 9×9"):
        quick(go_model, size=9).check()
    with pytest.raises(InputError, match="size: from 2 to 19 lines, not -3"):
        quick(go_model, size=-3).check()


def test_a_handicap_game(go_model, tmp_path):
    match = quick(go_model, games=2, chunk=2, handicap=4, max_plies=3)
    assert match.komi == 0.5
    results = run(match, engine="inline", folder=tmp_path / "run").results
    games = results["games 1-2"]["games"]
    assert [game["first"] for game in games] == [1, 1]
    assert f"{match.b} had black and 4 stones" in match.report(results).notes
    path = tmp_path / "games.sgf"
    write_sgf_file(match.records(results), path)
    [first, _] = read_go_games(path)
    assert (first.handicap, first.komi, first.mover(0)) == (4, 0.5, 1)
    assert {format_gtp(point, 19) for point in first.black_stones} == {"D4", "D16", "Q4", "Q16"}
    *_, end = first.states()
    assert len(end.history) == 3


def test_stones_win_where_komi_does_not():
    # Nobody moves: Black's four stones have the board.
    [game] = play([], count=1, beginning=lambda: GoState(komi=0.5, handicap=4), black=1)
    assert (game["first"], game["score"], game["termination"]) == (1, 0.0, "two passes")
    assert game["margin"] > 300


def test_handicap_leaves_other_matches_as_they_were(go_model):
    assert quick(go_model).identity() == quick(go_model, handicap=0).identity()
    assert "handicap" not in quick(go_model).config()
    assert quick(go_model).komi == 6.5
    assert quick(go_model, handicap=2, komi=-3.5).komi == -3.5
    with pytest.raises(InputError, match="handicap: from 2 to 9 stones on 19×19, not 1"):
        quick(go_model, handicap=1).check()


def test_scorers_that_failed_are_reported(go_model):
    told = play([], count=3)
    told[1]["failures"] = ["gnugo: died"] * 2
    told[2]["unasked"] = ["gnugo"]
    report = quick(go_model, games=3).report({"games 1-3": {"games": told}})
    assert report.notes[-3:] == [
        "scorers: playouts 3",
        "a scorer failed 2 times, most often: gnugo: died",
        "gnugo failed in three games in a row and was not asked in 1 after them",
    ]


def test_published_strength(go_model):
    strength = GoStrength(models=(go_model,), judge="playouts", games=2, chunk=2)
    results = {task.key: {"games": play([])} for task in strength.tasks()}
    report = strength.report(results)
    rows = {(row["temperature"], row["c_puct"]): row for row in report.table.rows}
    assert len(rows) == 10
    assert (rows[1.0, 2.0]["paper"], rows[0.3, 0.5]["paper_se"]) == (0.876, 0.005)
    assert (rows[1.0, 2.0]["games"], rows[1.0, 2.0]["score"]) == (2, 0.5)
    assert "scorers: playouts 20" in report.notes[-1]


def test_a_tradeoff_is_of_both_tables(go_model, tmp_path):
    data = tmp_path / "games.sgf"
    data.write_text("(;SZ[19]DT[2015-01-01];B[pd];W[dp])")
    matches = {"games": 6, "chunk": 2, "judge": "playouts"}
    both = GoTradeoff(models=(go_model,), data=str(data), **matches)
    assert (GoTradeoff().models, both.positions) == (("go",), 100)
    assert both.strength() == GoStrength(models=(go_model,), **matches)
    accuracy = GoAccuracy(models=(go_model,), data=str(data))
    assert both.parts() == {**accuracy.parts(), "matches": both.strength()}
    asked = [task.params for task in both.tasks() if task.params["part"] == "matches"]
    assert len(asked) == len(both.strength().tasks()) / 2, "one temperature of two"
    assert both.config()["judge"] == "playouts"
