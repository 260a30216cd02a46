"""The model store."""

import hashlib
import io
import json
import os
import urllib.error
from dataclasses import replace

import numpy as np
import pytest
import tiny_go
import tiny_lc0 as tiny

from kedge.errors import InputError
from kedge.models import named, store
from kedge.models.board.network import to_shipped_onnx
from kedge.models.chess import maia


@pytest.fixture
def weights(tmp_path):
    return tiny.write(tmp_path / "net.pb.gz", tiny.net(blocks=2))


def test_add_list_info_load_remove(weights, own_home):
    assert store.list_models() == []
    added = store.add("mine", weights)
    assert store.list_models() == [added] == [store.info("mine")]
    assert added.sha256 == hashlib.sha256(weights.read_bytes()).hexdigest()
    assert added.source == str(weights)
    assert added.architecture["blocks"] == 2
    assert added.training["accuracy"] == 51.5
    assert added.path.is_relative_to(own_home)
    assert added.path.read_bytes() == weights.read_bytes()
    assert store.find("mine").sha256 == added.sha256
    store.remove("mine")
    assert store.list_models() == []
    assert list(store.models_folder().iterdir()) == []


def test_models_that_kedge_trained(tmp_path, own_home):
    trained = tiny_go.weights()
    path = tmp_path / "model.onnx"
    path.write_bytes(to_shipped_onnx(trained).SerializeToString())
    added = store.add("ours", path)
    assert (added.format, added.path.suffix) == ("onnx", ".onnx")
    loaded = store.find("ours")
    assert (loaded.encoding, loaded.sha256) == (trained.encoding, added.sha256)
    assert set(loaded.arrays) == set(trained.arrays)
    for name, array in trained.arrays.items():
        np.testing.assert_allclose(loaded.arrays[name], array, atol=np.abs(array).max() / 250)
    content = path.read_bytes()
    for bad, said in ((content[:500], "not an ONNX model"), (b"\x08\x08", "not a network trained")):
        path.write_bytes(bad)
        with pytest.raises(InputError, match=said):
            store.add("bad", path)


def test_paths_are_models_too(weights, monkeypatch):
    assert store.find(str(weights)).blocks == 2
    monkeypatch.chdir(weights.parent)
    assert store.find("net.pb.gz").blocks == 2
    with pytest.raises(InputError, match=r"none\.pb\.gz: no such file"):
        store.find("none.pb.gz")


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "a b", "1st", "a.", "x" * 65, "a\n", "é"],
)
def test_names(name, weights):
    for call in (lambda: store.add(name, weights), lambda: store.info(name)):
        with pytest.raises(InputError, match="invalid model name"):
            call()
    with pytest.raises(InputError):
        store.remove(name)
    if not store.is_path(name):
        assert store.find(name) is None


def test_nothing_is_overwritten(weights, tmp_path):
    store.add("mine", weights)
    other = tiny.write(tmp_path / "other.pb", tiny.net(seed=1))
    with pytest.raises(InputError, match="model mine exists; remove it first"):
        store.add("mine", other)
    assert store.find("mine").blocks == 2


def test_bad_files_are_not_kept(tmp_path):
    with pytest.raises(InputError, match="not an lc0 weight file"):
        store.add("bad", tiny.write(tmp_path / "bad.pb", b"rubbish"))
    assert not store.models_folder().exists()


def test_a_public_name_is_for_the_public_file(weights):
    with pytest.raises(InputError, match="not the published maia-1100"):
        store.add("maia-1100", weights)


def test_unknown_models():
    with pytest.raises(InputError, match="kedge models pull maia-1900"):
        store.find("maia-1900")
    with pytest.raises(InputError, match="unknown model 'maia1900'; did you mean maia-1900"):
        named.load("maia1900")
    with pytest.raises(InputError, match=r"'zzz'; nearest: .*; all: kedge models list"):
        named.info("zzz")
    with pytest.raises(InputError, match="no stored model 'zzz'"):
        store.remove("zzz")
    with pytest.raises(InputError, match="no public model 'mia'"):
        store.pull("mia")


def test_damaged_store(weights):
    info = store.models_folder() / "mine" / "model.json"
    for content in (b"", b"[]", b"{}", b"null", b"\xff", b'{"size": "big"}', b"[" * 100_000):
        store.add("mine", weights)
        info.write_bytes(content)
        with pytest.raises(InputError, match=r"model\.json: damaged; run: kedge models remove"):
            store.info("mine")
        store.remove("mine")
    path = store.add("mine", weights).path
    tiny.write(path, tiny.net(seed=3))
    with pytest.raises(InputError, match="damaged"):
        store.find("mine")


def test_wrong_types_in_the_metadata(weights):
    store.add("mine", weights)
    path = store.models_folder() / "mine" / "model.json"
    found = json.loads(path.read_text())
    path.write_text(json.dumps({**found, "size": "big"}))
    with pytest.raises(InputError, match="damaged"):
        store.list_models()


def test_leftovers_of_killed_writers_are_swept(weights):
    old, new = (store.models_folder() / f".mine.{name}.partial" for name in ("old", "new"))
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "weights.pb.gz").write_bytes(b"half")
    os.utime(old, (0, 0))
    store.add("mine", weights)
    assert not old.exists()
    assert new.exists()
    assert [model.name for model in store.list_models()] == ["mine"]


class Answer(io.BytesIO):
    def __enter__(self):
        return self


def test_pull(monkeypatch):
    content = tiny.net()
    asked = []

    def urlopen(url, timeout):
        asked.append(url)
        assert 0 < timeout < 120
        return Answer(content)

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    # What comes is not what was published: nothing is kept.
    with pytest.raises(InputError, match=r"sha256 is .* nothing stored"):
        store.pull("maia-1500")
    assert not store.models_folder().exists()
    published = replace(maia.PUBLIC["maia-1500"], sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(maia.PUBLIC, "maia-1500", published)
    pulled = store.pull("maia-1500")
    assert pulled.source == asked[0]
    assert asked[0].startswith("https://raw.githubusercontent.com/CSSLab/maia-chess/")
    assert asked[0].endswith("/maia_weights/maia-1500.pb.gz")
    # A second time there is nothing to do.
    assert store.pull("maia-1500") == pulled
    assert len(asked) == 2


@pytest.mark.parametrize(
    "error",
    [
        urllib.error.URLError("no route to host"),
        urllib.error.HTTPError("https://x", 404, "Not Found", {}, None),
        TimeoutError("timed out"),
        ConnectionResetError("reset"),
    ],
)
def test_pull_offline(monkeypatch, error):
    def urlopen(url, timeout):
        raise error

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    with pytest.raises(InputError, match="kedge models add maia-1500 PATH") as caught:
        store.pull("maia-1500")
    assert "https://raw.githubusercontent.com/" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not store.models_folder().exists()


def test_the_pins_are_nine_digests(oracle):
    public = {name: model.sha256 for name, model in store.public().items()}
    assert list(public) == [f"maia-{rating}" for rating in range(1100, 2000, 100)]
    assert all(len(bytes.fromhex(digest)) == 32 for digest in public.values())
    known = oracle("lc0_maia.json")["meta"]["weights"]
    assert known == {name: public[name] for name in known}


def test_evaluation_of_a_stored_model(weights):
    from kedge.models.board.onnx_backends import OnnxNetwork

    store.add("mine", weights)
    planes = np.zeros((1, 112, 8, 8), np.float32)
    assert OnnxNetwork(store.find("mine")).evaluate(planes).policy.shape == (1, 1858)
