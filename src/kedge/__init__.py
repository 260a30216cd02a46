"""Players that are strong and still play like people: KL-regularised search toward an anchor.

The names below are the public ones. They are fetched when first used, so that ``import kedge``
costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kedge.agents import make_agent
    from kedge.errors import InputError
    from kedge.evaluation.estimation import LambdaFit, fit_lambda
    from kedge.games import load_game
    from kedge.games.normal_form import NormalFormGame, exploitability, residual
    from kedge.regularize import forward_kl, kl_divergence, reverse_kl
    from kedge.search.regret import (
        MMD,
        DiLPiKL,
        Hedge,
        Iterate,
        Oracle,
        PiKLHedge,
        RegretMatching,
        batch_iterates,
        iterates,
        qre,
        solve,
    )

_HOMES = {
    "kedge.agents": ("make_agent",),
    "kedge.errors": ("InputError",),
    "kedge.evaluation.estimation": ("LambdaFit", "fit_lambda"),
    "kedge.games": ("load_game",),
    "kedge.games.normal_form": ("NormalFormGame", "exploitability", "residual"),
    "kedge.regularize": ("forward_kl", "kl_divergence", "reverse_kl"),
    "kedge.search.regret": (
        "MMD",
        "DiLPiKL",
        "Hedge",
        "Iterate",
        "Oracle",
        "PiKLHedge",
        "RegretMatching",
        "batch_iterates",
        "iterates",
        "qre",
        "solve",
    ),
}

__all__ = [
    "MMD",
    "DiLPiKL",
    "Hedge",
    "InputError",
    "Iterate",
    "LambdaFit",
    "NormalFormGame",
    "Oracle",
    "PiKLHedge",
    "RegretMatching",
    "batch_iterates",
    "exploitability",
    "fit_lambda",
    "forward_kl",
    "iterates",
    "kl_divergence",
    "load_game",
    "make_agent",
    "qre",
    "residual",
    "reverse_kl",
    "solve",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'kedge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
