"""Review of a board game: how human each move was, and what it cost.

The value of a move is the agent's value of the position after it. The agent analyses the positions
of the game, and those after the moves that it would have played instead. So both moves get the same
amount of search, and a move that search never tried has a value too.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from kedge.agents.agent import Analysis, Player
from kedge.evaluation.board.rating_fit import Fit
from kedge.evaluation.ranks import first_place, is_rarer, rank_among
from kedge.games.verbs import line_names
from kedge.regularize import Array

MISTAKE, BLUNDER = 0.1, 0.2  #: Loss of expected score from which a move is marked "?" and "??".
RARE = 0.1  #: A move that fewer people play is marked "!" if the agent plays it.
_SHOWN = 3  # moves of people per move, and disagreements per game
_DISAGREEMENT = 0.1  # nats
_STRETCH = 16  # half-moves between two reports of progress; fewer leave batches half empty


#: Returns the proven value of a position for its mover, and the line that forces it; or None.
Proof: TypeAlias = Callable[[Any], tuple[float, list[int]] | None]
#: Fits a rating to the log-likelihoods of a player's moves (moves, ratings); None for no moves.
Fitter: TypeAlias = Callable[[Array], Fit | None]


class BoardRecord(Protocol):
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
        """Names of the sides of players 0 and 1."""
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
        """Text before a move in a list of moves."""
        ...

    def states(self) -> Iterator[Any]:
        """Yield the states before each move, and at the end."""
        ...


@dataclass(frozen=True)
class Alternative:
    """A move that people or the agent would play, with its probability for both."""

    name: str
    move: str
    anchor: float
    policy: float


@dataclass(frozen=True)
class MoveReport:
    """One move of a game. Values are W − L, from −1 to 1."""

    ply: int
    """Half-move in the record, from 0."""
    number: int
    """Move number of a scoresheet."""
    player: int
    """The mover; 0 is White in chess, and Black in Go."""
    name: str
    """The move as players write it."""
    move: str
    """The move as programs write it."""
    opening: bool
    """Whether it is one of the first half-moves, which are not scored: in chess people play them
    from memory."""
    anchor: float
    """Probability for people."""
    rank: int
    """Rank by people's probability; 1 is their most frequent move."""
    people: tuple[Alternative, ...]
    """People's most frequent moves."""
    policy: float
    """Probability for the agent."""
    choice: Alternative
    """The agent's likeliest move."""
    line: tuple[str, ...]
    """Line that the agent expects, its choice first, as players write it."""
    kl_to_anchor: float
    """KL(π‖τ) of the agent's policy, in nats: how far search went from people."""
    value: float
    """Value of the position before the move, for player 0."""
    q: float
    """Value of the move, for the mover."""
    best_q: float
    """Value of the agent's choice, for the mover."""
    ties: int = 1
    """Number of moves with this rank, including this one."""

    @property
    def loss(self) -> float:
        """Expected score (a win is 1, a draw ½) of the agent's choice less that of the move."""
        return max(0.0, (self.best_q - self.q) / 2.0)

    @property
    def mark(self) -> str:
        """Mark that a commentator would write after the move: "??", "?", "!" or nothing."""
        if self.loss >= MISTAKE:
            return "??" if self.loss >= BLUNDER else "?"
        is_rare = self.anchor < RARE and not (self.rank == 1 and self.ties > 1)
        return "!" if self.move == self.choice.move and is_rare else ""

    def to_json(self) -> dict[str, Any]:
        fields = asdict(self)
        del fields["ties"]
        return {**fields, "loss": self.loss, "mark": self.mark}


@dataclass(frozen=True)
class PlayerReport:
    """How human a player's moves were. Means are over the scored moves; NaN if there are none."""

    name: str | None
    rating: int | str | None
    games: int
    moves: int
    scored: int
    """Number of moves after the opening."""
    top1: float
    """Share of moves that are people's most frequent; a tie of k moves counts as 1/k."""
    probability: float
    """Mean probability for people."""
    cross_entropy: float
    """Mean of −log probability for people, in nats."""
    loss: float
    """Mean loss of expected score."""
    mistakes: int
    """Number of moves marked "?", of all moves."""
    blunders: int
    """Number of moves marked "??", of all moves."""
    fit: Fit | None
    """Rating estimated from the moves."""

    @property
    def perplexity(self) -> float:
        """Number of equally likely moves that would be as hard to guess."""
        return float(np.exp(self.cross_entropy))

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "perplexity": self.perplexity}


