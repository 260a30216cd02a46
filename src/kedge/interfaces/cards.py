"""Cards of models on the terminal: text, measures, and tables of similar measures."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_INDENT = "  "
_ERROR = "_se"  # ends the names of standard errors


def print_card(card: Mapping[str, Any]) -> None:
    """Print a model's card, part by part."""
    from rich.console import Console

    console = Console(highlight=False, emoji=False, markup=False)
    console.print(card["name"], style="bold")
    for part, content in card.items():
        if part != "name":
            _print_part(console, part, content, 0)


def _print_part(console: "Console", name: str, content: Any, depth: int) -> None:
    """Print one part; what it consists of is indented."""
    if _is_plain(content):
        _print_text(console, name, str(content), depth)
        return
    _print(console, _titled(name), depth, style="" if depth else "bold")
    if isinstance(content, list):
        for item in content:
            # Not wrapped, so that a command can be copied.
            text = item if _is_plain(item) else _listed(item)
            console.print(f"{_INDENT * (depth + 1)}{text}", soft_wrap=True)
        return
    numbers = {key: value for key, value in content.items() if _is_number(value)}
    rows = {key: value for key, value in content.items() if isinstance(value, Mapping)}
    if numbers:
        words = [f"{_titled(key)} {text}" for key, text in _measures(numbers).items()]
        _print(console, ", ".join(words), depth + 1)
    if _are_alike(rows):
        texts = {key: value for key, value in content.items() if key not in {*rows, *numbers}}
        for key, value in texts.items():
            _print_part(console, key, value, depth + 1)
        _print(console, _table(rows), depth + 1)
    else:
        for key, value in content.items():
            if key not in numbers:
                _print_part(console, key, value, depth + 1)


def _print_text(console: "Console", name: str, text: str, depth: int) -> None:
    line = f"{_titled(name)}: {text}"
    if name == "command":
        console.print(f"{_INDENT * depth}{line}", soft_wrap=True)
    else:
        _print(console, line, depth)


def _print(console: "Console", what: "str | Table", depth: int, style: str = "") -> None:
    from rich.padding import Padding

    console.print(Padding(what, (0, 0, 0, len(_INDENT) * depth)), style=style)


def _is_plain(value: Any) -> bool:
    return not isinstance(value, Mapping | list)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _titled(name: str) -> str:
    return name.replace("_", " ")


def _listed(item: Mapping[str, Any]) -> str:
    return ", ".join(f"{_titled(key)} {value}" for key, value in item.items())


def _measures(measures: Mapping[str, Any]) -> dict[str, str]:
    """Return the measures as text, each with its standard error if there is one."""
    texts = {}
    for name, value in measures.items():
        if name.endswith(_ERROR) and name.removesuffix(_ERROR) in measures:
            continue
        error = measures.get(name + _ERROR)
        texts[name] = _number(name, value) + ("" if error is None else f" ± {_number(name, error)}")
    return texts


def _number(name: str, value: Any) -> str:
    if not _is_number(value):
        return str(value)
    return f"{value:.2%}" if name.startswith("top") else f"{value:,}"


def _are_alike(rows: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether there are several rows, of numbers with the same names."""
    return (
        len(rows) > 1
        and len({tuple(row) for row in rows.values()}) == 1
        and all(_is_number(value) for row in rows.values() for value in row.values())
    )


def _table(rows: Mapping[str, Mapping[str, Any]]) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    measured = {name: _measures(row) for name, row in rows.items()}
    table.add_column("")
    for name in next(iter(measured.values())):
        table.add_column(_titled(name), justify="right")
    for name, texts in measured.items():
        table.add_row(_titled(name), *texts.values())
    return table
