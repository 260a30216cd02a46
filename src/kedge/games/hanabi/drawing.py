"""Draw a table of Hanabi as SVG, from one player's view.

Fireworks, discards and tokens are on top; below them are the hands, oldest card on the left. Under
a card is what its holder knows from hints: possible colours and ranks, the others faint, and hinted
values underlined. The viewer's own cards show only that.
"""

from collections import Counter
from collections.abc import Iterator

from kedge.games.hanabi.game import COLOURS, Card, HanabiState, Known
from kedge.words import counted

_PAPER, _FELT, _INK, _FAINT = "#f4eee0", "#e4dcc8", "#2b2a33", "#c9c1b0"
_BACK, _RED, _BLUE, _GOLD = "#8d8779", "#c00000", "#2f6f9f", "#d08b00"
#: In the order of `COLOURS`; after Okabe and Ito, which colour-blind readers can distinguish.
_FILLS = ("#d55e00", "#f0d83c", "#009e73", "#fbf9f4", "#0072b2")
_INKS = ("#ffffff", _INK, "#ffffff", _INK, "#ffffff")
_MARGIN, _STEP = 24, 76  # around the table; between cards
_WIDE, _HIGH = 60, 84  # a card
_LEFT, _TOP, _ROW = _MARGIN + 108, 176, 152  # first hand; between hands


def draw(state: HanabiState, eyes: int) -> str:
    """Return the table as SVG, with the hand of the player `eyes` hidden."""
    slots = max(state.game.hand_size, 6)
    width = _LEFT + slots * _STEP + _MARGIN
    height = _TOP + state.num_players * _ROW + 36
    frame = f'width="{width}" height="{height}" rx="10"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="Hanabi table" '
        'font-family="sans-serif">',
        f'<rect {frame} fill="{_PAPER}"/>',
        *_fireworks(state),
        *_tokens(state, width),
        *_discards(state, width),
        *(part for seat in range(state.num_players) for part in _hand(state, seat, eyes, width)),
        _text(_MARGIN, height - 16, state.last_action_string(), 13),
        f'<rect {frame} fill="none" stroke="{_INK}" stroke-width="1.5"/>',
        "</svg>",
    ]
    return "\n".join(parts)


