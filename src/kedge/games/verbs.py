"""Methods that only some states have, and what replaces them elsewhere."""

from collections.abc import Callable, Sequence
from typing import Any


def written(state: Any, action: Any) -> Any:
    """Return the move as programs write it (`protocol_name`), else as players write it."""
    return getattr(state, "protocol_name", state.action_to_string)(action)


def move_parser(state: Any) -> Callable[[str], Any] | None:
    """Return `parse_move`, which reads a legal move, or None if the state does not have it."""
    parse: Callable[[str], Any] | None = getattr(state, "parse_move", None)
    return parse


def play_on(state: Any, action: Any) -> None:
    """Play a move; by `play_on`, also after a draw that nobody claimed."""
    getattr(state, "play_on", state.apply_action)(action)


def line_names(state: Any, line: Sequence[int]) -> tuple[str, ...]:
    """Return the moves of a line from `state`, as players write them."""
    names = []
    state = state.clone()
    for action in line:
        names.append(state.action_to_string(action))
        play_on(state, action)
    return tuple(names)


def how_ended(state: Any) -> str | None:
    """Return how the game ended, by `termination`, or None if the state does not say."""
    how: str | None = state.termination() if hasattr(state, "termination") else None
    return how


__all__ = ["how_ended", "line_names", "move_parser", "play_on", "written"]
