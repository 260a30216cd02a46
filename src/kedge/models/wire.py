"""A reader of the Protocol Buffers wire format, with bounds checks.

The schemas of lc0 and ONNX are small and fixed, so this page of code replaces compiled schemas, and
a damaged file gives a one-line error.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from kedge.errors import InputError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_MAX_FIELDS = 1024  # a message of lc0's largest networks has about 100


@dataclass(frozen=True)
class Message:
    """One message: the values of each field, of which the last counts unless it may repeat.

    ``where`` names the message in errors: the file, then the path of fields.
    """

    where: str
    data: memoryview
    limit: int = _MAX_FIELDS
    """Most fields that the message may have."""
    _fields: dict[int, list[int | memoryview]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        fields: dict[int, list[int | memoryview]] = {}
        for count, (number, value) in enumerate(_fields(self.data, self.where)):
            if count >= self.limit:
                raise InputError(f"{self.where}: more than {self.limit} fields")
            fields.setdefault(number, []).append(value)
        object.__setattr__(self, "_fields", fields)

    def has(self, number: int) -> bool:
        return number in self._fields

    def number(self, number: int, default: int = 0) -> int:
        """An integer or enum field, or the bits of a fixed-size one."""
        value = self._fields.get(number, [default])[-1]
        if isinstance(value, memoryview):
            raise InputError(f"{self.where}: field {number} must be a number")
        return value

    def numbers(self, number: int) -> list[int]:
        """A repeated integer field, packed or not."""
        numbers: list[int] = []
        for value in self._fields.get(number, []):
            if isinstance(value, int):
                numbers.append(value)
                continue
            at = 0
            while at < len(value):
                packed, at = _varint(value, at, self.where)
                numbers.append(packed)
        return numbers

    def real(self, number: int) -> float:
        """A ``float`` field; 0 if it is missing, as in the schema."""
        bits = self.number(number)
        if bits >= 1 << 32:
            raise InputError(f"{self.where}: field {number} must be a 32-bit float")
        value: float = struct.unpack("<f", bits.to_bytes(4, "little"))[0]
        return value

    def bytes(self, number: int) -> memoryview:
        value = self._fields.get(number, [memoryview(b"")])[-1]
        if isinstance(value, int):
            raise InputError(f"{self.where}: field {number} must be a string of bytes")
        return value

    def text(self, number: int, limit: int = 4096) -> str:
        return bytes(self.bytes(number)[:limit]).decode("utf-8", "replace")

    def message(self, number: int, name: str, *, limit: int = _MAX_FIELDS) -> "Message":
        """The message in a field; an empty one if it is missing."""
        return Message(f"{self.where}: {name}", self.bytes(number), limit)

    def messages(self, number: int, name: str) -> list["Message"]:
        """The messages in a repeated field."""
        messages = []
        for index, value in enumerate(self._fields.get(number, [])):
            if isinstance(value, int):
                raise InputError(f"{self.where}: field {number} must be a message")
            messages.append(Message(f"{self.where}: {name} {index}", value))
        return messages


def _fields(data: memoryview, where: str) -> Iterator[tuple[int, int | memoryview]]:
    at = 0
    while at < len(data):
        key, at = _varint(data, at, where)
        number, kind = key >> 3, key & 7
        value: int | memoryview
        if kind == VARINT:
            value, at = _varint(data, at, where)
        elif kind == BYTES:
            size, at = _varint(data, at, where)
            value, at = _take(data, at, size, where), at + size
        elif kind in (FIXED32, FIXED64):
            size = 4 if kind == FIXED32 else 8
            value, at = int.from_bytes(_take(data, at, size, where), "little"), at + size
        else:
            raise InputError(f"{where}: damaged (byte {at} has wire type {kind})")
        if number == 0:
            raise InputError(f"{where}: damaged (byte {at} has field number 0)")
        yield number, value


def _take(data: memoryview, at: int, size: int, where: str) -> memoryview:
    if size > len(data) - at:
        raise InputError(f"{where}: truncated (expected {size} bytes, found {len(data) - at})")
    return data[at : at + size]


def _varint(data: memoryview, at: int, where: str) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise InputError(f"{where}: truncated")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise InputError(f"{where}: damaged (a number has more than 64 bits)")
