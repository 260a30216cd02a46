"""Go against OpenSpiel, sgfmill, the rules in plain Python, and games of professionals."""

import os
import random
import xml.etree.ElementTree as ElementTree
from collections import Counter

import numpy as np
import pytest
from plain_go import PlainGo

from kedge import _core
from kedge.errors import InputError
from kedge.games.go import (
    TERMINAL,
    GoState,
    format_gtp,
    format_sgf,
    handicap_points,
    parse_gtp,
    parse_sgf,
)

#: Random games beside each other implementation; KEDGE_GO_GAMES=10000 is the long run.
GAMES = int(os.environ.get("KEDGE_GO_GAMES", "190"))
SIZES = [2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 9, 9, 9, 10, 11, 13, 19]
KO = ["simple", "positional", "situational"]


def choose(rng: random.Random, legal: list[int]) -> int:
    """Any legal move, but seldom a pass."""
    if rng.random() < 0.02 or len(legal) == 1:
        return legal[-1]
    return legal[rng.randrange(len(legal) - 1)]


def points(board: _core.GoBoard) -> list[int]:
    return [board.colour(p) for p in range(board.size**2)]


def diagram(text: str, **options: object) -> GoState:
    """A first position: X black, O white; Black to move unless `options` say so."""
    marks = "".join(text.split())
    return GoState(
        int(len(marks) ** 0.5),
        black=[p for p, mark in enumerate(marks) if mark == "X"],
        white=[p for p, mark in enumerate(marks) if mark == "O"],
        **{"player": 0, "komi": 0.0, **options},  # type: ignore[arg-type]
    )


def play(state: GoState, moves: str) -> GoState:
    for move in moves.split():
        state.apply_action(state.parse_gtp(move))
    return state


# --- Random games beside others ---------------------------------------------------------------


