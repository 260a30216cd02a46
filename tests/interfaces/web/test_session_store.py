"""Games on disk: bounds, and files that are broken."""

import sqlite3
import time
from pathlib import Path

import pytest

from kedge.errors import InputError
from kedge.interfaces.web.play.game.store import SessionStore


def test_documents_come_back_from_the_file(tmp_path):
    path = tmp_path / "deep" / "games.sqlite"
    first = SessionStore(path)
    first.save("a", {"turns": ["e2e4"]})
    first.save("a", {"turns": ["e2e4", "e7e5"]})
    again = SessionStore(path)  # while the first is open, as one that was killed is
    assert again.load("a") == {"turns": ["e2e4", "e7e5"]}
    assert len(again) == 1
    again.remove("a")
    assert again.load("a") is None
    assert len(again) == 0


def test_the_oldest_leave_where_there_are_too_many():
    store = SessionStore(None, most=3)
    for id in "abc":
        store.save(id, {})
    store.save("a", {})  # touched
    store.save("d", {})
    assert [id for id in "abcd" if store.load(id) is not None] == ["a", "c", "d"]
    assert len(store) == 3


def test_unused_games_expire(monkeypatch):
    store = SessionStore(None, days=1.0)
    store.save("old", {})
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86_000)
    store.save("new", {})
    store.expire()
    assert len(store) == 2
    monkeypatch.setattr(time, "time", lambda: now + 87_000)
    store.expire()
    assert store.load("old") is None
    assert store.load("new") == {}


def test_a_file_that_is_not_a_database_is_one_line(tmp_path):
    path = tmp_path / "games.sqlite"
    path.write_text("a letter to my aunt\n" * 100)
    with pytest.raises(InputError, match=r"games.sqlite: cannot save games .*move the file away"):
        SessionStore(path)
    assert path.read_text().startswith("a letter")


@pytest.mark.parametrize("path", ["/proc/games.sqlite", "letter/games.sqlite"])
def test_a_folder_that_cannot_be_written_is_named(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("letter").write_text("to my aunt")
    with pytest.raises(InputError, match=r"cannot .*; set KEDGE_HOME to a folder that you can"):
        SessionStore(Path(path))


def test_a_row_that_is_not_a_document_is_no_game(tmp_path):
    store = SessionStore(tmp_path / "games.sqlite")
    with sqlite3.connect(tmp_path / "games.sqlite") as file:
        for id, document in (("a", "{"), ("b", "[]"), ("c", b"\xff")):
            file.execute("INSERT INTO sessions VALUES (?, ?, ?)", (id, time.time(), document))
    assert [store.load(id) for id in "abc"] == [None, None, None]


def test_pages_that_are_broken_are_one_line(tmp_path):
    path = tmp_path / "games.sqlite"
    store = SessionStore(path)
    for id in range(200):
        store.save(str(id), {"turns": ["e2e4"] * 100})
    store.close()
    content = path.read_bytes()
    path.write_bytes(content[:8192] + b"\x55" * (len(content) - 8192))
    with pytest.raises(InputError, match="cannot save games"):
        _read_all(path)


def _read_all(path):
    store = SessionStore(path)
    for id in range(200):
        store.load(str(id))