@dataclass(frozen=True)
class GameReport:
    """A game, move by move."""

    game: BoardRecord
    moves: tuple[MoveReport, ...]
    value: float
    """Value of the last position, for player 0."""
    searched: bool
    """Whether the agents search; if not, they are models alone."""
    ratings: tuple[int | str, int | str] | None = None
    """Ratings or ranks that the players' anchors take as input; None if they take none."""
    likelihoods: Array | None = None
    """Log-likelihood of each move (moves, ratings) at the ratings that ``fit`` compares."""
    fit: Fitter | None = None
    is_human: bool = True
    """Whether the anchor is a model of people."""

    @property
    def values(self) -> list[float]:
        """Values of all positions for player 0, including the last."""
        return [*(move.value for move in self.moves), self.value]

    @property
    def players(self) -> tuple[PlayerReport, PlayerReport]:
        return player_report([(self, 0)]), player_report([(self, 1)])

    @property
    def mistakes(self) -> list[MoveReport]:
        return [move for move in self.moves if "?" in move.mark]

    @property
    def disagreements(self) -> list[MoveReport]:
        """The moves where search went furthest from people, the furthest first."""
        far = [
            move
            for move in self.moves
            if move.kl_to_anchor >= _DISAGREEMENT
            and is_rarer(move.choice.anchor, move.people[0].anchor)
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
    game: BoardRecord,
    agents: Sequence[Player[Any]],
    *,
    ratings: tuple[int | str, int | str] | None = None,
    likelihoods: Array | None = None,
    fit: Fitter | None = None,
    proven: Proof = lambda state: None,
    is_human: bool = True,
    tell: Callable[[int], None] = lambda moves: None,
) -> GameReport:
    """Review every move of `game`: the first agent reviews player 0, the second player 1.

    `ratings`, `likelihoods`, `fit` and `is_human` go into the report. A value that is `proven`
    replaces the agents' value. `tell` is called now and then with the number of moves done.
    """
    states = list(game.states())
    movers = [state.board.player() for state in states]
    values: list[float] = []  # for player 0
    best_values: dict[int, float] = {}  # by ply, of the agent's choice if it was not played
    decisions: list[tuple[Any, Analysis]] = []
    choices: list[int] = []
    for first in range(0, len(states), _STRETCH):
        stretch = states[first : first + _STRETCH]
        unplayed = {}  # states after the agent's choices that were not played, by ply
        for ply, analysis in enumerate(_analyse(stretch, agents, proven), first):
            values.append(_value(states[ply], analysis, values[-1] if values else 0.0))
            if analysis is None or ply == len(game.moves):
                continue  # only at the end: all other states have a move
            decisions.append((states[ply], analysis))
            choices.append(states[ply].board.legal_actions()[analysis.top1])
            if choices[ply] != game.moves[ply]:
                unplayed[ply] = _after(states[ply], choices[ply], movers[ply + 1])
        analyses = _analyse(list(unplayed.values()), agents, proven)
        best_values |= {
            ply: _value(unplayed[ply], analysis, values[ply])
            for ply, analysis in zip(unplayed, analyses, strict=True)
        }
        tell(len(decisions))
    moves = []
    for ply, (state, analysis) in enumerate(decisions):
        actions = state.board.legal_actions()
        played = actions.index(int(game.moves[ply]))
        best = analysis.top1
        value = values[ply + 1]
        rank, ties = rank_among(analysis.anchor[played], np.delete(analysis.anchor, played))
        moves.append(
            MoveReport(
                ply=ply,
                number=state.move_number,
                player=movers[ply],
                name=state.action_to_string(actions[played]),
                move=state.protocol_name(actions[played]),
                opening=ply < game.opening,
                anchor=float(analysis.anchor[played]),
                rank=rank,
                people=tuple(
                    _alternative(state, analysis, i)
                    for i in np.argsort(-analysis.anchor, kind="stable")[:_SHOWN]
                ),
                policy=float(analysis.policy[played]),
                choice=_alternative(state, analysis, best),
                line=line_names(state, analysis.lines[best] if analysis.lines else [choices[ply]]),
                kl_to_anchor=analysis.kl,
                value=values[ply],
                q=_seen_by(movers[ply], value),
                best_q=_seen_by(movers[ply], best_values.get(ply, value)),
                ties=ties,
            )
        )
    searched = any(analysis.visits is not None for _, analysis in decisions)
    return GameReport(game, tuple(moves), values[-1], searched, ratings, likelihoods, fit, is_human)


