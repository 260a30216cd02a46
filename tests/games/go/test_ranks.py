"""Ranks of Go players."""

import pytest

from kedge.agents import make_agent
from kedge.errors import InputError
from kedge.games.go.ranks import RANKS, given_rank, rank_number


@pytest.mark.parametrize(
    ("text", "rank"),
    [("30k", "kyu"), ("1k", "kyu"), ("kyu", "kyu"), ("5 kyu", "kyu"), ("1d", "1d"), ("9 dan", "9d"),
     ("9D", "9d"), ("1p", "pro"), ("9p", "pro"), ("pro", "pro")],
)  # fmt: skip
def test_ranks_that_a_user_gives(text, rank):
    assert RANKS[given_rank("rank", text) - 1] == rank


@pytest.mark.parametrize("text", ["40k", "31k", "0k", "0d", "10d", "10p", "3dogs", "3", "", "ama"])
def test_no_such_rank(text):
    with pytest.raises(InputError, match="rank: 30k to 1k or kyu, 1d to 9d, 1p to 9p or pro, not"):
        given_rank("rank", text)


def test_an_empty_rank_is_named():
    with pytest.raises(InputError, match=r"9p or pro, not ''$"):
        given_rank("rank", "")


def test_records_are_read_as_they_are_spelled():
    assert RANKS[rank_number("9p, Meijin") - 1] == "pro"
    assert RANKS[rank_number("40k") - 1] == "kyu"


def test_a_model_takes_only_ranks_that_exist():
    with pytest.raises(
        InputError, match=r"go-large: opponent: 30k to 1k or kyu.*pro, or unknown, not '40k'"
    ):
        make_agent("go-large(rank=3d, opponent=40k)")
