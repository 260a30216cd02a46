"""``kedge uci``: the engine for chess programs, over the Universal Chess Interface.

It reads while it thinks, so that it answers ``stop`` and ``isready`` at once.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import Any, TextIO

from kedge.agents.agent import Analysis
from kedge.agents.board.engine import Choice, Control, Limits, Progress
from kedge.agents.board.networks import network
from kedge.agents.chess.engine import SHIPPED, Engine, Options
from kedge.agents.chess.mates import forced_mate
from kedge.agents.devices import computing_on
from kedge.errors import InputError
from kedge.interfaces.protocols.engine_options import EMPTY, EngineOption
from kedge.interfaces.protocols.engine_session import EngineSession, printable, talk
from kedge.machine import cores
from kedge.models.devices import Dtype

_EVERY_SECONDS = 0.5  # between info lines; one also comes whenever the playouts have doubled


OPTIONS = {
    option.name.lower(): option
    for option in (
        EngineOption("Model", "string", "auto"),
        EngineOption("WeightsFile", "string", EMPTY),
        EngineOption("ValueModel", "string", EMPTY),
        EngineOption("CPuct", "number", "2.0", 0, 1000),
        EngineOption("Playouts", "spin", 50, 0, 10_000_000),
        EngineOption("Temperature", "number", "1.0", 0, 100),
        EngineOption("TopP", "number", "1.0", 0.001, 1),
        EngineOption("PolicyTemperature", "number", "1.0", 0.01, 100),
        EngineOption("MultiPV", "spin", 1, 1, 500),
        EngineOption("Seed", "spin", 0, 0, 2**31 - 1),
        EngineOption("UCI_LimitStrength", "check", False),
        EngineOption("UCI_Elo", "spin", 1500, 800, 2400),
        EngineOption("UCI_ShowWDL", "check", True),
        EngineOption("UCI_AnalyseMode", "check", False),
        EngineOption("HumanTime", "check", False),
        EngineOption("Ponder", "check", False),
        EngineOption("ReuseTree", "check", False),
        EngineOption("Batch", "spin", 1, 1, 256),
        EngineOption("Threads", "spin", cores(), 1, 1024),
        EngineOption("Hash", "spin", 1024, 1, 1_048_576),
        EngineOption("Move Overhead", "spin", 30, 0, 10_000),
    )
}


class Uci(EngineSession):
    """A session: lines in, lines out."""

    def __init__(self, out: TextIO, device: str = "cpu", dtype: Dtype = "float32") -> None:
        super().__init__(out)
        self._engine = Engine()
        self._device, self._dtype = device, dtype
        self._fault: str | None = None  # what was wrong with the last position
        self._values = {
            option.name: option.read(str(option.default)) for option in OPTIONS.values()
        }
        self._apply(self._values)

    def _obey(self, line: str) -> bool:
        words = line.split()
        if words[:1] == ["quit"]:
            return False
        try:
            self._do(words)
        except InputError as error:
            self._complain(str(error))
        return True

    def _do(self, words: list[str]) -> None:
        match words:
            case ["uci", *_]:
                self._say(f"id name kedge {version('kedge')}\nid author the kedge authors")
                self._say("\n".join(map(_declared, OPTIONS.values())))
                self._say("uciok")
            case ["isready", *_]:
                if not self._is_thinking():
                    self._load()
                self._say("readyok")
            case ["setoption", *rest]:
                self._finish()
                self._set(*_option(rest))
            case ["ucinewgame", *_]:
                self._finish()
                self._engine.new_game()
                self._fault = None
            case ["position", *rest]:
                self._finish()
                self._set_position(rest)
            case ["go", *rest]:
                self._finish()
                self._go(rest)
            case ["stop", *_]:
                if self._control is not None:
                    self._control.stop()
            case ["ponderhit", *_]:
                if self._control is not None:
                    self._control.ponderhit()
            case ["d", *_]:
                self._say(str(self._engine.state))
            case _:
                pass  # debug, register and unknown commands are ignored, as UCI demands

    def _set_position(self, words: list[str]) -> None:
        self._fault = None
        try:
            self._engine.set_position(*_position(words))
        except InputError as error:
            self._fault = str(error)
            raise

    # Options

    def _set(self, name: str, text: str) -> None:
        option = OPTIONS.get(name.lower())
        if option is None:
            raise InputError(f"unknown option {name[:40]!r}; uci lists the options")
        values = {**self._values, option.name: option.read(text)}
        if option.name in ("Model", "WeightsFile"):  # the last one set counts
            values = {**values, "Model": None, "WeightsFile": None, option.name: option.read(text)}
        if option.name == "Seed":
            self._engine.seed(values["Seed"] or None)
        self._apply(values)
        self._values = values

    def _apply(self, values: Mapping[str, Any]) -> None:
        self._engine.options = Options(
            model=values["WeightsFile"] or values["Model"],
            value_model=values["ValueModel"],
            elo=values["UCI_Elo"] if values["UCI_LimitStrength"] else None,
            c_puct=values["CPuct"],
            playouts=values["Playouts"],
            temperature=values["Temperature"],
            prior_temperature=values["PolicyTemperature"],
            top_p=values["TopP"],
            human_time=values["HumanTime"],
            overhead=values["Move Overhead"] / 1000,
            device=self._device,
            dtype=self._dtype,
            threads=values["Threads"],
            batch=values["Batch"],
            reuse_tree=values["ReuseTree"],
            memory=values["Hash"],
        )

    # Thinking

    def _go(self, words: list[str]) -> None:
        limits, pondering, errors = _limits(words, self._engine)
        for error in errors:
            self._complain(error)
        self._begin(lambda control: self._think(limits, control), Control(pondering=pondering))

    def _load(self) -> None:
        try:
            loaded = self._engine.load()
        except InputError as error:
            self._complain(str(error))
        else:
            if loaded:
                self._say(f"info string {loaded}")

    def _think(self, limits: Limits, control: Control) -> None:
        if self._fault is not None:
            self._complain(f"the position is unknown: {self._fault}; playing no move")
            control.wait_for_leave(limits)
            self._say("bestmove 0000")
            return
        choice = None
        if self._engine.state.board.legal_actions():
            try:
                self._engine.set_clock(limits)
                self._load()
                choice = self._search(limits, control)
            except Exception as error:  # a game needs a move
                self._complain(f"{error}; playing any legal move")
            if choice is None:
                control.wait_for_leave(limits)
                choice = self._engine.any_move(limits.only)
        else:
            control.wait_for_leave(limits)
        self._say(f"bestmove {self._shown(choice)}")

    def _search(self, limits: Limits, control: Control) -> Choice | None:
        shown: Progress | None = None
        last: Progress | None = None
        for progress in self._engine.think(limits, control):
            last = progress
            late = shown is None or progress.seconds - shown.seconds >= _EVERY_SECONDS
            if late or (shown and progress.playouts >= 2 * shown.playouts):
                self._tell(progress, progress.analysis())
                shown = progress
        if last is None:
            return None
        analysis = last.analysis()
        if last is not shown:
            self._tell(last, analysis)
        best = self._engine.choose(analysis, best=True)
        if limits.infinite or self._values["UCI_AnalyseMode"]:
            return best
        choice = self._engine.choose(analysis)
        if choice != best:  # programs expect the move of the last line
            self._tell(last, analysis, choice.action)
        return choice

    # Output

    def _tell(self, progress: Progress, analysis: Analysis, drawn: int | None = None) -> None:
        """Send the lines, best first; the line of a `drawn` move comes before the others."""
        assert analysis.visits is not None
        assert analysis.lines is not None
        spent = max(progress.seconds, 1e-3)
        seldepth = max(map(len, analysis.lines))
        tried = int((analysis.anchor > 0.0).sum())
        rows = sorted(analysis.rows(), key=lambda row: drawn is not None and row.action != drawn)
        lines = []
        for rank, row in enumerate(rows[: min(self._values["MultiPV"], tried)], 1):
            value = analysis.value if row.q is None else row.q
            line = row.line
            mate = forced_mate(self._engine.state, line)
            if mate is not None:
                value = math.copysign(1.0, mate)
            score = f"cp {centipawns(value)}" if mate is None else f"mate {mate}"
            shares = " wdl {} {} {}".format(*wdl(value)) if self._values["UCI_ShowWDL"] else ""
            lines.append(
                f"info depth {len(line)} seldepth {seldepth} multipv {rank} "
                f"score {score}{shares} nodes {progress.playouts} "
                f"nps {round((progress.playouts - progress.kept) / spent)} "
                f"time {round(1000 * progress.seconds)} "
                f"pv {' '.join(map(self._engine.state.uci, line))}"
            )
        self._say("\n".join(lines))

    def _shown(self, choice: Choice | None) -> str:
        if choice is None:
            return "(none)"
        uci = self._engine.state.uci
        return uci(choice.action) + (
            f" ponder {uci(choice.reply)}" if choice.reply is not None else ""
        )

    def _complain(self, text: str) -> None:
        self._say(f"info string error: {printable(text)}")


def centipawns(value: float) -> int:
    """Convert a value as lc0 does: 111.7·tan(1.562·v). ±1 is ±12800, 0.5 about 111."""
    return round(111.714640912 * math.tan(1.5620688421 * max(-1.0, min(1.0, value))))


def wdl(value: float) -> tuple[int, int, int]:
    """Return win, draw and loss in thousandths for v = W − L, with D = (1 − |v|) / 3."""
    value = max(-1.0, min(1.0, value))
    drawn = (1.0 - abs(value)) / 3.0
    win, draw = round(500.0 * (1.0 + value - drawn)), round(1000.0 * drawn)
    return win, draw, 1000 - win - draw


def _declared(option: EngineOption) -> str:
    """Return the line that declares an option; UCI has no fractions, so they are strings."""
    kind = "string" if option.kind == "number" else option.kind
    default = str(option.default).lower() if option.kind == "check" else option.default
    span = f" min {option.low} max {option.high}" if option.kind == "spin" else ""
    return f"option name {option.name} type {kind} default {default}{span}"


def _option(words: list[str]) -> tuple[str, str]:
    """Parse ``name Several Words value the rest``."""
    if words[:1] != ["name"]:
        raise InputError("setoption: expected setoption name NAME value VALUE")
    at = words.index("value") if "value" in words else len(words)
    return " ".join(words[1:at]), " ".join(words[at + 1 :])


def _position(words: list[str]) -> tuple[str | None, list[str]]:
    at = words.index("moves") if "moves" in words else len(words)
    match words[:at]:
        case ["startpos", *_]:
            return None, words[at + 1 :]
        case ["fen", *fields]:
            return " ".join(fields), words[at + 1 :]
    raise InputError("position: expected position startpos, or position fen FEN")


_COUNTS = ("wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "movetime", "mate")
_FLAGS = ("infinite", "ponder", "searchmoves")


def _limits(words: list[str], engine: Engine) -> tuple[Limits, bool, list[str]]:
    """Return the limits of ``go``, whether to ponder, and the errors in its arguments."""
    counts: dict[str, int] = {}
    flags: set[str] = set()
    moves: list[int] = []
    errors: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in _COUNTS:
            text = next(rest, "")
            try:
                counts[word] = int(text[:18])
            except ValueError:
                errors.append(f"go {word}: {text[:40]!r} is not a number")
        elif word in _FLAGS:
            flags.add(word)
        elif "searchmoves" in flags:
            try:
                moves.append(engine.state.parse_uci(word))
            except InputError as error:
                errors.append(f"go searchmoves: {error}")
    limits = _by_clock(counts, engine.state.board.player())
    return (
        replace(limits, infinite="infinite" in flags, only=tuple(moves) or None),
        "ponder" in flags,
        errors,
    )


def _by_clock(counts: Mapping[str, int], player: int) -> Limits:
    colour = "wb"[player]
    # A mate in N takes N moves of ours and N − 1 replies.
    depth = counts.get("depth", 2 * counts["mate"] - 1 if "mate" in counts else None)

    def seconds(name: str) -> float | None:
        return max(0.0, counts[name] / 1000) if name in counts else None

    return Limits(
        playouts=max(1, counts["nodes"]) if "nodes" in counts else None,
        seconds=seconds("movetime"),
        remaining=seconds(f"{colour}time"),
        increment=seconds(f"{colour}inc") or 0.0,
        moves_to_go=counts.get("movestogo"),
        depth=None if depth is None else max(1, depth),
    )


def run(device: str = "cpu", dtype: Dtype = "float32") -> None:
    """Run a session over standard input and output."""
    if device != "cpu" or dtype != "float32":
        with computing_on(device, dtype):
            network(SHIPPED)  # raises now, while the user still sees the terminal
    talk(lambda out: Uci(out, device, dtype))
