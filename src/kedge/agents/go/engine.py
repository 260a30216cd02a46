"""A Go engine with a board of its own, independent of protocols."""

import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kedge.agents.agent import Analysis
from kedge.agents.board import model_engine
from kedge.agents.board.engine import Control, Limits, Progress, choose
from kedge.agents.board.model_engine import ModelEngine
from kedge.agents.board.networks import model_spec
from kedge.agents.go import endings as go_endings
from kedge.agents.go.ladder import RANKED
from kedge.errors import InputError
from kedge.games.go import BLACK, EMPTY, GoState, handicap_points
from kedge.games.go.ranks import rank_name
from kedge.games.go.rules import GoRules
from kedge.models.board.weights import Weights
from kedge.models.named import load_as
from kedge.records.go.games import KOMI, GoGame
from kedge.records.go.positions import legal_length
from kedge.specs import Spec

_LONGEST = 10.0  # seconds per move, if neither playouts nor a clock limit it


@dataclass(frozen=True)
class Options(model_engine.Options):
    """Options of a `GoEngine`."""

    rank: str | None = None
    """Rank of the people to play like: see `GoEngine.models`."""
    opponent_rank: str | None = None
    """Rank of the people whom they play; None for the same."""
    overhead: float = 0.5
    """Seconds lost between the engine and the clock. GTP reports clocks in whole seconds."""
    max_time: float = 0.0
    """Most seconds per move, whatever the clock has; 0 for no limit."""
    resign: float = go_endings.RESIGN
    """Value below which it resigns after some moves; −1 for never."""


@dataclass
class TimeControl:
    """Time control of a game, in seconds.

    After `main` seconds comes overtime: `period` seconds for every `stones` moves (Canadian). With
    `periods`, overtime is Japanese: one move per period, which is whole again after a move in
    time. `increment` is added per move (Fischer).
    """

    main: float
    period: float = 0.0
    stones: int = 0
    periods: int = 0
    increment: float = 0.0
    left: dict[int, tuple[float, int]] = field(default_factory=dict)
    """Last report by player: seconds left, and in overtime the stones or periods left."""

    def __post_init__(self) -> None:
        for number in (self.main, self.period, self.stones, self.periods, self.increment):
            if number < 0:
                raise InputError(f"time: at least 0, not {number:g}")

    def limits(self, player: int) -> Limits:
        """Return the limits of the next move of `player`."""
        seconds, count = self.left.get(player, (self.main, 0))
        if count:
            return Limits(seconds=seconds if self.periods else seconds / count)
        overtime = self.period if self.periods else self.period / max(1, self.stones)
        if overtime and not seconds:
            return Limits(seconds=overtime)
        return Limits(remaining=seconds, increment=overtime or self.increment)


def all_alive(state: GoState) -> Collection[int]:
    """Return no dead stones, as in Tromp–Taylor rules."""
    return ()


