"""A player's rank, estimated from the likelihood of their moves at every rank.

Neighbouring ranks differ by thousandths of a nat a move, so a game says little, and the moves of a
person are no independent sample: people of one rank have styles that look stronger or weaker. So
likelihoods are weakened before they become a posterior, by two numbers that
``benchmarks/go_ranks.py`` fits to people whom the model never met.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kedge.agents.board.networks import network
from kedge.agents.go.ladder import RANKED
from kedge.evaluation.board.rating_fit import played_likelihoods
from kedge.games.go import GoState
from kedge.games.go.ranks import RANKS, rank_number
from kedge.models.board.backends import Network
from kedge.models.go.encoding import GO, encode_go
from kedge.records.go.games import GoGame
from kedge.regularize import Array
from kedge.specs import Spec

#: A move counts as this much of an independent one.
WEIGHT = 1.0
#: No number of a person's moves counts as more than this many moves.
MOST_MOVES = 500.0
#: Least probability of the ranks within the error of a fit, as within a standard deviation.
LEVEL = 0.68


@dataclass(frozen=True)
class RankFit:
    """The rank that a player's moves look like. The prior is uniform over `RANKS`."""

    rating: str
    """Median of the posterior."""
    error: int
    """Number of ranks on either side that together with it have a probability of `LEVEL`."""
    likeliest: str
    """Rank of the greatest likelihood."""
    moves: int
    shares: dict[str, float]
    """Probability of each rank."""

    def __str__(self) -> str:
        return f"{self.rating} ± {self.error}"


def fit_rank(
    likelihoods: Array, *, weight: float = WEIGHT, most_moves: float = MOST_MOVES
) -> RankFit | None:
    """Fit a rank to moves with these log-likelihoods (moves, ranks); None for no moves."""
    if not len(likelihoods):
        return None
    total = likelihoods.sum(axis=0)
    shares = posterior(total, len(likelihoods), weight, most_moves)
    middle = int(np.searchsorted(np.cumsum(shares), 0.5))
    return RankFit(
        RANKS[middle],
        spread(shares, middle),
        RANKS[int(np.argmax(total))],
        len(likelihoods),
        dict(zip(RANKS, shares.tolist(), strict=True)),
    )


def posterior(total: Array, moves: int, weight: float, most_moves: float) -> Array:
    """Return the probability of each rank, given the log-likelihood of so many moves."""
    logits = total * weight / (1.0 + weight * moves / most_moves)
    shares = np.exp(logits - logits.max())
    return np.asarray(shares / shares.sum())


def spread(shares: Array, middle: int) -> int:
    """Return on how many places beside `middle` there is a share of `LEVEL` in all."""
    within = [shares[max(0, middle - k) : middle + k + 1].sum() for k in range(len(shares))]
    return next(k for k, share in enumerate(within) if share >= LEVEL - 1e-9)


def move_likelihoods(game: GoGame, tell: Callable[[], None] = lambda: None) -> Array | None:
    """Return the log-likelihood (moves, ranks) of the moves that were played.

    None on small boards, where the model has seen nobody play. `tell` is called now and then, and
    may raise an error to stop.
    """
    if game.size != GO.side:
        return None

    def network_of(mover: int, opponent: int) -> Network:
        tell()
        return rank_network(mover, opponent)

    states, likelihoods = list(game.states()), np.zeros((len(game), len(RANKS)))
    movers = np.array([game.mover(ply) for ply in range(len(game))], np.int64)
    for player in (0, 1):
        plies = np.flatnonzero(movers == player)
        if len(plies):
            own = [states[ply] for ply in plies.tolist()]
            rank = rank_number(game.rating(1 - player))
            likelihoods[plies] = rank_likelihoods(own, game.moves[plies], rank, network_of)
    return likelihoods


def rank_likelihoods(
    states: Sequence[GoState],
    played: npt.ArrayLike,
    opponent: int,
    network_of: Callable[[int, int], Network],
) -> Array:
    """Return the log-likelihood (moves, ranks) of moves against an opponent of this rank.

    `network_of` returns the network for the numbers of two ranks, the mover's and the opponent's.
    """
    masks, komi = encode_go(states)
    legal = np.zeros((len(states), GO.moves), bool)
    for row, state in zip(legal, states, strict=True):
        row[state.board.legal_actions()] = True
    columns = [
        network_of(number, opponent).evaluate_packed(masks.reshape(len(states), -1), komi).policy
        for number in range(1, len(RANKS) + 1)
    ]
    return np.stack([played_likelihoods(each, legal, played) for each in columns], axis=1)


def rank_network(mover: int, opponent: int) -> Network:
    """Return the shipped model for people on KGS, the only place where it has met all ranks."""
    players = {"rank": _name(mover), "opponent": _name(opponent), "server": "KGS"}
    return network(Spec(RANKED, (), players))


def _name(number: int) -> str:
    return RANKS[number - 1] if number else "unknown"
