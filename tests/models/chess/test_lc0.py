"""lc0 weight files: good ones are read, all others end in one line."""

import gzip
import hashlib
import io
import struct
import time
import tracemalloc

import numpy as np
import pytest
import tiny_lc0 as tiny
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.errors import InputError
from kedge.models.chess.lc0 import parse_lc0, read_lc0

VALID = tiny.net(filters=2, se=1, planes=73)


def refused(content, match, **options):
    with pytest.raises(InputError, match=match) as caught:
        parse_lc0(content, "net.pb", **options)
    assert str(caught.value).startswith("net.pb: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["net.pb", "net.pb.gz"])
def test_reads_what_was_written(tmp_path, name):
    path = tiny.write(tmp_path / name, tiny.net(filters=8, blocks=2, se=4))
    found = read_lc0(path)
    assert (found.filters, found.blocks, found.se_channels, found.se_ratio) == (8, 2, 4, 2)
    assert (found.policy, found.value) == ("convolution", "wdl")
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.training == {"training_steps": 400_000, "accuracy": 51.5}
    assert found.arrays["input.weight"].shape == (8, 112, 3, 3)
    assert found.arrays["blocks.1.se.fc2.weight"].shape == (16, 4)
    assert found.arrays["policy.conv2.weight"].shape == (80, 8, 3, 3)
    assert found.parameters == found.architecture()["parameters"]
    assert {array.dtype for array in found.arrays.values()} == {np.dtype(np.float32)}


@pytest.mark.parametrize(("encoding", "within"), [(1, 1e-4), (2, 1e-3), (3, 1e-2), (4, 0.0)])
def test_encodings(encoding, within):
    made = parse_lc0(tiny.net(encoding=encoding), "net").arrays["input.weight"]
    exact = np.random.default_rng(0).normal(size=(8, 112, 3, 3)) * (112 * 9) ** -0.5
    np.testing.assert_allclose(made, exact.astype(np.float32), atol=within, rtol=within)


def test_linear16_ends_are_exact():
    body = tiny.weights(encoding=4)
    first = tiny.field(1, tiny.layer(np.linspace(-1, 3, 112 * 9 * 8)))
    first += tiny.field(2, tiny.layer(np.zeros(8), 4))
    found = parse_lc0(tiny.net(tiny.field(1, first) + body[field_end(body) :]), "net")
    weight = found.arrays["input.weight"].ravel()
    assert (weight[0], weight[-1]) == (-1.0, 3.0)


def field_end(data):
    """Where the first field of a message ends."""
    size, at, shift = 0, 1, 0
    while True:
        size |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return at + size


@pytest.mark.parametrize("norm", ["full", "means"])
def test_batch_normalisation_is_folded(norm):
    found = parse_lc0(tiny.net(norm=norm, encoding=4), "net").arrays
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(8, 112, 3, 3)) * (112 * 9) ** -0.5
    means, variances = rng.normal(size=8) * 0.1, rng.uniform(0.5, 2.0, 8)
    gammas, betas = (rng.normal(size=8), rng.normal(size=8) * 0.1) if norm == "full" else (1.0, 0.0)
    scale = gammas / np.sqrt(variances + 1e-5)
    np.testing.assert_allclose(
        found["input.weight"], weight * np.reshape(scale, (8, 1, 1, 1)), atol=1e-6
    )
    np.testing.assert_allclose(found["input.bias"], betas - means * scale, atol=1e-6)


def test_old_files_name_no_heads():
    body = tiny.weights(policy=1, value=1, se=0)
    for format_ in (
        tiny.field(1, 1),
        tiny.field(1, 1) + tiny.field(2, tiny.field(1, 1) + tiny.field(3, 1)),
    ):
        found = parse_lc0(tiny.net(body, format_=format_), "net")
        assert (found.policy, found.value, found.se_ratio) == ("classical", "classical", None)
        assert found.arrays["policy.fc.weight"].shape == (1858, 128)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"inputs": 3}, "INPUT_112_WITH_CANONICALIZATION"),
        ({"inputs": 77}, "format 77"),
        ({"structure": 6}, "NETWORK_ATTENTIONBODY_WITH_HEADFORMAT"),
        ({"structure": 5}, "NETWORK_ONNX"),
        ({"policy": 3}, "POLICY_ATTENTION"),
        ({"value": 3}, "VALUE_PARAM"),
        ({"activation": 1}, "DEFAULT_ACTIVATION_MISH"),
    ],
)
def test_other_formats_are_named(change, name):
    refused(tiny.net(tiny.weights(), **change), f"^net.pb: {name} is not supported$")


def test_attention_layers_without_a_format_of_their_own():
    refused(tiny.net(tiny.weights() + tiny.field(27, b"")), "attention")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "empty"),
        (gzip.compress(b""), "empty"),
        (b"not weights at all", "not an lc0 weight file"),
        (b"2\n0.1 0.2", "not an lc0 weight file"),
        (tiny.net(magic_=0x1C1), "not an lc0 weight file"),
        (b"\x0d\xc0\x01", "truncated"),
        (tiny.magic(), "has no weights"),
        (VALID[:-7], "truncated"),
        (gzip.compress(VALID)[:-20], "damaged gzip"),
        (gzip.compress(VALID)[:-4] + b"oops", "damaged gzip"),
        (b"\x1f\x8b" + b"rubbish" * 9, "damaged gzip"),
        (tiny.magic() + b"\xff" * 11, "64 bits"),
        (tiny.magic() + b"\x0b", "wire type 3"),
        (tiny.magic() + b"\x00\x00", "field number 0"),
        (tiny.magic() + tiny.field(99, 1) * 2000, "more than 1024 fields"),
        (tiny.magic() + tiny.field(10, 5), "must be a string"),
        (tiny.net(format_=tiny.field(1, 2)), "encoding 2"),
        (tiny.net(b""), "0 weights"),
        (tiny.net(tiny.field(2, b"") * 300), "0 weights"),
    ],
)
def test_what_is_no_weight_file(content, match):
    refused(content, match)


