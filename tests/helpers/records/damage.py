"""Damage to files, as Hypothesis draws it."""

from hypothesis import strategies as st


def damaged(data, content: bytes) -> bytes:
    """Replace up to 40 bytes somewhere in `content` by up to 20 others."""
    place = data.draw(st.integers(0, len(content)))
    cut = data.draw(st.integers(0, 40))
    return content[:place] + data.draw(st.binary(max_size=20)) + content[place + cut :]