def player_report(seats: Iterable[tuple[GameReport, int]]) -> PlayerReport:
    """Return the report of one player over games, each with the player's seat."""
    seats = list(seats)
    moves = [move for report, player in seats for move in report.moves if move.player == player]
    scored = [move for move in moves if not move.opening]
    tiny = np.finfo(np.float64).tiny
    fit = next((report.fit for report, _ in seats if report.likelihoods is not None), None)
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
        top1=_mean([first_place(move.rank, move.ties) for move in scored]),
        probability=_mean([move.anchor for move in scored]),
        cross_entropy=_mean([-np.log(max(move.anchor, tiny)) for move in scored]),
        loss=_mean([move.loss for move in scored]),
        mistakes=marks.count("?"),
        blunders=marks.count("??"),
        fit=None if fit is None else fit(np.concatenate(likelihoods)),
    )


def frequent_players(reports: Iterable[GameReport]) -> list[PlayerReport]:
    """Return reports of players who are named in more than one game, the busiest first."""
    seats: dict[str, list[tuple[GameReport, int]]] = {}
    for report in reports:
        for player in (0, 1):
            if (name := report.game.name(player)) is not None:
                seats.setdefault(name, []).append((report, player))
    players = [player_report(games) for games in seats.values() if len(games) > 1]
    return sorted(players, key=lambda player: -player.games)


def _after(state: Any, action: int, mover: int) -> Any:
    """Return the state after `action`, with `mover` to move as in the record."""
    state = state.clone()
    state.board.push(action)
    state.history.append(action)
    if state.board.player() != mover:
        state.set_player(mover)
    return state


def _analyse(
    states: Sequence[Any], agents: Sequence[Player[Any]], proven: Proof
) -> list[Analysis | None]:
    """Analyse each state with the mover's agent, one call per agent; None without legal moves."""
    analyses: list[Analysis | None] = [None] * len(states)
    for player, agent in enumerate(agents):
        rows = [
            i
            for i, state in enumerate(states)
            if state.board.player() == player and state.board.legal_actions()
        ]
        if rows:
            answers = agent.explain_many([states[i] for i in rows], np.random.default_rng(0))
            for i, answer in zip(rows, answers, strict=True):
                analyses[i] = _corrected(answer, states[i], proven(states[i]))
    return analyses


def _corrected(analysis: Analysis, state: Any, proof: tuple[float, list[int]] | None) -> Analysis:
    """Return the analysis with the proven value and line in place of the agent's."""
    if proof is None:
        return analysis
    value, line = proof
    if not line:
        return replace(analysis, value=value)
    actions = state.board.legal_actions()
    best = actions.index(line[0])
    lines = [[action] for action in actions] if analysis.lines is None else list(analysis.lines)
    lines[best] = line
    policy = np.where(np.arange(len(actions)) == best, 1.0, 0.0)
    return replace(analysis, value=value, policy=policy, smooth=None, best=best, lines=lines)


def _value(state: Any, analysis: Analysis | None, before: float) -> float:
    """Return the value for player 0; exact if the rules end the game.

    If players end it by agreement, dead stones are still on the board: the value before stays.
    """
    if state.is_terminal() or analysis is None:
        agreed = getattr(state, "ends_by_agreement", False)
        return before if agreed else float(state.returns()[0])
    return _seen_by(state.board.player(), float(analysis.value))


def _seen_by(player: int, value: float) -> float:
    """Convert player 0's value to `player`'s, or back."""
    return value if player == 0 else 0.0 - value


def _alternative(state: Any, analysis: Analysis, index: int) -> Alternative:
    action = state.board.legal_actions()[index]
    shares = float(analysis.anchor[index]), float(analysis.policy[index])
    return Alternative(state.action_to_string(action), state.protocol_name(action), *shares)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
