"""Games of Diplomacy among several agents, and the share that each gets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kedge.agents.diplomacy.players import OrdersAgent
from kedge.evaluation.prediction import mean_by_game
from kedge.games.diplomacy import (
    POWERS,
    Diplomacy,
    DiplomacyState,
    PackedOrders,
    format_orders,
)
from kedge.records.diplomacy.games import COMPLETED, DiplomacyGame, Final, Phase

#: Number of the agent that plays each of the seven powers.
Seats = tuple[int, ...]


@dataclass(frozen=True)
class TournamentGame:
    """One finished game. Tuples have one entry per power, except `orders`."""

    seats: Seats
    orders: tuple[Mapping[str, Sequence[str]], ...]
    """Orders by power, one entry per phase."""
    shares: tuple[float, ...]
    """Shares by Sum of Squares; a solo gets 1."""
    centres: tuple[int, ...]
    alive: tuple[bool, ...]
    """Whether each power has a unit or a centre left."""
    last_year: int
    is_solo: bool

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "TournamentGame":
        """Return the game from the JSON of its fields."""
        lists = {key: tuple(value) for key, value in document.items() if isinstance(value, list)}
        return cls(**{**document, **lists})


def one_against_six(games: int) -> list[Seats]:
    """Return seats where agent 0 has one power, in turn, and agent 1 the other six."""
    seven = range(len(POWERS))
    return [tuple(int(power != game % len(POWERS)) for power in seven) for game in range(games)]


def drawn_from_pool(games: int, agents: int, rng: np.random.Generator) -> list[Seats]:
    """Draw an agent for every power of every game, independently."""
    return [tuple(seats) for seats in rng.integers(agents, size=(games, len(POWERS))).tolist()]


def play_tournament(
    players: Sequence[OrdersAgent],
    seatings: Iterable[Seats],
    rules: Diplomacy,
    rng: np.random.Generator,
) -> list[TournamentGame]:
    """Play one game per seating, side by side: each agent gets all its powers at once.

    The powers that an agent has in one game come with the same state, so they share a search.
    """
    tables = [_Table(seats, rules.initial_state()) for seats in seatings]
    while going := [table for table in tables if not table.state.is_terminal()]:
        for table in going:
            table.orders.append({})
        for index, player in enumerate(players):
            due = [(table, power) for table in going for power in table.to_order(index)]
            if not due:
                continue
            actions = player.act_many([(table.state, power) for table, power in due], rng)
            for (table, power), orders in zip(due, actions, strict=True):
                table.orders[-1][power] = orders
        for table in going:
            table.end_phase()
    return [table.finished() for table in tables]


@dataclass
class _Table:
    seats: Seats
    state: DiplomacyState
    orders: list[dict[int, PackedOrders]] = field(default_factory=list)
    """Orders by power, one entry per phase."""
    year: int = 0  # of the last orders

    def to_order(self, agent: int) -> list[int]:
        """Return the powers of this agent that have orders to give."""
        return [
            power
            for power, seat in enumerate(self.seats)
            if seat == agent and self.state.due[power]
        ]

    def end_phase(self) -> None:
        """Carry out the legal orders; no power can order another's units."""
        board, given = self.state.board, self.orders[-1]
        self.year = board.year
        self.state.go_to(*board.adjudicate_given(list(given.values()), list(given)))

    def finished(self) -> TournamentGame:
        board = self.state.board
        units, centres = board.units(), board.centres()
        return TournamentGame(
            seats=self.seats,
            orders=tuple(
                {POWERS[power]: format_orders(orders) for power, orders in phase.items()}
                for phase in self.orders
            ),
            shares=tuple(board.shares()),
            centres=tuple(map(len, centres)),
            alive=tuple(bool(own or owned) for own, owned in zip(units, centres, strict=True)),
            last_year=self.year,
            is_solo=board.winner is not None,
        )


def recorded(game: TournamentGame, players: Sequence[str], name: str) -> DiplomacyGame:
    """Return the game as a record, replayed from its orders; `players` are the agents' names."""
    state, phases = Diplomacy().initial_state(), []
    for orders in game.orders:
        phases.append(Phase.of(state, orders))
        state.apply(orders)
    end = replace(Phase.of(state), name=COMPLETED)
    return DiplomacyGame(
        id=name,
        phases=tuple(phases),
        final=Final(COMPLETED, game.centres, True, end),
        human_powers=(),
        press="none",
        players=tuple(players[agent] for agent in game.seats),
        source="kedge tournament",
    )


def standing(
    games: Sequence[TournamentGame], agent: int, powers: Sequence[str] = POWERS
) -> dict[str, Any]:
    """Return an agent's results with some of the powers.

    ``mean`` is its mean share per power that it had, and ``se`` the standard error with games as
    the sample; both are None if it had none of them. A draw counts for every power that is alive
    when nobody wins.
    """
    seats = np.array([game.seats for game in games]).reshape(-1, len(POWERS)) == agent
    seats &= np.isin(POWERS, powers)
    seats = seats[took_part := seats.any(axis=1)]
    shares, centres, alive, solo = (
        np.array([getattr(game, name) for game in games])[took_part]
        for name in ("shares", "centres", "alive", "is_solo")
    )
    count = int(seats.sum())
    mean, error = mean_by_game(seats.sum(axis=1), np.where(seats, shares, 0.0).sum(axis=1))
    return {
        "games": len(seats),
        "seats": count,
        "mean": mean if count else None,
        "se": error if count else None,
        "wins": int((seats & (shares == 1.0) & solo[:, None]).sum()),
        "draws": int((seats & alive & ~solo[:, None]).sum()),
        "eliminations": int((seats & ~alive).sum()),
        "centres": float(centres[seats].mean()) if count else None,
    }
