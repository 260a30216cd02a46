"""Chess positions to train on: games in flat arrays, and packed positions on a device.

A position is lc0's 112 planes, and numbers that describe the players: see
`kedge.models.chess.conditioning`. People are split three ways: the model learns from most, is
chosen by some, and is tested on others, whom training never touches.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from kedge import _core
from kedge.games.chess.ratings import SCALES, SPEEDS, scale_number, speed_number
from kedge.models.chess.conditioning import RATED, player_features
from kedge.models.chess.encoding import CHESS
from kedge.models.chess.lc0_moves import MOVES
from kedge.records import ChessGame
from kedge.records.chess.evals import expected_score
from kedge.records.chess.filters import parts_of_sides
from kedge.records.splits import LEARN
from kedge.training.board.imitation import Batch

Rows = npt.NDArray[np.int64]
_CASTLING = slice(104, 108)
_FEWEST = 2000  # least positions of a kind for a test of its own
_FLIPPED = str.maketrans("abcdefgh", "hgfedcba")


@dataclass(frozen=True)
class GameTable:
    """Many games in flat arrays: all from the start position, moves as native actions."""

    actions: npt.NDArray[np.uint16]
    clocks: npt.NDArray[np.float16]  # seconds that the mover had before each move; NaN if unknown
    offsets: npt.NDArray[np.int64]  # each game's first move, and the end of the last
    ratings: npt.NDArray[np.int16]  # (games, 2) white, black; 0 if unknown
    scales: npt.NDArray[np.uint8]  # numbers of `SCALES`
    speeds: npt.NDArray[np.uint8]  # numbers of `SPEEDS`
    results: npt.NDArray[np.int8]  # 1 white won, 0 drawn, −1 black won
    parts: npt.NDArray[np.uint8]  # (games, 2) what white's and black's moves are for
    learned: npt.NDArray[np.bool_]  # (games, 2) whether white's and black's moves are trained on
    scores: npt.NDArray[np.float16] | None = None  # White's expected before each move; NaN: unknown

    def __len__(self) -> int:
        return len(self.results)

    def places(self, rows: Rows) -> tuple[Rows, Rows]:
        """Return the game and the ply of some moves, given as places in `actions`."""
        game = np.repeat(np.arange(len(self)), np.diff(self.offsets))[rows]
        return game, rows - self.offsets[game]

    def sides(self, part: int) -> npt.NDArray[np.bool_]:
        """(games, 2) whether the moves of white and black belong to a part.

        A game of which one side is held out is not learned from at all.
        """
        of_part: npt.NDArray[np.bool_] = self.parts == part
        if part == LEARN:
            return self.learned & of_part.all(axis=1, keepdims=True)
        return of_part


def table_of(games: Iterable[ChessGame], most_of_one: int | None = None) -> GameTable:
    """Collect the games to train on: standard chess with a result, without bots.

    `kedge.records.chess.filters.parts_of_sides` splits the players. At most `most_of_one` games of
    a named player are trained on, so that a file with all games of one person does not turn the
    model into that person. The opponents' moves are always trained on.
    """
    kept = [game for game in games if _is_usable(game)]
    lengths = [len(game.moves) for game in kept]
    ratings = [(game.white_elo or 0, game.black_elo or 0) for game in kept]
    clocks = [game.seconds_left().astype(np.float16) for game in kept]
    return GameTable(
        np.concatenate([np.zeros(0, np.uint16), *(game.moves for game in kept)]),
        np.concatenate([np.zeros(0, np.float16), *clocks]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.array(ratings, np.int16).reshape(-1, 2),
        np.array([scale_number(game.scale) for game in kept], np.uint8),
        np.array([speed_number(game.time_class) for game in kept], np.uint8),
        np.array([_RESULTS[game.result] for game in kept], np.int8),
        np.array([parts_of_sides(game) for game in kept], np.uint8).reshape(-1, 2),
        np.array(list(_few_enough(kept, most_of_one)), bool).reshape(-1, 2),
        _scores(kept),
    )


def _scores(games: Sequence[ChessGame]) -> npt.NDArray[np.float16] | None:
    """White's expected score before each move, by the evaluations; None if no game has any."""
    if all(game.evals is None for game in games):
        return None
    before = (expected_score(game.evals_before()) for game in games)
    return np.concatenate([scores.astype(np.float16) for scores in before])


