"""Which games are held out, by a hash that is the same everywhere and for ever."""

import hashlib

NOT_HELD_OUT = "not held out"  #: what is said of games that models may be trained on


def is_one_in(count: int, key: bytes) -> bool:
    """Whether `key` is among those that one in `count` is."""
    return int.from_bytes(hashlib.sha256(key).digest()[:4], "big") % count == 0


__all__ = ["NOT_HELD_OUT", "is_one_in"]
