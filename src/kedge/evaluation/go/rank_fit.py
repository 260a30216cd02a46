"""A player's rank, estimated from the likelihood of their moves at every rank.

Neighbouring ranks differ by thousandths of a nat a move, so a game says little, and the moves of a
person are no independent sample: people of one rank have styles that look stronger or weaker. So
likelihoods are weakened before they become a posterior, by two numbers that
``benchmarks/go_ranks.py`` fits to people whom the model never met. Those below are provisional:
they were set by hand, on a dozen players.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from kedge.agents.board.networks import network
from kedge.agents.go.ladder import RANKED
from kedge.evaluation.board.players import Players
from kedge.evaluation.board.rating_fit import played_likelihoods
from kedge.games.go.ranks import RANKS, rank_number
from kedge.models.board.backends import Network, check_finite
from kedge.models.board.encoding import Floats, Masks
from kedge.models.go.encoding import GO, encode_boards
from kedge.records.go.games import GoGame
from kedge.records.go.positions import GoPosition, boards_of
from kedge.regularize import Array
from kedge.specs import Spec

#: A move counts as this much of an independent one.
WEIGHT = 0.4
#: No number of a person's moves counts as more than this many moves.
MOST_MOVES = 300.0
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

    caveat: ClassVar[str] = (
        "A rank that moves look like is a guess: its error is provisional, and too small for some."
    )

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


def posterior(total: Array, moves: npt.ArrayLike, weight: float, most_moves: float) -> Array:
    """Return the probabilities (…, ranks), given the log-likelihoods and numbers of moves (…)."""
    independent = weight / (1.0 + weight * np.asarray(moves, np.float64) / most_moves)
    logits = total * independent[..., None]
    shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def spread(shares: Array, middle: int) -> int:
    """Return the number of ranks on each side of `middle` that bring its share to `LEVEL`."""
    within = [shares[max(0, middle - k) : middle + k + 1].sum() for k in range(len(shares))]
    return next(k for k, share in enumerate(within) if share >= LEVEL - 1e-9)


def move_likelihoods(
    game: GoGame, tell: Callable[[int, int], None] = lambda done, total: None
) -> Array | None:
    """Return the log-likelihood (moves, ranks) of the moves that were played.

    None on small boards, where the model has seen nobody play. `tell` is called with the
    number of ranks of players that are done, and of all; it may raise an error to stop.
    """
    if game.size != GO.side:
        return None

    likelihoods = np.zeros((len(game), len(RANKS)))
    movers = np.array([game.mover(ply) for ply in range(len(game))], np.int64)
    done, total = itertools.count(), len(np.unique(movers)) * len(RANKS)

    def network_of(players: Players) -> Network:
        tell(next(done), total)
        return rank_network(players)

    for player in (0, 1):
        plies = np.flatnonzero(movers == player)
        if len(plies):
            others = known_of(game, player)
            likelihoods[plies] = Moves.of(game, plies).likelihoods(others, network_of)
    return likelihoods


def known_of(game: GoGame, player: int) -> Players:
    """Return the inputs of the model for a game, without the rank of `player`.

    The server is KGS, the only place where the model has met all ranks. The year matters much: the
    openings of another time look weak.
    """
    rank = rank_number(game.rating(1 - player))
    opponent = RANKS[rank - 1] if rank else "unknown"
    return {"opponent": opponent, "server": "KGS", "year": game.year or 0}


@dataclass(frozen=True)
class Moves:
    """Positions as networks take them, and the moves that were played there."""

    masks: Masks
    komi: Floats
    legal: npt.NDArray[np.bool_]
    played: npt.NDArray[np.int16]

    @classmethod
    def of(cls, game: GoGame, plies: npt.NDArray[np.int64]) -> "Moves":
        """Return the positions before these half-moves of a game."""
        boards = boards_of([GoPosition(game, ply) for ply in plies.tolist()])
        legal = np.zeros((len(boards), GO.moves), bool)
        for row, board in zip(legal, boards, strict=True):
            row[board.legal_actions()] = True
        masks, komi = encode_boards(boards)
        return cls(masks.reshape(len(boards), -1), komi, legal, game.moves[plies])

    def likelihoods(self, known: Players, network_of: Callable[[Players], Network]) -> Array:
        """Return the log-likelihood (moves, ranks), with other inputs as in `known_of`."""

        def likelihoods_of(network: Network) -> Array:
            evaluation = check_finite(network, network.evaluate_packed(self.masks, self.komi))
            return played_likelihoods(evaluation.policy, self.legal, self.played)

        each = [likelihoods_of(network_of({"rank": rank, **known})) for rank in RANKS]
        return np.stack(each, axis=1)


def rank_network(players: Players) -> Network:
    """Return the shipped model for these players."""
    return network(Spec(RANKED, (), players))
