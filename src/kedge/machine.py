"""The resources of this machine."""

import os


def cores() -> int:
    """Return the number of cores this process may use, for ``threads`` or ``workers``."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
