"""Normal-form games: payoff tensors, Blotto and other well-known ones, files, measures."""

from kedge.games.normal_form.game import NormalFormGame, NormalFormState
from kedge.games.normal_form.library import (
    blotto,
    matching_pennies,
    random_game,
    rock_paper_scissors,
)
from kedge.games.normal_form.measures import (
    exploitability,
    kl_to_anchor,
    nash_conv,
    regrets,
    regularized_best_response,
    regularized_regrets,
    residual,
    values,
)
from kedge.games.normal_form.nfg import read_json, read_nfg, write_nfg

__all__ = [
    "NormalFormGame",
    "NormalFormState",
    "blotto",
    "exploitability",
    "kl_to_anchor",
    "matching_pennies",
    "nash_conv",
    "random_game",
    "read_json",
    "read_nfg",
    "regrets",
    "regularized_best_response",
    "regularized_regrets",
    "residual",
    "rock_paper_scissors",
    "values",
    "write_nfg",
]
