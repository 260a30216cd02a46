"""What every game has, whatever its rules."""

from typing import Any, Protocol


class Game(Protocol):
    """Rules that can be played from a first state; the states have OpenSpiel's verbs."""

    name: str

    @property
    def num_players(self) -> int: ...

    def initial_state(self) -> Any: ...
