"""The base of the Diplomacy tables: the paper's agents, by its names, as specs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kedge.agents.diplomacy.specs import SEARCHBOT_SETTINGS
from kedge.errors import InputError
from kedge.experiments.composite import Composite
from kedge.models.devices import Dtype
from kedge.paper.checks import check_counts, check_distinct, check_positive
from kedge.paper.diplomacy.published import (
    BRBOT,
    GRAY_PIKL,
    HEDGE,
    IL,
    RM,
    SEARCHBOT,
    pikl,
)
from kedge.specs import Spec, parse

#: Shown for the paper's agents that are not public.
NOT_AVAILABLE = "not available"


@dataclass(frozen=True, kw_only=True)
class DiplomacyTable(Composite):
    """Base of the tables that compare piKL-Hedge at each λ with other agents."""

    models: tuple[str, ...] = ("diplomacy",)
    """The human model, exactly one, on which all agents are based."""
    lambdas: tuple[float, ...] = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
    iterations: int | None = None
    candidates: int | None = None
    samples: int | None = None
    value: str | None = None
    """Value model of every search; None keeps each search's own."""
    rollout: int | None = None
    """Phases that SearchBot, and piKL with its settings, play before they value a position. None
    is their own 2, which takes minutes per turn without a GPU."""
    device: str = "cpu"
    dtype: Dtype = "float32"

    def __post_init__(self) -> None:
        if len(self.models) != 1:
            raise InputError(f"models: exactly one human model, not {len(self.models)}")
        check_distinct(lambdas=self.lambdas)
        check_positive(lambdas=self.lambdas)
        check_counts(**self._counts)

    @property
    def searches(self) -> list[str]:
        """The searches of the paper's λ table, in its order."""
        return [*map(pikl, self.lambdas), HEDGE, RM]

    @cached_property
    def specs(self) -> dict[str, Spec]:
        """The specs of the available agents, by the paper's names."""
        lambdas = {pikl(lam): lam for lam in (*self.lambdas, 1e-3)}
        return {
            IL: self.imitation(),
            **{name: self.search("pikl-hedge", **{"lambda": lam}) for name, lam in lambdas.items()},
            GRAY_PIKL: self.search("pikl-hedge", **{"lambda": 1e-3}, **self.as_searchbot()),
            HEDGE: self.search("hedge"),
            RM: self.search("rm"),
            BRBOT: self.search("best-response"),
            SEARCHBOT: self.search("searchbot", **self._rollout_setting),
            **self.own_specs(),
        }

    def own_specs(self) -> dict[str, Spec]:
        """The agents that a table adds to these, or replaces."""
        return {}

    def as_searchbot(self) -> dict[str, Any]:
        """The settings of Gray et al."""
        return {**SEARCHBOT_SETTINGS, **self._rollout_setting}

    def imitation(self, **changes: Any) -> Spec:
        """The spec of the human model alone."""
        return replace(self._model, kwargs={**self._model.kwargs, **changes})

    def search(self, name: str, **options: Any) -> Spec:
        """The spec of a search over the human model."""
        return Spec(name, (self._model,), {**options, **self._search_settings})

    @cached_property
    def _model(self) -> Spec:
        return parse(self.models[0])

    @cached_property
    def _counts(self) -> dict[str, int]:
        """The counts that are set for every search."""
        names = ("iterations", "candidates", "samples")
        return {name: count for name in names if (count := getattr(self, name)) is not None}

    @cached_property
    def _search_settings(self) -> dict[str, Any]:
        value = {} if self.value is None else {"value": parse(self.value)}
        return {**self._counts, **value}

    @property
    def _rollout_setting(self) -> dict[str, int]:
        return {} if self.rollout is None else {"rollout": self.rollout}

    def agent_notes(self, names: Sequence[str]) -> list[str]:
        """A note with the specs behind the names in a table."""
        known = [f"{name}: {self.specs[name]}" for name in names if name in self.specs]
        return ["; ".join(known) + "."]
