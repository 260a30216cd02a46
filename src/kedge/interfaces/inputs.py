"""Turn what a user typed into what the library takes."""

import dataclasses
import json
import re
from collections.abc import Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from kedge.errors import InputError
from kedge.search.regret import MMD, Adaptive, Algorithm, Constant, StepSize, Theory
from kedge.search.regret.algorithms import by_name
from kedge.specs import suggest

_COMMA = re.compile(r",(?![^(]*\))")  # a comma outside the parentheses of a spec


def numbers(
    text: str | None, what: str, advice: str = "separate several by commas"
) -> tuple[float, ...] | None:
    """Return numbers that are separated by commas; an error about other text gives `advice`."""
    if text is None:
        return None
    try:
        values = tuple(float(word) for word in text.split(","))
    except ValueError:
        raise InputError(f"{what}: {text!r} is not a number; {advice}") from None
    for number in values:
        if not number >= 0.0:
            raise InputError(f"{what}: must be at least 0, not {number:g}")
    return values


def read_anchors(text: str) -> list[Any] | None:
    """Return None for "uniform", else the JSON list of policies in the file."""
    if text == "uniform":
        return None
    try:
        content = json.loads(Path(text).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{text}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{text}: not JSON: {error}") from None
    if not isinstance(content, list) or not all(isinstance(policy, list) for policy in content):
        raise InputError(f"{text}: not a list with one policy (a list of numbers) per player")
    return content


def algorithm(
    name: str,
    lams: tuple[float, ...] | None,
    lambdas: tuple[float, ...] | None,
    eta: str | None,
    weighting: str | None,
) -> Algorithm:
    """Return the algorithm with its dial, step size and weighting."""
    lam = lams[0] if lams is not None and len(lams) == 1 else lams
    made = by_name(name, lam=lam, lambdas=lambdas, eta=_step_size(eta))
    if weighting is None:
        return made
    if isinstance(made, MMD):
        raise InputError("--weighting: mmd has no such option")
    return dataclasses.replace(made, weighting=weighting)  # type: ignore[arg-type]


def _step_size(text: str | None) -> StepSize | None:
    if text is None:
        return None
    if text in ("theory", "paper"):
        return Theory() if text == "theory" else Adaptive()
    sizes = numbers(text, "--eta", "give a number, theory or paper") or ()
    return Constant(sizes[0] if len(sizes) == 1 else sizes)


def fields_of(kind: type, title: str, settings: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a dataclass that `settings` give, each ``field=value``."""
    types = get_type_hints(kind)
    known = [field.name for field in dataclasses.fields(kind)]
    values: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise InputError(f"--set {setting}: not of the form field=value")
        if name not in known:
            raise InputError(
                f"--set {setting}: {title} has no field {name!r}; {suggest(name, known)}"
            )
        values[name] = _value(types[name], text, f"--set {setting}")
    return values


def _value(kind: Any, text: str, what: str) -> Any:
    """Return `text` as a field's type: a number, a word, "none", or a tuple of them."""
    if get_origin(kind) is tuple:
        words = _COMMA.split(text) if text else []
        return tuple(_value(get_args(kind)[0], word, what) for word in words)
    if get_origin(kind) is UnionType:
        inner = next(each for each in get_args(kind) if each is not NoneType)
        return None if text.lower() == "none" else _value(inner, text, what)
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise InputError(f"{what}: {text!r} is not one of {', '.join(get_args(kind))}")
        return text
    try:
        if kind is bool:
            return {"true": True, "false": False}[text.lower()]
        if kind is int and float(text).is_integer():  # 1e6 is a number of iterations
            return int(float(text))
        return kind(text)
    except (ValueError, KeyError, OverflowError):
        raise InputError(f"{what}: {text!r} is not of type {kind.__name__}") from None
