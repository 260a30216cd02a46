"""Spec strings, such as ``blotto(coins=10, fields=3)`` or ``puct(maia-1900, c_puct=2)``.

A spec is a name, or a name with arguments: values, specs, ``key=value``. A name may be a path; a
name with spaces or special characters is quoted. Specs name games and agents; `build` makes one.
"""

import difflib
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kedge.errors import InputError

T = TypeVar("T")

_TOKEN = re.compile(
    r"\s*(?:(?P<string>\"[^\"]*\"|'[^']*')"
    r"|(?P<number>[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf)(?![\w.:/-]))"
    r"|(?P<name>(?:\.{0,2}/)?[A-Za-z_][\w.:/+-]*|\d+[A-Za-z]\w*)"
    r"|(?P<mark>[(),=]))"
)
_WORDS = {"true": True, "false": False, "none": None, "inf": float("inf")}
_MAX_DEPTH = 16


@dataclass(frozen=True)
class Spec:
    """A parsed spec string; ``str()`` returns its canonical form."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        inside = [_show(value) for value in self.args]
        inside += [f"{key}={_show(value)}" for key, value in self.kwargs.items()]
        match = _TOKEN.fullmatch(self.name)
        name = self.name if match and match.lastgroup == "name" else _show(self.name)
        return f"{name}({', '.join(inside)})" if inside else name


def parse(text: str) -> Spec:
    """Parse a spec string.

    >>> parse("puct(maia-1900(temperature=0.3), c_puct=2)").kwargs
    {'c_puct': 2}
    """
    tokens: list[tuple[str, str, int]] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            place = len(text) - len(text[at:].lstrip())
            raise InputError(f"spec {text!r}: unexpected {text[place]!r} at character {place + 1}")
        kind = str(match.lastgroup)
        tokens.append((kind, match.group(kind), match.start(kind)))
        at = match.end()
    spec, rest = _parse_spec(text, tokens, 0, 0)
    if rest != len(tokens):
        raise _unexpected(text, tokens, rest)
    return spec


def parse_list(text: str) -> list[Spec]:
    """Parse comma-separated specs.

    >>> [str(spec) for spec in parse_list("chess, puct(chess, c_puct=2)")]
    ['chess', 'puct(chess, c_puct=2)']
    """
    try:
        inside = parse(f"list({text})")
    except InputError:
        for part in text.split(","):
            if not part.strip():
                raise InputError(f"{text!r}: a name is missing beside a comma") from None
        raise
    values = [Spec(value) if isinstance(value, str) else value for value in inside.args]
    if inside.kwargs or not all(isinstance(value, Spec) for value in values):
        raise InputError(f"{text!r}: expected comma-separated names or specs")
    return values


def _parse_spec(
    text: str, tokens: list[tuple[str, str, int]], at: int, depth: int
) -> tuple[Spec, int]:
    if depth > _MAX_DEPTH:
        raise InputError(f"spec {text[:60]!r}…: nested deeper than {_MAX_DEPTH}")
    if at >= len(tokens) or tokens[at][0] not in ("name", "string"):
        raise _unexpected(text, tokens, at)
    name = tokens[at][1] if tokens[at][0] == "name" else tokens[at][1][1:-1]
    at += 1
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    if at < len(tokens) and tokens[at][1] == "(":
        at += 1
        while at < len(tokens) and tokens[at][1] != ")":
            key = None
            if tokens[at][0] == "name" and at + 1 < len(tokens) and tokens[at + 1][1] == "=":
                key, at = tokens[at][1], at + 2
            value, at = _parse_value(text, tokens, at, depth)
            if key is None and kwargs:
                raise InputError(
                    f"spec {text!r}: {_show(value)} must come before key=value arguments"
                )
            if key is None:
                args.append(value)
            elif key in kwargs:
                raise InputError(f"spec {text!r}: {key} is set twice")
            else:
                kwargs[key] = value
            if at < len(tokens) and tokens[at][1] == ",":
                at += 1
            elif at >= len(tokens) or tokens[at][1] != ")":
                raise _unexpected(text, tokens, at)
        if at >= len(tokens):
            raise _unexpected(text, tokens, at)
        at += 1
    return Spec(name, tuple(args), kwargs), at


def _parse_value(
    text: str, tokens: list[tuple[str, str, int]], at: int, depth: int
) -> tuple[Any, int]:
    if at >= len(tokens):
        raise _unexpected(text, tokens, at)
    kind, word, _ = tokens[at]
    if kind == "number":
        whole = re.fullmatch(r"[-+]?\d{1,18}", word)
        return (int(word) if whole else float(word)), at + 1
    if kind == "string" and not (at + 1 < len(tokens) and tokens[at + 1][1] == "("):
        return word[1:-1], at + 1
    if kind == "name" and word.lower() in _WORDS:
        return _WORDS[word.lower()], at + 1
    return _parse_spec(text, tokens, at, depth + 1)


def _unexpected(text: str, tokens: list[tuple[str, str, int]], at: int) -> InputError:
    if not tokens:
        return InputError("a spec is empty; give a name, such as chess or puct(chess, c_puct=2)")
    if at >= len(tokens):
        return InputError(f"spec {text!r}: ends too early; is a ) missing?")
    return InputError(
        f"spec {text!r}: unexpected {tokens[at][1]!r} at character {tokens[at][2] + 1}"
    )


def _show(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, str):
        mark = "'" if '"' in value else '"'
        return f"{mark}{value}{mark}"
    return str(value)


def as_spec(kind: str, spec: object) -> Spec:
    """Return `spec` parsed; `kind`, such as ``"agent"``, is used in errors."""
    if isinstance(spec, str):
        return parse(spec)
    if not isinstance(spec, Spec):
        raise InputError(f"{kind}: a spec such as NAME or NAME(KEY=VALUE), not {spec!r}")
    return spec


def build(
    kind: str,
    maker: Callable[..., T],
    spec: Spec,
    advice: Callable[[Collection[str]], str] | None = None,
) -> T:
    """Call `maker` with the arguments of `spec`; the dial ``lambda`` is ``lam`` in Python.

    `advice` returns the end of an error about arguments of these names, from its "; " on.
    """
    kwargs = {"lam" if key == "lambda" else key: value for key, value in spec.kwargs.items()}
    signature = inspect.signature(maker)
    try:
        signature.bind(*spec.args, **kwargs)
    except TypeError as error:
        known = ["lambda" if name == "lam" else name for name in signature.parameters]
        reason = str(error).replace("got an unexpected keyword argument", "has no parameter")
        reason = reason.replace("too many positional arguments", "too many values without a name")
        takes = ", ".join(known) or "none"
        hint = "" if advice is None else advice(kwargs)
        raise InputError(f"{kind} {spec}: {reason}; it takes {takes}{hint}") from None
    return maker(*spec.args, **kwargs)


def suggest(name: str, known: list[str], listing: str | None = None) -> str:
    """Return the end of an error about an unknown name: similar names, or all known ones.

    If there are too many for a message, `listing` is the command that lists them.

    >>> suggest("zzz", ["chess", "go", "puct", "uniform"], listing="kedge models list")
    'nearest: uniform, puct, go; all: kedge models list'
    """
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    if listing is None:
        return f"known: {', '.join(known)}"
    nearest = difflib.get_close_matches(name, known, n=3, cutoff=0.0)
    return f"nearest: {', '.join(nearest)}; all: {listing}" if nearest else f"all: {listing}"


def word(what: str, value: object) -> str:
    """Return an argument of a spec that must be a name, which without quotes is itself a spec.

    >>> word("preset", parse("rm(diplomacy, preset=authors)").kwargs["preset"])
    'authors'
    """
    if isinstance(value, Spec) and not value.args and not value.kwargs:
        return value.name
    if not isinstance(value, str):
        raise InputError(f"{what}: a name, not {value}")
    return value


def number(what: str, value: object) -> float:
    """Return an argument of a spec that must be a number; `what` names it in errors."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{what}: a number, not {value}")
    return float(value)


def whole(what: str, value: object) -> int:
    """Return an argument of a spec that must be a whole number; `what` names it in errors."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{what}: a whole number, not {value}")
    return value