class GoEngine(ModelEngine):
    """A game of Go, and models that play it.

    The ko rule is that of `rules` until a move of the opponent breaks it. `dead_stones` returns
    the points of stones that players would take off.
    """

    shipped = "go"
    playout_bytes = 20_000  # up to 362 moves
    options: Options
    state: GoState

    def __init__(
        self,
        options: Options | None = None,
        dead_stones: Callable[[GoState], Collection[int]] = all_alive,
    ) -> None:
        super().__init__()
        self.options = Options() if options is None else options
        self.rules = GoRules()
        self.time_control: TimeControl | None = None
        self._dead_stones = dead_stones
        self._patience = go_endings.Patience()
        self.state = GoState()
        self.new_game()

    def models(self, options: Options) -> tuple[list[str], float]:
        """Return the model to play with, for players of the rank if there is one.

        A rank goes before a named model that does not take ranks as input.
        """
        if options.rank is None:
            if options.opponent_rank is not None:
                raise InputError(
                    "opponent rank: has no effect without a rank; set a rank too, such as 3d"
                )
            return super().models(options)
        model = model_spec(options.model or self.shipped).name
        name = model if "rank" in load_as(Weights, model).player_options else RANKED
        # Named as the model takes them, so that 12k says that it is any kyu.
        ranks = {"rank": rank_name("rank", options.rank, unknown="unknown")}
        if options.opponent_rank is not None:
            ranks["opponent"] = rank_name("opponent rank", options.opponent_rank, unknown="unknown")
        return [str(Spec(name, (), ranks))], 0.0

    @property
    def model(self) -> str:
        """The model that plays: with a rank perhaps not the one of the options."""
        options = self.options
        if options.rank is None:
            return options.model or self.shipped
        [name], _ = self.models(options)
        return model_spec(name).name

    def new_game(self, size: int | None = None) -> None:
        """Clear the board. Komi, the rules and the time control stay."""
        self._begin(self.state.size if size is None else size, self.state.komi)
        if self.time_control is not None:
            self.time_control.left.clear()

    def _begin(
        self, size: int, komi: float, black: Sequence[int] = (), white: Sequence[int] = ()
    ) -> None:
        if self._network is not None:
            self._network.on(size)  # raises if it cannot
        first = self._first(size, komi, self.rules, black, white)
        self.state, self._black, self._white = first, list(black), list(white)
        self._moves: list[tuple[int, int]] = []  # player and action
        self._last = None

    @staticmethod
    def _first(
        size: int, komi: float, rules: GoRules, black: Sequence[int], white: Sequence[int]
    ) -> GoState:
        superko, suicide = rules.ko.lower(), rules.suicide
        return GoState(size, komi, superko=superko, suicide=suicide, black=black, white=white)

    def set_komi(self, komi: float) -> None:
        self.state = self._replayed(komi, self.rules, self._moves)

    def set_rules(self, rules: GoRules) -> None:
        self.state = self._replayed(self.state.komi, rules, self._moves)
        self.rules = rules

    def set_player(self, player: int) -> None:
        """Set whose turn it is."""
        if player != self.state.board.player():
            self.state.set_player(player)
            self._last = None

    def place_handicap(self, points: Sequence[int]) -> None:
        """Place Black's stones before the first move."""
        if any(colour != EMPTY for colour in self.state.colours()):
            raise InputError("board not empty")
        self._begin(self.state.size, self.state.komi, points)

    def place_free_handicap(self, stones: int) -> list[int]:
        """Place `stones` handicap stones, at most a tenth of the board; return their points.

        They take the customary points first, then those where most people would play next.
        """
        points = self._customary(stones)
        self.place_handicap(points)
        while len(points) < min(stones, self.state.size**2 // 10):
            self.set_player(BLACK)
            analysis = next(self.think(Limits(playouts=1), Control())).analysis()
            points.append(self.state.legal_actions()[int(analysis.anchor[:-1].argmax())])
            self._begin(self.state.size, self.state.komi, points)
        return points

    def _customary(self, stones: int) -> list[int]:
        for count in range(min(stones, 9), 2, -1):
            with contextlib.suppress(InputError):
                return handicap_points(self.state.size, count)
        return handicap_points(self.state.size, min(stones, 2))

    def load_game(self, game: GoGame, moves: int | None = None) -> None:
        """Set up the first `moves` moves of a record, by default all; stop at an illegal one."""
        komi = KOMI if game.komi is None else game.komi
        length = legal_length(game)
        self._begin(game.size, komi, game.black_stones, game.white_stones)
        for ply in range(length if moves is None else min(moves, length)):
            self.play(game.mover(ply), int(game.moves[ply]))

    def game(self) -> GoGame:
        """Return the game so far as a record."""
        players, points = zip(*self._moves, strict=True) if self._moves else ((), ())
        return GoGame(
            np.array(points, np.int16),
            np.array(players, np.uint8),
            size=self.state.size,
            komi=self.state.komi,
            handicap=0 if self._white or len(self._black) < 2 else len(self._black),
            black_stones=tuple(self._black),
            white_stones=tuple(self._white),
        )

    def play(self, player: int, action: int) -> None:
        """Play a move for either player, in or out of turn.

        This also works after two passes: programs play on to settle dead stones.
        """
        moves = [*self._moves, (player, action)]
        if player != self.state.board.player():
            self._last = None
        try:
            _push(self.state, player, action)
        except InputError:
            self.state = self._replayed(self.state.komi, self.rules, moves)
        self._moves = moves

    def undo(self) -> None:
        self.state.undo_action()
        self._moves.pop()

    # Thinking

    def limits(self, player: int) -> Limits:
        return Limits() if self.time_control is None else self.time_control.limits(player)

    def think(self, limits: Limits, control: Control) -> Iterator[Progress]:
        """Report progress on the next move.

        Playouts limit overtime too, so that all moves of a game are played alike.
        """
        options = self.options
        if limits.infinite:
            return self._think(limits, control)
        unbounded = not options.playouts and self.time_control is None
        longest = options.max_time or (_LONGEST if unbounded else np.inf)
        own = np.inf if limits.seconds is None else limits.seconds
        seconds = min(own, longest) if min(own, longest) < np.inf else None
        playouts = limits.playouts or options.playouts or None
        return self._think(replace(limits, seconds=seconds, playouts=playouts), control)

    def find(
        self,
        player: int,
        watch: Callable[[Progress], None] | None = None,
        *,
        cleanup: bool = False,
    ) -> int | None:
        """Return the move of `player`, a pass if the game is over; None to resign.

        `watch` receives the progress after every batch. In a `cleanup`, dead stones must be
        captured by playing.
        """
        self.set_player(player)
        if not self.state.legal_actions():
            return self.state.size**2
        progress = None
        for progress in self.think(self.limits(player), Control()):
            if watch is not None:
                watch(progress)
        assert progress is not None, "a search reports at least once"
        return self._decide(player, progress.analysis(), cleanup)

    def _decide(self, player: int, analysis: Analysis, cleanup: bool) -> int | None:
        state = self.state
        dead = () if cleanup else self.dead_stones()
        lead = -np.inf if cleanup else (1 - 2 * player) * self.score(dead)
        resign, patience = self.options.resign, self._patience
        if not cleanup and patience.is_spent(state, self._moves, analysis, lead, resign):
            return None
        policy = go_endings.ending_policy(state, analysis, dead, lead)
        ending = replace(analysis, policy=policy, lines=None)
        return choose(ending, state.legal_actions(), self._rng, top_p=self.options.top_p).action

    # The end

    def dead_stones(self) -> Collection[int]:
        """Return the stones that players would take off; none before the board is late."""
        return self._dead_stones(self.state) if go_endings.is_late(self.state) else ()

    def score(self, dead: Collection[int] | None = None) -> float:
        """Return Black's points less White's, by the rules."""
        stones = 0 if self._white else len(self._black)
        return self.rules.score(self.state, self.dead_stones() if dead is None else dead, stones)

    def _replayed(self, komi: float, rules: GoRules, moves: Sequence[tuple[int, int]]) -> GoState:
        """Return the position after `moves`; if they break the ko rule, with simple ko."""
        self._last = None
        try:
            return self._replayed_by(rules, komi, moves)
        except InputError:
            return self._replayed_by(replace(rules, ko="SIMPLE"), komi, moves)

    def _replayed_by(
        self, rules: GoRules, komi: float, moves: Sequence[tuple[int, int]]
    ) -> GoState:
        state = self._first(self.state.size, komi, rules, self._black, self._white)
        for player, action in moves:
            _push(state, player, action)
        return state


def _push(state: GoState, player: int, action: int) -> None:
    mover = state.board.player()
    state.set_player(player)
    verdict = state.board.verdict(action)
    if verdict != "legal":
        state.set_player(mover)
        raise InputError(f"{state.gtp(action)} is not a legal move: {verdict}")
    state.board.push(action)
    state.history.append(action)
