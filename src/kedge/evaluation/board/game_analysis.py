"""A game as people and a search see it: how human each move was, and what it cost.

A move is worth what the agent makes of the position after it. The positions of the game are
analysed anyway, and those after moves that the agent would rather have played are analysed too. So
both moves are judged alike, by as much search, and one that search never tried has a value as well.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from kedge.agents.agent import Analysis, Player
from kedge.evaluation.board.rating_fit import RatingFit, fit_rating
from kedge.regularize import Array

MISTAKE, BLUNDER = 0.1, 0.2  #: From how much expected score on a move is marked "?" and "??".
RARE = 0.1  #: What fewer people play is marked "!" where the agent plays it.
_SHOWN = 3  # moves of people, and disagreements a game
_DISAGREEMENT = 0.1  # nats
_STRETCH = 16  # half-moves between two words of progress; fewer leave batches half empty


#: From a position to what it is worth for its mover, and the line that forces that, if any is
#: known.
Proof: TypeAlias = Callable[[Any], tuple[float, list[int]] | None]


class Record(Protocol):
    """A recorded game whose moves are legal, such as `ChessGame` and `GoGame`."""

    @property
    def moves(self) -> npt.NDArray[Any]: ...
    @property
    def result(self) -> str: ...
    @property
    def date(self) -> str | None: ...
    @property
    def place(self) -> str | None: ...
    @property
    def sides(self) -> tuple[str, str]:
        """What players 0 and 1 are called."""
        ...

    @property
    def opening(self) -> int:
        """Half-moves that are not scored."""
        ...

    @property
    def facts(self) -> dict[str, Any]: ...
    def name(self, player: int) -> str | None: ...
    def rating(self, player: int) -> int | str | None: ...
    def label(self, number: int, player: int) -> str:
        """What stands before a move in a list of them."""
        ...

    def states(self) -> Iterator[Any]:
        """The game before each of its moves, and at its end."""
        ...


@dataclass(frozen=True)
class Alternative:
    """A move, and how likely it is for people (the anchor) and for the agent."""

    name: str
    move: str
    anchor: float
    policy: float


@dataclass(frozen=True)
class MoveReport:
    """One move of a game. Values are W − L, from −1 to 1."""

    ply: int
    """In the record, from 0."""
    number: int
    """As a scoresheet counts."""
    player: int
    """0 is white in chess, and black in Go."""
    name: str
    """As players write it."""
    move: str
    """As programs write it."""
    opening: bool
    """One of the first half-moves, which in chess are played from memory; they are not scored."""
    anchor: float
    """How likely it is for people."""
    rank: int
    """1 if people play nothing more often."""
    people: tuple[Alternative, ...]
    """What people play most."""
    policy: float
    """How likely it is for the agent."""
    choice: Alternative
    """What the agent holds likeliest."""
    line: tuple[str, ...]
    """What it expects after that, as players write it, its choice first."""
    kl_to_anchor: float
    """KL(π‖τ) of the agent's policy, in nats: how far search went from people here."""
    value: float
    """Of the position before the move, for player 0."""
    q: float
    """Of the move, for the mover."""
    best_q: float
    """Of the agent's choice, for the mover."""

    @property
    def loss(self) -> float:
        """The expected score (a win is 1, a draw ½) that the agent's choice has over the move."""
        return max(0.0, (self.best_q - self.q) / 2.0)

    @property
    def mark(self) -> str:
        """What a commentator would write behind it: "??", "?", "!" or nothing."""
        if self.loss >= MISTAKE:
            return "??" if self.loss >= BLUNDER else "?"
        return "!" if self.move == self.choice.move and self.anchor < RARE else ""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "loss": self.loss, "mark": self.mark}


@dataclass(frozen=True)
class PlayerReport:
    """How human a player's moves were. Means are over the scored moves, NaN if there is none."""

    name: str | None
    rating: int | str | None
    games: int
    moves: int
    scored: int
    """Moves after the opening."""
    top1: float
    """The share that people play more often than anything else."""
    probability: float
    cross_entropy: float
    loss: float
    mistakes: int
    """Of all moves, those marked "?"."""
    blunders: int
    """And those marked "??"."""
    fit: RatingFit | None

    @property
    def perplexity(self) -> float:
        """Among how many equally likely moves it was as hard to guess."""
        return float(np.exp(self.cross_entropy))

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "perplexity": self.perplexity}


