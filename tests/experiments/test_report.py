"""The renderers, to the letter."""

import json
import math

import numpy as np
import pytest

from kedge.experiments import Column, Report, Table
from kedge.experiments.reports.latex import escape

REPORT = Report(
    "Table 1: λ & friends",
    Table(
        [
            Column("agent", "Agent"),
            Column("games", "Games", ",d"),
            Column("score", "Score (%)", ".1f", error="se"),
            Column("kl"),
        ],
        [
            {"agent": "piKL_1", "games": 1200, "score": 51.25, "se": 1.5, "kl": math.inf},
            {"agent": "日本", "games": np.int64(3), "score": np.float64(-0.1), "kl": math.nan},
            {"agent": "none", "extra": [1, math.nan, -math.inf]},
        ],
    ),
    notes=["± one standard error.", "100% made up."],
)


def test_text():
    assert (
        REPORT.text()
        == """\
Table 1: λ & friends

Agent   Games   Score (%)   kl
------  -----  ----------  ---
piKL_1  1,200  51.2 ± 1.5  inf
日本        3        -0.1  nan
none        -           -    -

± one standard error.
100% made up.
"""
    )


def test_csv():
    assert (
        REPORT.csv()
        == """\
agent,games,score,se,kl
piKL_1,1200,51.25,1.5,inf
日本,3,-0.1,,nan
none,,,,
"""
    )


def test_latex():
    assert (
        REPORT.latex()
        == r"""% Table 1: λ & friends
% ± one standard error.
% 100% made up.
\begin{tabular}{lrrr}
\toprule
Agent & Games & Score (\%) & kl \\
\midrule
piKL\_1 & $1{,}200$ & $51.2 \pm 1.5$ & $\infty$ \\
日本 & $3$ & $-0.1$ & nan \\
none & -- & -- & -- \\
\bottomrule
\end{tabular}
"""
    )


def test_latex_numbers_are_math():
    column = Column("x", format=".1e", error="se")
    rows = [{"x": 1e-5, "se": math.nan}, {"x": -2.5e10, "se": math.inf}]
    lines = Report("", Table([column], rows)).latex().splitlines()
    assert lines[4:6] == [
        r"$1.0 \times 10^{-5}$ \\",
        r"$-2.5 \times 10^{10} \pm \infty$ \\",
    ]


def test_json_is_strict():
    def refuse(name):
        raise AssertionError(name)

    value = json.loads(REPORT.json(experiment={"lam": math.inf}), parse_constant=refuse)
    assert value["experiment"] == {"lam": "Infinity"}
    assert value["rows"] == [
        {"agent": "piKL_1", "games": 1200, "score": 51.25, "se": 1.5, "kl": "Infinity"},
        {"agent": "日本", "games": 3, "score": -0.1, "kl": None},
        {"agent": "none", "extra": [1, None, "-Infinity"]},
    ]
    assert value["notes"] == list(REPORT.notes)
    assert "data" not in value


def test_latex_escapes_everything_special():
    assert escape(r"\{a}_$^~#%&") == (
        r"\textbackslash{}\{a\}\_\$\textasciicircum{}\textasciitilde{}\#\%\&"
    )
    assert escape("λ ≤ τ|π‖") == r"$\lambda$ $\le$ $\tau$$|$$\pi$$\|$"


def test_an_empty_table_still_renders(tmp_path):
    report = Report("Nothing", Table([Column("a", "A")], []))
    assert report.text() == "Nothing\n\nA\n-\n"
    assert report.csv() == "a\n"
    assert r"\begin{tabular}{l}" in report.latex()
    assert [p.name for p in report.write(tmp_path)] == [
        f"report.{ending}" for ending in ("txt", "csv", "tex", "json")
    ]
    with pytest.raises(ValueError, match="no figure"):
        report.figure("svg")


def test_the_figure_ignores_the_users_style_and_the_clock(monkeypatch):
    import matplotlib

    def draw(figure):
        axes = figure.subplots()
        axes.plot([1, 3, 2], marker="s")
        axes.set_title("λ")

    report = Report("Figure", REPORT.table, draw=draw)
    first = {kind: report.figure(kind) for kind in ("svg", "png")}
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    with matplotlib.rc_context({"lines.linewidth": 9, "svg.hashsalt": "other"}):
        assert {kind: report.figure(kind) for kind in ("svg", "png")} == first
        assert matplotlib.rcParams["lines.linewidth"] == 9
    assert first["png"].startswith(b"\x89PNG")
    assert b"<svg" in first["svg"]


def test_an_error_has_no_sign():
    gain = Column("gain", format="+.1f", error="se")
    assert gain.cell({"gain": 2.0, "se": 0.5}) == "+2.0 ± 0.5"