def _few_enough(games: Iterable[ChessGame], most: int | None) -> Iterator[tuple[bool, ...]]:
    """Yield whether white and black have had fewer than `most` games before."""
    played: Counter[str] = Counter()
    for game in games:
        yield tuple(
            most is None or player is None or played[player] < most
            for player in (game.white, game.black)
        )
        played.update(player for player in (game.white, game.black) if player is not None)


_RESULTS = {"1-0": 1, "1/2-1/2": 0, "0-1": -1}
_SHORTEST = 10


def _is_usable(game: ChessGame) -> bool:
    slow_enough = game.time_class not in ("ultrabullet", "correspondence")
    long_enough = len(game.moves) >= _SHORTEST and game.result in _RESULTS
    return slow_enough and long_enough and game.fen is None and not game.has_bot


def mirrored_moves() -> npt.NDArray[np.int64]:
    """The mirror image of each move, left and right exchanged; castling stays as it is."""
    index = {move: number for number, move in enumerate(MOVES)}
    # The letter of a promotion piece is not a file, so only the squares are mirrored.
    return np.array([index[move[:4].translate(_FLIPPED) + move[4:]] for move in MOVES], np.int64)


@dataclass(frozen=True)
class ChessPositions:
    """Packed positions and what people did in them, as tensors on one device."""

    masks: Tensor  # (n, planes) int64, one bit per square
    rule50: Tensor  # (n,) uint8
    who: Tensor  # (n, numbers) float16: the players
    legal: Tensor  # (n, words) int64, one bit per move
    moves: Tensor  # (n,) int16, the moves played
    results: Tensor  # (n,) int8
    may_mirror: Tensor  # (n,) bool: no castling rights, so left and right are equivalent
    bits: Tensor  # (64,) int64: 0, 1, …
    mirrored: Tensor  # (moves,) int64: `mirrored_moves`
    taught: Tensor | None = None  # (n, k) int16: moves that a model of these people finds likely
    shares: Tensor | None = None  # (n, k) float16: what each counts; all 0 without a model
    scores: Tensor | None = None  # (n,) float16: the mover's expected score; NaN if unknown
    score_weight: float = 0.0  # see `ChessRecipe.eval_weight`
    forget: float = 0.0  # share of training positions that hide the ratings

    def __len__(self) -> int:
        return len(self.moves)

    def to(self, device: torch.device) -> "ChessPositions":
        tensors = {name: part for name, part in vars(self).items() if isinstance(part, Tensor)}
        return replace(self, **{name: tensor.to(device) for name, tensor in tensors.items()})

    def of(self, rows: Rows) -> "ChessPositions":
        """Some of the positions."""
        at = torch.from_numpy(rows).to(self.moves.device)
        parts = {name: getattr(self, name) for name in _BY_POSITION}
        return replace(self, **{name: part[at] for name, part in parts.items() if part is not None})

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> Batch:
        """Unpack some rows; with `turns`, mirror half of the positions that may be mirrored.

        Then some rows hide the ratings, and a quarter of them the speed and the clock, so that the
        network knows what people do who are not known.
        """
        squares = ((self.masks[rows][:, :, None] >> self.bits) & 1).to(torch.bfloat16)
        planes = squares.view(len(rows), -1, 8, 8)
        rule50 = self.rule50[rows].to(torch.bfloat16) / CHESS.number_scale
        planes[:, CHESS.number_plane] = rule50[:, None, None]
        words = self.legal[rows]
        legal = ((words[:, :, None] >> self.bits) & 1).flatten(1)[:, : len(MOVES)].bool()
        moves, who = self.moves[rows].long(), self.who[rows].to(torch.bfloat16)
        taught = None if self.taught is None else self.taught[rows].long()
        if turns is not None:
            flip = self.may_mirror[rows] & (turns < 0.5)
            planes = torch.where(flip[:, None, None, None], planes.flip(3), planes)
            legal = torch.where(flip[:, None], legal[:, self.mirrored], legal)
            moves = torch.where(flip, self.mirrored[moves], moves)
            if taught is not None:
                taught = torch.where(flip[:, None], self.mirrored[taught], taught)
            rest = (8 * turns).frac()  # what mirroring leaves of the draw
            quarter = ((8 * turns).long() % 4 > 0)[:, None]
            rated = (rest >= self.forget)[:, None]
            who = torch.cat([who[:, :RATED] * rated, who[:, RATED:] * quarter], dim=1)
        planes = planes.contiguous(memory_format=torch.channels_last)
        shares = None if self.shares is None else self.shares[rows].float()
        results = self.results[rows].float()
        scores = None
        if self.scores is not None and self.score_weight > 0.0:
            scores = self.scores[rows].float()
        return Batch(
            planes,
            legal,
            moves,
            results,
            who=who,
            taught=taught,
            shares=shares,
            scores=scores,
            score_weight=self.score_weight,
        )


