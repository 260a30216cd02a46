"""Scorers of Go: which stones are dead, and what happens when a scorer fails."""

import math
import shutil
import stat
import sys

import pytest

from kedge.agents.go.gtp_program import GtpProgram
from kedge.errors import InputError
from kedge.evaluation.go.scorers import check_scorer, dead_stones, score_games, scorer_name
from kedge.games.go import GoState

#: The two chains at the top have two liberties in common, and whoever takes one is taken.
SEKI = """
. X O . X O . . .
. X O . X O . . .
. X O O X O . . .
. X X X O O . . .
. . . X O . . . .
. . . X O . . . .
. . . X O . . . .
. . . X O . . . .
. . . X O . . . .
"""
#: Nobody's points in the middle, and a stone on either side that is lost.
DAME = """
. . . X . O . . .
. O . X . O . . .
. . . X . O . . .
. . . X . O . . .
. . . X . O . X .
. . . X . O . . .
. . . X . O . . .
. O . X . O . . .
. . . X . O . . .
"""
#: White has stones, but no life.
ALL_DEAD = """
. . . X . . . . .
. O . X . . . O .
. . . X . . . . .
. . . X X X X X X
X X X X . . . . .
. . . X . O . . .
. O . X . . . . .
. . . X . . . . .
. . . X . . . . .
"""


def position(diagram):
    marks = diagram.split()
    black, white = ([p for p, mark in enumerate(marks) if mark == stone] for stone in "XO")
    return GoState(math.isqrt(len(marks)), 6.5, black=black, white=white)


def by_ours(state):
    (scored,) = score_games("playouts", [state])
    assert (scored.scorer, scored.failures) == ("playouts", ())
    return scored.score


@pytest.mark.parametrize(
    ("diagram", "dead", "score"),
    [
        (SEKI, [], 19 - 32 - 6.5),
        (DAME, [10, 43, 64], 27 + 2 - 27 - 1 - 6.5),
        (ALL_DEAD, [10, 16, 50, 55], 81 - 17 + 4 - 6.5),
    ],
    ids=["seki", "dame", "all dead"],
)
def test_our_own_scorer(diagram, dead, score):
    state = position(diagram)
    assert dead_stones(state) == dead
    assert by_ours(state) == score


def test_prisoners_and_the_empty_board():
    assert by_ours(GoState(komi=6.5)) == -6.5
    assert dead_stones(GoState()) == []
    state = GoState(2, 0.5)
    for point in (0, 1, 4, 2, 4, 4):  # white takes the corner, and both pass
        if not state.is_terminal():
            state.apply_action(point)
    assert by_ours(state) == pytest.approx(-0.5 - 1 - 2)


FAKE = """
import sys, pathlib
state = pathlib.Path({state!r})
moves = []
for line in sys.stdin:
    words = line.split()
    with state.open("a") as log:
        log.write(line)
    if words[0] == "play":
        moves.append(words[2])
    if words[0] == "clear_board":
        moves.clear()
    if words[0] == "quit":
        break
    if words[0] == "final_score":
        {answer}
        sys.stdout.flush()
        continue
    print("=\\n", flush=True)
"""


@pytest.fixture
def fake(tmp_path):
    """Makes a KataGo of which only `answer` is left; what it was told is in ``told``."""

    def make(answer):
        program, network = tmp_path / "katago", tmp_path / "net.bin.gz"
        script = FAKE.format(state=str(tmp_path / "told"), answer=answer)
        program.write_text(f"#!{sys.executable}\n{script}")
        program.chmod(program.stat().st_mode | stat.S_IEXEC)
        network.write_bytes(b"")
        return scorer_name(f"katago:{program},{network}")

    return make


def finished(*points):
    state = GoState(9, 6.5)
    for point in (*points, 81, 81):
        state.apply_action(point)
    return state


