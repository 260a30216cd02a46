"""The former names of reviewers still work, and warn."""

import pytest

from kedge.evaluation import game_judges
from kedge.evaluation.review import review_of


def test_a_former_name_is_the_reviewer():
    with pytest.warns(DeprecationWarning, match=r"review_of\('diplomacy'\).reviewer"):
        former = game_judges.diplomacy_judge
    assert former is review_of("diplomacy").reviewer


@pytest.mark.parametrize("name", ["hanabi", "checkers_judge"])
def test_other_names_are_unknown(name):
    with pytest.raises(AttributeError, match=name):
        getattr(game_judges, name)
