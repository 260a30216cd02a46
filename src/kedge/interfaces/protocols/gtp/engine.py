"""``kedge gtp``: the engine for Go programs, over the Go Text Protocol, version 2.

A program waits for the answer before its next command, so the thread that reads also thinks. Only
an endless analysis runs in a second thread, until the next line.
"""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

from kedge.agents.agent import Analysis
from kedge.agents.board.engine import Control, Limits
from kedge.agents.go.engine import GoEngine, Options, TimeControl
from kedge.errors import InputError
from kedge.files import write_atomic
from kedge.games.go import EMPTY, format_gtp, format_score, handicap_points, parse_gtp
from kedge.games.go.rules import GoRules
from kedge.interfaces.output import check_new
from kedge.interfaces.protocols.engine_options import EngineOption
from kedge.interfaces.protocols.engine_session import EngineSession, printable, talk
from kedge.interfaces.protocols.gtp import analysis as gtp_analysis
from kedge.interfaces.protocols.gtp.analysis import Request, Style
from kedge.interfaces.protocols.gtp.options import PARAMS
from kedge.interfaces.protocols.gtp.parsing import (
    parse_colour,
    parse_line,
    parse_number,
    parse_whole,
)
from kedge.records import GoGame, ReadReport, read_go_games, write_sgf

# KataGo's names for the same parameters.
_ALIASES = {
    "maxPlayouts": "playouts",
    "maxVisits": "playouts",
    "maxTime": "max_time",
    "chosenMoveTemperature": "temperature",
    "resignThreshold": "resign",
    "lagBuffer": "overhead",
}
_TIMES = ("none", "absolute", "canadian", "byoyomi", "fischer", "fischer-capped")


