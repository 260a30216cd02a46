"""What old text files are written in: they seldom say, and when they do, not always truly."""

import codecs
import functools
import math
import re

_SAMPLE = 1 << 16  # bytes of a file to judge by
_DECLARED = re.compile(rb"(?<![A-Z])CA\s*\[\s*([\w.:-]{1,30})\s*\]")
_HIGH = re.compile(r"[^\x00-\x7f]+")
_ANY = bytes(range(0x80, 0x100))
_RARE = math.log(20_000)
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949"}
# The everyday characters of each: lead and trail bytes; and how rare files in it are, in nats.
_GUESSES = (
    ("gb18030", ((0xB0, 0xD7),), 0.0),
    ("cp932", ((0x88, 0x97), (0x82, 0x83)), 1.0),  # kanji, kana
    ("big5", ((0xA4, 0xC6),), 1.0),
    ("cp949", ((0xB0, 0xC8),), 3.0),
)


def charset_of(raw: bytes) -> str:
    """The codec of a record of a game, from its first bytes (a few thousand, or all).

    What ``CA[…]`` names is believed where that could be seen to be wrong and is not. Then UTF-8;
    then the one of the old Chinese, Japanese and Korean codes in which the text is made of everyday
    characters; Latin-1 if the letters stand one by one between others.
    """
    raw = raw[:_SAMPLE]
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if raw.isascii():
        return "utf-8"
    declared = _declared(raw)
    if declared is not None and _decoded(_ANY, declared) is None:
        if _decoded(raw, declared) is not None:
            return declared
        declared = None
    if _decoded(raw, "utf-8") is not None:
        return "utf-8"
    if declared is not None:
        return declared
    costs = {name: prior + _cost(raw, name) for name, _, prior in _GUESSES}
    costs["latin-1"] = _latin_cost(raw)
    return min(costs, key=costs.__getitem__)


def _declared(raw: bytes) -> str | None:
    found = _DECLARED.search(raw)
    if found is None:
        return None
    try:
        codec = codecs.lookup(found[1].decode("ascii", "replace"))
    except LookupError:
        return None
    name = _WIDER.get(codec.name, codec.name)
    # Codecs of Python's own that are no charsets are refused, and those that ASCII is not part of.
    try:
        return name if b"(;".decode(name) == "(;" else None
    except (LookupError, UnicodeError):
        return None


def _decoded(raw: bytes, charset: str) -> str | None:
    """The text, or None where it is not in this charset; its last character may be cut in two."""
    try:
        return codecs.getincrementaldecoder(charset)("strict").decode(raw, False)
    except (LookupError, UnicodeError):
        return None


@functools.lru_cache(8)
def _everyday(charset: str) -> frozenset[str]:
    leads = next(leads for name, leads, _ in _GUESSES if name == charset)
    pairs = (
        bytes((lead, trail)).decode(charset, "ignore")
        for first, last in leads
        for lead in range(first, last + 1)
        for trail in range(0x40, 0xFF)
        if charset in ("cp932", "big5") or trail > 0xA0
    )
    return frozenset(pair for pair in pairs if len(pair) == 1 and pair > "\x7f")


def _cost(raw: bytes, charset: str) -> float:
    """How many nats the text takes if everyday characters are equally likely, and others rare."""
    text = _decoded(raw, charset)
    if text is None:
        return math.inf
    high = "".join(_HIGH.findall(text))
    everyday = _everyday(charset)
    common = sum(letter in everyday for letter in high)
    return common * math.log(len(everyday)) + (len(high) - common) * _RARE


def _latin_cost(raw: bytes) -> float:
    """The same for Latin-1, where accented letters stand alone."""
    runs = _HIGH.findall(raw.decode("latin-1"))
    return sum(math.log(64) if len(run) == 1 else _RARE * 0.75 * len(run) for run in runs)


__all__ = ["charset_of"]
