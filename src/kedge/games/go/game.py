"""Go on boards of 2×2 to 19×19: the rules. The native board does the work.

An action is the point ``y · size + x``, x from the left and y from the top, or size² for a pass.
Player 0 is black. A game ends with two passes in a row and is scored by area, every stone on the
board alive (Tromp–Taylor); `GoState.score` also takes dead stones off and counts territory.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from kedge import _core
from kedge.errors import InputError

TERMINAL = -4  #: The result of `current_player` after the end, as in OpenSpiel.
BLACK, WHITE, EMPTY = 0, 1, 2
COLUMNS = "ABCDEFGHJKLMNOPQRST"  #: Column letters of GTP, from the left.
MOST_KOMI = 361.0  #: In points, for either side: the points of the largest board.
_SGF = "abcdefghijklmnopqrs"


class Go:
    """The rules of Go on a board of `size` lines; see `kedge.games.load_game`."""

    name = "go"
    num_players = 2

    def __init__(self, size: int = 19, komi: float = 7.5) -> None:
        self.size, self.komi = size, komi

    def initial_state(self) -> "GoState":
        return GoState(self.size, self.komi)

    def __str__(self) -> str:
        return f"{self.name}(size={self.size}, komi={self.komi:g})"


class GoState:
    """A position of Go with its history, and the methods of OpenSpiel.

    `superko` is ``"positional"`` (no board repeats), ``"situational"`` (no board repeats with the
    same player to move) or ``"simple"`` (one stone may not be retaken at once), which most records
    of people follow. `suicide` allows suicide of several stones, never of one. `handicap` places
    black stones on the customary points; `black` and `white` place stones on any points. White
    moves first after a handicap, unless `player` is given.

    >>> state = GoState(9, handicap=2)
    >>> state.apply_action(state.parse_gtp("E5"))
    >>> state.gtp(state.legal_actions()[0]), state.score()
    ('A9', -6.5)
    """

    num_players = 2
    #: People pass before all dead stones are captured, so the score needs a judgement.
    ends_by_agreement = True

    def __init__(
        self,
        size: int = 19,
        komi: float = 7.5,
        *,
        superko: str = "positional",
        suicide: bool = False,
        handicap: int = 0,
        black: Iterable[int] = (),
        white: Iterable[int] = (),
        player: int | None = None,
    ) -> None:
        if not 2 <= size <= 19:
            raise InputError(f"size: from 2 to 19 lines, not {size}")
        if not abs(komi) <= MOST_KOMI:
            raise InputError(f"komi: at most {MOST_KOMI:g} points either way, not {komi:g}")
        if superko not in ("simple", "positional", "situational"):
            raise InputError(f"superko: simple, positional or situational, not {superko!r}")
        placed = [*(handicap_points(size, handicap) if handicap else ()), *map(int, black)]
        others = [int(point) for point in white]
        for point in placed + others:
            if not 0 <= point < size * size:
                raise InputError(f"setup: {point} is not a point of a {size}×{size} board")
        if player is None:
            player = WHITE if placed and not others else BLACK
        try:
            #: The native board, for searches and encoders.
            self.board = _core.GoBoard(
                size, komi, superko, suicide, placed, others, player == WHITE
            )
        except ValueError as error:
            raise InputError(f"setup: {error}") from None
        #: The actions since the first position.
        self.history: list[int] = []

    @property
    def size(self) -> int:
        return self.board.size

    @property
    def komi(self) -> float:
        return self.board.komi

    def colours(self) -> list[int]:
        """The colour on every point: BLACK, WHITE or EMPTY."""
        return [self.board.colour(point) for point in range(self.size**2)]

    def current_player(self) -> int:
        """The player to move: 0 for black, 1 for white."""
        return TERMINAL if self.is_terminal() else self.board.player()

    def set_player(self, player: int) -> None:
        """Give `player` the move, for records and programs that do not alternate."""
        self.board.set_player(player == WHITE)

    def legal_actions(self) -> list[int]:
        """The legal actions in ascending order, pass last; none when the game is over."""
        return self.board.legal_actions()

    def apply_action(self, action: int) -> None:
        if self.is_terminal():
            raise InputError("the game is over")
        action = self._legal(action)
        self.board.push(action)
        self.history.append(action)

    def undo_action(self) -> None:
        if not self.history:
            raise InputError("no move to undo")
        self.board.pop()
        self.history.pop()

    def is_terminal(self) -> bool:
        return self.board.is_terminal()

    def returns(self) -> list[float]:
        """One value per player: 1 for a win, −1 for a loss, 0 for a draw or an unfinished game."""
        value = self.board.terminal_value()
        return [value, 0.0 - value] if self.board.player() == BLACK else [0.0 - value, value]

    def termination(self) -> str | None:
        """How the game ended, in words; None before the end."""
        return "two passes" if self.is_terminal() else None

    def score(
        self, dead: Iterable[int] = (), rules: Literal["area", "territory"] = "area"
    ) -> float:
        """Black's points minus White's and komi, after removing the stones at `dead`.

        ``"area"``, as in China, counts stones and the empty points that only they reach;
        ``"territory"``, as in Japan, counts those points and prisoners. Eyes in seki count too.
        """
        stones = sorted({int(point) for point in dead})
        for point in stones:
            if not 0 <= point < self.size**2 or self.board.colour(point) == EMPTY:
                raise InputError(f"dead: no stone at point {point}")
        black, white, black_points, white_points = self.board.count(stones)
        if rules == "area":
            return black - white + black_points - white_points - self.komi
        lost = self.board.prisoners
        for point in stones:
            lost[self.board.colour(point)] += 1
        return black_points - white_points + lost[WHITE] - lost[BLACK] - self.komi

    def clone(self) -> "GoState":
        copy = GoState.__new__(GoState)
        copy.board = self.board.copy()
        copy.history = self.history.copy()
        return copy

    def gtp(self, action: int) -> str:
        return format_gtp(action, self.size)

    def parse_gtp(self, text: str) -> int:
        """Return the legal move that `text` names, such as ``D4`` or ``pass``."""
        return self._legal(parse_gtp(text, self.size))

    def sgf(self, action: int) -> str:
        return format_sgf(action, self.size)

    def parse_sgf(self, text: str) -> int:
        """Return the legal move that `text` names, such as ``dp``; empty text is a pass."""
        return self._legal(parse_sgf(text, self.size))

    def action_to_string(self, action: int) -> str:
        """The move in GTP's notation, which players use too."""
        return self.gtp(action)

    def protocol_name(self, action: int) -> str:
        """The move in GTP's notation."""
        return self.gtp(action)

    @property
    def move_number(self) -> int:
        """Number of the next move, from 1."""
        return len(self.history) + 1

    def to_svg(self) -> str:
        from kedge.games.go.drawing import draw

        return draw(self)

    def _legal(self, action: int) -> int:
        if not 0 <= action <= self.size**2:
            raise InputError(f"{action} is not a point of a {self.size}×{self.size} board")
        verdict = self.board.verdict(int(action))
        if verdict != "legal":
            raise InputError(f"{self.gtp(action)} is not a legal move: {verdict}")
        return int(action)

    def __str__(self) -> str:
        size, colours, stars = self.size, self.colours(), set(hoshi(self.size))
        columns = "    " + " ".join(COLUMNS[:size])
        rows = [columns]
        for y in range(size):
            points = range(y * size, (y + 1) * size)
            marks = [
                "XO"[colours[p]] if colours[p] != EMPTY else "+" if p in stars else "."
                for p in points
            ]
            row = list(f" {' '.join(marks)} ")
            if self.history and self.history[-1] in points:
                x = self.history[-1] % size
                row[2 * x], row[2 * x + 2] = "()"
            rows.append(f"{size - y:2} {''.join(row)}{size - y}")
        to_move = "game over" if self.is_terminal() else f"{'XO'[self.board.player()]} to move"
        x, o = self.board.prisoners
        return "\n".join([*rows, columns, f"{to_move}, komi {self.komi:g}, captured: {x} X, {o} O"])


