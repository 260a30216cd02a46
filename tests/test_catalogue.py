"""The catalogue: every name in it leads somewhere, and other packages can add games."""

from importlib.metadata import EntryPoint

import pytest

from kedge import catalogue
from kedge.catalogue import GameEntry
from kedge.errors import InputError

_WORDS = ("name", "title", "contest", "small")
PARTS = [name for name in GameEntry.__dataclass_fields__ if name not in _WORDS]


@pytest.fixture
def installed(monkeypatch):
    """Entry points of another package."""

    def install(**points):
        found = [EntryPoint(name, value, catalogue.GROUP) for name, value in points.items()]
        monkeypatch.setattr(catalogue, "entry_points", lambda group: found)
        catalogue._all.cache_clear()

    yield install
    catalogue._all.cache_clear()


@pytest.mark.parametrize("entry", catalogue.entries(), ids=lambda entry: entry.name)
def test_every_part_is_there(entry):
    for part in PARTS:
        if entry.has(part):
            assert entry.load(part) is not None


@pytest.mark.parametrize("name", ["chess", "go", "diplomacy", "hanabi"])
def test_a_game_has_all_that_the_paper_needs(name):
    entry = catalogue.find(name)
    for part in ("state", "records", "agents", "predict", "compete", "review", "page", "dial"):
        assert entry.has(part)
    assert catalogue.of_state(entry.load("state")) is entry


def test_errors_say_what_to_do():
    with pytest.raises(InputError, match="unknown game 'ches'; did you mean chess"):
        catalogue.find("ches")
    with pytest.raises(InputError, match="Blotto has no reviews; these games do: chess, go"):
        catalogue.find("blotto", "review")
    with pytest.raises(InputError, match="Blotto has no native forest"):
        catalogue.find("blotto").load("forest")
    with pytest.raises(InputError, match="no game has states of the class int"):
        catalogue.of_state(int)


def test_a_package_adds_a_game(installed):
    installed(nim="test_catalogue_entries:NIM", chess="elsewhere:CHESS")
    with pytest.raises(InputError, match="game 'nim': its package fails to load"):
        catalogue.entries()
    installed(nim="tiny_games:ENTRY")
    assert catalogue.names()[-1] == "nim"
    assert catalogue.find("nim").load("state").__name__ == "Nim"
    assert catalogue.find("chess") is catalogue.CHESS


def test_a_maker_of_rules_is_still_accepted(installed):
    from kedge.games import load_game

    installed(pennies="kedge.games.normal_form:matching_pennies")
    assert catalogue.find("pennies").title == "pennies"
    assert load_game("pennies(players=3)").num_players == 3
