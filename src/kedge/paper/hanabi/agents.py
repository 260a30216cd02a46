"""The base of the Hanabi tables: the imitation policy, and SPARTA over it at every λ."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

from kedge.errors import InputError
from kedge.experiments.composite import Composite
from kedge.models.devices import Dtype
from kedge.paper.checks import check_counts, check_distinct
from kedge.paper.hanabi.published import IL, MEAN_SCORE, TRAINING_GAMES
from kedge.specs import Spec, parse

#: The note that every table must have.
CAVEAT = (
    "Not the paper's people: ours played with programs (1,910 games with public records, of one "
    f"person and one program each), the paper's with each other ({TRAINING_GAMES:,} games, mean "
    f"score {MEAN_SCORE}), and those games were never released. Compare the shape, not the figures."
)


@dataclass(frozen=True, kw_only=True)
class HanabiTable(Composite):
    """Base of the tables on piKL-SPARTA at several λ, and on the imitation policy (IL)."""

    models: tuple[str, ...] = ("hanabi",)
    """The imitation policy, exactly one, which is also the blueprint of every search."""
    lambdas: tuple[float, ...]
    """λ in points; 0 is SPARTA without an anchor. IL is always measured too."""
    rollouts: int = 1000
    """Rollouts per move in total; the paper has 10,000."""
    belief: Literal["learned", "exact"] = "learned"
    device: str = "cpu"
    dtype: Dtype = "float32"

    def __post_init__(self) -> None:
        if len(self.models) != 1:
            raise InputError(f"models: exactly one imitation policy, not {len(self.models)}")
        check_distinct(lambdas=self.lambdas)
        for lam in self.lambdas:
            if not 0.0 <= lam < inf:
                raise InputError(f"lambdas: at least 0 and finite, not {lam:g}")
        check_counts(rollouts=self.rollouts)

    @property
    def swept(self) -> Sequence[float]:
        """The measured λ, the imitation policy last."""
        return (*self.lambdas, IL)

    def agent(self, lam: float, *, greedy: bool = False, belief: str | None = None) -> str:
        """The spec of the search at some λ, or of the imitation policy."""
        model = parse(self.models[0])
        options: dict[str, Any] = {"greedy": True} if greedy else {}
        if lam == IL:
            return str(Spec(model.name, model.args, {**model.kwargs, **options}))
        searching = {"rollouts": self.rollouts, "belief": Spec(belief or self.belief)}
        return str(Spec("sparta", (model,), {"lambda": lam, **searching, **options}))

    def search_note(self) -> str:
        return (
            f"{self.rollouts:,} rollouts a move and {self.belief} beliefs; the paper has 10,000 "
            f"and learned ones. IL: {self.agent(IL)}."
        )