def format_gtp(action: int, size: int) -> str:
    """Return the move in GTP: letters from the left without I, numbers from below, ``pass``."""
    if action == size * size:
        return "pass"
    y, x = divmod(action, size)
    return f"{COLUMNS[x]}{size - y}"


def parse_gtp(text: str, size: int) -> int:
    word = text.strip().upper()
    if word == "PASS":
        return size * size
    x = COLUMNS[:size].find(word[:1]) if word else -1
    number = int(word[1:]) if word.isascii() and word[1:].isdigit() and len(word) < 4 else 0
    if x < 0 or not 1 <= number <= size:
        raise InputError(f"{text[:40]!r} is not a point of a {size}×{size} board, such as A1")
    return (size - number) * size + x


def format_sgf(action: int, size: int) -> str:
    """Return two letters, from the left and from the top; empty for a pass."""
    if action == size * size:
        return ""
    y, x = divmod(action, size)
    return _SGF[x] + _SGF[y]


def parse_sgf(text: str, size: int) -> int:
    """Return the action that `text` names; a pass is empty or, in older files, ``tt``."""
    if text in ("", "tt"):
        return size * size
    places = [_SGF[:size].find(letter) for letter in text]
    if len(places) != 2 or min(places) < 0:
        raise InputError(f"{text[:40]!r} is not a point of a {size}×{size} board, such as aa")
    return places[1] * size + places[0]


