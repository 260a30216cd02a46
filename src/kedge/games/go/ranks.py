"""Ranks of Go players and the servers they play on, as numbers that tables and networks use."""

import re

#: Number 1 is "kyu", number 11 "pro"; 0 stands for an unknown rank.
RANKS = ("kyu", *(f"{dan}d" for dan in range(1, 10)), "pro")
#: Number 1 is "KGS"; 0 stands for a game over the board, or an unknown server.
SERVERS = ("KGS", "Fox", "Tom", "Tygem")

_RANK = re.compile(r"(\d{1,2})\s*([dkp])", re.IGNORECASE | re.ASCII)


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


def server_number(text: str | None) -> int:
    """The number of a server by how its name begins, 0 where it is unknown.

    >>> server_number("Fox-9d") == server_number("fox"), server_number(None)
    (True, 0)
    """
    text = (text or "").lower()
    known = (n for n, name in enumerate(SERVERS, 1) if text.startswith(name.lower()))
    return next(known, 0)


__all__ = ["RANKS", "SERVERS", "rank_number", "server_number"]
