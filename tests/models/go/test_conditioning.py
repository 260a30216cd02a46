"""Players as inputs of Go networks."""

import numpy as np
import pytest

from kedge.agents import make_agent
from kedge.errors import InputError
from kedge.models.go.conditioning import EARLIEST, LATEST, YEARS, GoPlayers
from kedge.records.go.games import date_of


@pytest.mark.parametrize("year", [99999, 2100, 999, -5, 0.5, float("inf"), "abc", True, None])
def test_what_is_no_year_is_an_error_with_the_range(year):
    said = "year: from 1000 to 2099, or 0 if unknown, not .*; the model tells years from 1900 to"
    with pytest.raises(InputError, match=f"^{said} 2025 apart$"):
        GoPlayers().numbers(year=year)


def test_a_spec_with_a_year_that_is_none():
    with pytest.raises(InputError, match=r"^go-large: year: from 1000 to 2099, .* not 99999;"):
        make_agent("go-large(year=99999)")


def test_years_beyond_the_models_play_as_its_ends():
    for year, end in ((EARLIEST, YEARS[0]), (LATEST, YEARS[-1])):
        here, there = (GoPlayers().numbers(year=each) for each in (year, end))
        np.testing.assert_array_equal(here, there)
    assert not GoPlayers().numbers(year=0)[-len(YEARS) :].any()


def test_a_model_takes_the_year_of_every_record():
    years = {date_of(f"{number:04}-05-06") for number in range(10_000)} - {None}
    assert {int(date[:4]) for date in years} == {*range(EARLIEST, LATEST + 1)}
