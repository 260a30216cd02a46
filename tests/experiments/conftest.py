import os
from pathlib import Path

import pytest

# Spawned drivers and Ray's workers import the experiments from beside the tests.
_TESTS = Path(__file__).parents[1]
_PATHS = [
    str(_TESTS / "helpers" / "experiments"),
    str(_TESTS.parent / "src"),
    os.environ.get("PYTHONPATH", ""),
]
os.environ["PYTHONPATH"] = os.pathsep.join(path for path in _PATHS if path)
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_DISABLE_IMPORT_WARNING"] = "1"
os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    """No test sees the user's runs, and all may leave marks."""
    marks = tmp_path / "marks"
    marks.mkdir()
    monkeypatch.setenv("KEDGE_TEST_MARKS", str(marks))
    monkeypatch.setenv("KEDGE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"
