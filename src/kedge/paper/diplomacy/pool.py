"""Table 2 and appendix K: agents in a pool of all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from kedge.evaluation.diplomacy.tournaments import TournamentGame
from kedge.experiments import Column, Experiment, Report, Table
from kedge.experiments.diplomacy.tournament import Seating, Tournament, games_of
from kedge.paper.checks import check_distinct
from kedge.paper.diplomacy.agents import NOT_AVAILABLE
from kedge.paper.diplomacy.figures import draw_shares
from kedge.paper.diplomacy.published import (
    BRBOT,
    HEDGE,
    IL,
    POOLS,
    RL_ACCURACY,
    RM,
    SEARCHBOT,
    pikl,
)
from kedge.paper.diplomacy.strength import (
    NOTHING,
    SHARES,
    DiplomacyGames,
    share,
)
from kedge.paper.table_parts import beside_paper, titled
from kedge.specs import Spec, parse

_BOTS = "diplomacy-bots"  # a model of bots' games
_COLD = 0.1  # the temperature at which earlier work plays its models
_COLD_IL, _DIL_PIKL = f"IL at {_COLD:g}", "DiL-piKL"


@dataclass(frozen=True, kw_only=True)
class DiplomacyPool(DiplomacyGames):
    """Table 2 and appendix K: the share of a game that agents get for a power, in pools."""

    name: ClassVar[str] = "diplomacy-pool"
    seating: ClassVar[Seating] = "pool"

    pool: tuple[str, ...] | None = None
    """Members of every pool, besides the agent it is about; None is our own seven."""

    def __post_init__(self) -> None:
        super().__post_init__()
        pool = self._usual() if self.pool is None else tuple(map(str, map(parse, self.pool)))
        object.__setattr__(self, "pool", pool)
        check_distinct(pool=pool)
        _ = self.tournaments  # checks their settings

    def _usual(self) -> tuple[str, ...]:
        usual = (_BOTS, _COLD_IL, BRBOT, SEARCHBOT, IL, RM, _DIL_PIKL)
        return tuple(str(self.specs[name]) for name in usual)

    @property
    def eighths(self) -> list[str]:
        """The agents with a pool of their own: in one pool, two λ would help each other."""
        return [*map(pikl, self.lambdas), HEDGE]

    def own_specs(self) -> dict[str, Spec]:
        """Our own substitutes for agents of the paper too."""
        ours = {
            _BOTS: Spec(_BOTS, (), {"temperature": _COLD}),
            _COLD_IL: self.imitation(temperature=_COLD),
            _DIL_PIKL: self.search("dil-pikl"),
        }
        return super().own_specs() | ours

    def members(self) -> dict[str, str]:
        """The members of every pool, by name; a spec without a name is its own."""
        names = {str(spec): name for name, spec in self.specs.items()}
        return {names.get(spec, spec): spec for spec in self.pool or ()}

    @cached_property
    def tournaments(self) -> dict[str, Tournament]:
        """The tournament of each pool, by the agent it is about."""
        members = self.members()
        return {name: self.tournament(*members, name) for name in self.eighths}

    def parts(self) -> Mapping[str, Experiment]:
        return {f"pool of {name}": played for name, played in self.tournaments.items()}

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        parts = zip(self.eighths, self.by_part(results).values(), strict=True)
        rows = [row for eighth, part in parts for row in self._rows(eighth, games_of(part))]
        swept = [row for row in rows if row["agent"] == row["pool"]]
        chosen = pikl(1e-3) if pikl(1e-3) in self.eighths else self.eighths[0]
        table_2 = [row for row in rows if row["pool"] == chosen]
        rl_agents = ", ".join(f"{name} ({top1:.1%})" for name, top1 in RL_ACCURACY.items())
        return Report(
            title=titled(self),
            table=Table(
                [Column("pool", "pool of"), Column("agent"), Column("kedge"), *SHARES], rows
            ),
            notes=[
                f"In each pool one agent beside the same {len(self.members())}, "
                f"{', '.join(self.members().values())}; every power of a game has one of them, "
                f"drawn independently. The paper has seven: five of earlier work, IL and RM.",
                *self.game_notes(),
                f"Top-1 of the paper's RL agents, which are {NOT_AVAILABLE}: {rl_agents}.",
            ],
            draw=lambda figure: draw_shares(
                figure, {f"The pool of {chosen}": table_2, "Each in its own pool": swept}
            ),
            figure_size=(10.0, 1.6 + 0.3 * len(table_2)),
        )

    def _rows(self, eighth: str, games: Sequence[TournamentGame]) -> list[dict[str, Any]]:
        paper = POOLS.get(eighth, {})
        names = [*self.members(), eighth]
        lacking = [name for name in paper if name not in names]
        ours = {name: share(games, number) for number, name in enumerate(names)}
        return [
            {
                "pool": eighth,
                "agent": name,
                "kedge": str(self.specs.get(name, name)) if name in ours else NOT_AVAILABLE,
                **ours.get(name, NOTHING),
                **beside_paper(paper.get(name)),
            }
            for name in (*names, *lacking)
        ]
