"""How people end a game of Go: marks, agreement, territory and the score."""

import pytest

from kedge.errors import InputError
from kedge.games.go import BLACK, EMPTY, WHITE, GoState
from kedge.games.go.counting import CountedGo
from kedge.games.go.rules import GoRules

WALLS = ("C1", "D1", "C2", "D2", "C3", "D3", "C4", "D4", "C5", "D5")


def counted(*moves, rules="japanese", **state):
    game = CountedGo(GoState(5, 0.5, superko="simple", **state), GoRules.named(rules))
    for move in (*moves, "pass", "pass"):
        game.state.apply_action(game.state.parse_gtp(move))
    return game


def at(name):
    return (5 - int(name[1])) * 5 + "ABCDE".index(name[0])


def test_a_game_is_over_when_both_agree():
    game = counted(*WALLS)
    assert (game.phase, game.deciding()) == ("judging", None)
    game.propose([])
    assert (game.phase, game.deciding()) == ("marking", BLACK)
    game.agree()
    assert (game.phase, game.deciding()) == ("marking", WHITE)
    game.agree()
    assert (game.phase, game.deciding(), game.score()) == ("over", None, 4.5)


def test_a_new_mark_asks_both_again():
    game = counted(*WALLS, "A3", "B3")
    game.propose([])
    game.agree()
    game.mark(at("B3"))
    assert game.deciding() == WHITE, "who marks goes on"
    game.agree()
    assert game.deciding() == BLACK
    game.agree()
    assert game.phase == "over"
    assert game.score() == 9 + 1 - 5 - 0.5, "ten points less A3's, and a prisoner"


def test_play_goes_on_from_before_the_passes():
    game = counted(*WALLS)
    game.propose([])
    game.mark(at("D1"))
    game.resume()
    assert (game.phase, game.deciding(), game.dead) == ("play", BLACK, None)
    assert len(game.state.history) == len(WALLS)


def test_stones_without_an_opponent_between_them_are_one_group():
    game = counted(*WALLS, "A3", "B3", "pass", "B1")
    game.propose([])
    assert game.group(at("B1")) == {at("B1"), at("B3")}
    assert game.group(at("D1")) == {at(f"D{row}") for row in range(1, 6)}
    game.mark(at("B3"))
    assert game.dead == {at("B1"), at("B3")}
    assert at("A3") in game.group(at("C3")), "the dead are not between"
    game.mark(at("B1"))
    assert game.dead == set()
    with pytest.raises(InputError, match="no stone at E3"):
        game.mark(at("E3"))
    with pytest.raises(InputError, match="no stone at point"):
        game.propose([at("E3")])


def test_territory():
    game = counted(*WALLS, "A3", "B3")
    game.propose([])
    owners = game.territory()
    assert {owners[at(f"E{row}")] for row in range(1, 6)} == {WHITE}
    assert owners[at("A1")] == owners[at("C3")] == EMPTY
    game.mark(at("B3"))
    assert game.territory()[at("A1")] == game.territory()[at("B3")] == BLACK


def test_the_count_is_that_of_the_rules():
    moves = (*WALLS, "pass", "E3")
    assert counted(*moves, rules="japanese").score() == 10 - 4 - 0.5
    assert counted(*moves, rules="chinese").score() == 15 - 10 - 0.5


def test_white_is_paid_for_a_handicap():
    stones = {"black": [at("B2"), at("B4")]}
    free = counted(rules="japanese", **stones).score()
    assert free == 23 - 0.5
    assert counted(rules="chinese", **stones).score() == 25 - 0.5 - 2
    assert counted(rules="aga", **stones).score() == 25 - 0.5 - 1
    both = {"black": [at("B2"), at("B4")], "white": [at("D2")]}
    assert counted(rules="chinese", **both).score() == 2 - 1 - 0.5, "a set-up is no handicap"


def test_a_copy_is_a_game_of_its_own():
    game = counted(*WALLS)
    game.propose([])
    copy = game.clone()
    copy.mark(at("D1"))
    copy.agree()
    assert (game.dead, game.deciding()) == (frozenset(), BLACK)
    copy.resume()
    assert game.phase == "marking"


def test_a_player_who_resigns_has_lost():
    game = CountedGo(GoState(5), GoRules())
    game.resign(WHITE)
    assert (game.phase, game.deciding(), game.resigned) == ("over", None, WHITE)
