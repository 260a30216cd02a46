"""Go on the page."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import BaseModel, Field

from kedge.agents.agent import Analysis, draw
from kedge.agents.go import endings as go_endings
from kedge.errors import InputError
from kedge.evaluation.go.scorers import dead_stones
from kedge.evaluation.review import Tell, review_of
from kedge.games.go import (
    BLACK,
    EMPTY,
    MOST_KOMI,
    WHITE,
    GoState,
    format_gtp,
    format_score,
    parse_gtp,
)
from kedge.games.go.counting import CountedGo
from kedge.games.go.rules import GoRules
from kedge.interfaces.web.assets import STATIC
from kedge.interfaces.web.pages.board import BoardPage
from kedge.interfaces.web.pages.page_game import (
    OUT_OF_TIME,
    RESIGNS,
    Heading,
    Outcome,
    PlayedGame,
    Rating,
    Record,
    Report,
)
from kedge.interfaces.web.pages.thoughts import Action, Decision, Move, Question
from kedge.models.go.encoding import GO
from kedge.records.go.games import KOMI, GoGame
from kedge.records.go.sgf import read_sgf, write_sgf
from kedge.records.report import ReadReport

_SIDES = ("Black", "White")
_MARKS = "bw."  # letters by colour
_HOW = {"R": RESIGNS, "T": OUT_OF_TIME, "F": "forfeits"}
_LEVEL = {"0": Outcome(), "Void": Outcome(result="No result")}

Size = Literal[9, 13, 19]
Rules = Literal["chinese", "japanese", "aga", "new-zealand"]
Stones = Annotated[tuple[Annotated[str, Field(max_length=3)], ...], Field(max_length=361)]


class GoSetup(BaseModel, extra="forbid"):
    size: Size = 19
    komi: Annotated[float, Field(ge=-MOST_KOMI, le=MOST_KOMI)] = 7.5
    handicap: Annotated[
        int, Field(ge=0, le=9, description="Black's stones on their customary points; 0 or 2 to 9")
    ] = 0
    rules: Rules = "chinese"
    black: Annotated[Stones, Field(description="Stones before the first move, such as D4")] = ()
    white: Stones = ()
    first: Annotated[
        Literal["black", "white"] | None,
        Field(description="Who moves first; by default White after a handicap, else Black"),
    ] = None
    clock: Annotated[
        float, Field(ge=0, le=36_000, description="Seconds per side; 0 for no clock")
    ] = 0.0
    increment: Annotated[float, Field(ge=0, le=600)] = 0.0


@dataclass
class GoInPlay:
    """A game, and the count of hopeless moves after which its agents resign."""

    game: CountedGo
    patience: go_endings.Patience = field(default_factory=go_endings.Patience)

    def clone(self) -> "GoInPlay":
        return GoInPlay(self.game.clone(), self.patience)


@dataclass(frozen=True)
class GoAction:
    """An act of a player or the referee, and the points that it is about."""

    verb: Literal["play", "resign", "dead", "mark", "agree", "resume"]
    points: tuple[int, ...] = ()


class GoPage(BoardPage):
    """A turn is a vertex, ``pass`` or ``resign``.

    After two passes the referee says ``dead D4 …``; then a turn is ``mark D4``, ``agree`` or
    ``resume``.
    """

    name, emblem = "go", "⚫"
    about = "Against a model of professionals, or of people of any rank."
    script = STATIC / "js" / "boards" / "go.js"
    style = STATIC / "css" / "go.css"
    setup = GoSetup
    sides = _SIDES
    files = (".sgf",)
    clocks = True

    def begin(self, setup: GoSetup) -> GoInPlay:
        rules = GoRules.named(setup.rules)
        state = GoState(
            setup.size,
            setup.komi,
            superko=rules.ko.lower(),
            suicide=rules.suicide,
            handicap=setup.handicap,
            black=[_point(name, setup.size) for name in setup.black],
            white=[_point(name, setup.size) for name in setup.white],
            player=None if setup.first is None else ("black", "white").index(setup.first),
        )
        return GoInPlay(CountedGo(state, rules))

    def is_measured(self, setup: GoSetup) -> bool:
        return bool(setup.size == GO.side)

    def deciding(self, play: GoInPlay) -> list[int]:
        seat = play.game.deciding()
        return [] if seat is None else [seat]

    def timed(self, play: GoInPlay) -> bool:
        return play.game.phase == "play"

    def referee(self, play: GoInPlay) -> GoAction:
        return GoAction("dead", tuple(sorted(_dead_stones(play.game.state))))

    def parse(self, play: GoInPlay, seat: int, move: Move) -> GoAction:
        if not isinstance(move, str):
            raise InputError("a move in Go is text, such as D4 or pass")
        state = play.game.state
        verb, *names = move.split() or [""]
        match play.game.phase, verb:
            case "play", "resign":
                return GoAction("resign")
            case "play", _:
                return GoAction("play", (state.parse_gtp(move),))
            case "judging", "dead":
                return GoAction("dead", tuple(_point(name, state.size) for name in names))
            case "marking", "mark" if len(names) == 1:
                return GoAction("mark", (_point(names[0], state.size),))
            case "marking", "agree" | "resume" if not names:
                return GoAction(verb)
        raise InputError(f"{move[:40]!r}: after two passes write mark D4, agree or resume")

    def text(self, play: GoInPlay, action: GoAction) -> str:
        points = map(play.game.state.gtp, action.points)
        return " ".join(points if action.verb == "play" else [action.verb, *points])

    def apply(self, play: GoInPlay, actions: Mapping[int, Action]) -> None:
        ((seat, action),) = actions.items()
        game = play.game
        match action.verb:
            case "play":
                game.state.apply_action(*action.points)
            case "resign":
                game.resign(seat)
            case "dead":
                game.propose(action.points)
            case "mark":
                game.mark(*action.points)
            case "agree":
                game.agree()
            case "resume":
                game.resume()

    def turn_name(self, before: GoInPlay, actions: Mapping[int, Action], after: GoInPlay) -> str:
        (action,) = actions.values()
        return "count" if action.verb == "dead" else self.text(before, action)

    def position(self, play: GoInPlay, eyes: int | None) -> dict[str, Any]:
        game, state = play.game, play.game.state
        colours = state.colours()
        legal = set(state.legal_actions())
        counted = game.dead is not None
        return {
            "phase": game.phase,
            "size": state.size,
            "stones": _drawn(colours),
            "player": state.board.player(),
            "last": state.gtp(state.history[-1]) if state.history else None,
            "captured": [state.board.prisoners[WHITE], state.board.prisoners[BLACK]],
            "forbidden": [
                state.gtp(point)
                for point, colour in enumerate(colours)
                if colour == EMPTY and legal and point not in legal
            ],
            "dead": [state.gtp(stone) for stone in sorted(game.dead or ())],
            "territory": _drawn(game.territory()) if counted else None,
            "score": game.score() if counted else None,
        }

    def outcome(self, play: GoInPlay) -> Outcome | None:
        game = play.game
        if game.phase != "over":
            return None
        if game.resigned is not None:
            return self.resigned(play, game.resigned, RESIGNS)
        score = game.score()
        return Outcome(_SIDES[score < 0], margin=abs(score)) if score else Outcome()

    def think(
        self, question: Question, choose: Callable[[Analysis], Action] | None = None
    ) -> Iterator[Decision]:
        """Search a move. In a count, agree: people know better which stones are dead."""
        play: GoInPlay = question.state
        if play.game.phase == "marking":
            for seat in question.agents:
                yield Decision(seat, GoAction("agree"), None)
            return
        choose = choose or partial(_chosen, play, question.rng)
        for decision in super().think(replace(question, state=play.game.state), choose):
            yield _explained(play.game.state, decision)

    def write(self, game: PlayedGame) -> str:
        return write_sgf(self.recorded(game))

    def recorded(self, game: PlayedGame) -> GoGame:
        first, last = self.begin(game.setup).game.state, game.state.game.state
        black, white = (
            tuple(point for point, stone in enumerate(first.colours()) if stone == colour)
            for colour in (BLACK, WHITE)
        )
        players = (np.arange(len(last.history)) + first.current_player()) % 2
        return GoGame(
            np.array(last.history, np.int16),
            players.astype(np.uint8),
            size=last.size,
            komi=last.komi,
            rules=game.setup.rules.title(),
            handicap=0 if white or len(black) < 2 else len(black),
            black_stones=black,
            white_stones=white,
            result=_result(game.outcome),
            black=game.names[0],
            white=game.names[1],
            black_rank=_rank(game.ratings[0]),
            white_rank=_rank(game.ratings[1]),
            date=game.date,
            event=game.event,
        )

    def review(self, game: PlayedGame, report_progress: Tell) -> Report:
        """Review a game; for people of the rank that an agent imitates, if one does."""
        players = zip(game.names, game.ratings, strict=True)
        ranks = [rank for name, rank in players if rank and (name or "").startswith("kedge")]
        reviewer = review_of(self.name).reviewer(rank=ranks[0] if ranks else None)
        return reviewer(self.recorded(game), report_progress)

    def read(self, text: str) -> Record:
        report = ReadReport()
        game = next(read_sgf(text, report), None)
        if game is None:
            raise InputError(f"not a game of Go in SGF: {report.broken[0].reason}")
        first = game.mover(0) if len(game) else game.first_player
        for ply in range(len(game)):
            if game.mover(ply) != (first + ply) % 2:
                raise InputError(f"move {ply + 1}: {_SIDES[game.mover(ply)]} moves twice in a row")
        rules = (game.rules or "").lower().replace(" ", "-")
        setup = {
            "size": game.size,
            "komi": KOMI if game.komi is None else game.komi,
            "rules": rules if rules in get_args(Rules) else "chinese",
            "black": [format_gtp(point, game.size) for point in game.black_stones],
            "white": [format_gtp(point, game.size) for point in game.white_stones],
            "first": ("black", "white")[first],
        }
        heading = Heading(
            game.date, game.event, (game.black, game.white), (game.black_rank, game.white_rank)
        )
        if game.size not in get_args(Size):
            sizes = ", ".join(map(str, get_args(Size)))
            raise InputError(f"board size {game.size}: must be one of {sizes}")
        moves = [format_gtp(move, game.size) for move in game.moves.tolist()]
        return Record(setup, list(_resumed(moves)), heading, _outcome(game.result))


def _resumed(moves: list[str]) -> Iterator[str]:
    """Yield the turns; if play continues after two passes, the count was not accepted."""
    passes = 0
    for move in moves:
        if passes == 2:
            yield from ("dead", "resume")
            passes = 0
        yield move
        passes = passes + 1 if move == "pass" else 0


def _chosen(play: GoInPlay, rng: np.random.Generator, analysis: Analysis) -> GoAction:
    """Return the agent's action. It passes and resigns when people do."""
    game, state = play.game, play.game.state
    dead = _dead_stones(state)
    lead = (1 - 2 * state.current_player()) * game.score(dead)
    if play.patience.is_spent(state, state.history, analysis, lead):
        return GoAction("resign")
    policy = go_endings.ending_policy(state, analysis, dead, lead)
    return GoAction("play", (state.legal_actions()[draw(policy, rng)],))


