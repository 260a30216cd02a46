"""Engines for the tests of protocols: processes, and python-chess's client of one."""

import chess.engine
import onnx
import pytest
import tiny_go
import tiny_lc0 as tiny
from uci_session import KEDGE, Session

from kedge.models import store
from kedge.models.board.network import to_onnx


@pytest.fixture
def mine(tmp_path):
    return store.add("mine", tiny.write(tmp_path / "net.pb.gz", tiny.net())).path


@pytest.fixture
def client(mine):
    with chess.engine.SimpleEngine.popen_uci([KEDGE, "uci"], timeout=20) as engine:
        yield engine


@pytest.fixture
def session():
    one = Session()
    yield one
    if one.process.poll() is None:
        one.process.kill()
    one.process.wait()


@pytest.fixture(scope="session")
def go_model(tmp_path_factory):
    """A path to a small network of Go that plays at random."""
    path = tmp_path_factory.mktemp("models") / "tiny.onnx"
    onnx.save(to_onnx(tiny_go.weights()), path)
    return str(path)
