"""Games in progress on disk, which survive a killed server."""

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kedge.errors import InputError
from kedge.files import check_writable, make_folder

_DAYS = 30.0  # without a change until a game expires
_MOST = 10_000  # games
_PATIENCE = 1.0  # seconds to wait for another server that writes; all clients wait with it


class SessionStore:
    """Documents by id, in one SQLite file, or in memory without a path. For one thread."""

    def __init__(self, path: Path | None, *, most: int = _MOST, days: float = _DAYS) -> None:
        self._path, self._most, self._seconds = path, most, days * 86_400.0
        if path is not None:
            _check_folder(path)
        with self._explained():
            self._file = sqlite3.connect(path or ":memory:", _PATIENCE, isolation_level=None)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=NORMAL")
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS sessions "
                "(id TEXT PRIMARY KEY, touched REAL NOT NULL, document TEXT NOT NULL)"
            )
            self._file.execute("CREATE INDEX IF NOT EXISTS by_age ON sessions (touched)")
            self._count = self._counted()

    def save(self, id: str, document: dict[str, Any]) -> None:
        """Save the document, and delete the oldest if there are too many."""
        row = (id, time.time(), json.dumps(document, separators=(",", ":")))
        with self._explained():
            known = self._file.execute("SELECT 1 FROM sessions WHERE id = ?", (id,)).fetchone()
            self._file.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?)", row)
            self._count += known is None
            if self._count > self._most:
                self._file.execute(
                    "DELETE FROM sessions WHERE id IN "
                    "(SELECT id FROM sessions ORDER BY touched LIMIT ?)",
                    (self._count - self._most,),
                )
                self._count = self._counted()

    def load(self, id: str) -> dict[str, Any] | None:
        """Return the document; None if it is missing or corrupt."""
        with self._explained():
            rows = self._file.execute("SELECT document FROM sessions WHERE id = ?", (id,))
            row = rows.fetchone()
        try:
            document = None if row is None else json.loads(row[0])
        except (TypeError, ValueError):
            return None
        return document if isinstance(document, dict) else None

    def remove(self, id: str) -> None:
        """Delete the document."""
        with self._explained():
            self._file.execute("DELETE FROM sessions WHERE id = ?", (id,))
            self._count = self._counted()

    def expire(self) -> None:
        """Delete the games that have not changed for long."""
        oldest = time.time() - self._seconds
        with self._explained():
            self._file.execute("DELETE FROM sessions WHERE touched < ?", (oldest,))
            self._count = self._counted()

    def __len__(self) -> int:
        return self._count

    def close(self) -> None:
        self._file.close()

    def _counted(self) -> int:
        return int(self._file.execute("SELECT COUNT(*) FROM sessions").fetchone()[0])

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of the disk or a corrupt file into one line."""
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(
                f"{self._path or 'memory'}: cannot save games ({error}); "
                "free disk space, or move the file away"
            ) from None


def _check_folder(path: Path) -> None:
    """Say what to do where no file can be written; SQLite would speak of its file only."""
    try:
        make_folder(path.parent)
        check_writable(path)
    except InputError as error:
        raise InputError(f"{error}; set KEDGE_HOME to a folder that you can write to") from None
