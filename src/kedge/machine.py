"""What this machine lets us use."""

import os


def cores() -> int:
    """How many cores this process may use: a number for ``threads``, or for ``workers``."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
