"""Appendices H and K: one agent among six others."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from kedge.evaluation.diplomacy.tournaments import TournamentGame, standing
from kedge.experiments import Column, Report, Table
from kedge.experiments.diplomacy.tournament import Seating, Tournament, games_of
from kedge.paper.checks import check_counts
from kedge.paper.diplomacy.agents import NOT_AVAILABLE, DiplomacyTable
from kedge.paper.diplomacy.figures import draw_shares
from kedge.paper.diplomacy.published import (
    AMONG_EARLIER,
    AMONG_IL,
    BLUEPRINT,
    DIPNET,
    DIPNET_RL,
    HEDGE,
    IL,
    IL_AMONG,
    RM,
    Share,
    pikl,
)
from kedge.paper.table_parts import beside_paper, titled
from kedge.specs import Spec, parse

_CLAIMS = {pikl(1e-1), pikl(1e-3)}
_COMPARED = {(HEDGE, IL), (RM, IL)}
_IL_AMONG, _AMONG_IL = "IL among six", "one among six IL"


class Pair(NamedTuple):
    """One agent among six of another, by the paper's names."""

    one: str
    six: str

    def __str__(self) -> str:
        return f"{self.one} – 6 × {self.six}"


@dataclass(frozen=True, kw_only=True)
class DiplomacyGames(DiplomacyTable):
    """Base of the tables on games among agents."""

    seating: ClassVar[Seating] = "1v6"

    games: int = 100
    claim_games: int | None = None
    """Games for the λ of the paper's claims, 0.1 and 0.001, and for the agents they are compared
    with; None is `games`."""
    temperature: float = 0.5
    """Sampling temperature of the human model."""
    last_year: int = 1935
    quiet_years: int = 5
    chunk: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.claim_games is not None:
            check_counts(claim_games=self.claim_games)

    def own_specs(self) -> dict[str, Spec]:
        return {IL: self.imitation(temperature=self.temperature)}

    def tournament(self, *names: str) -> Tournament:
        """A tournament of agents by the paper's names, or by specs."""
        is_claimed = names in _COMPARED or not _CLAIMS.isdisjoint(names)
        games = self.claim_games if is_claimed and self.claim_games else self.games
        return Tournament(
            agents=tuple(self.specs.get(name, name) for name in names),
            seating=self.seating,
            games=games,
            last_year=self.last_year,
            quiet_years=self.quiet_years,
            device=self.device,
            dtype=self.dtype,
            chunk=self.chunk,
            seed=self.seed,
        )

    def gist(self, result: dict[str, Any]) -> dict[str, Any]:
        games = [{**game, "orders": []} if "orders" in game else game for game in result["games"]]
        return {**result, "games": games}

    def game_notes(self) -> list[str]:
        """The notes under each of these tables."""
        return [
            f"Shares of a game by Sum of Squares, equals having 1/7 = {1 / 7:.1%}; a game ends "
            f"after {self.last_year}, or after {self.quiet_years} years in which no centre changes "
            f"hands. ± is one standard error. IL plays at temperature {self.temperature:g}.",
            "The paper's agents have other networks, learned from other games.",
        ]


@dataclass(frozen=True, kw_only=True)
class OneAmongSix(DiplomacyGames):
    """Base of the tables in which one agent plays among six of another."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self._parts  # checks their settings

    @abstractmethod
    def pairs(self) -> list[Pair]:
        """Pairs of agents: one plays among six of the other."""

    def parts(self) -> Mapping[Pair, Tournament]:
        return {pair: self.tournament(*pair) for pair in self.pairs()}

    def shares(self, results: Mapping[str, dict[str, Any]]) -> dict[Pair, Mapping[str, Any]]:
        """The share of the single agent, by pair."""
        return {pair: share(games_of(part), 0) for pair, part in self.by_part(results).items()}


#: The result of `share` without games.
NOTHING: Mapping[str, Any] = {"games": None, "mean": None, "mean_se": None}


def share(games: Sequence[TournamentGame], agent: int) -> Mapping[str, Any]:
    """The mean share of a game that an agent gets per power."""
    row = standing(games, agent)
    if not row["games"]:
        return NOTHING
    return {"games": row["games"], "mean": row["mean"], "mean_se": row["se"]}


#: Columns of our shares and the paper's.
SHARES = (
    Column("games", format=","),
    Column("mean", "share", ".1%", error="mean_se"),
    Column("paper", "paper", ".1%", error="paper_se"),
)


@dataclass(frozen=True, kw_only=True)
class DiplomacyOneVsSix(OneAmongSix):
    """Appendices H and K: the share of a game that one agent gets among six of another."""

    name: ClassVar[str] = "diplomacy-1v6"

    earlier: bool = True
    """Whether to play appendix H's games too: SearchBot is slow."""
    dipnet: str | None = None
    dipnet_rl: str | None = None
    blueprint: str | None = None
    """Substitutes for the paper's agents that are not public."""

    def own_specs(self) -> dict[str, Spec]:
        named = {DIPNET: self.dipnet, DIPNET_RL: self.dipnet_rl, BLUEPRINT: self.blueprint}
        given = {name: parse(spec) for name, spec in named.items() if spec is not None}
        return super().own_specs() | given

    @cached_property
    def sections(self) -> dict[str, dict[Pair, Share | None]]:
        """The paper's tables: its shares by pair."""
        earlier: dict[Pair, Share | None] = {
            Pair(one, six): known
            for one, row in AMONG_EARLIER.items()
            for six, known in row.items()
        }
        return {
            _IL_AMONG: {Pair(IL, name): IL_AMONG.get(name) for name in self.searches},
            _AMONG_IL: {Pair(name, IL): AMONG_IL.get(name) for name in self.searches},
            **({"appendix H": earlier} if self.earlier else {}),
        }

    def pairs(self) -> list[Pair]:
        pairs = [pair for section in self.sections.values() for pair in section]
        return [pair for pair in pairs if self.specs.keys() >= {*pair}]

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        shares = self.shares(results)
        players = list(dict.fromkeys(name for pair in shares for name in pair))
        rows = {
            section: [
                {
                    "section": section,
                    **pair._asdict(),
                    "kedge": "played" if pair in shares else NOT_AVAILABLE,
                    **shares.get(pair, NOTHING),
                    **beside_paper(known),
                }
                for pair, known in pairs.items()
            ]
            for section, pairs in self.sections.items()
        }
        panels = {
            section: [{**row, "agent": row[key]} for row in rows[section]]
            for section, key in ((_AMONG_IL, "one"), (_IL_AMONG, "six"))
        }
        return Report(
            title=titled(self),
            table=Table(
                [Column("section", "in"), Column("one", "1×"), Column("six", "6×"),
                 Column("kedge"), *SHARES],
                [row for section in rows.values() for row in section],
            ),
            notes=[*self.game_notes(), *self.agent_notes(players)],
            draw=lambda figure: draw_shares(figure, panels),
            figure_size=(9.0, 1.4 + 0.3 * len(self.searches)),
        )  # fmt: skip
