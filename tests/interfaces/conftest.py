"""An engine for the tests of UCI: a process, and python-chess's client of one."""

import chess.engine
import pytest
import tiny_lc0 as tiny
from uci_session import KEDGE, Session

from kedge.models import store


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
