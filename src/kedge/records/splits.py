"""Select held-out games by a hash that is the same on every machine and in every version."""

import hashlib

NOT_HELD_OUT = "not held out"  #: name of the filter that removes training games


def is_one_in(count: int, key: bytes) -> bool:
    """Whether the hash of `key` selects it; it selects one key in `count`."""
    return int.from_bytes(hashlib.sha256(key).digest()[:4], "big") % count == 0


__all__ = ["NOT_HELD_OUT", "is_one_in"]
