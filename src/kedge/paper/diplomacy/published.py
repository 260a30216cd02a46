"""The paper's figures for Diplomacy, by the label of each table in its source."""

from collections.abc import Mapping

#: A share of a game by Sum of Squares, and its standard error.
Share = tuple[float, float]


def pikl(lam: float) -> str:
    """The name of piKL-Hedge in tables.

    >>> pikl(1e-5)
    'piKL λ=1e-05'
    """
    return f"piKL λ={lam:g}"


IL, RM, HEDGE = "IL", "RM", "Hedge"
DIPNET, DIPNET_RL, BLUEPRINT = "DipNet", "DipNet RL", "Blueprint"
BRBOT, SEARCHBOT = "BRBot", "SearchBot"
#: piKL-Hedge with the search parameters of Gray et al.
GRAY_PIKL = f"{pikl(1e-3)}, settings of Gray et al."


def _percent(*pairs: tuple[float, float]) -> list[Share]:
    return [(round(mean / 100, 4), round(error / 100, 4)) for mean, error in pairs]


_SEARCHES = (*(pikl(10.0**-k) for k in range(1, 6)), HEDGE, RM)

#: tab:1v6-piKL (appendix K). One of each among six IL policies, and an IL policy among six of each.
AMONG_IL: Mapping[str, Share] = dict(
    zip(
        _SEARCHES,
        _percent(
            (21.1, 1.4), (44.2, 1.7), (52.7, 1.7), (49.7, 1.7), (46.9, 1.7), (46.5, 1.7),
            (46.2, 1.7),
        ),
        strict=True,
    )
)  # fmt: skip
IL_AMONG: Mapping[str, Share] = dict(
    zip(
        _SEARCHES,
        _percent(
            (8.3, 0.9), (2.5, 0.4), (1.8, 0.3), (2.1, 0.3), (1.6, 0.2), (1.5, 0.2), (1.4, 0.2)
        ),
        strict=True,
    )
)

#: tab:old_compare_agents (appendix H). By the one, then by the six.
EARLIER_SIX = (DIPNET, DIPNET_RL, BLUEPRINT, BRBOT, SEARCHBOT)


def _among(one: str, *pairs: tuple[float, float]) -> dict[str, Share]:
    others = [six for six in EARLIER_SIX if six != one]
    return dict(zip(others, _percent(*pairs), strict=True))


AMONG_EARLIER: Mapping[str, Mapping[str, Share]] = {
    one: _among(one, *pairs)
    for one, pairs in {
        DIPNET: ((6.7, 0.9), (11.6, 0.1), (0.1, 0.1), (0.7, 0.2)),
        DIPNET_RL: ((18.9, 1.4), (10.5, 1.1), (0.1, 0.1), (0.6, 0.2)),
        BLUEPRINT: ((20.2, 1.3), (7.5, 1.0), (0.3, 0.1), (0.9, 0.2)),
        BRBOT: ((67.3, 1.0), (43.7, 1.0), (69.3, 1.7), (11.1, 1.1)),
        SEARCHBOT: ((51.1, 1.9), (35.2, 1.8), (52.7, 1.3), (17.2, 1.3)),
        pikl(1e-3): ((54.8, 1.8), (31.4, 1.8), (50.3, 1.8), (19.2, 1.4), (16.6, 1.3)),
        GRAY_PIKL: ((60.1, 1.8), (33.3, 1.8), (58.1, 1.8), (23.6, 1.6), (20.3, 1.4)),
    }.items()
}

#: tab:diplomacypopulation (appendix K); that of λ = 1e-3 is tab:population (Table 2). By whom each
#: pool has beside the same seven. Eight shares of a pool sum to 8/7, but for the first table's.
_SEVEN = (*EARLIER_SIX, IL, RM)


def _pool(eighth: str, *pairs: tuple[float, float]) -> dict[str, Share]:
    return dict(zip((*_SEVEN, eighth), _percent(*pairs), strict=True))


POOLS: Mapping[str, Mapping[str, Share]] = {
    eighth: _pool(eighth, *pairs)
    for eighth, pairs in {
        pikl(1e-1): (
            (4.9, 0.3), (5.6, 0.4), (7.1, 0.4), (18.2, 0.6), (36.1, 0.8), (10.2, 0.6), (36.8, 1.1),
            (15.6, 0.6),
        ),
        pikl(1e-2): (
            (3.8, 0.3), (4.2, 0.3), (5.8, 0.4), (16.3, 0.6), (14.1, 0.6), (8.5, 0.4), (31.7, 0.8),
            (29.9, 0.7),
        ),
        pikl(1e-3): (
            (3.7, 0.3), (4.7, 0.3), (4.9, 0.3), (16.1, 0.6), (13.4, 0.5), (7.9, 0.4), (31.3, 0.7),
            (32.9, 0.7),
        ),
        pikl(1e-4): (
            (3.5, 0.3), (4.6, 0.3), (5.7, 0.3), (14.3, 0.6), (13.6, 0.5), (8.8, 0.4), (31.8, 0.7),
            (31.8, 0.7),
        ),
        pikl(1e-5): (
            (3.6, 0.3), (4.4, 0.3), (5.3, 0.3), (15.0, 0.6), (13.0, 0.5), (8.9, 0.4), (32.2, 0.7),
            (31.9, 0.7),
        ),
        HEDGE: (
            (3.6, 0.3), (3.9, 0.3), (5.5, 0.3), (14.7, 0.6), (14.1, 0.6), (8.7, 0.4), (32.2, 0.7),
            (31.7, 0.7),
        ),
    }.items()
}  # fmt: skip

#: Section 4, in its text. Top-1 of agents that learned without people, or hardly from them.
RL_ACCURACY: Mapping[str, float] = {"DORA": 0.291, "HumanDNVI-NPU": 0.378}

#: tab:search_params_cmp (appendix H), under the names that `OrderSearch` and tables have for them.
SEARCH_SETTINGS: Mapping[str, Mapping[str, float | None]] = {
    "Gray et al.": {
        "candidates": 50, "per_unit": 3.5, "iterations": 256, "rollout_temperature": 0.75,
        "top_p": 0.95, "rollout": 2,
    },
    "its own": {
        "candidates": 30, "per_unit": 3.5, "iterations": 512, "rollout_temperature": None,
        "top_p": 0.95, "rollout": 0,
    },
}  # fmt: skip
