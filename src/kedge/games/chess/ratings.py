"""Rating scales and speeds of chess games, as numbers that tables and networks use."""

#: Where a rating was earned; number 1 is "lichess", and 0 stands for an unknown scale.
SCALES = ("lichess", "chess.com", "fide")
#: How fast a game is, by Lichess's bounds; number 1 is "bullet", and 0 stands for unknown.
SPEEDS = ("bullet", "blitz", "rapid", "classical")


def scale_number(text: str | None) -> int:
    """Return the number of the scale of a site, or 0.

    >>> [scale_number(text) for text in ("https://lichess.org/abc", "Chess.com", "OTB", "Paris")]
    [1, 2, 3, 0]
    """
    text = (text or "").lower()
    if text in ("otb", "over the board"):
        return SCALES.index("fide") + 1
    return next((number for number, name in enumerate(SCALES, 1) if name in text), 0)


def scale_of(site: str | None) -> str | None:
    """Return the scale of the ratings at a site, one of `SCALES`, or None."""
    number = scale_number(site)
    return SCALES[number - 1] if number else None


def speed_number(text: str | None) -> int:
    """Return the number of a speed, or 0.

    >>> speed_number("blitz"), speed_number("unknown")
    (2, 0)
    """
    return SPEEDS.index(text) + 1 if text in SPEEDS else 0


__all__ = ["SCALES", "SPEEDS", "scale_number", "scale_of", "speed_number"]
