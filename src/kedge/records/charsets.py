"""Guess the character encoding of old text files: few declare it, and some declare a wrong one."""

import codecs
import functools
import math
import re

_SAMPLE = 1 << 16  # bytes of a file that the guess uses
_DECLARED = re.compile(rb"(?<![A-Z])CA\s*\[\s*([\w.:-]{1,30})\s*\]")
_HIGH = re.compile(r"[^\x00-\x7f]+")
_ANY = bytes(range(0x80, 0x100))
_RARE = math.log(20_000)
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949"}
# Per charset: the lead bytes of its everyday characters, and the rarity of its files in nats.
_GUESSES = (
    ("gb18030", ((0xB0, 0xD7),), 0.0),
    ("cp932", ((0x88, 0x97), (0x82, 0x83)), 1.0),  # kanji, kana
    ("big5", ((0xA4, 0xC6),), 1.0),
    ("cp949", ((0xB0, 0xC8),), 3.0),
)


def charset_of(raw: bytes) -> str:
    """Return the codec of a game record, from its first bytes (a few thousand, or all).

    ``CA[…]`` is believed if a wrong charset would fail to decode and this one decodes. UTF-8 comes
    next; then the old Chinese, Japanese or Korean charset in which the text has most everyday
    characters. Latin-1 wins if the non-ASCII letters stand alone between others.
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
    match = _DECLARED.search(raw)
    if match is None:
        return None
    try:
        codec = codecs.lookup(match[1].decode("ascii", "replace"))
    except LookupError:
        return None
    name = _WIDER.get(codec.name, codec.name)
    # Refuse Python codecs that are not charsets (such as rot13), and charsets without ASCII.
    try:
        return name if b"(;".decode(name) == "(;" else None
    except (LookupError, UnicodeError):
        return None


def _decoded(raw: bytes, charset: str) -> str | None:
    """Return the text, or None if it is not in this charset; it may end inside a character."""
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
    """The text's cost in nats if everyday characters are equally likely and others rare."""
    text = _decoded(raw, charset)
    if text is None:
        return math.inf
    high = "".join(_HIGH.findall(text))
    everyday = _everyday(charset)
    common = sum(letter in everyday for letter in high)
    return common * math.log(len(everyday)) + (len(high) - common) * _RARE


def _latin_cost(raw: bytes) -> float:
    """The cost in nats under Latin-1, where accented letters stand alone."""
    runs = _HIGH.findall(raw.decode("latin-1"))
    return sum(math.log(64) if len(run) == 1 else _RARE * 0.75 * len(run) for run in runs)


__all__ = ["charset_of"]
