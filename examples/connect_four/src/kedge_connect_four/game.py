"""The rules of Connect Four: seven columns, six rows, four in a line win."""

from kedge.errors import InputError

COLUMNS, ROWS, LINE = 7, 6, 4
TERMINAL = -4  # what `current_player` returns after the end, as in OpenSpiel
_DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))
_COLOURS = ("#e34948", "#eda100")


class ConnectFour:
    """The game; `kedge.load_game("connect-four")` returns it."""

    name = "connect-four"
    num_players = 2

    def initial_state(self) -> "ConnectFourState":
        """The empty board."""
        return ConnectFourState()

    def __str__(self) -> str:
        return self.name


class ConnectFourState:
    """A position, with OpenSpiel's verbs. An action is a column, from 0 to 6."""

    num_players = 2

    def __init__(self) -> None:
        self.columns: list[list[int]] = [[] for _ in range(COLUMNS)]
        """Discs of each column from the bottom up: 0 for the first player, 1 for the second."""
        self.history: list[int] = []
        self.winner: int | None = None

    def current_player(self) -> int:
        return TERMINAL if self.is_terminal() else len(self.history) % 2

    def legal_actions(self) -> list[int]:
        if self.winner is not None:
            return []
        return [column for column in range(COLUMNS) if len(self.columns[column]) < ROWS]

    def apply_action(self, action: int) -> None:
        if self.is_terminal():
            raise InputError("the game is over")
        if action not in self.legal_actions():
            raise InputError(f"column {action + 1} is full, or not on the board")
        player = self.current_player()
        self.columns[action].append(player)
        self.history.append(action)
        if self._wins(action, player):
            self.winner = player

    def is_terminal(self) -> bool:
        return self.winner is not None or len(self.history) == COLUMNS * ROWS

    def returns(self) -> list[float]:
        """1 for a win, −1 for a loss, 0 for a draw or an unfinished game."""
        if self.winner is None:
            return [0.0, 0.0]
        return [1.0, -1.0] if self.winner == 0 else [-1.0, 1.0]

    def termination(self) -> str | None:
        """How the game ended."""
        if not self.is_terminal():
            return None
        return "four in a line" if self.winner is not None else "full board"

    def clone(self) -> "ConnectFourState":
        copy = ConnectFourState()
        copy.columns = [list(column) for column in self.columns]
        copy.history, copy.winner = list(self.history), self.winner
        return copy

    def action_to_string(self, action: int) -> str:
        """The column as players count: from 1."""
        return str(action + 1)

    def to_svg(self) -> str:
        """The board as a picture."""
        discs = "".join(
            f'<circle cx="{20 * x + 10}" cy="{20 * (ROWS - y) - 10}" r="8" '
            f'fill="{_COLOURS[disc]}"/>'
            for x, column in enumerate(self.columns)
            for y, disc in enumerate(column)
        )
        width, height = 20 * COLUMNS, 20 * ROWS
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
            f'<rect width="{width}" height="{height}" fill="#2a78d6"/>{discs}</svg>'
        )

    def disc(self, column: int, row: int) -> int | None:
        """The player whose disc lies there; None for an empty place."""
        on_board = 0 <= column < COLUMNS and 0 <= row < len(self.columns[column])
        return self.columns[column][row] if on_board else None

    def _wins(self, column: int, player: int) -> bool:
        """Whether the top disc of `column` completes a line."""
        row = len(self.columns[column]) - 1
        return any(
            1 + self._run(column, row, dx, dy, player) + self._run(column, row, -dx, -dy, player)
            >= LINE
            for dx, dy in _DIRECTIONS
        )

    def _run(self, column: int, row: int, dx: int, dy: int, player: int) -> int:
        length = 0
        while self.disc(column + dx * (length + 1), row + dy * (length + 1)) == player:
            length += 1
        return length

    def __str__(self) -> str:
        marks = {None: ".", 0: "x", 1: "o"}
        rows = [
            " ".join(marks[self.disc(column, row)] for column in range(COLUMNS))
            for row in reversed(range(ROWS))
        ]
        return "\n".join([*rows, " ".join(str(column + 1) for column in range(COLUMNS))])
