"""Parsing of the Go Text Protocol."""

import math
import re

from kedge.errors import InputError
from kedge.games.go import BLACK, WHITE

_COLOURS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}


def parse_line(line: str) -> tuple[str, list[str]]:
    """Return the id, or "", and the words, without comments and control characters."""
    text = re.sub(r"[\x00-\x08\x0a-\x1f\x7f]", "", line).partition("#")[0]
    words = text.split()
    if words and re.fullmatch(r"[0-9]+", words[0]):
        return words[0], words[1:]
    return "", words


def is_colour(text: str) -> bool:
    return text.lower() in _COLOURS


def parse_colour(text: str) -> int:
    if not is_colour(text):
        raise InputError(f"syntax error: {text[:40]!r} is neither black nor white")
    return _COLOURS[text.lower()]


def parse_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"syntax error: {text[:40]!r} is not a number")
    return number


def parse_whole(text: str) -> int:
    try:
        return int(text[:18])
    except ValueError:
        raise InputError(f"syntax error: {text[:40]!r} is not a whole number") from None


def parse_truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise InputError(f"syntax error: true or false, not {text[:40]!r}")
    return text.lower() == "true"
