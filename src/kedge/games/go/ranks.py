"""Ranks of Go players and the servers they play on, as numbers that tables and networks use."""

import re

from kedge.errors import InputError

#: Number 1 is "kyu", number 11 "pro"; 0 stands for an unknown rank.
RANKS = ("kyu", *(f"{dan}d" for dan in range(1, 10)), "pro")
#: Number 1 is "KGS"; 0 stands for a game over the board, or an unknown server.
SERVERS = ("KGS", "Fox", "Tom", "Tygem")

_RANK = re.compile(r"(\d{1,2})\s*([dkp])", re.IGNORECASE | re.ASCII)
_GIVEN = re.compile(r"(\d{1,2})\s*(k|kyu|d|dan|p|pro)", re.ASCII)
_MOST = {"k": 30, "d": 9, "p": 9}


def rank_number(text: str | None) -> int:
    """The number of a rank as servers write it, 0 where it is unknown.

    >>> [RANKS[rank_number(text) - 1] for text in ("9p, Meijin", "3d", "6d ama", "12k")]
    ['pro', '3d', '6d', 'kyu']
    >>> rank_number(None), rank_number("ama"), rank_number("10d")
    (0, 0, 0)
    """
    text = (text or "").strip().lower()
    if text in RANKS:
        return RANKS.index(text) + 1
    match = _RANK.match(text)
    if match is None:
        return 0
    if match[2] != "d":
        return RANKS.index("pro" if match[2] == "p" else "kyu") + 1
    name = f"{int(match[1])}d"
    return RANKS.index(name) + 1 if name in RANKS else 0


def given_rank(option: str, rank: object, unknown: str | None = None) -> int:
    """Return the number of a rank that a user gave as `option`; `InputError` for no such rank.

    The word `unknown` is 0. Records have ranks of many spellings, which `rank_number` reads; a
    user's must exist.

    >>> given_rank("rank", "12k"), given_rank("rank", "9 dan"), given_rank("rank", "Pro")
    (1, 10, 11)
    """
    if unknown is not None and str(rank) == unknown:
        return 0
    text = str(rank).strip().lower()
    match = _GIVEN.fullmatch(text)
    if text in RANKS or (match and 1 <= int(match[1]) <= _MOST[match[2][0]]):
        return rank_number(text)
    also = "" if unknown is None else f", or {unknown}"
    known = f"30k to 1k or kyu, 1d to 9d, 1p to 9p or pro{also}"
    raise InputError(f"{option}: {known}, not {str(rank)!r}")


def rank_name(option: str, rank: object, unknown: str | None = None) -> str:
    """Return a rank that a user gave as `given_rank` takes it, in the words of `RANKS`.

    >>> rank_name("rank", "12k"), rank_name("rank", "unknown", unknown="unknown")
    ('kyu', 'unknown')
    """
    number = given_rank(option, rank, unknown)
    return RANKS[number - 1] if number else str(rank)


def server_number(text: str | None) -> int:
    """The number of a server by how its name begins, 0 where it is unknown.

    >>> server_number("Fox-9d") == server_number("fox"), server_number(None)
    (True, 0)
    """
    text = (text or "").lower()
    known = (n for n, name in enumerate(SERVERS, 1) if text.startswith(name.lower()))
    return next(known, 0)


__all__ = ["RANKS", "SERVERS", "given_rank", "rank_name", "rank_number", "server_number"]
