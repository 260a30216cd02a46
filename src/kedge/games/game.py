"""The interface of all games."""

from typing import Any, Protocol


class Game(Protocol):
    """The rules of a game; its states have the methods of OpenSpiel."""

    name: str

    @property
    def num_players(self) -> int: ...

    def initial_state(self) -> Any: ...
