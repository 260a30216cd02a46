"""The public names: one table, what type checkers see of it, and what help shows."""

import ast
import pydoc
from pathlib import Path

import kedge


def test_every_name_is_there():
    for name in kedge.__all__:
        assert getattr(kedge, name) is not None
    assert dir(kedge) == sorted(kedge.__all__)


def test_type_checkers_see_the_same_names():
    stub = ast.parse(Path(str(kedge.__file__)).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = {
        alias.name: line.module
        for line in stub.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }
    assert homes == kedge._HOMES
    assert Path(str(kedge.__file__)).with_name("py.typed").exists()


def test_help_is_a_table_of_contents():
    page = pydoc.plain(pydoc.render_doc(kedge))
    assert "kedge.agents.dial            dial strongest" in page
