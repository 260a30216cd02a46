"""The clock of a game."""

import time
from dataclasses import dataclass, field


@dataclass
class Clock:
    """Seconds left for each seat. The mover's clock runs."""

    left: list[float]
    increment: float
    running: int | None = None
    since: float = 0.0
    past: dict[int, list[float]] = field(default_factory=dict)
    """Seconds left for each seat, by number of turns."""

    def now(self) -> list[float]:
        """The seconds left for each seat."""
        spent = time.time() - self.since if self.running is not None else 0.0
        return [
            max(0.0, left - spent) if seat == self.running else left
            for seat, left in enumerate(self.left)
        ]

    def hand_to(self, seat: int | None, *, moved: bool = True) -> None:
        """Stop the running clock, and start that of `seat`."""
        left = self.now()
        if self.running is not None and moved:
            left[self.running] += self.increment
        self.left, self.running, self.since = left, seat, time.time()

    def back_to(self, turns: int) -> None:
        """Reset the clock to its state after so many turns. An undo gains no time."""
        self.left, self.running = self.past.get(turns, self.left), None
