"""A writer of lc0 weight files, for networks small enough to make in a test."""

import gzip
import struct

import numpy as np

CONVOLUTION = {"structure": 4, "policy": 2, "value": 2}
CLASSICAL = {"structure": 3, "policy": 1, "value": 1}


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, content):
    """A field: bytes, an int (varint) or a float (32 bits)."""
    if isinstance(content, bytes):
        return varint(number << 3 | 2) + varint(len(content)) + content
    if isinstance(content, float):
        return varint(number << 3 | 5) + struct.pack("<f", content)
    return varint(number << 3) + varint(content)


def magic(number=0x1C0):
    return varint(1 << 3 | 5) + struct.pack("<I", number)


def layer(array, encoding=1):
    array = np.asarray(array, np.float32).ravel()
    if encoding == 4:
        return field(3, array.tobytes()) + field(4, 4)
    if encoding == 2:
        return field(3, array.astype("<f2").tobytes()) + field(4, 2)
    if encoding == 3:
        bits = (array.view(np.uint32) >> 16).astype("<u2")
        return field(3, bits.tobytes()) + field(4, 3)
    least, greatest = float(array.min()), float(array.max())
    steps = np.round((array - least) / max(greatest - least, 1e-12) * 65535).astype("<u2")
    return field(1, least) + field(2, greatest) + field(3, steps.tobytes())


class Maker:
    """Random layers, scaled so that what goes through them neither dies nor explodes."""

    def __init__(self, seed=0, encoding=1):
        self.rng = np.random.default_rng(seed)
        self.encoding = encoding

    def numbers(self, *shape, scale=1.0):
        return layer(self.rng.normal(size=shape) * scale, self.encoding)

    def conv(self, outputs, inputs, size, *, norm=None):
        scale = (inputs * size * size) ** -0.5
        out = field(1, self.numbers(outputs, inputs, size, size, scale=scale))
        if norm is None:
            return out + field(2, self.numbers(outputs, scale=0.1))
        out += field(3, self.numbers(outputs, scale=0.1))
        out += field(4, layer(self.rng.uniform(0.5, 2.0, outputs), self.encoding))
        if norm == "full":
            out += field(5, self.numbers(outputs)) + field(6, self.numbers(outputs, scale=0.1))
        return out

    def dense(self, numbers, outputs, inputs):
        out = field(numbers[0], self.numbers(outputs, inputs, scale=inputs**-0.5))
        return out + field(numbers[1], self.numbers(outputs, scale=0.1))


def weights(
    *,
    filters=8,
    blocks=1,
    se=4,
    policy=2,
    value=2,
    planes=80,
    norm=None,
    seed=0,
    encoding=1,
):
    """The message Weights."""
    make = Maker(seed, encoding)
    out = field(1, make.conv(filters, 112, 3, norm=norm))
    for _ in range(blocks):
        block = field(1, make.conv(filters, filters, 3, norm=norm))
        block += field(2, make.conv(filters, filters, 3, norm=norm))
        if se:
            unit = make.dense((1, 2), se, filters) + make.dense((3, 4), 2 * filters, se)
            block += field(3, unit)
        out += field(2, block)
    if policy == 2:
        out += field(11, make.conv(filters, filters, 3, norm=norm))
        out += field(3, make.conv(planes, filters, 3))
    else:
        out += field(3, make.conv(2, filters, 1, norm=norm))
        out += make.dense((4, 5), 1858, 128)
    out += field(6, make.conv(2, filters, 1, norm=norm))
    out += make.dense((7, 8), 16, 128)
    out += make.dense((9, 10), 3 if value == 2 else 1, 16)
    # A moves-left head, which nobody reads.
    return out + field(12, make.conv(1, filters, 1))


def net(
    content=None,
    *,
    structure=4,
    policy=2,
    value=2,
    inputs=1,
    activation=0,
    format_=None,
    magic_=0x1C0,
    **shape,
):
    """The message Net, uncompressed."""
    content = weights(policy=policy, value=value, **shape) if content is None else content
    if format_ is None:
        network = field(1, inputs) + field(3, structure) + field(4, policy) + field(5, value)
        network += field(7, activation) if activation else b""
        format_ = field(1, 1) + field(2, network)
    training = field(1, 400_000) + field(5, 51.5)
    return (
        magic(magic_)
        + field(2, b"a licence")
        + field(4, format_)
        + field(5, training)
        + field(10, content)
    )


def write(path, content):
    """Compressed if the name says so."""
    path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)
    return path
