"""Reports: a table, its notes and a figure, as files that depend only on the results."""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from kedge.experiments.reports.latex import escape
from kedge.files import make_folder, write_atomic
from kedge.jsonable import plain, strict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MATH = {"±": r"\pm", "inf": r"\infty", "nan": r"\mathrm{nan}", "%": r"\%", ",": "{,}"}


@dataclass(frozen=True)
class Column:
    """A column: its key in the rows, its heading, and the format of its numbers.

    ``format`` is a format spec such as ".3f". ``error`` is the key of a standard error, printed
    as "0.512 ± 0.010" in the same cell; CSV and JSON have two fields.
    """

    key: str
    title: str = ""
    format: str = ""
    error: str | None = None

    @property
    def heading(self) -> str:
        """The heading of the column."""
        return self.title or self.key

    def cell(self, row: Mapping[str, Any]) -> str:
        """The printed cell: numbers by ``format``, None as "-"."""
        value = _shown(row.get(self.key), self.format)
        error = row.get(self.error) if self.error else None
        if error is None or (_is_number(error) and math.isnan(error)):
            return value
        return f"{value} ± {_shown(error, self.format.lstrip('+'))}"


@dataclass(frozen=True)
class Table:
    """Rows of named values under columns."""

    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]

    def fields(self) -> list[str]:
        """The keys of the rows that the columns show, errors beside their values."""
        return [key for c in self.columns for key in (c.key, c.error) if key is not None]

    def is_numeric(self, column: Column) -> bool:
        """Whether a column holds numbers and is aligned right."""
        values = [row[column.key] for row in self.rows if row.get(column.key) is not None]
        return bool(values) and all(_is_number(value) for value in values)


@dataclass(frozen=True)
class Report:
    """A title, a table, notes, and optionally a figure and further ``data`` for machines.

    ``draw`` fills an empty matplotlib ``Figure`` of ``figure_size`` inches.
    """

    title: str
    table: Table
    notes: Sequence[str] = ()
    data: Mapping[str, Any] | None = None
    draw: Callable[["Figure"], None] | None = None
    figure_size: tuple[float, float] = (6.4, 4.0)

    def text(self) -> str:
        """The table for a terminal."""
        columns = self.table.columns
        grid = [[c.heading for c in columns]]
        grid += [[c.cell(row) for c in columns] for row in self.table.rows]
        widths = [max(map(cell_len, cells)) for cells in zip(*grid, strict=True)]
        right = [self.table.is_numeric(c) for c in columns]
        lines = ["  ".join(map(_pad, cells, widths, right)).rstrip() for cells in grid]
        lines.insert(1, "  ".join("-" * width for width in widths))
        parts = [self.title, "\n".join(lines), *(["\n".join(self.notes)] if self.notes else [])]
        return "\n\n".join(parts) + "\n"

    def csv(self) -> str:
        """The unrounded values under their keys; None is an empty field."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        keys = self.table.fields()
        writer.writerow(keys)
        for row in self.table.rows:
            writer.writerow([plain(row.get(key), key) for key in keys])
        return out.getvalue()

    def latex(self) -> str:
        """A booktabs ``tabular``, to ``\\input`` in a table."""
        columns = self.table.columns
        spec = "".join("r" if self.table.is_numeric(c) else "l" for c in columns)
        comments = [self.title, *self.notes]
        lines = [f"% {line}" for comment in comments for line in comment.splitlines()]
        lines += [rf"\begin{{tabular}}{{{spec}}}", r"\toprule"]
        lines += [" & ".join(escape(c.heading) for c in columns) + r" \\", r"\midrule"]
        for row in self.table.rows:
            lines.append(" & ".join(_latex_cell(c, row) for c in columns) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"

    def json(self, **header: Any) -> str:
        """Strict JSON for any reader: nan is null and ±inf the string "±Infinity"."""
        body = {
            "title": self.title,
            "rows": list(self.table.rows),
            "notes": list(self.notes),
            **({} if self.data is None else {"data": self.data}),
        }
        value = strict(plain({**header, **body}, "report"))
        return json.dumps(value, indent=2, allow_nan=False) + "\n"

    def figure(self, kind: str) -> bytes:
        """The figure as "svg" or "png"; the bytes do not depend on the user's style."""
        if self.draw is None:
            raise ValueError("this report has no figure")
        return render(self.draw, self.figure_size, kind)

    def write(self, folder: Path, **header: Any) -> list[Path]:
        """Write report.txt, .csv, .tex and .json, and figure.svg and .png if there is one.

        ``header`` goes into the JSON before the rest.
        """
        contents: dict[str, bytes | str] = {
            "report.txt": self.text(),
            "report.csv": self.csv(),
            "report.tex": self.latex(),
            "report.json": self.json(**header),
        }
        if self.draw is not None:
            contents |= {f"figure.{kind}": self.figure(kind) for kind in ("svg", "png")}
        make_folder(folder)
        for name, content in contents.items():
            write_atomic(folder / name, content)
        return [folder / name for name in contents]


def _shown(value: Any, format_spec: str) -> str:
    if value is None:
        return "-"
    return format(value, format_spec) if _is_number(value) else str(value)


def render(draw: Callable[["Figure"], None], size: tuple[float, float], kind: str) -> bytes:
    """Render `draw` as "svg" or "png"; the bytes depend neither on time nor on the user's style."""
    import matplotlib
    from matplotlib.figure import Figure

    # By default both formats contain a date or a version, and SVG ids are random.
    metadata = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}[kind]
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"svg.hashsalt": "kedge", "savefig.dpi": 200})
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        out = io.BytesIO()
        figure.savefig(out, format=kind, metadata=metadata)
    return out.getvalue()


def _is_number(value: Any) -> bool:
    value = plain(value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _pad(text: str, width: int, right: bool) -> str:
    gap = " " * (width - cell_len(text))
    return gap + text if right else text + gap


def _latex_cell(column: Column, row: Mapping[str, Any]) -> str:
    value, cell = row.get(column.key), column.cell(row)
    if value is None or not _is_number(value) or math.isnan(value):
        return "--" if value is None else escape(cell)
    # Math mode sets the minus; Python's exponents and symbols need LaTeX.
    cell = re.sub(r"e([+-])0*(\d+)", r" \\times 10^{\1\2}", cell).replace("{+", "{")
    for python, tex in _MATH.items():
        cell = cell.replace(python, tex)
    return f"${cell}$"
