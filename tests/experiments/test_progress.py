"""Progress where there is no terminal."""

import pytest

from kedge.experiments.engines import progress as module
from kedge.experiments.engines.progress import progress, seconds_left


def test_the_later_tasks_tell_how_long_it_takes():
    assert seconds_left([0.0, 2.0], 10) == pytest.approx(20.0)
    # Three short ones, then three of ten seconds each.
    assert seconds_left([0.0, 1.0, 2.0, 3.0, 13.0, 23.0, 33.0], 4) == pytest.approx(40.0)


def test_lines_say_how_long_is_left(monkeypatch, capsys):
    clock = iter([0.0, 4.0, 8.0, 12.0, 200.0])
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    with progress("predict", 10, 100, show=True) as step:
        for _ in range(4):
            step()
    assert capsys.readouterr().err.splitlines() == [
        "predict: 12 of 100 tasks done, about 6 min left",
        "predict: 14 of 100 tasks done, about 2.3 h left",
    ]
