"""Where kedge keeps a user's files: models, runs, caches."""

import os
from pathlib import Path

import platformdirs


def home() -> Path:
    """``$KEDGE_HOME``, or the platform's user data folder."""
    chosen = os.environ.get("KEDGE_HOME")
    return Path(chosen) if chosen else platformdirs.user_data_path("kedge", appauthor=False)
