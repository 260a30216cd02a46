"""Usage errors of the command line, in kedge's words.

typer's own words are for programmers: "Input should be greater than or equal to 1".
"""

import re
from collections.abc import Iterable
from typing import Any

from kedge.specs import suggest

# By the beginning of pydantic's type of error, with fields of its context.
_WORDS = {
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "int_": "a whole number",
    "float_": "a number",
}
_LONGEST = 40  # characters of a value that are repeated


def in_our_words(error: Any) -> str:
    """Return typer's usage error as one line with a hint: a near name, or the help command."""
    context = getattr(error, "ctx", None)
    kind = type(error).__name__
    said = _in_our_style(str(error.format_message()))
    if context is None:
        return said
    help_text = f"{context.command_path} --help"
    if kind == "NoSuchOption":
        return _no_such_option(error.option_name, _options(context), help_text)
    if unknown := re.match(r"no such command '(.*?)'", said):
        names = context.command.list_commands(context)
        return f"{unknown[0]}; {suggest(unknown[1], names, help_text)}"
    if kind == "MissingParameter":
        return f"{_missing(error, said)}; see {help_text}"
    if kind == "BadParameter" and said.startswith("invalid value"):
        return _bad_value(error, said)
    return f"{said}; see {help_text}"


def _in_our_style(message: str) -> str:
    """Return a message with a small first letter, without a full stop.

    >>> _in_our_style("Missing option '--agent' / '-a'.")
    "missing option '--agent' / '-a'"
    >>> _in_our_style("SGF files.")
    'SGF files'
    """
    first = message.partition(" ")[0]
    if sum(letter.isupper() for letter in first) < 2:
        message = message[:1].lower() + message[1:]
    return message.removesuffix(".")


def _options(context: Any) -> list[str]:
    every = (name for each in context.command.get_params(context) for name in each.opts)
    return sorted(name for name in every if name.startswith("--"))


def _no_such_option(name: str, known: Iterable[str], help_text: str) -> str:
    """Return the error about an unknown option, with the nearest if one is near.

    >>> _no_such_option("--limits", ["--limit", "--agent"], "kedge analyze --help")
    'no such option: --limits; did you mean --limit?'
    >>> _no_such_option("--agent", ["--rank"], "kedge gtp --help")
    'no such option: --agent; see kedge gtp --help'
    """
    # Without dashes, which make all options alike.
    hint = suggest(name.lstrip("-"), [each.lstrip("-") for each in known], help_text)
    if not hint.startswith("did you mean"):
        return f"no such option: {name}; see {help_text}"
    hint = re.sub(r"(mean | or )", r"\1--", hint)
    return f"no such option: {name}; {hint}"


def _missing(error: Any, said: str) -> str:
    """Return the error about a missing argument, with its help."""
    parts = said.split(". ")  # the second sentence lists the choices
    what = _in_our_style((getattr(error.param, "help", None) or "").partition(". ")[0])
    if what and getattr(error.param, "param_type_name", "") == "argument":
        parts[0] += f" ({what})"
    return "; ".join([parts[0], *(_in_our_style(part) for part in parts[1:])])


def _bad_value(error: Any, said: str) -> str:
    problems = getattr(error.__cause__, "errors", None)
    if problems is None:
        return said
    problem = problems()[0]
    which = said.partition(": ")[0]
    for kind, words in _WORDS.items():
        if problem["type"].startswith(kind):
            value = str(problem["input"])[:_LONGEST] or "nothing"
            return f"{which}: {words.format_map(problem.get('ctx', {}))}, not {value}"
    return f"{which}: {_in_our_style(problem['msg'].removeprefix('Value error, '))}"
