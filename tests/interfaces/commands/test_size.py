"""Entry points parse, call and print, so their functions stay short."""

import ast
from pathlib import Path

import kedge.interfaces

MOST = 60  # lines, with signature and docstring


def functions(folder: Path) -> dict[str, int]:
    """Count the lines of each function under a folder."""
    return {
        f"{path.relative_to(folder)}:{node.name}": lines(node)
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return node.end_lineno - node.lineno + 1


def test_no_function_is_long():
    found = functions(Path(kedge.interfaces.__path__[0]))
    assert len(found) > 200
    assert {name: count for name, count in found.items() if count > MOST} == {}
