"""A chess engine that thinks under limits, independent of protocols."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kedge.agents.agent import Analysis
from kedge.agents.board import model_engine
from kedge.agents.board.engine import Control, Limits, Progress
from kedge.agents.board.model_engine import ModelEngine
from kedge.agents.board.networks import model_spec, taken_by, with_inputs
from kedge.agents.chess.move_times import PEOPLE, features, just_taken
from kedge.errors import InputError
from kedge.games.chess import START_FEN, ChessState
from kedge.games.chess.ratings import SPEEDS
from kedge.models.chess.conditioning import nearest_clock
from kedge.models.chess.encoding import encode_chess
from kedge.models.store import stored_names
from kedge.records.chess.games import time_class
from kedge.regularize import Array, entropy
from kedge.specs import Spec

SHIPPED = "chess"
_QUICKEST = 0.15  # least seconds that people take, premoves aside


@dataclass(frozen=True)
class Options(model_engine.Options):
    """Options of an `Engine`."""

    elo: int | None = None
    """Rating of the people to play like, whatever the model: see `choose_models`."""
    human_time: bool = False
    """Whether to take as long for a move as people do."""


class Engine(ModelEngine):
    """A game of chess, and models that play it."""

    shipped = SHIPPED
    playout_bytes = 3000  # about 35 moves
    options: Options
    state: ChessState

    def __init__(self) -> None:
        super().__init__()
        self.options = Options()
        self._longest = 0.0  # most seconds that a clock has shown in this game
        self._time: dict[str, Any] = {}  # speed and clock, for models that take them as input
        self.new_game()

    def new_game(self) -> None:
        """Start a new game, with another clock."""
        self.state, self._start, self._longest, self._last = ChessState(), START_FEN, 0.0, None
        self._time = {}

    def set_position(self, fen: str | None, moves: Iterable[str] = ()) -> None:
        """Set the position after `moves`.

        An illegal move raises an `InputError`; the moves before it stay on the board.
        """
        start = START_FEN if fen is None else fen
        self.state, self._start = ChessState.from_fen(start), start
        for number, text in enumerate(moves, 1):
            try:
                action = self.state.parse_uci(text)
            except InputError as error:
                raise InputError(f"move {number}: {error}") from None
            self.state.board.push(action)
            self.state.history.append(action)

    def set_clock(self, limits: Limits) -> None:
        """Set the time that people would have; `load` then takes it as input if the model does."""
        self._time = {}
        if limits.remaining is not None:
            self._longest = max(self._longest, limits.remaining)
            self._time = time_inputs(limits.remaining, self._longest, limits.increment)

    def models(self, options: Options) -> tuple[list[str], float]:
        names, share = choose_models(options)
        return [self._timed(name) for name in names], share

    def load(self) -> str | None:
        """Load the network and return its description; None if it is loaded already.

        On an error the last network stays, or the shipped one is loaded, because a game needs
        moves. The error names the network in use.
        """
        try:
            loaded = super().load()
        except Exception as error:
            if self._network is None:
                self._load(replace(self.options, model=SHIPPED, value_model=None))
            raise InputError(f"{error}; the engine now {self._playing}") from error
        model = self.options.model
        playing = [model_spec(name).name for name in choose_models(self.options)[0]]
        ignored = model is not None and model_spec(model).name not in playing
        return f"by rating, not with {model}: {loaded}" if loaded and ignored else loaded

    def think(self, limits: Limits, control: Control) -> Iterator[Progress]:
        if self._network is None:
            raise InputError("no network is loaded; set the option Model to a model of chess")
        as_people = self.options.human_time and limits.remaining is not None
        return self._think(
            limits, control, (lambda analysis: self._pause(analysis, limits)) if as_people else None
        )

    def _timed(self, name: str) -> str:
        """Return the model's name with its clock; as it is if it takes none."""
        model = model_spec(name)
        timed = with_inputs(model, self._time)
        return name if timed == model else str(timed)

    def _pause(self, analysis: Analysis, limits: Limits) -> float:
        """Return the seconds that people take, at most those on the clock."""
        wait = human_seconds(analysis.anchor, self.state, limits, self._longest, self._rng)
        return min(wait, max(0.0, (limits.remaining or 0.0) - self.options.overhead))


def rated_models() -> dict[int, str]:
    """Return the names of the stored Maias, by the rating of the people they play like."""
    names = (name for name in stored_names() if re.fullmatch(r"maia-\d{3,4}", name))
    return {int(name.removeprefix("maia-")): name for name in names}


def choose_models(options: Options) -> tuple[list[str], float]:
    """Return the models to play with, one or two, and the share of the second.

    A rating goes before a named model, unless that model takes ratings as input. The stored Maia
    of this rating plays, or a mixture of the nearest ones below and above. Outside their range the
    shipped model plays with the rating as input.
    """
    elo = options.elo
    if elo is None:
        return [options.model or SHIPPED], 0.0
    if options.model and "elo" in taken_by(options.model):
        return [str(Spec(model_spec(options.model).name, (), {"elo": elo}))], 0.0
    rated = rated_models()
    below = max((rating for rating in rated if rating <= elo), default=None)
    above = min((rating for rating in rated if rating >= elo), default=None)
    if below is None or above is None:
        return [f"{SHIPPED}(elo={elo:g})"], 0.0
    if below == above:
        return [rated[below]], 0.0
    return [rated[below], rated[above]], (elo - below) / (above - below)


def time_inputs(remaining: float, longest: float, increment: float) -> dict[str, Any]:
    """Return a clock as inputs of a model: the speed of the game, and the seconds left.

    The seconds are those of the nearest knot, so that a game needs few networks. `longest` is the
    most that the clock has shown.

    >>> str(Spec("chess", (), time_inputs(32.0, longest=180.0, increment=2.0)))
    'chess(speed=blitz, clock=45)'
    """
    speed = time_class(longest, increment)
    return ({"speed": Spec(speed)} if speed in SPEEDS else {}) | {"clock": nearest_clock(remaining)}


def human_seconds(
    anchor: Array, state: ChessState, limits: Limits, longest: float, rng: np.random.Generator
) -> float:
    """Draw the seconds to take for a move from people's times (see `move_times`).

    `longest` is the most that the clock has shown. The result is at most a tenth of the clock;
    people sometimes take more, and lose on time.
    """
    remaining = limits.remaining or 0.0
    planes, _ = encode_chess([state])
    centre = PEOPLE.log_seconds(
        features(
            remaining=remaining,
            longest=longest,
            increment=limits.increment,
            ply=2 * (int(state.fen().split()[-1]) - 1) + state.board.player(),
            entropy=entropy(anchor),
            taken=just_taken(planes)[0],
            moves_to_go=limits.moves_to_go,
        )
    )
    seconds = math.exp(float(centre) + PEOPLE.spread * rng.standard_normal())
    return min(max(seconds, _QUICKEST), remaining / 10)