@dataclass(frozen=True)
class GameReport:
    """A game, move by move."""

    game: Record
    moves: tuple[MoveReport, ...]
    value: float
    """Of the last position, for player 0."""
    searched: bool
    """Whether the agents search, or are models by themselves."""
    ratings: tuple[int, int] | None = None
    """Of the people that each player's anchor stands for, where one is told."""
    likelihoods: Array | None = None
    """Log-likelihood of each move (moves, knots) at the ratings of ``knots``."""
    knots: Array | None = None

    @property
    def values(self) -> list[float]:
        """Of every position for player 0, the last one's too."""
        return [*(move.value for move in self.moves), self.value]

    @property
    def players(self) -> tuple[PlayerReport, PlayerReport]:
        return player_report([(self, 0)]), player_report([(self, 1)])

    @property
    def mistakes(self) -> list[MoveReport]:
        return [move for move in self.moves if "?" in move.mark]

    @property
    def disagreements(self) -> list[MoveReport]:
        """Where search went furthest from what people play, the furthest first."""
        far = [
            move
            for move in self.moves
            if move.kl_to_anchor >= _DISAGREEMENT and move.choice.move != move.people[0].move
        ]
        return sorted(far, key=lambda move: -move.kl_to_anchor)[:_SHOWN]

    def to_json(self) -> dict[str, Any]:
        return {
            **self.game.facts,
            "ratings": self.ratings,
            "players": [player.to_json() for player in self.players],
            "moves": [move.to_json() for move in self.moves],
            "value": self.value,
            "mistakes": [move.ply for move in self.mistakes],
            "disagreements": [move.ply for move in self.disagreements],
        }


def analyse_game(
    game: Record,
    agents: Sequence[Player[Any]],
    *,
    ratings: tuple[int, int] | None = None,
    likelihoods: Array | None = None,
    knots: Array | None = None,
    proven: Proof = lambda state: None,
    tell: Callable[[int], None] = lambda moves: None,
) -> GameReport:
    """Every move of `game`: player 0's seen by the first of the two agents, 1's by the other.

    `ratings` and `likelihoods` are handed on to the report; what is `proven` of a position stands
    above what the agents think of it; `tell` is called now and then with how many moves are done.
    """
    states = list(game.states())
    movers = [state.board.player() for state in states]
    values: list[float] = []  # for player 0
    values_of_others: dict[int, float] = {}  # by ply, of what the agent would rather have played
    decisions: list[tuple[Any, Analysis]] = []
    chosen: list[int] = []
    for first in range(0, len(states), _STRETCH):
        stretch = states[first : first + _STRETCH]
        others = {}
        for ply, one in enumerate(_analyse(stretch, agents, proven), first):
            values.append(_worth(states[ply], one, values[-1] if values else 0.0))
            if one is None or ply == len(game.moves):
                continue  # only at the end: before it a move was made
            decisions.append((states[ply], one))
            chosen.append(states[ply].board.legal_actions()[one.top1])
            if chosen[ply] != game.moves[ply]:
                others[ply] = _after(states[ply], chosen[ply], movers[ply + 1])
        unplayed = _analyse(list(others.values()), agents, proven)
        values_of_others |= {
            ply: _worth(others[ply], one, values[ply])
            for ply, one in zip(others, unplayed, strict=True)
        }
        tell(len(decisions))
    moves = []
    for ply, (state, one) in enumerate(decisions):
        actions = state.board.legal_actions()
        played = actions.index(int(game.moves[ply]))
        value = values[ply + 1]
        moves.append(
            MoveReport(
                ply=ply,
                number=state.move_number,
                player=movers[ply],
                name=state.action_to_string(actions[played]),
                move=state.protocol_name(actions[played]),
                opening=ply < game.opening,
                anchor=float(one.anchor[played]),
                rank=1 + int((one.anchor > one.anchor[played]).sum()),
                people=tuple(
                    _alternative(state, one, i)
                    for i in np.argsort(-one.anchor, kind="stable")[:_SHOWN]
                ),
                policy=float(one.policy[played]),
                choice=_alternative(state, one, one.top1),
                line=line_names(state, one.lines[one.top1] if one.lines else [chosen[ply]]),
                kl_to_anchor=one.kl,
                value=values[ply],
                q=_seen_by(movers[ply], value),
                best_q=_seen_by(movers[ply], values_of_others.get(ply, value)),
            )
        )
    searched = any(one.visits is not None for _, one in decisions)
    return GameReport(game, tuple(moves), values[-1], searched, ratings, likelihoods, knots)


