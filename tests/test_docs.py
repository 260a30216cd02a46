"""What the documentation shows is true: its examples run, its commands work, its links lead on."""

import doctest
import importlib
import importlib.util
import json
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from native_games import native_games

import kedge
from kedge.games import GAMES
from kedge.games.hanabi import Hanabi
from kedge.games.normal_form import NormalFormGame, write_nfg

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = [
    module.name
    for module in pkgutil.walk_packages(kedge.__path__, "kedge.")
    if module.name != "kedge._core"
]
SECONDS = 60  # for one command; the longest takes some ten


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with the files that the pages speak of; registries are put back."""
    game = NormalFormGame(
        [[[0.55, 0.95], [0.90, 0.70]], [[-0.55, -0.95], [-0.90, -0.70]]],
        name="penalty",
        players=["kicker", "keeper"],
        actions=[["left", "right"]] * 2,
    )
    write_nfg(game, tmp_path / "game.nfg")
    tags = '[White "Ann"]\n[Black "Bob"]\n[WhiteElo "1200"]\n[BlackElo "1150"]\n'
    moves = "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0"
    (tmp_path / "games.pgn").write_text(f"{tags}\n{moves}\n")
    header = "(;SZ[19]KM[6.5]PB[Ann]BR[3d]PW[Bob]WR[2d]DT[2015-03-09]RE[B+R]"
    (tmp_path / "game.sgf").write_text(f"{header};B[pd];W[dp];B[pp];W[dd];B[fq];W[cn];B[jp])")
    position = {"name": "S1901M", "units": {"FRANCE": ["A PAR"]}, "centers": {"FRANCE": ["PAR"]}}
    phase = {**position, "orders": {"FRANCE": ["A PAR - BUR"]}}
    (tmp_path / "position.json").write_text(json.dumps(phase))
    (tmp_path / "diplomacy.jsonl").write_text(json.dumps({"id": "one", "phases": [phase]}))
    deck = [{"suitIndex": color, "rank": rank} for color, rank in Hanabi().cards]
    live = {"players": ["Ann", "Bob"], "deck": deck, "actions": [{"type": 0, "target": 0}]}
    (tmp_path / "hanabi.json").write_text(json.dumps(live))
    (tmp_path / "people.json").write_text(json.dumps([[0.6, 0.4], [0.25, 0.75]]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(GAMES, "_makers", dict(GAMES._makers))
    return tmp_path


@pytest.mark.usefixtures("workshop")
@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_examples_of_pages(page: Path) -> None:
    failed, _ = doctest.testfile(
        str(page), module_relative=False, optionflags=FLAGS, encoding="utf-8"
    )
    assert not failed


@pytest.mark.usefixtures("workshop")
@pytest.mark.parametrize("name", MODULES)
def test_examples_of_modules(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "kedge":
            raise
        pytest.skip(f"needs {error.name}")
    failed, _ = doctest.testmod(module, optionflags=FLAGS)
    assert not failed


def commands(page: Path) -> list[str]:
    """The lines that start with ``$ kedge``, less those that an earlier page has."""
    seen: set[str] = set()
    for earlier in PAGES:
        found = re.findall(r"^\$ (kedge .*)$", earlier.read_text(encoding="utf-8"), re.MULTILINE)
        new = [line for line in dict.fromkeys(found) if line not in seen]
        if earlier == page:
            return new
        seen.update(new)
    return []


def is_left_out(command: str) -> bool:
    """A cluster is not always there, nor is OpenSpiel."""
    no_openspiel = importlib.util.find_spec("pyspiel") is None
    return "--engine ray" in command or ("openspiel:" in command and no_openspiel)


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=page_name)
def test_commands(page: Path, workshop: Path) -> None:
    """Run a page's commands in order, in one folder: later ones may use files of earlier ones."""
    for command in commands(page):
        if is_left_out(command):
            continue
        done = subprocess.run(
            [Path(sys.executable).with_name("kedge"), *shlex.split(command)[1:]],
            cwd=workshop,
            env={**os.environ, "PYTHONUTF8": "1"},
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        if "--json" in shlex.split(command):
            assert isinstance(json.loads(done.stdout), dict), command


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=page_name)
def test_links(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):  # elsewhere
            continue
        file, _, place = target.partition("#")
        linked = page.parent / file if file else page
        assert linked.exists(), target
        if place:
            assert place in headings(linked), target


def test_native_examples() -> None:
    """The C++ on the pages is code that tests/cpp compiles, and the Python beside it runs."""
    compiled = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests/cpp").iterdir())
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for block in re.findall(r"^```cpp\n(.*?)^```", pages, re.M | re.S):
        assert block in compiled
    native_games()
    for block in re.findall(r"^```python\n(import kedge_test_games.*?)^```", pages, re.M | re.S):
        exec(block, {})


def headings(page: Path) -> set[str]:
    """The anchors that GitHub gives a page's headings."""
    lines = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", line).lower()) for line in lines)
    return {line.strip().replace(" ", "-") for line in kept}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=page_name)
