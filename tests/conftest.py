"""Shared fixtures. Reference answers live under ``$KEDGE_DATA``; without it their tests skip."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tiny_go

from kedge.models.board.network import to_onnx


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """``shared("data/chess/games")``: a file under ``$KEDGE_DATA``."""
    root = os.environ.get("KEDGE_DATA")

    def find(name: str) -> Path:
        if root is None:
            pytest.skip(f"KEDGE_DATA is not set: no {name}")
        path = Path(root) / name
        if not path.exists():
            pytest.skip(f"KEDGE_DATA has no {name}")
        return path

    return find


@pytest.fixture(scope="session")
def oracle(shared: Callable[[str], Path]) -> Callable[[str], Any]:
    """``oracle("file.json")``: reference answers computed without any code of this project."""
    return lambda name: json.loads(shared(f"oracles/{name}").read_text())


@pytest.fixture(scope="session")
def go_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The spec of a small Go network with random weights."""
    path = tmp_path_factory.mktemp("models") / "tiny.onnx"
    path.write_bytes(to_onnx(tiny_go.weights()).SerializeToString())
    return f"'{path}'"


@pytest.fixture
def one_torch_thread() -> Iterator[None]:
    """Use one thread: many small operations are slow if threads wait on a busy machine."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test touches the user's files."""
    monkeypatch.setenv("KEDGE_HOME", str(tmp_path / "kedge-home"))
    return tmp_path / "kedge-home"
