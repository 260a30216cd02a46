"""The native test games, for tests that cannot do without them."""

from typing import Any

import pytest


def native_games() -> Any:
    """Return the module of tests/cpp; skip the test where it is not built."""
    return pytest.importorskip(
        "kedge_test_games",
        reason="kedge_test_games is not built; an editable install has it: pip install -e '.[dev]'",
    )