class Gtp(EngineSession):
    """A session: lines in, lines out."""

    def __init__(self, out: TextIO, engine: GoEngine, seed: int = 0) -> None:
        super().__init__(out)
        self._engine = engine
        self._head = "="  # start of the answer to the current command
        self._printed: set[Path] = set()  # files of this session, which it may write again
        self._set_seed(seed)

    def _obey(self, line: str) -> bool:
        self._finish()  # any line ends a running analysis
        number, words = parse_line(line)
        if not number and not words:
            return True
        self._head = f"={number}"
        try:
            answer = self._answer(words)
        except Exception as error:  # the program waits for an answer
            answer = f"?{number} {printable(str(error) or type(error).__name__)}"
        if answer is not None:
            self._say(answer.rstrip() + "\n")
        return words[:1] != ["quit"]

    def _answer(self, words: list[str]) -> str | None:
        """Execute a command; return its answer, or None if the handler has sent it."""
        name, rest = (words[0], words[1:]) if words else ("", [])
        if name not in _HANDLERS:
            raise InputError("unknown command")
        least, handler = _HANDLERS[name]
        if len(rest) < least:
            raise InputError(f"syntax error: {name} needs more arguments")
        answer = handler(self, rest)
        return None if answer is None else f"{self._head} {answer}"

    # The board

    def _boardsize(self, rest: list[str]) -> str:
        sizes = {parse_whole(word) for word in rest[:2]}
        if len(sizes) > 1:
            raise InputError("unacceptable size")
        try:
            self._engine.new_game(*sizes)
        except InputError:
            raise InputError("unacceptable size") from None
        return ""

    def _clear_board(self, _: list[str]) -> str:
        self._engine.new_game()
        return ""

    def _play(self, rest: list[str]) -> str:
        player, action = parse_colour(rest[0]), self._point(rest[1])
        try:
            self._engine.play(player, action)
        except InputError as error:
            raise InputError(f"illegal move: {error}") from None
        return ""

    def _undo(self, _: list[str]) -> str:
        try:
            self._engine.undo()
        except InputError as error:
            raise InputError(f"cannot undo: {error}") from None
        return ""

    def _fixed_handicap(self, rest: list[str]) -> str:
        return self._place(handicap_points(self._engine.state.size, parse_whole(rest[0])))

    def _place_free_handicap(self, rest: list[str]) -> str:
        return self._listed(self._engine.place_free_handicap(parse_whole(rest[0])))

    def _set_free_handicap(self, rest: list[str]) -> str:
        points = [self._point(word) for word in rest]
        if self._engine.state.size**2 in points or len({*points}) < max(2, len(points)):
            raise InputError("bad vertex list")
        self._place(points)
        return ""

    def _place(self, points: list[int]) -> str:
        self._engine.place_handicap(points)
        return self._listed(points)

    def _loadsgf(self, rest: list[str]) -> str:
        *words, last = rest
        moves = parse_whole(last) - 1 if words and last.isdecimal() else None
        game = _first_game(" ".join(rest if moves is None else words))
        self._engine.load_game(game, None if moves is None else max(0, moves))
        return ""

    def _printsgf(self, rest: list[str]) -> str:
        text = write_sgf(self._engine.game())
        if not rest:
            return text
        path = Path(" ".join(rest))
        if path not in self._printed:
            check_new(path)
        write_atomic(path, text)
        self._printed.add(path)
        return ""

    # Moves

    def _genmove(self, rest: list[str], *, cleanup: bool = False) -> str:
        player = parse_colour(rest[0])
        return self._make(player, self._engine.find(player, cleanup=cleanup))

    def _make(self, player: int, action: int | None) -> str:
        """Play the move, if it is not a resignation; return its name."""
        if action is None:
            return "resign"
        self._engine.play(player, action)
        return self._engine.state.gtp(action)

    def _genmove_analyze(self, style: Style, rest: list[str], *, play: bool = True) -> None:
        """Send analyses, then the move. The next line does not end it: the program waits."""
        engine, request = self._engine, Request.parse(rest)
        player = engine.state.board.player() if request.player is None else request.player
        head = [self._head]  # empty once it is sent

        def tell(analysis: Analysis) -> None:
            self._say("\n".join([*head, self._info(analysis, request, style)]))
            head.clear()

        action = engine.find(player, gtp_analysis.watcher(request, tell))
        move = "resign" if action is None else engine.state.gtp(action)
        if play:
            self._make(player, action)
        self._say("\n".join([*head, f"play {move}\n"]))

    def _analyze(self, style: Style, rest: list[str]) -> None:
        engine, request, control = self._engine, Request.parse(rest), Control()
        if request.player is not None:
            engine.set_player(request.player)
        thoughts = engine.think(Limits(infinite=True), control)
        self._say(self._head)

        def stream(_: Control) -> None:
            watch = gtp_analysis.watcher(
                request, lambda analysis: self._say(self._info(analysis, request, style))
            )
            try:
                for thought in thoughts:
                    watch(thought)
            except Exception as error:  # the answer has started and needs its end
                self._say(f"error {printable(str(error))}")
            self._say("")

        self._begin(stream, control)

    def _info(self, analysis: Analysis, request: Request, style: Style) -> str:
        return gtp_analysis.line(self._engine.state, analysis, request, style)

    # The end

    def _final_status_list(self, rest: list[str]) -> str:
        board, size = self._engine.state.board, self._engine.state.size
        dead = set(self._engine.dead_stones())
        stones = [point for point in range(size**2) if board.colour(point) != EMPTY]
        match rest[0]:
            case "dead":
                return self._listed(sorted(dead))
            case "alive":
                return self._listed([point for point in stones if point not in dead])
            case "seki":
                return ""
        raise InputError(f"syntax error: dead, alive or seki, not {rest[0][:40]!r}")

    # Settings

    def _komi(self, rest: list[str]) -> str:
        self._engine.set_komi(parse_number(rest[0]))
        return ""

    def _set_rules(self, name: str) -> str:
        self._engine.set_rules(GoRules.named(name))
        return ""

    def _set_rule(self, rest: list[str]) -> str:
        value: Any = {"true": True, "false": False}.get(rest[1].lower(), rest[1].upper())
        self._engine.set_rules(self._engine.rules.with_fields({rest[0]: value}))
        return ""

    def _kgs_rules(self, rest: list[str]) -> str:
        return self._set_rules("chinese-kgs" if rest[0] == "chinese" else rest[0])

    def _get_param(self, rest: list[str]) -> str:
        return _shown(self._params()[_param(rest[0]).name])

    def _params(self) -> dict[str, Any]:
        known = {field.name for field in fields(Options)}
        params = {name: getattr(self._engine.options, name) for name in PARAMS if name in known}
        return {**params, "model": self._engine.model, "seed": self._seed}

    def _set_param(self, rest: list[str]) -> str:
        option = _param(rest[0])
        value = option.read(" ".join(rest[1:]))
        if option.name == "seed":
            self._set_seed(value)
            return ""
        old = self._engine.options
        self._engine.options = replace(old, **{option.name: value})
        try:
            self._engine.load()
        except BaseException:
            self._engine.options = old
            raise
        return ""

    def _set_seed(self, seed: int) -> None:
        self._seed = seed
        self._engine.seed(seed or None)

    def _time_settings(self, rest: list[str]) -> str:
        main, period, stones = rest[:3]
        control = TimeControl(parse_number(main), parse_number(period), parse_whole(stones))
        # In GTP, overtime without stones means no time limit.
        self._engine.time_control = None if control.period and not control.stones else control
        return ""

    def _time_kind(self, rest: list[str]) -> str:
        """Set the time control by its kind, as KGS and KataGo do."""
        match rest:
            case ["none", *_]:
                self._engine.time_control = None
            case ["absolute", main, *_]:
                self._engine.time_control = TimeControl(parse_number(main))
            case ["canadian", main, period, stones, *_]:
                return self._time_settings([main, period, stones])
            case ["byoyomi", main, period, periods, *_]:
                self._engine.time_control = TimeControl(
                    parse_number(main), parse_number(period), 1, parse_whole(periods)
                )
            case ["fischer" | "fischer-capped", main, increment, *_]:
                self._engine.time_control = TimeControl(
                    parse_number(main), increment=parse_number(increment)
                )
            case _:
                kinds = ", ".join(_TIMES)
                raise InputError(f"syntax error: expected one of {kinds}, with its numbers")
        return ""

    def _time_left(self, rest: list[str]) -> str:
        colour, seconds, count = rest[:3]
        left = max(0.0, parse_number(seconds)), max(0, parse_whole(count))
        player = parse_colour(colour)
        self._engine.time_control = self._engine.time_control or TimeControl(left[0])
        self._engine.time_control.left[player] = left
        return ""

    # Words

    def _point(self, text: str) -> int:
        try:
            return parse_gtp(text, self._engine.state.size)
        except InputError as error:
            raise InputError(f"syntax error: {error}") from None

    def _listed(self, points: list[int]) -> str:
        return " ".join(format_gtp(point, self._engine.state.size) for point in points)


