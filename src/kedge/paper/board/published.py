"""The paper's figures for chess and Go, by the label of each table in its source."""

from collections.abc import Mapping

#: c_puct, or None for the model alone.
Setting = float | None

SETTINGS: tuple[Setting, ...] = (None, 10.0, 5.0, 2.0, 1.0, 0.5)


def _row(*values: float) -> dict[Setting, float]:
    return dict(zip(SETTINGS, values, strict=True))


#: table:chess-and-go-accuracy (Table 1). Top-1 of Maia on players of its own rating, and of the
#: paper's own model on GoGoD's games of 2015 and 2016; standard errors are "approx 0.1 or less".
ACCURACY: Mapping[str, Mapping[Setting, float]] = {
    "maia-1100": _row(0.511, 0.512, 0.513, 0.508, 0.495, 0.474),
    "maia-1500": _row(0.524, 0.527, 0.529, 0.528, 0.519, 0.501),
    "maia-1900": _row(0.532, 0.536, 0.540, 0.543, 0.538, 0.524),
    "go": _row(0.578, 0.581, 0.583, 0.585, 0.581, 0.571),
}
#: The same table: earlier models of Go, without search.
EARLIER_GO: Mapping[str, float] = {
    "Cazenave (2017)": 0.547,
    "Wu (2018)": 0.553,
    "Wang et al. (2017)": 0.577,
}
#: Appendix D, in its text. Top-1 of KataGo's last networks by their blocks: "about".
KATAGO: Mapping[int, float] = {6: 0.35, 10: 0.43, 15: 0.43}

#: table:go-cross-entropy (appendix C). Nats; the largest standard error is "around 0.0033".
CROSS_ENTROPY: Mapping[str, Mapping[Setting, float]] = {
    "maia-1500": _row(1.476, 1.469, 1.465, 1.470, 1.504, 1.598),
    "maia-1900": _row(1.440, 1.429, 1.422, 1.418, 1.443, 1.529),
    "go": _row(1.388, 1.362, 1.359, 1.362, 1.391, 1.478),
}

#: table:maia-by-tc (appendix D). By model and time control: the gain of MCTS with its best c_puct,
#: and the rough standard error of either accuracy.
BY_TIME_CONTROL: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "maia-1500": {
        "180+0": (0.002, 0.0017),
        "300+0": (0.005, 0.0016),
        "600+0": (0.007, 0.0020),
        "180+2": (0.006, 0.0031),
        "300+3": (0.009, 0.0035),
        "900+15": (0.007, 0.0037),
    },
    "maia-1900": {
        "180+0": (0.008, 0.0012),
        "300+0": (0.013, 0.0017),
        "600+0": (0.017, 0.0024),
        "180+2": (0.014, 0.0027),
        "300+3": (0.020, 0.0051),
        "900+15": (0.022, 0.0056),
    },
}

#: table:maia-playing-strength (appendix D). By temperature and c_puct: the score of Maia-1900 with
#: MCTS against Maia-1900, and its standard error, of 1000 games.
STRENGTH: Mapping[float, Mapping[float, tuple[float, float]]] = {
    1.0: {
        10.0: (0.722, 0.012),
        5.0: (0.795, 0.011),
        2.0: (0.880, 0.008),
        1.0: (0.922, 0.007),
        0.5: (0.944, 0.006),
    },
    0.3: {
        10.0: (0.624, 0.013),
        5.0: (0.723, 0.012),
        2.0: (0.861, 0.009),
        1.0: (0.929, 0.006),
        0.5: (0.947, 0.005),
    },
}

#: The same table: the model of GoGoD's games, with MCTS against without. Japanese rules, komi 6.5.
GO_STRENGTH: Mapping[float, Mapping[float, tuple[float, float]]] = {
    1.0: {
        10.0: (0.732, 0.014),
        5.0: (0.805, 0.013),
        2.0: (0.876, 0.010),
        1.0: (0.946, 0.007),
        0.5: (0.964, 0.006),
    },
    0.3: {
        10.0: (0.633, 0.015),
        5.0: (0.741, 0.014),
        2.0: (0.853, 0.011),
        1.0: (0.944, 0.007),
        0.5: (0.970, 0.005),
    },
}
