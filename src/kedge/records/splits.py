"""Split people and games by a hash that is the same on every machine and in every version.

What a model learns from, what chooses it and what judges it are three parts. Where people are
known, they are split, so that no part has games of another's people. A change of a split needs new
versions of all that stores what follows from it: experiments of predictions, and Go's arrays.
"""

import hashlib

LEARN, CHOOSE, TEST = range(3)  #: what games are for
PARTS = ("learn", "choose", "test")  #: their names
NOT_FOR_TESTING = "not for testing"  #: name of the filter that removes training games


def is_one_in(count: int, key: bytes) -> bool:
    """Whether the hash of `key` selects it; it selects one key in `count`."""
    return int.from_bytes(hashlib.sha256(key).digest()[:4], "big") % count == 0


__all__ = ["CHOOSE", "LEARN", "NOT_FOR_TESTING", "PARTS", "TEST", "is_one_in"]
