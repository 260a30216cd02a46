"""What the Diplomacy tables share: the paper's agents by its names, and as our specs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kedge.agents.diplomacy.specs import SEARCHBOT as SEARCHBOT_SETTINGS
from kedge.errors import InputError
from kedge.experiments.composite import Composite
from kedge.models.board.backends import Dtype
from kedge.paper.diplomacy.published import (
    BRBOT,
    GRAY_PIKL,
    HEDGE,
    IL,
    RM,
    SEARCHBOT,
    pikl,
)
from kedge.paper.settings import check_counts, check_distinct, check_positive
from kedge.specs import Spec, parse

#: Said of the paper's agents that nobody can run any more.
NOT_AVAILABLE = "not available"


@dataclass(frozen=True, kw_only=True)
class DiplomacyTable(Composite):
    """Base of the tables on piKL-Hedge, with each λ, and on those that it is compared with."""

    models: tuple[str, ...] = ("diplomacy",)
    """The human model: one, which all agents start from."""
    lambdas: tuple[float, ...] = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
    iterations: int | None = None
    candidates: int | None = None
    samples: int | None = None
    value: str | None = None
    """Of every search; None leaves each its own."""
    rollout: int | None = None
    """Phases that SearchBot, and piKL with its settings, play on before they value a position; None
    is their own 2, which without a GPU takes them minutes a turn."""
    device: str = "cpu"
    dtype: Dtype = "float32"

    def __post_init__(self) -> None:
        if len(self.models) != 1:
            raise InputError(f"models: one human model, not {len(self.models)}")
        check_distinct(lambdas=self.lambdas)
        check_positive(lambdas=self.lambdas)
        for name, count in self._searching().items():
            if isinstance(count, int):
                check_counts(**{name: count})

    @property
    def searches(self) -> list[str]:
        """Those of the paper's λ table, in its order."""
        return [*map(pikl, self.lambdas), HEDGE, RM]

    def specs(self) -> dict[str, str]:
        """By the paper's names, the agents that we have."""
        dial = {pikl(lam): {"lambda": lam} for lam in (*self.lambdas, 1e-3)}
        return {
            IL: self.imitation(),
            **{name: self.search("pikl-hedge", **told) for name, told in dial.items()},
            GRAY_PIKL: self.search("pikl-hedge", **dial[pikl(1e-3)], **self.as_searchbot()),
            HEDGE: self.search("hedge"),
            RM: self.search("rm"),
            BRBOT: self.search("best-response"),
            SEARCHBOT: self.search("searchbot", **self._rolling_out()),
        }

    def as_searchbot(self) -> dict[str, Any]:
        """The settings of Gray et al."""
        return {**SEARCHBOT_SETTINGS, **self._rolling_out()}

    def imitation(self, **changes: Any) -> str:
        """The human model by itself."""
        model = parse(self.models[0])
        return str(Spec(model.name, model.args, {**model.kwargs, **changes}))

    def search(self, name: str, **options: Any) -> str:
        """A search over the human model."""
        told = {**options, **self._searching()}
        told = {key: parse(one) if isinstance(one, str) else one for key, one in told.items()}
        return str(Spec(name, (parse(self.models[0]),), told))

    def _searching(self) -> dict[str, Any]:
        names = ("iterations", "candidates", "samples", "value")
        return {name: found for name in names if (found := getattr(self, name)) is not None}

    def _rolling_out(self) -> dict[str, int]:
        return {} if self.rollout is None else {"rollout": self.rollout}

    def agent_notes(self, names: Sequence[str]) -> list[str]:
        """Which agents stand for the names in a table."""
        specs = self.specs()
        return ["; ".join(f"{name}: {specs[name]}" for name in names if name in specs) + "."]
