"""Games of Diplomacy among several agents, and what share of them each gets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kedge.agents.diplomacy.players import OrdersAgent
from kedge.evaluation.prediction import mean_by_game
from kedge.games.diplomacy import POWERS, Diplomacy, DiplomacyState, format_orders
from kedge.records import DiplomacyGame, Phase
from kedge.records.diplomacy.games import COMPLETED, Final

#: Which agent, by its number, has each of the seven powers.
Seats = tuple[int, ...]


@dataclass(frozen=True)
class TournamentGame:
    """One finished game: who had which power, what was ordered, and what each power has at the end.

    Lists have one entry a power.
    """

    seats: Seats
    orders: tuple[Mapping[str, Sequence[str]], ...]
    """By power, one a phase."""
    shares: tuple[float, ...]
    """Sum of Squares; a solo has it all."""
    centres: tuple[int, ...]
    alive: tuple[bool, ...]
    """Whether a power has a unit or a centre left."""
    last_year: int
    is_solo: bool

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "TournamentGame":
        """What ``dataclasses.asdict`` made, after JSON."""
        lists = {key: tuple(value) for key, value in found.items() if isinstance(value, list)}
        return cls(**{**found, **lists})


def one_against_six(games: int) -> list[Seats]:
    """Agent 0 has one power, each of the seven in turn, and agent 1 the other six."""
    seven = range(len(POWERS))
    return [tuple(int(power != game % len(POWERS)) for power in seven) for game in range(games)]


def drawn_from_pool(games: int, agents: int, rng: np.random.Generator) -> list[Seats]:
    """Every power of every game has one of the agents, drawn by itself."""
    return [tuple(seats) for seats in rng.integers(agents, size=(games, len(POWERS))).tolist()]


def play_tournament(
    players: Sequence[OrdersAgent],
    seatings: Iterable[Seats],
    rules: Diplomacy,
    rng: np.random.Generator,
) -> list[TournamentGame]:
    """Games side by side, one a seating, so that each agent is asked about all of them at once.

    The powers of one game that an agent has come with the same state, and so share a search.
    """
    tables = [_Table(seats, rules.initial_state()) for seats in seatings]
    while going := [table for table in tables if not table.state.is_terminal()]:
        for table in going:
            table.begin_phase()
        for index, player in enumerate(players):
            asked = [(table, power) for table in going for power in table.to_order(index)]
            if not asked:
                continue
            found = player.act_many([(table.state, power) for table, power in asked], rng)
            for (table, power), orders in zip(asked, found, strict=True):
                table.orders[-1][POWERS[power]] = format_orders(orders)
        for table in going:
            table.state.apply(table.orders[-1])  # by power: nobody orders another's units
    return [table.finished() for table in tables]


@dataclass
class _Table:
    seats: Seats
    state: DiplomacyState
    orders: list[dict[str, list[str]]] = field(default_factory=list)
    year: int = 0  # of the last orders

    def begin_phase(self) -> None:
        self.orders.append({})
        self.year = self.state.board.year

    def to_order(self, agent: int) -> list[int]:
        """The powers of this agent that have anything to order."""
        return [
            power
            for power, name in enumerate(POWERS)
            if self.seats[power] == agent and self.state.orders(name)
        ]

    def finished(self) -> TournamentGame:
        board = self.state.board
        units, centres = board.units(), board.centres()
        return TournamentGame(
            seats=self.seats,
            orders=tuple(self.orders),
            shares=tuple(self.state.shares()),
            centres=tuple(map(len, centres)),
            alive=tuple(bool(one or other) for one, other in zip(units, centres, strict=True)),
            last_year=self.year,
            is_solo=board.winner is not None,
        )


def recorded(game: TournamentGame, players: Sequence[str], name: str) -> DiplomacyGame:
    """The game as a record, played again from its orders; `players` are the agents by number."""
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
    """How an agent fared with some of the powers, if it had them.

    ``mean`` is its mean share of a game for each power that it had, and ``se`` the standard error,
    games being what was drawn at random; None where it had none of them. A draw counts for a power
    that is alive when nobody wins.
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
