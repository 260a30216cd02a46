"""Whom the shipped model of chess is told."""

import pytest
from chess_games import recorded

from kedge.errors import InputError
from kedge.evaluation.told_ratings import told_agent, told_ratings, told_spec
from kedge.specs import parse


@pytest.mark.parametrize(
    ("tags", "elo", "told"),
    [
        ({"white_elo": 1571, "black_elo": 1728}, None, (1600, 1700)),
        ({"black_elo": 1728}, None, (1700, 1700)),
        ({}, None, (1500, 1500)),
        ({"white_elo": 150, "black_elo": 2860}, None, (800, 2400)),
        ({"white_elo": 1571}, 1200, (1200, 1200)),
    ],
)
def test_who_is_told(tags, elo, told):
    assert told_ratings(recorded("", **tags), elo) == told
    spec = told_agent(*told)
    people = f"chess(elo={told[0]}, opponent={told[1]})"
    assert str(spec) == f"puct({people}, c_puct=2, playouts=50)"


def test_who_can_be_told():
    assert str(told_spec(parse("puct(chess(temperature=0.5), c_puct=1)"), 1200, 1900)) == (
        "puct(chess(temperature=0.5, elo=1200, opponent=1900), c_puct=1)"
    )
    for agent in ("maia-1900", "puct(maia-1900)", "chess(elo=1500)", "rm"):
        with pytest.raises(InputError, match="cannot be told ratings"):
            told_spec(parse(agent), 1200, 1900)
