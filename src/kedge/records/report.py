"""What reading a file of games came upon."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Broken:
    """A game that cannot be read or replayed."""

    number: int  #: in its file, from 1
    where: str
    reason: str


@dataclass(slots=True)
class ReadReport:
    """What reading came upon. Hand one to a reader of games, or the same one to many calls."""

    limit: int = 1000  #: broken games to remember; the rest are only counted
    games: int = 0
    positions: int = 0  #: half-moves of those games: each is a position and the move made in it
    broken_games: int = 0
    broken: list[Broken] = field(default_factory=list)
    noise: int = 0  #: of the broken ones, those that hardly are games: text, bytes, damage
    bytes_read: int = 0  #: of the file as it is stored

    def add_broken(self, number: int, where: str, reason: str, *, noise: bool = False) -> None:
        self.broken_games += 1
        self.noise += noise
        if len(self.broken) < self.limit:
            self.broken.append(Broken(number, where, reason))


__all__ = ["Broken", "ReadReport"]
