"""Regret minimisation toward an anchor, for games with simultaneous moves.

Algorithms are data (:class:`PiKLHedge`, :class:`RegretMatching`, …); :func:`iterates` runs one and
yields its progress, :func:`solve` runs it to the end, :func:`qre` solves small games exactly.
"""

from kedge.search.regret.algorithms import (
    MMD,
    Adaptive,
    Algorithm,
    Constant,
    DiLPiKL,
    Hedge,
    PiKLHedge,
    RegretMatching,
    StepSize,
    Theory,
)
from kedge.search.regret.fixed_point import Equilibrium, qre
from kedge.search.regret.iterate import Iterate
from kedge.search.regret.solver import batch_iterates, iterates, solve
from kedge.search.regret.utilities import Oracle, oracle_from_function, tabulate

__all__ = [
    "MMD",
    "Adaptive",
    "Algorithm",
    "Constant",
    "DiLPiKL",
    "Equilibrium",
    "Hedge",
    "Iterate",
    "Oracle",
    "PiKLHedge",
    "RegretMatching",
    "StepSize",
    "Theory",
    "batch_iterates",
    "iterates",
    "oracle_from_function",
    "qre",
    "solve",
    "tabulate",
]
