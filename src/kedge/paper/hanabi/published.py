"""The paper's figures for Hanabi (appendix L), by the label of each table in its source."""

from collections.abc import Mapping
from math import inf

#: A figure, and its standard error.
Measured = tuple[float, float]

#: The λ of the imitation policy alone.
IL = inf
PREDICTION_LAMBDAS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
SCORE_LAMBDAS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)


def named(lam: float) -> str:
    """The name of piKL-SPARTA in tables.

    >>> named(0.5), named(0.0), named(IL)
    ('piKL-SPARTA λ=0.5', 'SPARTA', 'IL')
    """
    if lam == IL:
        return "IL"
    return f"piKL-SPARTA λ={lam:g}" if lam else "SPARTA"


def _percent(*pairs: Measured) -> dict[float, Measured]:
    shares = [(round(mean / 100, 4), round(error / 100, 4)) for mean, error in pairs]
    return dict(zip((*PREDICTION_LAMBDAS, IL), shares, strict=True))


ALL, GAMES_OF_10, GAMES_OF_20 = "all games", "score ≥ 10", "score ≥ 20"

#: tab:hanabi-pred. Top-1 of human moves on 4,000 test games, by subset and λ.
PREDICTION: Mapping[str, Mapping[float, Measured]] = {
    ALL: _percent(
        (25.30, 0.16), (56.04, 0.24), (60.22, 0.21), (62.44, 0.19), (63.50, 0.18), (63.68, 0.18),
        (63.71, 0.18), (63.68, 0.18), (63.63, 0.18),
    ),
    GAMES_OF_10: _percent(
        (27.01, 0.18), (58.86, 0.25), (62.62, 0.22), (64.51, 0.20), (65.33, 0.19), (65.43, 0.19),
        (65.42, 0.19), (65.35, 0.19), (65.29, 0.19),
    ),
    GAMES_OF_20: _percent(
        (28.87, 0.19), (61.86, 0.25), (65.21, 0.23), (66.81, 0.21), (67.48, 0.19), (67.54, 0.19),
        (67.53, 0.19), (67.45, 0.19), (67.39, 0.19),
    ),
}  # fmt: skip


def _scores(*pairs: Measured) -> dict[float, Measured]:
    return dict(zip(SCORE_LAMBDAS, pairs, strict=True))


#: tab:hanabi-score. Mean score of 4,000 games, by who searches (one, the other playing as IL, or
#: both), whether everyone plays greedily, and λ; and of IL, which samples or is greedy.
SCORES: Mapping[tuple[str, bool], Mapping[float, Measured]] = {
    ("1p", False): _scores(
        (20.56, 0.05), (21.16, 0.06), (20.02, 0.09), (17.71, 0.12), (13.53, 0.16), (11.04, 0.17),
    ),
    ("2p", False): _scores(
        (20.23, 0.04), (23.11, 0.03), (22.60, 0.03), (21.63, 0.05), (18.65, 0.11), (15.23, 0.15),
    ),
    ("1p", True): _scores(
        (22.78, 0.03), (23.07, 0.03), (22.76, 0.03), (22.41, 0.04), (21.91, 0.05), (21.45, 0.06),
    ),
    ("2p", True): _scores(
        (19.98, 0.04), (23.72, 0.02), (23.39, 0.03), (22.93, 0.03), (22.36, 0.03), (21.98, 0.04),
    ),
}  # fmt: skip
IL_SCORES: Mapping[bool, Measured] = {False: (8.81, 0.15), True: (19.72, 0.10)}
#: The same table, in its caption: greedy SPARTA of one player, with exact beliefs.
EXACT_SPARTA: Measured = (23.49, 0.02)
#: Appendix L, in its text.
TRAINING_GAMES, MEAN_SCORE = 235_954, 15.88