def change(number, content, **shape):
    """The valid network with one field of Weights replaced: the last one is what counts."""
    return tiny.net(tiny.weights(filters=2, se=1, planes=73, **shape) + tiny.field(number, content))


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (change(7, tiny.layer(np.ones(127))), "127 weights"),
        (change(8, tiny.layer(np.ones(15))), "15 numbers, expected 16"),
        (change(9, tiny.layer(np.ones(48))[:-1] + b""), "truncated"),
        (change(10, tiny.layer(np.ones(1))), "1 numbers, expected 3"),
        (change(6, tiny.field(1, tiny.layer(np.ones(3)))), "3 weights"),
        (change(3, tiny.field(1, tiny.layer(np.ones(72 * 2 * 9)))), "72 planes"),
        (change(2, tiny.field(1, tiny.field(1, tiny.layer(np.ones(36))))), "conv2: 0 weights"),
        (change(10, tiny.field(3, b"abc")), "not a multiple of 2"),
        (change(10, tiny.field(3, b"abcd") + tiny.field(4, 9)), "encoding 9"),
        (change(10, tiny.layer([np.nan, 1, 1], 4)), "a weight is not finite"),
        (change(10, tiny.layer([np.inf, 1, 1], 4)), "a weight is not finite"),
        (
            change(10, tiny.field(1, float("nan")) + tiny.field(3, b"aabbcc")),
            "a weight is not finite",
        ),
        (
            change(
                10, tiny.field(1, -3e38) + tiny.field(2, float("inf")) + tiny.field(3, b"aabbcc")
            ),
            "a weight is not finite",
        ),
    ],
)
def test_lengths_and_numbers_are_checked(content, match):
    refused(content, match)


def test_negative_variance():
    head = tiny.field(1, tiny.layer(np.ones(4), 4)) + tiny.field(3, tiny.layer(np.ones(2), 4))
    refused(change(6, head + tiny.field(4, tiny.layer(-np.ones(2), 4))), "a weight is not finite")


def test_blocks_alike():
    one = tiny.weights(filters=2, se=1, planes=73)
    plain = tiny.weights(filters=2, se=0, planes=73)
    start = field_end(plain)
    block = plain[start : start + field_end(plain[start:])]
    refused(tiny.net(one + block), "differ in squeeze-and-excitation")
    refused(tiny.net(plain + block * 257), "more than 256 residual blocks")


def test_bomb():
    """A small file that would expand without end is given up, and not held in memory."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as file:
        file.write(tiny.magic())
        for _ in range(64):
            file.write(bytes(2**20))
    assert len(packed.getvalue()) < 100_000
    tracemalloc.start()
    refused(packed.getvalue(), "expands to more than", limit=8 * 2**20)
    assert tracemalloc.get_traced_memory()[1] < 32 * 2**20
    tracemalloc.stop()
    # And one of something else is seen from its first byte.
    start = time.process_time()
    refused(gzip.compress(bytes(2**26)), "not an lc0 weight file")
    assert time.process_time() - start < 1.0


def test_paths(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_lc0(tmp_path / "none.pb.gz")
    with pytest.raises(InputError, match="not a file"):
        read_lc0(tmp_path)
    with pytest.raises(InputError, match="not a file"):
        read_lc0("/dev/zero")
    with pytest.raises(InputError, match="larger than 100 bytes"):
        read_lc0(tiny.write(tmp_path / "net.pb", VALID), limit=100)


def outcome(content):
    """The network, or the one line that refuses it; anything else fails the test."""
    try:
        return parse_lc0(content, "net.pb", limit=2**20)
    except InputError as error:
        message = str(error)
    assert "\n" not in message
    return message


@given(data=st.data())
@settings(max_examples=150, deadline=5000)
def test_damaged_files_load_or_are_refused(data):
    content = bytearray(VALID)
    # Most bytes are weights, where little can go wrong: aim at the start as well.
    places = st.integers(0, len(content) - 1) | st.integers(0, 120)
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(places)] = data.draw(st.integers(0, 255))
    content = bytes(content[: data.draw(st.integers(0, len(content)) | st.just(len(content)))])
    if data.draw(st.booleans()):
        content = bytearray(gzip.compress(content, 1))
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(0, 255))
    found = outcome(bytes(content))
    if not isinstance(found, str):
        assert all(np.isfinite(array).all() for array in found.arrays.values())


@given(st.binary(max_size=400))
@settings(max_examples=150, deadline=5000)
def test_any_bytes(content):
    for data in (content, tiny.magic() + content, tiny.net(content), tiny.net(format_=content)):
        outcome(data)


def test_float_of_a_wider_field():
    wide = struct.pack("<Q", 2**40)
    refused(change(10, b"\x09" + wide + tiny.field(3, b"aabbcc")), "must be a 32-bit float")
