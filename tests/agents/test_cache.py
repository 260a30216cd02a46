"""Networks that agents share."""

import pytest

from kedge.agents import cache as module
from kedge.agents.cache import cached


@pytest.fixture(autouse=True)
def empty(monkeypatch):
    monkeypatch.setattr(module, "_cached", {})


def made(*names, size=0):
    """Return those of `names` that had to be made."""
    new = []
    for name in names:
        cached((name,), lambda name=name: new.append(name), size)
    return new


def test_each_is_made_once():
    assert made("a", "b", "a", "b") == ["a", "b"]


def test_those_unused_for_longest_are_dropped_when_there_are_many(monkeypatch):
    monkeypatch.setattr(module, "_MOST", 2)
    assert made("a", "b", "a", "c", "a", "b") == ["a", "b", "c", "b"]


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "_MOST_BYTES", 100)
    assert made("a", "b", "a", "b", size=40) == ["a", "b"]
    assert made("c", size=40) == ["c"]
    assert made("b", size=40) == []
    assert made("a", size=40) == ["a"]
    assert made("large", "large", size=200) == ["large"], "one is kept, however large"
    assert list(module._cached) == [("large",)]


def test_an_error_keeps_nothing():
    with pytest.raises(ZeroDivisionError):
        cached(("a",), lambda: 1 / 0)
    assert made("a") == ["a"]