_BY_POSITION = (
    "masks",
    "rule50",
    "who",
    "legal",
    "moves",
    "results",
    "may_mirror",
    "taught",
    "shares",
    "scores",
)


def rows_of(table: GameTable, sides: npt.NDArray[np.bool_], first_ply: int = 0) -> Rows:
    """Return the moves, as places in `actions`, of `sides` (games, 2) from `first_ply` on."""
    game, ply = table.places(np.arange(len(table.actions)))
    return np.flatnonzero(sides[game, ply % 2] & (ply >= first_ply))


def positions_of(table: GameTable, rows: Rows) -> ChessPositions:
    """Pack the positions before these moves, places in `actions` in ascending order."""
    game, ply = table.places(rows)
    masks, rule50, moves, legal = _core.chess_encode_games(
        table.actions, table.offsets, ply, np.searchsorted(game, np.arange(len(table) + 1))
    )
    black = ply % 2
    outcome = np.where(black == 1, -table.results[game], table.results[game])
    may_mirror = (masks[:, _CASTLING] == 0).all(axis=1)
    scores = None
    if table.scores is not None:
        whites = table.scores[rows]
        scores = torch.from_numpy(np.where(black == 1, 1 - whites, whites))
    return ChessPositions(
        torch.from_numpy(masks.view(np.int64)),
        torch.from_numpy(rule50),
        torch.from_numpy(_players_of(table, rows)),
        torch.from_numpy(legal.view(np.int64)),
        torch.from_numpy(moves.astype(np.int16)),
        torch.from_numpy(outcome.astype(np.int8)),
        torch.from_numpy(may_mirror),
        torch.arange(64),
        torch.from_numpy(mirrored_moves()),
        scores=scores,
    )


def _players_of(table: GameTable, rows: Rows) -> npt.NDArray[np.float16]:
    """The numbers that describe the players in each position; few games have clocks."""
    unknown = np.full(len(table), np.nan)
    sides = [
        player_features(
            table.ratings[:, mover],
            table.ratings[:, 1 - mover],
            table.scales,
            table.speeds,
            unknown,
        ).astype(np.float16)
        for mover in (0, 1)
    ]
    game, ply = table.places(rows)
    who = np.stack(sides, axis=1)[game, ply % 2]
    clocks = table.clocks[rows]
    timed = np.flatnonzero(~np.isnan(clocks))
    nobody = np.zeros(len(timed), np.int64)
    clocked = player_features(nobody, nobody, nobody, nobody, clocks[timed])
    who[timed] += clocked.astype(np.float16)
    return who


def by_kind(table: GameTable, positions: ChessPositions, rows: Rows) -> dict[str, ChessPositions]:
    """Group the `positions` of `rows` by the players' rating on Lichess, speed and scale.

    Ratings are those of Maia's buckets: both players, and not bullet. Rare kinds are left out.
    """
    game, _ = table.places(rows)
    bucket = table.ratings[game] // 100 * 100
    slow = (table.scales[game] == scale_number("lichess")) & (
        table.speeds[game] != speed_number("bullet")
    )
    kinds = {f"lichess {low}": slow & (bucket == low).all(axis=1) for low in range(600, 2800, 100)}
    kinds |= {name: table.speeds[game] == speed_number(name) for name in SPEEDS}
    kinds |= {name: table.scales[game] == scale_number(name) for name in SCALES}
    chosen = {name: np.flatnonzero(is_of_kind) for name, is_of_kind in kinds.items()}
    return {name: positions.of(at) for name, at in chosen.items() if len(at) >= _FEWEST}