def format_score(score: float) -> str:
    """Return the result for `score`, Black's points minus White's, in the form of SGF.

    >>> [format_score(score) for score in (3.5, -12.0, 0.0)]
    ['B+3.5', 'W+12', '0']
    """
    return f"{'B' if score > 0 else 'W'}+{abs(score):g}" if score else "0"


def neighbours(point: int, size: int) -> list[int]:
    y, x = divmod(point, size)
    points = [point - size] * (y > 0) + [point + size] * (y < size - 1)
    return points + [point - 1] * (x > 0) + [point + 1] * (x < size - 1)


def areas(colours: Sequence[int], size: int) -> Iterator[list[int]]:
    """Yield the connected areas of one colour: chains and empty areas, by their lowest points."""
    seen: set[int] = set()
    for start, colour in enumerate(colours):
        if start in seen:
            continue
        area = [start]
        seen.add(start)
        for point in area:  # grows during the loop
            new = [n for n in neighbours(point, size) if colours[n] == colour and n not in seen]
            seen.update(new)
            area += new
        yield area


def regions(colours: Sequence[int], size: int) -> Iterator[tuple[list[int], set[int]]]:
    """Yield the empty areas, each with the colours that border it."""
    for area in areas(colours, size):
        if colours[area[0]] == EMPTY:
            around = {colours[n] for point in area for n in neighbours(point, size)}
            yield area, around - {EMPTY}


def hoshi(size: int) -> list[int]:
    """Return the star points of a board in ascending order."""
    if size < 7:
        return [size * size // 2] if size % 2 else []
    near, middle = 3 if size > 12 else 2, size // 2
    lines = [near, size - 1 - near]
    cross = [(x, y) for x in lines for y in lines]
    if size % 2:
        cross.append((middle, middle))
        if size > 12:
            cross += [(x, y) for a in lines for x, y in ((a, middle), (middle, a))]
    return sorted(y * size + x for x, y in cross)


def handicap_points(size: int, stones: int) -> list[int]:
    """Return the customary handicap points: 2 to 9, at most 4 on even boards and 7×7 (GTP)."""
    most = 0 if size < 7 else 4 if size % 2 == 0 or size == 7 else 9
    if not 2 <= stones <= most:
        allowed = f"from 2 to {most} stones" if most else "no fixed handicap; place the stones"
        raise InputError(f"handicap: {allowed} on {size}×{size}, not {stones}")
    near, middle = 3 if size > 12 else 2, size // 2
    far = size - 1 - near
    corners = [(near, far), (far, near), (near, near), (far, far)]
    sides = [(near, middle), (far, middle), (middle, near), (middle, far)]
    points = corners[:stones] + sides[: (stones - 4) // 2 * 2 if stones > 5 else 0]
    if stones > 4 and stones % 2:
        points.append((middle, middle))
    return [y * size + x for x, y in points]
