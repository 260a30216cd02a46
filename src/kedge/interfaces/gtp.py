"""The engine for Go programs, over the Go Text Protocol, version 2.

A program waits for the answer before it asks again, so one thread reads and thinks.
"""

import math
import re
from importlib.metadata import version
from typing import TextIO

from kedge.agents.go_engine import Analyst, Clock, GoEngine
from kedge.errors import InputError
from kedge.games.go import BLACK, WHITE, format_gtp, format_score, handicap_points, parse_gtp
from kedge.interfaces.engine_session import EngineSession, printable, talk

COMMANDS = (
    "protocol_version", "name", "version", "known_command", "list_commands", "quit",
    "boardsize", "clear_board", "komi", "play", "genmove", "undo", "showboard",
    "fixed_handicap", "place_free_handicap", "set_free_handicap", "final_score",
    "time_settings", "time_left", "kgs-time_settings",
)  # fmt: skip
_COLOURS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}


class Gtp(EngineSession):
    """A session: lines in, lines out."""

    def __init__(self, out: TextIO, engine: GoEngine) -> None:
        super().__init__(out)
        self._engine = engine

    def _obey(self, line: str) -> bool:
        number, words = _command(line)
        if not number and not words:
            return True
        try:
            answer = f"={number} {self._answer(words)}"
        except Exception as error:  # a program waits until it is answered
            answer = f"?{number} {printable(str(error))}"
        self._say(answer.rstrip() + "\n")
        return words[:1] != ["quit"]

    def _answer(self, words: list[str]) -> str:
        engine = self._engine
        match words:
            case ["protocol_version", *_]:
                return "2"
            case ["name", *_]:
                return "kedge"
            case ["version", *_]:
                return version("kedge")
            case ["known_command", name, *_]:
                return str(name in COMMANDS).lower()
            case ["list_commands", *_]:
                return "\n".join(COMMANDS)
            case ["quit", *_]:
                return ""
            case ["showboard", *_]:
                return f"\n{engine.state}"
            case ["final_score", *_]:
                return format_score(engine.state.score())
            case [("time_settings" | "time_left" | "kgs-time_settings") as name, *rest]:
                return self._time(name, rest)
            case [
                ("fixed_handicap" | "place_free_handicap" | "set_free_handicap") as name,
                *rest,
            ] if rest:
                return self._handicap(name, rest)
            case _:
                return self._play(words)

    def _play(self, words: list[str]) -> str:
        engine = self._engine
        match words:
            case ["boardsize", size, *_]:
                if not 2 <= _whole(size) <= 19:
                    raise InputError("unacceptable size")
                engine.new_game(_whole(size))
            case ["clear_board", *_]:
                engine.new_game()
            case ["komi", komi, *_]:
                engine.set_komi(_number(komi))
            case ["play", colour, point, *_]:
                player, action = _colour(colour), self._point(point)
                try:
                    engine.play(player, action)
                except InputError as error:
                    raise InputError(f"illegal move: {error}") from None
            case ["genmove", colour, *_]:
                return engine.state.gtp(engine.move(_colour(colour)))
            case ["undo", *_]:
                try:
                    engine.undo()
                except InputError as error:
                    raise InputError(f"cannot undo: {error}") from None
            case [name, *_] if name in COMMANDS:
                raise InputError(f"syntax error: {name} wants more")
            case _:
                raise InputError("unknown command")
        return ""

    def _handicap(self, name: str, rest: list[str]) -> str:
        engine, size = self._engine, self._engine.state.size
        if name == "fixed_handicap":
            points = handicap_points(size, _whole(rest[0]))
        elif name == "place_free_handicap":
            points = engine.free_handicap(_whole(rest[0]))
        else:
            points = [self._point(word) for word in rest]
            if size**2 in points or len({*points}) < max(2, len(points)):
                raise InputError("bad vertex list")
        engine.place_handicap(points)
        told = name != "set_free_handicap"
        return " ".join(format_gtp(point, size) for point in points) if told else ""

    def _time(self, name: str, rest: list[str]) -> str:
        engine = self._engine
        match name, rest:
            case "time_settings", [main, period, stones, *_]:
                clock = Clock(_number(main), _number(period), _whole(stones))
                # Overtime for no stones at all is how the protocol says that there is no limit.
                engine.clock = None if clock.period and not clock.stones else clock
            case "kgs-time_settings", ["none", *_]:
                engine.clock = None
            case "kgs-time_settings", ["absolute", main, *_]:
                engine.clock = Clock(_number(main))
            case "kgs-time_settings", ["canadian", main, period, stones, *_]:
                engine.clock = Clock(_number(main), _number(period), _whole(stones))
            case "kgs-time_settings", ["byoyomi", main, period, periods, *_]:
                engine.clock = Clock(_number(main), _number(period), 1, _whole(periods))
            case "time_left", [colour, seconds, count, *_]:
                left = max(0.0, _number(seconds)), max(0, _whole(count))
                engine.clock = engine.clock or Clock(left[0])
                engine.clock.left[_colour(colour)] = left
            case _:
                raise InputError(f"syntax error: {name} wants more")
        return ""

    def _point(self, text: str) -> int:
        try:
            return parse_gtp(text, self._engine.state.size)
        except InputError as error:
            raise InputError(f"syntax error: {error}") from None


def _command(line: str) -> tuple[str, list[str]]:
    """The id, if there is one, and the words; without comments and control characters."""
    text = re.sub(r"[\x00-\x08\x0a-\x1f\x7f]", "", line).partition("#")[0]
    words = text.split()
    if words and re.fullmatch(r"[0-9]+", words[0]):
        return words[0], words[1:]
    return "", words


def _colour(text: str) -> int:
    if text.lower() not in _COLOURS:
        raise InputError(f"syntax error: {text[:40]!r} is neither black nor white")
    return _COLOURS[text.lower()]


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"syntax error: {text[:40]!r} is not a number")
    return number


def _whole(text: str) -> int:
    try:
        return int(text[:18])
    except ValueError:
        raise InputError(f"syntax error: {text[:40]!r} is not a whole number") from None


def run(player: Analyst) -> None:
    """Talk over this process's own input and output; `player` has the moves."""
    talk(lambda out: Gtp(out, GoEngine(player)))