def _explained(state: GoState, decision: Decision) -> Decision:
    """Mark a pass or resignation, which search alone does not explain."""
    passing, resigning = GoAction("play", (state.size**2,)), GoAction("resign")
    if decision.thought is None or decision.action not in (passing, resigning):
        return decision
    more = {"ends": "pass" if decision.action == passing else "resign"}
    return replace(decision, thought=replace(decision.thought, more=more))


def _dead_stones(state: GoState) -> list[int]:
    """Return the dead stones; none on an open board, where random games say nothing."""
    return dead_stones(state) if go_endings.is_late(state) else []


def _point(name: str, size: int) -> int:
    point = parse_gtp(name, size)
    if point == size * size:
        raise InputError("a pass is not a point")
    return point


def _drawn(colours: list[int]) -> str:
    """Return one letter per point, from the upper left corner."""
    return "".join(_MARKS[colour] for colour in colours)


def _rank(rating: Rating | None) -> str | None:
    return None if rating is None else str(rating)


def _result(outcome: Outcome | None) -> str:
    """Return an outcome as SGF writes it."""
    if outcome is None:
        return "?"
    if outcome.winner is None:
        return next((result for result, level in _LEVEL.items() if level == outcome), "?")
    if outcome.margin is not None:
        return format_score(outcome.margin * (1 if outcome.winner == _SIDES[BLACK] else -1))
    letter = next((letter for letter, how in _HOW.items() if how == outcome.how), "")
    return f"{outcome.winner[0]}+{letter}"


def _outcome(result: str) -> Outcome | None:
    """Return an SGF result as an outcome."""
    if "+" not in result:
        return _LEVEL.get(result)
    letter, how = result.split("+")
    winner, loser = _SIDES if letter == "B" else _SIDES[::-1]
    if how in _HOW:
        return Outcome(winner, loser=loser, how=_HOW[how])
    return Outcome(winner, margin=float(how) if how else None)
