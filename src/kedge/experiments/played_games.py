"""Games that experiments play: their tasks, and a note on games that are the same."""

from typing import Any

from kedge.experiments.experiment import Task


def few_different(different: int) -> str:
    """Return the note on a match with this number of different games."""
    differ = f"only {different:,} games differ" if different > 1 else "all games are the same"
    return f"{differ}: the errors are larger than they say"


def match_tasks(games: int, chunk: int, label: str = "", **params: Any) -> list[Task]:
    """Return tasks of at most `chunk` games, with their number in ``params["games"]``."""
    return [
        Task(
            f"{label} games {first + 1}-{min(first + chunk, games)}".strip(),
            {**params, "games": min(chunk, games - first)},
        )
        for first in range(0, games, chunk)
    ]
