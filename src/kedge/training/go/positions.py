"""Positions of Go games as tensors on one device.

A position is AlphaGo Zero's planes, with ±komi / 10 (appendix E), and planes of tactics. The device
stores the stones and the tactics of each position; the rows before it are its history.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from kedge import _core
from kedge.games.go.ranks import RANKS, SERVERS
from kedge.games.symmetries import symmetries
from kedge.models.go.conditioning import WHO, who_features
from kedge.models.go.encoding import GO
from kedge.records.go.arrays import GoArrays
from kedge.records.go.games import KOMI
from kedge.training.board.imitation import NO_MOVE, Batch

_STEPS = 8  # positions in the input: the current one and seven before it
_POINTS = GO.side**2
_FEWEST = 1000  # least positions of a rank for a test of its own


@dataclass(frozen=True)
class GoPositions:
    """Packed positions and what people did in them, as tensors on one device."""

    chosen: Tensor  # (m,) int64: the rows that count, some perhaps several times
    stones: Tensor  # (n + 1, 2, 6) int64: the mover's and the opponent's; the last row is empty
    tactics: Tensor  # (n, 8, 6) int64: see `encode_go`
    first: Tensor  # (n,) int64: the first row of its game
    komi: Tensor  # (n,) float16: ±komi / 10
    moves: Tensor  # (n,) int64
    results: Tensor  # (n,) float32
    sides: Tensor  # (n,) int32: the row of `who`
    who: Tensor  # (2 · games, numbers) float16: who plays, for black and for white to move
    bits: Tensor  # (64,) int64: 0, 1, …
    turned: Tensor  # (8, 361) int64: `symmetries`
    moved: Tensor  # (8, 362) int64: each move in each symmetry
    turn: bool = True  # whether batches are turned at random
    later: int = 0  # moves after the next in each batch
    later_weight: float = 0.0  # see `GoRecipe`
    players: bool = False  # whether batches say who plays
    forget: float = 0.0  # share of training positions that hide who plays

    def __len__(self) -> int:
        return len(self.chosen)

    def of(self, rows: Tensor) -> "GoPositions":
        """Return a copy in which only these rows count."""
        return replace(self, chosen=rows.to(self.chosen.device))

    def to(self, device: torch.device) -> "GoPositions":
        tensors = {name: part for name, part in vars(self).items() if isinstance(part, Tensor)}
        return replace(self, **{name: tensor.to(device) for name, tensor in tensors.items()})

    def batch(self, rows: Tensor, turns: Tensor | None = None) -> Batch:
        """Unpack some rows, each in the symmetry that `turns` selects if `turn` is set."""
        rows = self.chosen[rows]
        back = torch.arange(_STEPS, device=rows.device)
        at = rows[:, None] - back
        at = torch.where(at >= self.first[rows][:, None], at, len(self.moves))
        stones = self.stones[at]
        # The mover was the opponent one move ago.
        stones = torch.where((back % 2 == 1)[:, None, None], stones.flip(2), stones)
        masks = torch.cat([stones.flatten(1, 2), self.tactics[rows]], dim=1)
        points = ((masks[..., None] >> self.bits) & 1).to(torch.bfloat16)
        points = points.flatten(2)[:, :, :_POINTS]
        moves = [self._move_after(rows, count) for count in range(1 + self.later)]
        if turns is not None and self.turn:
            turn = (8 * turns).long()
            where = self.turned[turn][:, None].expand(-1, points.shape[1], -1)
            points = points.gather(2, where)
            moves = [torch.where(to >= 0, self.moved[turn, to.clamp(0)], to) for to in moves]
        komi = self.komi[rows].to(torch.bfloat16)[:, None, None].expand(-1, -1, _POINTS)
        before, after = points[:, : GO.number_plane], points[:, GO.number_plane :]
        planes = torch.cat([before, komi, after], dim=1).view(-1, *GO.shape)
        planes = planes.contiguous(memory_format=torch.channels_last)
        who = self._who(rows, turns) if self.players else None
        later = tuple(moves[1:])
        return Batch(planes, None, moves[0], self.results[rows], later, self.later_weight, who)

    def _who(self, rows: Tensor, turns: Tensor | None) -> Tensor:
        who = self.who[self.sides[rows].long()].to(torch.bfloat16)
        if turns is None:
            return who
        rest = (8 * turns).frac()  # what the symmetry leaves of the draw
        return who * (rest >= self.forget)[:, None]

    def _move_after(self, rows: Tensor, count: int) -> Tensor:
        """The move played `count` moves later in the game, or NO_MOVE."""
        at = (rows + count).clamp(max=len(self.moves) - 1)
        same_game = (self.first[at] == self.first[rows]) & (at == rows + count)
        return torch.where(same_game, self.moves[at], NO_MOVE)


def positions_of(
    table: GoArrays,
    games: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64] | None = None,
    threads: int = 0,
) -> GoPositions:
    """Every position of some games on the full board, packed; what is illegal is left out.

    `counts` (games of the table, 2) says how often the moves of black and white count; once each
    without it.
    """
    part = table.take(games)
    lengths = np.diff(part.offsets)
    game = np.repeat(np.arange(len(part)), lengths)
    first = part.offsets[:-1][game]
    ply = np.arange(len(part.actions)) - first
    colours = ((ply + part.first[game]) % 2).astype(np.uint8)
    stones, signed, played, _, tactics, _ = _core.go_replay(
        part.actions,
        colours,
        part.offsets,
        ply,
        part.offsets,
        part.sizes,
        np.nan_to_num(part.komi, nan=KOMI).astype(np.float32),
        part.stones,
        steps=1,
        tactics=True,
        threads=threads,
    )
    returns = part.black_returns[game]
    legal = played < GO.moves  # from an illegal move on, a game's rows are empty
    # A game loses only rows at its end, so one count of dropped rows shifts all its rows.
    dropped = np.concatenate([[0], np.cumsum(~legal)])[first]
    none = np.zeros((1, *stones.shape[1:]), stones.dtype)
    turned = symmetries(GO.side)
    moved = np.concatenate([np.argsort(turned, axis=1), np.full((8, 1), _POINTS)], axis=1)
    sides = (2 * game + colours)[legal]
    rows = np.arange(len(sides))
    if counts is not None:
        rows = np.repeat(rows, counts[games].ravel()[sides])
    return GoPositions(
        torch.from_numpy(rows),
        torch.from_numpy(np.concatenate([stones[legal], none]).view(np.int64)),
        torch.from_numpy((tactics if legal.all() else tactics[legal]).view(np.int64)),
        torch.from_numpy((first - dropped)[legal]),
        torch.from_numpy(signed[legal].astype(np.float16)),
        torch.from_numpy(played[legal].astype(np.int64)),
        torch.from_numpy(np.where(colours == 0, returns, -returns)[legal].astype(np.float32)),
        torch.from_numpy(sides.astype(np.int32)),
        torch.from_numpy(_who_of(part).astype(np.float16)),
        torch.arange(64),
        torch.from_numpy(turned),
        torch.from_numpy(moved),
    )


def _who_of(table: GoArrays) -> npt.NDArray[np.float32]:
    """(2 · games, numbers): who plays, for black and for white to move."""
    both = [
        who_features(table.ranks[:, mover], table.ranks[:, 1 - mover], table.servers, table.years)
        for mover in (0, 1)
    ]
    return np.stack(both, axis=1).reshape(-1, WHO)


def by_rank(positions: GoPositions, table: GoArrays) -> dict[str, GoPositions]:
    """Positions by where they were played and the mover's rank; rare kinds are left out."""
    sides = positions.sides[positions.chosen].long().cpu().numpy()
    ranks, servers = table.ranks.ravel()[sides], table.servers[sides // 2]
    kinds = {}
    for server in np.unique(servers):
        for rank in np.unique(ranks[servers == server]):
            rows = np.flatnonzero((servers == server) & (ranks == rank))
            where = SERVERS[server - 1] if server else "board"
            what = RANKS[rank - 1] if rank else "unknown"
            if len(rows) >= _FEWEST:
                kept = positions.chosen[torch.from_numpy(rows).to(positions.chosen.device)]
                kinds[f"{where} {what}"] = positions.of(kept)
    return kinds