def _text(x: float, y: float, text: str, size: int, ink: str = _INK, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{ink}"{more}>{text}</text>'


def _card(x: float, y: float, card: Card | None, scale: float = 1.0, fill: str = "") -> str:
    """Return the face of a card, or a back of the colour `fill` if it is None."""
    wide, high = _WIDE * scale, _HIGH * scale
    fill = fill or (_FILLS[card.colour] if card else _BACK)
    face = (
        f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" rx="{6 * scale:g}" '
        f'fill="{fill}" stroke="{_INK}" stroke-width="1.2"/>'
    )
    if card is None:
        return face
    return face + _number(x, y, str(card.rank), scale, _INKS[card.colour])


def _number(x: float, y: float, text: str, scale: float, ink: str) -> str:
    middle = ' font-weight="bold" text-anchor="middle"'
    size = round(40 * scale)
    across, down = x + _WIDE * scale / 2, y + _HIGH * scale / 2 + 0.36 * size
    return _text(across, down, text, size, ink, middle)


def _fireworks(state: HanabiState) -> Iterator[str]:
    """Yield the top of each stack, or an empty place."""
    for colour, height in enumerate(state.fireworks):
        x = _MARGIN + colour * (_WIDE + 8)
        if height:
            yield _card(x, _MARGIN, Card(colour, height))
        else:
            yield (
                f'<rect x="{x}" y="{_MARGIN}" width="{_WIDE}" height="{_HIGH}" rx="6" '
                f'fill="{_FILLS[colour]}" fill-opacity="0.25" stroke="{_BACK}" '
                'stroke-dasharray="4 3"/>'
            )


def _tokens(state: HanabiState, width: int) -> Iterator[str]:
    """Yield score, deck, information and life tokens; spent tokens are hollow."""
    x = _MARGIN + 5 * (_WIDE + 8) + 12
    yield _text(x, _MARGIN + 16, counted(state.score, "point"), 18, more=' font-weight="bold"')
    yield _text(
        width - _MARGIN, _MARGIN + 16, f"{state.deck_size} to draw", 14, more=' text-anchor="end"'
    )
    rows = (
        (_BLUE, state.information, state.game.information_tokens),
        (_RED, state.lives, state.game.life_tokens),
    )
    for row, (ink, left, most) in enumerate(rows):
        step = min(20, (width - _MARGIN - x) / max(most, 1))
        for i in range(most):
            yield (
                f'<circle cx="{x + 8 + i * step:g}" cy="{_MARGIN + 42 + 26 * row}" r="7.5" '
                f'fill="{ink if i < left else "none"}" stroke="{ink}" stroke-width="1.5"/>'
            )


def _discards(state: HanabiState, width: int) -> Iterator[str]:
    """Yield small cards by colour and rank, overlapping if there are many."""
    y = _MARGIN + _HIGH + 14
    yield _text(_MARGIN, y + 21, "discards", 13)
    left = _MARGIN + 66
    counts = Counter(state.discards)
    step = min(24.0, (width - _MARGIN - left - 32) / max(1, len(counts)))
    for i, (card, count) in enumerate(counts.items()):
        for copy in range(count):
            yield _card(left + step * i, y + 5 * copy, card, 0.36)


def _hand(state: HanabiState, seat: int, eyes: int, width: int) -> Iterator[str]:
    y = _TOP + seat * _ROW
    turn = seat == state.current_player()
    mark = f'stroke="{_GOLD}" stroke-width="3"' if turn else f'stroke="{_FAINT}"'
    yield (
        f'<rect x="{_MARGIN - 8}" y="{y - 10}" width="{width - 2 * _MARGIN + 16}" '
        f'height="{_ROW - 8}" rx="8" fill="{_FELT}" {mark}/>'
    )
    yield _text(_MARGIN + 4, y + 20, f"player {seat}", 16, more=' font-weight="bold"')
    labels = " · ".join(["you"] * (seat == eyes) + ["to move"] * turn)
    yield _text(_MARGIN + 4, y + 40, labels, 13)
    touched = (seat == _hinted_player(state)) * state.last_touched
    for slot, (card, known) in enumerate(zip(state.hands[seat], state.known[seat], strict=True)):
        x = _LEFT + slot * _STEP
        if slot in touched:
            yield (
                f'<rect x="{x - 4}" y="{y - 4}" width="{_WIDE + 8}" height="{_HIGH + 8}" rx="9" '
                f'fill="{_GOLD}"/>'
            )
        yield _hidden(x, y, known) if seat == eyes else _card(x, y, card)
        yield from _knowledge(x, y + _HIGH, known, state)


def _hinted_player(state: HanabiState) -> int | None:
    """The player who received the last hint, or None."""
    if not state.history:
        return None
    at = state.game.moves[state.history[-1]].at
    return (len(state.history) - 1 + at) % state.num_players


def _hidden(x: float, y: float, known: Known) -> str:
    """Return a card back with the colour and rank that its holder knows."""
    sure = len(known.colours) == 1
    fill, ink = (f[known.colours[0]] if sure else "" for f in (_FILLS, _INKS))
    rank = str(known.ranks[0]) if len(known.ranks) == 1 else "?"
    return _card(x, y, None, fill=fill) + _number(x, y, rank, 1.0, ink or "#ffffff")


def _knowledge(x: float, y: float, known: Known, state: HanabiState) -> Iterator[str]:
    for i in range(state.game.colors):
        at = x + 6 + 12 * i
        may = i in known.colours
        yield (
            f'<circle cx="{at:g}" cy="{y + 14:g}" r="{4.5 if may else 1.5}" '
            f'fill="{_FILLS[i] if may else _FAINT}" '
            f'stroke="{_INK if may else _FAINT}" stroke-width="0.8">'
            f"<title>{COLOURS[i]}</title></circle>"
        )
    for rank in range(1, state.game.ranks + 1):
        ink = _INK if rank in known.ranks else _FAINT
        yield _text(x - 6 + 12 * rank, y + 35, str(rank), 12, ink, ' text-anchor="middle"')
    for hinted, below in ((known.colour, 21), (known.rank and known.rank - 1, 39)):
        if hinted is not None:
            line = f"M{x + 1 + 12 * hinted:g} {y + below:g}h10"
            yield f'<path d="{line}" stroke="{_INK}" stroke-width="2"/>'