def player_report(seats: Iterable[tuple[GameReport, int]]) -> PlayerReport:
    """What one player did in all of these games, each with the seat it had there."""
    seats = list(seats)
    moves = [move for report, player in seats for move in report.moves if move.player == player]
    scored = [move for move in moves if not move.opening]
    tiny = np.finfo(np.float64).tiny
    knots = next((report.knots for report, _ in seats if report.knots is not None), None)
    likelihoods = [
        report.likelihoods[[move.ply for move in report.moves if move.player == player]]
        for report, player in seats
        if report.likelihoods is not None
    ]
    marks = [move.mark for move in moves]
    latest, seat = seats[-1]
    return PlayerReport(
        name=latest.game.name(seat),
        rating=latest.game.rating(seat),
        games=len(seats),
        moves=len(moves),
        scored=len(scored),
        top1=_mean([move.rank == 1 for move in scored]),
        probability=_mean([move.anchor for move in scored]),
        cross_entropy=_mean([-np.log(max(move.anchor, tiny)) for move in scored]),
        loss=_mean([move.loss for move in scored]),
        mistakes=marks.count("?"),
        blunders=marks.count("??"),
        fit=None if knots is None else fit_rating(np.concatenate(likelihoods), knots),
    )


def frequent_players(reports: Iterable[GameReport]) -> list[PlayerReport]:
    """Those who are named in more than one game, over all their games, the busiest first."""
    seats: dict[str, list[tuple[GameReport, int]]] = {}
    for report in reports:
        for player in (0, 1):
            if (name := report.game.name(player)) is not None:
                seats.setdefault(name, []).append((report, player))
    found = [player_report(one) for one in seats.values() if len(one) > 1]
    return sorted(found, key=lambda player: -player.games)


def _after(state: Any, action: int, mover: int) -> Any:
    """After another move than the record's, with the move for who has it there."""
    state = state.clone()
    state.board.push(action)
    state.history.append(action)
    if state.board.player() != mover:
        state.set_player(mover)
    return state


def _analyse(
    states: Sequence[Any], agents: Sequence[Player[Any]], proven: Proof
) -> list[Analysis | None]:
    """By the mover's agent, each of them asked once; None where nobody can move."""
    found: list[Analysis | None] = [None] * len(states)
    for player, agent in enumerate(agents):
        asked = [
            i
            for i, state in enumerate(states)
            if state.board.player() == player and state.board.legal_actions()
        ]
        if asked:
            answers = agent.explain_many([states[i] for i in asked], np.random.default_rng(0))
            for i, answer in zip(asked, answers, strict=True):
                found[i] = _corrected(answer, states[i], proven(states[i]))
    return found


def _corrected(found: Analysis, state: Any, proof: tuple[float, list[int]] | None) -> Analysis:
    """By what is known for certain."""
    if proof is None:
        return found
    value, line = proof
    if not line:
        return replace(found, value=value)
    actions = state.board.legal_actions()
    best = actions.index(line[0])
    lines = [[action] for action in actions] if found.lines is None else list(found.lines)
    lines[best] = line
    policy = np.where(np.arange(len(actions)) == best, 1.0, 0.0)
    return replace(found, value=value, policy=policy, smooth=None, best=best, lines=lines)


def _worth(state: Any, found: Analysis | None, before: float) -> float:
    """For player 0; exact where the rules say that the game is over.

    Where players agree that it is, before dead stones are taken off, it is worth what it was.
    """
    if state.is_terminal() or found is None:
        agreed = getattr(state, "ends_by_agreement", False)
        return before if agreed else float(state.returns()[0])
    return _seen_by(state.board.player(), float(found.value))


def _seen_by(player: int, value: float) -> float:
    """Player[Any] 0's value for another player, and back."""
    return value if player == 0 else 0.0 - value


def _alternative(state: Any, found: Analysis, index: int) -> Alternative:
    action = state.board.legal_actions()[index]
    likely = float(found.anchor[index]), float(found.policy[index])
    return Alternative(state.action_to_string(action), state.protocol_name(action), *likely)


def line_names(state: Any, line: Sequence[int]) -> tuple[str, ...]:
    """The moves of a line from a state on, as players write them."""
    names = []
    state = state.clone()
    for action in line:
        names.append(state.action_to_string(action))
        state.board.push(action)
    return tuple(names)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
