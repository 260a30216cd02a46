"""Problems of requests in plain words; pydantic's own are for programmers."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

#: What each pattern of a field stands for.
NAME, ID, SETTING = r"^[a-z][a-z0-9-]*$", r"^[A-Za-z0-9_-]{22}$", r"^[a-z_]+$"
_PATTERNS = {
    NAME: "a name in lower case, such as chess",
    ID: "the id of a game: 22 letters, digits, - or _",
    SETTING: "the name of a setting, such as elo",
}
#: The type of the errors whose words are ours already.
OURS = "ours"
#: Words by the beginning of pydantic's type of error, with fields of its context.
_WORDS = {
    "missing": "missing",
    "extra_forbidden": "unknown field",
    "int_": "must be a whole number",
    "float_": "must be a number",
    "finite_number": "must be a finite number",
    "bool_": "must be true or false",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "string_pattern_mismatch": "must be {pattern}",
    "string_": "must be text",
    "too_long": "must have at most {max_length} items",
    "too_short": "must have at least {min_length} items",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "model_": "must be an object",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
    "value_error": "{error}",
    "assertion_error": "{error}",
    "json_invalid": "not valid JSON",
}
_PLACES = ("body", "query", "path")  # first in FastAPI's locations
_LONGEST = 40  # characters of a field's name


def plain_error(errors: Sequence[Mapping[str, Any]], within: str | None = None) -> str:
    """Return the first of pydantic's errors in one line: the field, and what is expected.

    `within` is the field that holds all others, if it is not in the errors themselves. The line
    does not repeat the client's input.
    """
    error = errors[0]
    where, words = list(error["loc"]), _words(error)
    if where[:1] == ["body"] and error["type"] == "json_invalid":
        where, words = where[:1], f"{words} at character {where[1]}"
    if len(where) > 1 and where[0] in _PLACES:
        del where[0]
    if where[-1:] == ["[key]"]:
        del where[-1]
    field = ".".join([*([within] if within else []), *map(_name, where)])
    return f"{field}: {words}" if field else words


def _words(error: Mapping[str, Any]) -> str:
    if error["type"] == OURS:
        return str(error["msg"])
    words = next((_WORDS[kind] for kind in _WORDS if error["type"].startswith(kind)), "not valid")
    context = {key: _shown(value) for key, value in error.get("ctx", {}).items()}
    return " ".join(words.format_map(context).split())


def _shown(value: Any) -> str:
    """Return a value of an error's context in words."""
    if isinstance(value, int | float):
        return f"{int(value) if value == int(value) else value:,}"
    return _PATTERNS.get(str(value), str(value))


def _name(part: str | int) -> str:
    """Return the name of a field, or its number in a list; unusual names are quoted."""
    text = str(part)
    return text if re.fullmatch(r"[\w-]{1,40}", text, re.ASCII) else repr(text[:_LONGEST])
