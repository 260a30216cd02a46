"""Words of messages."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    >>> counted(1, "game"), counted(1200, "game"), counted(2, "policy", "policies")
    ('1 game', '1,200 games', '2 policies')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
