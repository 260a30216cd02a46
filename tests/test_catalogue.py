"""The catalogue: every name in it leads somewhere, and other packages can add games."""

from importlib.metadata import EntryPoint

import pytest

from kedge import catalogue
from kedge.catalogue import GameEntry
from kedge.errors import InputError, LeftOutWarning

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
    with pytest.warns(LeftOutWarning, match=f"its package fails to load: .*{said}.*; left out"):
        assert [entry.name for entry in catalogue.loaded("train")] == catalogue.names("train")


#: Entries of a package whose parts do not exist, one of them named by a module that fails.
BROKEN = """
from kedge.catalogue import GameEntry
NIM = GameEntry(
    "nim", "Nim", game="tiny_games:NimGame", state="tiny_games:Nym", page="tiny_games:NoPage",
    records="no_records:NIM", review="tiny_games:NoReview", forest="no_forest:NIM",
    encoding="no_encoding:NIM", models="no_models:NIM", public="no_models:PUBLIC",
    shipped="no_models:SHIPPED", agents="no_agents:NIM", minimiser="no_agents:SEARCH",
    train="no_trainer:NIM", model_agents="no_models:AGENTS",
)
FAILING = GameEntry("failing", "Failing", game="tiny_games:NimGame", records="failing_records:X")
"""


@pytest.fixture
def broken(installed, tmp_path, monkeypatch):
    """A package with games whose parts are missing."""
    (tmp_path / "broken_package.py").write_text(BROKEN)
    (tmp_path / "failing_records.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    installed(nim="broken_package:NIM", failing="broken_package:FAILING")


@pytest.mark.usefixtures("broken")
@pytest.mark.filterwarnings("ignore:game failing")
@pytest.mark.parametrize(
    "part", [part for part in PARTS if part not in ("game", "player", "predict", "compete")]
)
def test_a_missing_part_leaves_its_game_out(part):
    if catalogue.GameEntry.__dataclass_fields__[part].default is not None or part == "dial":
        pytest.skip("the broken game does not have it")
    with pytest.warns(LeftOutWarning, match=f"game nim: {part} = '.*left out") as warned:
        games = [entry.name for entry in catalogue.loaded(part)]
    assert games == [name for name in catalogue.names(part) if name not in ("nim", "failing")]
    assert sum("game nim" in str(each.message) for each in warned) == 1
    with pytest.raises(InputError, match=f"game nim: {part} = "):
        catalogue.find("nim", part).load(part)


@pytest.mark.usefixtures("broken")
def test_a_part_whose_module_fails_is_one_line():
    with pytest.raises(InputError, match=r"records = 'failing_records:X': division by zero"):
        catalogue.find("failing").load("records")


@pytest.mark.usefixtures("broken")
@pytest.mark.filterwarnings("ignore::kedge.errors.LeftOutWarning")
def test_other_games_work_beside_a_broken_one(tmp_path):
    from kedge.agents import make_agent, make_player
    from kedge.games.chess import ChessState
    from kedge.interfaces.web.pages.games import page_games
    from kedge.models.board.encoding import encodings
    from kedge.records.formats import files_words, recorded_game

    (tmp_path / "game.sgf").write_text("(;B[aa])")
    assert recorded_game(tmp_path / "game.sgf") == "go"
    assert "Chess:" in files_words()
    assert "Nim:" not in files_words()
    assert set(page_games()) == {"chess", "go", "diplomacy", "hanabi", "blotto"}
    assert catalogue.of_state(ChessState) is catalogue.CHESS
    assert [encoding.game for encoding in encodings()]
    assert make_player("puct(uniform, playouts=1)", "chess") is not None
    assert make_agent("pikl-hedge(uniform-orders, lam=1)") is not None


def test_a_broken_built_in_game_is_a_bug(monkeypatch):
    chess = GameEntry("chess", "Chess", game="tiny_games:NoChess")
    monkeypatch.setattr(catalogue, "_BUILT_IN", (chess,))
    with pytest.raises(InputError, match="game chess: game = 'tiny_games:NoChess'"):
        catalogue.loaded("game")


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
