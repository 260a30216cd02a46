"""The folder of a user's files: models, runs, caches."""

import os
from pathlib import Path

import platformdirs


def home() -> Path:
    """Return ``$KEDGE_HOME``, or the platform's user data folder."""
    folder = os.environ.get("KEDGE_HOME")
    return Path(folder) if folder else platformdirs.user_data_path("kedge", appauthor=False)
