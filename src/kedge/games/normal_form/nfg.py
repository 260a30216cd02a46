"""Read and write Gambit's ``.nfg`` files (payoff and outcome form), and read kedge's JSON."""

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from kedge.errors import InputError
from kedge.games.normal_form.game import NormalFormGame

_TOKEN = re.compile(r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<brace>[{}])|(?P<word>[^\s{}",]+)|,)')
_MAX_PLAYERS = 60  # numpy's limit on axes, less one


class _Tokens:
    """The tokens of a file and the current line, for messages."""

    def __init__(self, text: str, where: str) -> None:
        self.where = where
        self.line = 1
        self._next = self._scan(text)
        self.current: tuple[str, str] = ("end", "")
        self.advance()

    def _scan(self, text: str) -> Iterator[tuple[str, str]]:
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                self.line += text.count("\n", at, len(text) - len(text[at:].lstrip()))
                if not text[at:].strip():
                    return
                raise self.error("unreadable text" if '"' not in text[at:] else "unclosed quote")
            self.line += text.count("\n", at, match.end())
            at = match.end()
            if match.lastgroup is not None:
                yield match.lastgroup, match.group(match.lastgroup)

    def advance(self) -> tuple[str, str]:
        taken = self.current
        self.current = next(self._next, ("end", ""))
        return taken

    def error(self, message: str) -> InputError:
        return InputError(f"{self.where}, line {self.line}: {message}")

    def expect(self, kind: str, text: str | None = None) -> str:
        if self.current[0] != kind or (text is not None and self.current[1] != text):
            wanted = text or {"string": "a quoted name", "word": "a number"}[kind]
            kind, found = self.current
            found = "the end of the file" if kind == "end" else " ".join(found.split())
            raise self.error(f"expected {wanted}, found {found[:40]}")
        return self.advance()[1]

    def at(self, text: str) -> bool:
        return self.current == ("brace", text)

    def number(self) -> float:
        word = self.expect("word")
        try:
            return float(Fraction(word)) if "/" in word else float(word)
        except (ValueError, ZeroDivisionError, OverflowError):
            raise self.error(f"{word[:40]!r} is not a number") from None

    def whole(self, low: int, high: int, what: str) -> int:
        number = self.number()
        if not low <= number < high or number != int(number):
            raise self.error(f"{number:g} is not {what}")
        return int(number)


def read_nfg(path: str | Path) -> NormalFormGame:
    """Read a Gambit strategic game."""
    text = _read_text(path)
    tokens = _Tokens(text, str(path))
    tokens.expect("word", "NFG")
    tokens.expect("word", "1")
    if tokens.expect("word") not in ("R", "D"):
        raise tokens.error("expected R or D after 'NFG 1'")
    title = tokens.expect("string")[1:-1]
    players = _names(tokens)
    if not 1 <= len(players) <= _MAX_PLAYERS:
        raise tokens.error(f"{len(players)} players; from 1 to {_MAX_PLAYERS} are supported")
    shape, actions = _strategies(tokens, len(players))
    if tokens.current[0] == "string":
        tokens.advance()  # a comment
    read = _read_outcomes if tokens.at("{") else _read_payoffs
    payoffs = read(tokens, shape)
    if tokens.current[0] != "end":
        raise tokens.error(f"unexpected text after the {len(payoffs)} payoffs for {shape} actions")
    # The first player's strategy varies fastest: Fortran's order.
    table = np.asarray(payoffs).reshape(prod(shape), len(players))
    tensor = np.stack([column.reshape(shape, order="F") for column in table.T])
    try:
        return NormalFormGame(
            tensor, name=title or Path(path).stem, players=players, actions=actions
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def write_nfg(game: NormalFormGame, path: str | Path) -> None:
    """Write a game in Gambit's payoff form; numbers keep every digit."""
    quoted = [_quote(name) for name in game.players]
    strategies = " ".join(map(str, game.num_actions))
    if game.actions:
        named = (" ".join(map(_quote, names)) for names in game.actions)
        strategies = "\n".join(f"{{ {names} }}" for names in named)
    head = f"NFG 1 R {_quote(game.name)} {{ {' '.join(quoted)} }} {{ {strategies} }}\n\n"
    columns = [payoffs.ravel(order="F") for payoffs in game.payoffs]
    body = "\n".join(" ".join(f"{float(x)!r}" for x in row) for row in zip(*columns, strict=True))
    Path(path).write_text(head + body + "\n", encoding="utf-8")


def read_json(path: str | Path) -> NormalFormGame:
    """Read ``{"payoffs": …}``, with optional "name", "players" and "actions"."""
    text = _read_text(path)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    if not isinstance(content, dict) or "payoffs" not in content:
        raise InputError(f'{path}: "payoffs" is missing')
    extra: dict[str, Any] = {key: content.get(key) for key in ("players", "actions")}
    try:
        return NormalFormGame(
            content["payoffs"], name=str(content.get("name", Path(path).stem)), **extra
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except TypeError:
        raise InputError(f"{path}: players and actions must be lists of names") from None


def _read_text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file") from None


def _names(tokens: _Tokens) -> list[str]:
    tokens.expect("brace", "{")
    names = []
    while not tokens.at("}"):
        names.append(tokens.expect("string")[1:-1])
    tokens.advance()
    return names


def _strategies(tokens: _Tokens, players: int) -> tuple[tuple[int, ...], list[list[str]] | None]:
    """Return the number of actions per player, and their names if the file has them."""
    tokens.expect("brace", "{")
    named = tokens.at("{")
    counts, names = [], []
    while not tokens.at("}"):
        if named:
            names.append(_names(tokens))
            counts.append(len(names[-1]))
        else:
            counts.append(tokens.whole(1, 2**31, "a number of actions"))
    tokens.advance()
    if len(counts) != players:
        raise tokens.error(f"actions for {len(counts)} players, but there are {players}")
    if min(counts) < 1:
        raise tokens.error("a player has no actions")
    return tuple(counts), names if named else None


def _read_payoffs(tokens: _Tokens, shape: tuple[int, ...]) -> list[float]:
    wanted = prod(shape) * len(shape)
    payoffs: list[float] = []
    while len(payoffs) < wanted:
        if tokens.current[0] == "end":
            raise tokens.error(f"the file ends after {len(payoffs)} of {wanted} payoffs")
        payoffs.append(tokens.number())
    return payoffs


def _read_outcomes(tokens: _Tokens, shape: tuple[int, ...]) -> list[float]:
    """Read the outcome form: named outcomes, then one index per action profile; 0 is none."""
    players = len(shape)
    outcomes = [[0.0] * players]
    tokens.expect("brace", "{")
    while not tokens.at("}"):
        tokens.expect("brace", "{")
        tokens.expect("string")
        outcomes.append([tokens.number() for _ in range(players)])
        tokens.expect("brace", "}")
    tokens.advance()
    payoffs: list[float] = []
    for done in range(prod(shape)):
        if tokens.current[0] == "end":
            raise tokens.error(f"the file ends after {done} of {prod(shape)} outcomes")
        payoffs += outcomes[tokens.whole(0, len(outcomes), "an outcome of this file")]
    return payoffs


def _quote(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
