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
        catalogue._installed.cache_clear()

    yield install
    catalogue._installed.cache_clear()


@pytest.mark.parametrize("entry", catalogue.entries(), ids=lambda entry: entry.name)
def test_every_part_is_there(entry):
    for part in PARTS:
        if entry.has(part):
            assert entry.load(part) is not None


@pytest.mark.parametrize("name", ["chess", "go", "diplomacy", "hanabi"])
def test_a_game_has_all_that_the_paper_needs(name):
    entry = catalogue.find(name)
    for part in ("state", "records", "predict", "compete", "review", "page", "dial"):
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
    installed(nim="tiny_games:ENTRY")
    assert catalogue.names()[-1] == "nim"
    assert catalogue.find("nim").load("state").__name__ == "Nim"
    assert catalogue.find("chess") is catalogue.CHESS


@pytest.mark.parametrize(
    ("value", "said"),
    [("no_such_module:ENTRY", "No module named 'no_such_module'"), ("tiny_games:OTHER", "OTHER")],
)
def test_a_package_that_fails_takes_no_other_game_with_it(installed, value, said):
    installed(broken=value, chess="elsewhere:CHESS", go="tiny_games:ENTRY")
    assert "broken" not in catalogue.names()
    assert catalogue.find("chess") is catalogue.CHESS
    assert catalogue.find("go") is catalogue.GO
    with pytest.raises(InputError, match=f"game 'broken': its package fails to load: .*{said}"):
        catalogue.find("broken")


def test_parts_are_text():
    with pytest.raises(InputError, match=r'game nim: agents must be text, "module:NAME", not {}'):
        catalogue.GameEntry("nim", "Nim", game="tiny_games:Nim", agents={})  # type: ignore[arg-type]


def test_an_entry_has_the_name_of_its_entry_point(installed):
    installed(other="tiny_games:ENTRY")
    with pytest.raises(InputError, match=r"game 'other': .* its entry is called 'nim'"):
        catalogue.find("other")


def test_a_wrong_dotted_name_is_one_line():
    entry = GameEntry("nim", "Nim", game="tiny_games:Nin", state="tiny_gamez:Nim")
    with pytest.raises(InputError, match=r"game nim: game = 'tiny_games:Nin': .*Nin"):
        entry.load("game")
    with pytest.raises(InputError, match="game nim: state = 'tiny_gamez:Nim': No module named"):
        entry.load("state")


def test_states_of_a_subclass_are_of_the_same_game():
    from kedge.games.chess import ChessState

    class Mine(ChessState):
        """Perhaps with other rules."""

    assert catalogue.of_state(Mine) is catalogue.CHESS


def test_a_maker_of_rules_is_still_accepted(installed):
    from kedge.games import load_game

    installed(pennies="kedge.games.normal_form:matching_pennies")
    assert catalogue.find("pennies").title == "pennies"
    assert load_game("pennies(players=3)").num_players == 3