def test_dotted_names_exist(page: Path) -> None:
    """A name such as `kedge.agents.dial.dial` is a module, or something in one."""
    text = page.read_text(encoding="utf-8")
    for name in sorted(set(re.findall(r"`(kedge(?:\.\w+)+)`", text)) - {"kedge.review"}):
        if name not in MODULES:
            pkgutil.resolve_name(name)


def test_the_example_is_what_the_page_shows() -> None:
    """Every block of "Add a game" that names a file stands in that file."""
    page = (ROOT / "docs" / "add_a_game.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w+ file=(\S+)\n(.*?)\n```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 8
    for file, block in blocks:
        content = (ROOT / "examples" / "connect_four" / file).read_text(encoding="utf-8")
        assert bare(block) in bare(content), file


def bare(code: str) -> str:
    """Code without indentation and empty lines, which formatters of pages change."""
    return "\n".join(line.strip() for line in code.splitlines() if line.strip())


def script(name: str) -> Any:
    """One of those that make what the documents show."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_figures_on_cards_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A figure that its command does not print any more is named; what needs a GPU is skipped."""
    cards = script("check_cards")
    measured = {"command": "kedge predict go a.tsv.xz", "orders": 5000, "games": 9, "top1": 0.5122,
                "top1_se": 0.004, "cross_entropy": 1.52, "cross_entropy_se": 0.013}  # fmt: skip
    card = {
        "metrics": {
            "as_shipped": measured,
            "on_all": {**measured, "command": "kedge predict go a.tsv.xz --device cuda"},
            "at_the_end": {"command": "kedge train go a.tsv.xz", "top1": 0.5},
        }
    }
    answer = {"positions": 5000, "games": 9, "top1": 0.51224, "top1_se": 0.004,
              "cross_entropy": 1.52004, "cross_entropy_se": 0.013}  # fmt: skip
    monkeypatch.setattr(cards.shipped_models, "names", lambda: ["go"])
    monkeypatch.setattr(cards.shipped_models, "card", lambda name: card)
    monkeypatch.setattr(cards, "answer_to", lambda entry: answer)
    monkeypatch.setattr(cards, "has_gpu", lambda: False)
    monkeypatch.setenv("KEDGE_DATA", str(tmp_path))
    assert cards.main([]) == 1  # a GPU may be missing, games may not
    assert (
        "as_shipped          skipped: a.tsv.xz is not below KEDGE_DATA" in capsys.readouterr().out
    )
    (tmp_path / "data" / "go").mkdir(parents=True)
    (tmp_path / "data" / "go" / "a.tsv.xz").touch()
    assert cards.main([]) == 0
    assert capsys.readouterr().out.endswith("1 entries measured, 1 skipped, 0 figures differ\n")
    for figure, value in {"cross_entropy": 1.5203, "games": 8, "top1": 0.5127}.items():
        changed = {**answer, figure: value}
        monkeypatch.setattr(cards, "answer_to", lambda entry, changed=changed: changed)
        assert cards.main([]) == 1
        [line] = [line for line in capsys.readouterr().out.splitlines() if "  differs" in line]
        assert figure in line.split()


def test_cards_can_be_measured_again() -> None:
    """The first figures of every card have a command that runs on any machine with the data."""
    cards = script("check_cards")
    for name in cards.shipped_models.names():
        first, *_ = cards.entries(name, cards.shipped_models.card(name))
        assert first.name == "as_shipped"
        assert "cuda" not in first.command
        assert "(" not in first.command


def test_pieces_of_a_table_travel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine goes on from what another one has computed of a table."""
    make_results = script("make_results")
    experiment = make_results.experiment_class("blotto")(iterations=50, lambdas=(0.1, 1.0))
    pieces = tmp_path / "table" / make_results.PIECES
    make_results.bring_in(experiment, pieces)  # there are none
    done = make_results.run(experiment, engine="inline", progress=False)
    [dropped, *kept] = sorted((done.folder / "tasks").iterdir())
    dropped.unlink()
    make_results.bring_out(experiment, pieces)
    monkeypatch.setenv("KEDGE_HOME", str(tmp_path / "elsewhere"))
    make_results.bring_in(experiment, pieces)
    there = make_results.Store(experiment).folder / "tasks"
    assert sorted(path.name for path in there.iterdir()) == [path.name for path in kept]
    assert make_results.run(experiment, engine="inline", progress=False).results == done.results
    other = make_results.experiment_class("blotto")(iterations=60, lambdas=(0.1, 1.0))
    make_results.bring_in(other, pieces)
    assert not make_results.Store(other).folder.exists()


def test_screenshots_say_what_they_need() -> None:
    script = str(ROOT / "docs" / "make_screenshots.py")
    code = f"import runpy, sys; sys.modules['playwright'] = None; runpy.run_path({script!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("make_screenshots.py needs playwright; in kedge's folder run")
    assert done.stderr.count("\n") == 1
