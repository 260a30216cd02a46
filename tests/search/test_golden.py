"""Recorded iterates: a change of behaviour must be meant."""

import json

import numpy as np
from golden_cases import GOLDEN, results


def test_nothing_moved():
    recorded = json.loads(GOLDEN.read_text())
    found = results()
    assert list(found) == list(recorded)
    for name, expected in recorded.items():
        for key in ("average", "current"):
            for ours, theirs in zip(found[name][key], expected[key], strict=True):
                np.testing.assert_allclose(ours, theirs, atol=1e-10, err_msg=f"{name}: {key}")
        np.testing.assert_allclose(found[name]["regret"], expected["regret"], atol=1e-9)