@pytest.mark.parametrize("part", range(10))
def test_random_games_beside_openspiel(part):
    """OpenSpiel forbids simple ko and suicide, and calls a game drawn when a board comes again."""
    pyspiel = pytest.importorskip("pyspiel")
    ends = Counter()
    for seed in range(part, GAMES, 10):
        rng = random.Random(seed)
        size = SIZES[seed % len(SIZES)]
        komi = rng.choice([0.0, 0.5, 6.5, 7.0])
        game = pyspiel.load_game(
            f"go(board_size={size},komi={komi},max_game_length={3 * size * size})"
        )
        theirs = game.new_initial_state()
        ours = GoState(size, komi, superko="simple")
        strict = _core.GoBoard(size, komi)
        flip = [(size - 1 - a // size) * size + a % size for a in range(size * size)]
        flip.append(size * size)
        while not theirs.is_terminal():
            legal = ours.legal_actions()
            assert legal == sorted(flip[a] for a in theirs.legal_actions())
            assert ours.current_player() == theirs.current_player()
            assert not ours.board.is_draw_by_rule()
            action = choose(rng, legal)
            verdict = strict.verdict(action)
            ours.apply_action(action)
            theirs.apply_action(flip[action])  # it is its own inverse
            if verdict == "superko":
                assert theirs.is_terminal()
                ends["repetition"] += 1
                break
            assert verdict == "legal"
            strict.push(action)
        else:
            if ours.is_terminal():
                ends["passes"] += 1
                assert ours.returns() == theirs.returns()
            else:
                assert len(ours.history) == 3 * size * size
    assert ends["repetition"] > 0
    assert ends["passes"] > 0


@pytest.mark.parametrize("part", range(10))
def test_random_games_beside_sgfmill(part):
    boards = pytest.importorskip("sgfmill.boards")
    for seed in range(part, GAMES, 10):
        rng = random.Random(seed)
        size = SIZES[seed % len(SIZES)]
        ours = _core.GoBoard(size, 0.0, "simple", suicide=True)
        theirs = boards.Board(size)
        for ply in range(2 * size * size):
            action = choose(rng, ours.legal_actions())
            player = ours.player()
            ours.push(action)
            if action < size * size:
                y, x = divmod(action, size)
                ko = theirs.play(size - 1 - y, x, "bw"[player])
                assert ours.ko == (None if ko is None else (size - 1 - ko[0]) * size + ko[1])
            if ours.is_terminal():
                break
            if ply % 4:
                continue
            occupied = {
                (size - 1 - r) * size + c: "bw".index(k)
                for k, (r, c) in theirs.list_occupied_points()
            }
            assert points(ours) == [occupied.get(p, 2) for p in range(size * size)]
            black, white, black_points, white_points = ours.count()
            assert black + black_points - white - white_points == theirs.area_score()


@pytest.mark.parametrize("superko", KO)
@pytest.mark.parametrize("suicide", [False, True])
def test_random_games_beside_the_plain_rules(superko, suicide):
    """Small boards, where positions come again."""
    forbidden = 0
    for seed in range(GAMES // 6):
        rng = random.Random(seed)
        size = rng.choice([2, 2, 3, 3, 4, 5])
        ours = _core.GoBoard(size, 0.0, superko, suicide)
        plain = PlainGo(size, superko, suicide)
        for _ in range(12 * size):
            legal = ours.legal_actions()
            assert legal == plain.legal_actions()
            forbidden += sum(ours.verdict(p) in ("ko", "superko") for p in range(size * size))
            action = choose(rng, legal)
            ours.push(action)
            plain.play(action)
            assert tuple(points(ours)) == plain.stones
            assert ours.key == ours.key_from_scratch
            if ours.is_terminal():
                break
            repeated = plain.past[-1] in plain.past[:-1] and action != size * size
            assert ours.is_draw_by_rule() == (superko == "simple" and repeated)
    assert forbidden > 0


def test_boards_with_the_same_stones_have_the_same_key():
    by_stones = {}
    for seed in range(300):
        board = _core.GoBoard(3)
        board.play_random(seed % 40, seed)
        stones = tuple(points(board))
        assert by_stones.setdefault(stones, board.key) == board.key
    assert len(set(by_stones.values())) == len(by_stones) > 150


@pytest.mark.parametrize("superko", KO)
@pytest.mark.parametrize("size", [2, 4, 7, 19])
def test_pop_restores_everything(size, superko):
    """Also what a board keeps for itself: the game then goes on as a fresh one does."""
    for seed in range(8):
        board = _core.GoBoard(size, 6.5, superko, suicide=True)
        seen = []
        while board.length() < 300 and not board.is_terminal():
            seen.append((board.copy(), board.legal_actions()))
            board.play_random(1, 1000 * seed + board.length())
        for before, legal in reversed(seen):
            board.pop()
            assert board == before
            assert board.legal_actions() == legal
        with pytest.raises(IndexError):
            board.pop()
        fresh = _core.GoBoard(size, 6.5, superko, suicide=True)
        for other in (board, fresh):
            other.play_random(200, seed + 5)
        assert board == fresh
        assert board.legal_actions() == fresh.legal_actions()


# --- Made by hand -----------------------------------------------------------------------------

KO_FIGHT = """
    . X O .
    X O . O
    . X O .
    . . . .
"""


@pytest.mark.parametrize("superko", KO)
def test_ko(superko):
    state = play(diagram(KO_FIGHT, superko=superko), "C3")
    assert state.board.prisoners == [0, 1]
    assert state.board.ko == parse_gtp("B3", 4)
    with pytest.raises(InputError, match="B3 is not a legal move: ko"):
        state.parse_gtp("B3")
    play(state, "A1 D1 B3")
    assert state.board.prisoners == [1, 1]


@pytest.mark.parametrize("superko", KO)
def test_passes_lift_simple_ko_only(superko):
    state = play(diagram(KO_FIGHT, superko=superko), "C3 pass pass")
    assert state.board.verdict(parse_gtp("B3", 4)) == (
        "legal" if superko == "simple" else "superko"
    )


def test_snapback():
    """A stone thrown in is captured, and its point takes five back: no ko."""
    state = diagram(
        """
        X . . O
        X X X O
        O O O O
        . . . .
        """,
        player=1,
    )
    play(state, "B4 C4")
    assert state.board.ko is None
    assert state.board.prisoners == [0, 1]
    play(state, "B4")
    assert state.board.prisoners == [5, 1]
    assert points(state.board)[:4] == [2, 1, 2, 1]


def test_suicide():
    two = """
        . X O
        O O .
        . . .
    """
    one = two.replace("X", "O")
    assert diagram(two).board.verdict(0) == "suicide"
    assert diagram(one, suicide=True).board.verdict(0) == "suicide"
    state = play(diagram(two, suicide=True), "A3")
    assert state.board.prisoners == [2, 0]
    assert points(state.board) == [2, 2, 1, 1, 1, 2, 2, 2, 2]
    state.undo_action()
    assert state.board == diagram(two, suicide=True).board


@pytest.mark.parametrize(
    ("superko", "verdict"),
    [("simple", "legal"), ("positional", "superko"), ("situational", "legal")],
)
def test_suicide_may_bring_a_board_back(superko, verdict):
    """The first board, but then with White to move."""
    state = diagram(". . O O O . . . .", superko=superko, suicide=True)
    assert play(state, "B3 pass").board.verdict(0) == verdict


def test_triple_ko():
    """Three kos, taken in turn: after six moves the first board would be there again."""
    black_to_take = [". X O .", "X O . O", ". X O ."]
    white_to_take = [". X O .", "X . X O", ". X O ."]
    rows = [*black_to_take, "", *white_to_take, "", *black_to_take, "", "", ""]
    text = "".join(row.replace(" ", "").ljust(13, ".") for row in rows[:13])
    cycle = [1 * 13 + 2, 5 * 13 + 1, 9 * 13 + 2, 1 * 13 + 1, 5 * 13 + 2, 9 * 13 + 1]
    for superko in KO:
        state = diagram(text, superko=superko)
        for action in cycle[:-1]:
            state.apply_action(action)
        assert not state.board.is_draw_by_rule()
        if superko != "simple":
            assert state.board.verdict(cycle[-1]) == "superko"
            continue
        state.apply_action(cycle[-1])
        assert state.board.is_draw_by_rule()
        assert not state.is_terminal()
        assert state.board.terminal_value() == 0.0


def test_seki_and_dame_belong_to_nobody():
    state = diagram(
        """
        . X . O .
        X X . O O
        X X X O O
        . X O O .
        X X O . O
        """,
        komi=0.5,
    )
    assert state.score() == (9 + 2) - (9 + 3) - 0.5
    assert state.score(rules="territory") == 2 - 3 - 0.5
    assert play(state, "pass pass").returns() == [-1.0, 1.0]


def test_dead_stones():
    state = diagram(
        """
        . O X O .
        . . X O .
        . . X O .
        . . X O .
        . . X O .
        """
    )
    assert state.score() == 5 - (6 + 5)
    assert state.score(dead=[1]) == (5 + 10) - (5 + 5)
    assert state.score(dead=[1], rules="territory") == (10 + 1) - 5
    for dead in ([0], [-1], [25]):
        with pytest.raises(InputError, match="dead: no stone at point"):
            state.score(dead=dead)


def test_a_draw():
    state = play(diagram(". X O . X X O O X X O O . X O ."), "pass pass")
    assert state.is_terminal()
    assert state.returns() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("size", "stones", "want"),
    [
        (19, 2, "D4 Q16"),
        (19, 3, "D4 Q16 D16"),
        (19, 4, "D4 Q16 D16 Q4"),
        (19, 5, "D4 Q16 D16 Q4 K10"),
        (19, 6, "D4 Q16 D16 Q4 D10 Q10"),
        (19, 7, "D4 Q16 D16 Q4 D10 Q10 K10"),
        (19, 8, "D4 Q16 D16 Q4 D10 Q10 K16 K4"),
        (19, 9, "D4 Q16 D16 Q4 D10 Q10 K16 K4 K10"),
        (13, 7, "D4 K10 D10 K4 D7 K7 G7"),
        (9, 5, "C3 G7 C7 G3 E5"),
        (7, 4, "C3 E5 C5 E3"),
        (18, 4, "D4 P15 D15 P4"),
    ],
)
def test_handicap_as_gtp_fixes_it(size, stones, want):
    assert " ".join(format_gtp(p, size) for p in handicap_points(size, stones)) == want
    state = GoState(size, 0.5, handicap=stones)
    assert state.current_player() == 1
    assert state.board.count()[0] == stones


def test_setup():
    assert GoState(5, black=[12]).current_player() == 1
    assert GoState(5, black=[12], white=[13]).current_player() == 0
    for options, reason in [
        ({"size": 1}, "2 to 19"),
        ({"size": 20}, "2 to 19"),
        ({"komi": float("nan")}, "komi: at most 361 points either way, not nan"),
        ({"superko": "natural"}, "superko: simple, positional or situational, not"),
        ({"size": 5, "black": [25]}, "25 is not a point"),
        ({"size": 5, "black": [3], "white": [3]}, "occupied"),
        ({"size": 5, "black": [1, 5], "white": [0]}, "without liberties"),
        ({"size": 9, "handicap": 10}, "from 2 to 9 stones on"),
        ({"size": 19, "handicap": 1}, "from 2 to 9 stones on"),
        ({"size": 8, "handicap": 5}, "from 2 to 4 stones on"),
        ({"size": 5, "handicap": 2}, "place the stones"),
    ]:
        with pytest.raises(InputError, match=reason):
            GoState(**options)


# --- The state's verbs ------------------------------------------------------------------------


def test_plays_to_an_end():
    state = GoState(5, komi=2.5)
    play(state, "C3 pass")
    before = state.clone()
    state.apply_action(np.int64(25))
    assert state.is_terminal()
    assert state.current_player() == TERMINAL
    assert state.termination() == "two passes"
    assert state.returns() == [1.0, -1.0]
    assert state.legal_actions() == []
    assert before.current_player() == 0
    assert before.returns() == [0.0, 0.0]
    assert before.termination() is None
    assert before.history == state.history[:-1]
    with pytest.raises(InputError, match="over"):
        state.apply_action(0)
    state.undo_action()
    assert state.board == before.board
    for _ in before.history:
        state.undo_action()
    with pytest.raises(InputError, match="no move to undo"):
        state.undo_action()


@pytest.mark.parametrize("action", [-1, 26, 1 << 16, 1 << 40])
def test_impossible_actions_are_refused(action):
    with pytest.raises(InputError, match="not a point"):
        GoState(5).apply_action(action)


def test_players_need_not_alternate():
    state = play(GoState(9), "E5")
    state.set_player(0)
    play(state, "D5")
    assert state.current_player() == 1
    assert points(state.board).count(0) == 2


@pytest.mark.parametrize("size", [2, 9, 19])
def test_coordinates(size):
    for action in range(size * size + 1):
        assert parse_gtp(format_gtp(action, size), size) == action
        assert parse_gtp(format_gtp(action, size).lower(), size) == action
        assert parse_sgf(format_sgf(action, size), size) == action
    assert parse_gtp("A1", size) == size * (size - 1)
    assert format_sgf(0, size) == "aa"
    assert parse_sgf("tt", size) == size * size
    for text in ["", "I1", "A0", "A20", "Z1", "1A", "A", "A1 B1", "A-1", "A٣", "é1", "AA1"]:
        with pytest.raises(InputError, match="is not a point"):
            parse_gtp(text, size)
    for text in ["a", "aaa", "AA", "at", "zz", "a1", "  "]:
        with pytest.raises(InputError, match="is not a point"):
            parse_sgf(text, size)


def test_coordinates_of_a_player():
    state = play(GoState(), "Q16 D4")
    assert [state.gtp(action) for action in state.history] == ["Q16", "D4"]
    assert [state.sgf(action) for action in state.history] == ["pd", "dp"]
    with pytest.raises(InputError, match="Q16 is not a legal move: occupied"):
        state.parse_sgf("pd")


def test_draws_and_names_itself():
    state = play(GoState(9), "E5 C3")
    assert " 3  . .(O). . . + . . 3" in str(state)
    assert str(state).endswith("X to move, komi 7.5, captured: 0 X, 0 O")
    for size in (2, 9, 13, 19):
        state = GoState(size)
        state.board.play_random(size * size // 2, 1)
        assert ElementTree.fromstring(state.to_svg()).tag.endswith("svg")
        assert str(state).count("X") + str(state).count("O") >= 2