def test_a_program_is_told_the_game(fake, tmp_path):
    scorer = fake("print('=', 'BW'[len(moves) > 2] + f'+{len(moves)}.5 (sure)\\n')")
    long, short = score_games(scorer, [finished(0, 40), GoState(9, handicap=2)])
    assert (long.score, long.scorer, long.failures) == (-3.5, "katago", ())
    assert short.score == 2.5
    told = (tmp_path / "told").read_text().splitlines()
    assert told[:4] == ["kata-set-rules japanese", "boardsize 9", "clear_board", "komi 6.5"]
    # The second pass is kept back: after it nothing is looked at any more.
    assert told[4:8] == ["play b A9", "play w E5", "play b pass", "final_score"]
    assert told[-4:-1] == ["play b G7", "play b C3", "final_score"]


def test_a_scorer_that_dies_is_started_again(fake, tmp_path):
    (tmp_path / "told").touch()
    once = "sys.exit('out of memory') if state.read_text().count('final') < 2 else print('= 0\\n')"
    (scored,) = score_games(fake(once), [finished(0, 40)])
    assert (scored.score, scored.scorer) == (0.0, "katago")
    [reason] = scored.failures
    assert "ended with 1 (out of memory)" in reason


@pytest.mark.parametrize("answer", ["sys.exit(1)", "print('? no\\n')", "print('= who knows\\n')"])
def test_after_a_scorer_that_fails_ours_goes_on(fake, answer):
    states = [finished(0, 40), GoState(9, 6.5), finished()]
    scored_games = score_games(fake(answer), states, at_once=2)
    assert [scored.scorer for scored in scored_games] == ["playouts"] * 3
    assert [scored.score for scored in scored_games] == [by_ours(state) for state in states]
    assert {len(scored.failures) for scored in scored_games} == {2}


def test_a_scorer_that_hangs_is_given_up(fake, monkeypatch):
    """One timeout a game, in three games, also where every game is a task of its own."""
    monkeypatch.setattr(GtpProgram.__init__, "__defaults__", (0.2, None))
    scorer = fake("import time; time.sleep(60)")
    scored_games = [*score_games(scorer, [finished(0, 40)]), *score_games(scorer, [finished()] * 4)]
    assert [len(scored.failures) for scored in scored_games] == [1, 1, 1, 0, 0]
    assert "final_score: no answer in 0.2 seconds" in scored_games[0].failures[0]
    assert [scored.unasked for scored in scored_games] == [()] * 3 + [("katago",)] * 2
    assert {scored.scorer for scored in scored_games} == {"playouts"}


def test_only_failures_in_a_row_count(fake, tmp_path):
    (tmp_path / "told").touch()
    some = "print('? no\\n' if state.read_text().count('final') % 5 else '= 0\\n')"
    scored_games = score_games(fake(some), [finished()] * 10)
    assert [scored.scorer for scored in scored_games] == (["playouts"] * 2 + ["katago"]) * 3 + [
        "playouts"
    ]


def test_gnu_go():
    if not shutil.which("gnugo", path="/usr/games:/usr/bin:/usr/local/bin"):
        pytest.skip("GNU Go is not installed")
    check_scorer("gnugo")
    assert scorer_name() == "gnugo"
    dame, dead = score_games("gnugo", [position(DAME), position(ALL_DEAD)])
    assert (dame.scorer, dame.failures) == ("gnugo", ())
    assert dame.score == pytest.approx(-5.5, abs=2)  # it plays on before it counts
    assert dead.score > 50


def test_names_of_scorers(monkeypatch):
    monkeypatch.setattr("kedge.evaluation.go.scorers.shutil.which", lambda *_, **__: None)
    assert scorer_name() == "playouts"
    assert scorer_name("gnugo") == "gnugo"
    with pytest.raises(InputError, match="GNU Go is not installed here"):
        check_scorer("gnugo")
    with pytest.raises(InputError, match="unknown scorer 'gnu'; did you mean gnugo"):
        scorer_name("gnu")
    with pytest.raises(InputError, match="write katago:PROGRAM,NETWORK"):
        scorer_name("katago:katago")