def _first_game(path: str) -> GoGame:
    try:
        if os.path.isdir(path):  # reading it could take forever
            raise InputError("it is a folder")
        read = ReadReport()
        game = next(read_go_games(path, read), None)
    except (InputError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"cannot load file: {reason}") from None
    if game is None:
        reason = read.broken[0].reason if read.broken else "no game in it"
        raise InputError(f"cannot load file: {reason}")
    return game


def _param(name: str) -> EngineOption:
    option = PARAMS.get(_ALIASES.get(name, name))
    if option is None:
        raise InputError(f"no parameter {name[:40]!r}; parameters are {', '.join(PARAMS)}")
    return option


def _shown(value: Any) -> str:
    """Return the value as text that `EngineOption.read` accepts."""
    if value is None:
        return "auto"
    return str(value).lower() if isinstance(value, bool) else str(value)


_Handler = Callable[[Gtp, list[str]], str | None]


def _nothing(gtp: Gtp, rest: list[str]) -> str:
    return ""


#: Least number of arguments of each command, and its handler.
_HANDLERS: dict[str, tuple[int, _Handler]] = {
    "protocol_version": (0, lambda gtp, rest: "2"),
    "name": (0, lambda gtp, rest: "kedge"),
    "version": (0, lambda gtp, rest: version("kedge")),
    "known_command": (1, lambda gtp, rest: str(rest[0] in _HANDLERS).lower()),
    "list_commands": (0, lambda gtp, rest: "\n".join(_HANDLERS)),
    "quit": (0, _nothing),
    "boardsize": (1, Gtp._boardsize),
    "rectangular_boardsize": (2, Gtp._boardsize),
    "clear_board": (0, Gtp._clear_board),
    "komi": (1, Gtp._komi),
    "get_komi": (0, lambda gtp, rest: f"{gtp._engine.state.komi:g}"),
    "play": (2, Gtp._play),
    "undo": (0, Gtp._undo),
    "showboard": (0, lambda gtp, rest: f"\n{gtp._engine.state}"),
    "fixed_handicap": (1, Gtp._fixed_handicap),
    "place_free_handicap": (1, Gtp._place_free_handicap),
    "set_free_handicap": (1, Gtp._set_free_handicap),
    "loadsgf": (1, Gtp._loadsgf),
    "printsgf": (0, Gtp._printsgf),
    "genmove": (1, Gtp._genmove),
    "kgs-genmove_cleanup": (1, lambda gtp, rest: gtp._genmove(rest, cleanup=True)),
    "lz-analyze": (0, lambda gtp, rest: gtp._analyze("lz", rest)),
    "kata-analyze": (0, lambda gtp, rest: gtp._analyze("kata", rest)),
    "lz-genmove_analyze": (0, lambda gtp, rest: gtp._genmove_analyze("lz", rest)),
    "kata-genmove_analyze": (0, lambda gtp, rest: gtp._genmove_analyze("kata", rest)),
    "kata-search_analyze": (0, lambda gtp, rest: gtp._genmove_analyze("kata", rest, play=False)),
    "stop": (0, _nothing),
    "final_score": (0, lambda gtp, rest: format_score(gtp._engine.score())),
    "final_status_list": (1, Gtp._final_status_list),
    "time_settings": (3, Gtp._time_settings),
    "time_left": (3, Gtp._time_left),
    "kgs-time_settings": (1, Gtp._time_kind),
    "kata-time_settings": (1, Gtp._time_kind),
    "kata-list_time_settings": (0, lambda gtp, rest: " ".join(_TIMES)),
    "kgs-rules": (1, Gtp._kgs_rules),
    "kata-get-rules": (0, lambda gtp, rest: gtp._engine.rules.to_json()),
    "kata-set-rules": (1, lambda gtp, rest: gtp._set_rules(" ".join(rest))),
    "kata-set-rule": (2, Gtp._set_rule),
    "kata-get-param": (1, Gtp._get_param),
    "kata-get-params": (0, lambda gtp, rest: json.dumps(gtp._params())),
    "kata-set-param": (2, Gtp._set_param),
    "kata-list-params": (0, lambda gtp, rest: " ".join(PARAMS)),
}
COMMANDS = tuple(_HANDLERS)


def run(engine: GoEngine, seed: int = 0) -> None:
    """Run a session over standard input and output."""
    playing = engine.load()
    if engine.options.rank is not None:  # perhaps not with the model that was named
        print(f"kedge {playing}", file=sys.stderr)
    talk(lambda out: Gtp(out, engine, seed))
