"""Hanabi for two to five players: the rules. The native games do the work.

Actions are numbered as in the Hanabi Learning Environment and OpenSpiel: discard slot 0, 1, …, play
slot 0, 1, …, tell the next player each colour, the one after, …, then each rank in the same way.
Slot 0 is a hand's oldest card; a new card comes last. The deck in deal order and the actions
determine a game.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError

TERMINAL = -4  #: The result of `current_player` after the end, as in OpenSpiel.
COLOURS = ("red", "yellow", "green", "white", "blue")
TOLD = 128  #: The native core's flag for a colour or rank that a hint named.
_FIRST = np.zeros(1, np.int64)  # the only game of a batch

Kind = Literal["discard", "play", "color", "rank"]
#: The score after the last life is lost: zero, or the cards played.
Bomb = Literal["zero", "stack"]
BOMBS: tuple[Bomb, ...] = get_args(Bomb)
#: The cards that features show: all, all but the player's own, or none.
View = Literal["full", "private", "public"]


class Card(NamedTuple):
    """A colour, from 0, and a rank, from 1.

    >>> str(Card(2, 5))
    'G5'
    """

    colour: int
    rank: int

    def __str__(self) -> str:
        return f"{COLOURS[self.colour][0].upper()}{self.rank}"


class Move(NamedTuple):
    """An action: a slot to discard or play, or a hint."""

    kind: Kind
    #: The slot; for a hint, the number of seats to the player who receives it.
    at: int
    #: The hinted colour or rank, numbered as in `Card`.
    value: int = -1


class Known(NamedTuple):
    """The knowledge of a card's holder from hints."""

    #: The possible colours and ranks.
    colours: tuple[int, ...]
    ranks: tuple[int, ...]
    #: The colour and rank that hints named.
    colour: int | None
    rank: int | None

    def __str__(self) -> str:
        colour = COLOURS[self.colours[0]][0].upper() if len(self.colours) == 1 else "?"
        return colour + (str(self.ranks[0]) if len(self.ranks) == 1 else "?")


class Hanabi:
    """The rules of Hanabi; see `kedge.games.load_game`.

    By default a hand has five cards, or four with four or more players. When the last life is
    lost, the score is 0; with ``bomb="stack"`` it is the number of cards played.
    """

    name = "hanabi"

    def __init__(
        self,
        players: int = 2,
        colors: int = 5,
        ranks: int = 5,
        hand_size: int | None = None,
        information_tokens: int = 8,
        life_tokens: int = 3,
        bomb: str = "zero",
    ) -> None:
        if hand_size is None:
            hand_size = 5 if isinstance(players, int) and players < 4 else 4
        self.parameters: dict[str, Any] = {
            "players": players,
            "colors": colors,
            "ranks": ranks,
            "hand_size": hand_size,
            "information_tokens": information_tokens,
            "life_tokens": life_tokens,
        }
        for name, value in self.parameters.items():
            if type(value) is not int:
                raise InputError(f"hanabi: {name} must be a whole number, not {value!r}")
        bomb = str(bomb)  # a word in a spec is parsed as a Spec
        if bomb not in BOMBS:
            raise InputError(f"hanabi: bomb must be zero or stack, not {bomb!r}")
        self.num_players, self.colors, self.ranks = players, colors, ranks
        self.hand_size, self.bomb = hand_size, bomb
        self.information_tokens, self.life_tokens = information_tokens, life_tokens
        try:
            #: The native rules.
            self.rules = _core.HanabiRules(**self.parameters, bomb_is_zero=bomb == "zero")
        except ValueError as error:
            raise InputError(f"hanabi: {error}") from None
        #: The move of each action.
        self.moves = [
            Move(kind, at, value + (kind == "rank")) for kind, at, value in self.rules.moves()
        ]
        #: Each action as a batch of one.
        self.steps = {action: np.array([action]) for action in range(len(self.moves))}
        #: The action of each move.
        self.actions = {move: action for action, move in enumerate(self.moves)}
        #: All cards, sorted.
        self.cards = [self.card(number) for number in self.rules.deck().tolist()]

    def card(self, number: int) -> Card:
        """Return the card with this number in the native core."""
        colour, rank = divmod(number, self.ranks)
        return Card(colour, rank + 1)

    def numbers(self, deck: Iterable[Card]) -> npt.NDArray[np.uint8]:
        """Return the numbers of cards in the native core."""
        return np.array([colour * self.ranks + rank - 1 for colour, rank in deck], np.uint8)

    def num_features(self, view: View = "private") -> int:
        """Number of features of a view: for two players 783, 658 or 533."""
        return self.rules.features(view)

    def deal(self, count: int, rng: np.random.Generator) -> _core.HanabiGames:
        """Return many games with random decks, as arrays that step together."""
        decks = np.tile(self.rules.deck(), (count, 1))
        return _core.HanabiGames(self.rules, rng.permuted(decks, axis=1))

    def initial_state(
        self, deck: Iterable[Sequence[int]] | None = None, rng: np.random.Generator | None = None
    ) -> "HanabiState":
        """Return a new game from cards (colour, rank) in deal order, or shuffled by `rng`.

        Seat 0 is dealt its whole hand first, then seat 1, and so on; the draw pile follows.
        """
        if deck is None:
            shuffled = (rng or np.random.default_rng()).permutation(len(self.cards))
            deck = [self.cards[i] for i in shuffled]
        return HanabiState(self, deck)

    def __str__(self) -> str:
        given = [f"{name}={value}" for name, value in self.parameters.items()]
        return f"{self.name}({', '.join(given)}, bomb={self.bomb})"

    def __reduce__(self) -> tuple[type["Hanabi"], tuple[int | str, ...]]:
        """Pickle the parameters; native rules are rebuilt."""
        return Hanabi, (*self.parameters.values(), self.bomb)


class HanabiState:
    """A position of Hanabi with its history, and the methods of OpenSpiel.

    >>> state = Hanabi().initial_state(Hanabi().cards)
    >>> state.apply_action(state.game.actions[Move("rank", 1, 4)])
    >>> [str(known) for known in state.known[1]], state.information
    (['??', '??', '?4', '?4', '??'], 7)
    """

    def __init__(self, game: Hanabi, deck: Iterable[Sequence[int]]) -> None:
        self.game = game
        self.num_players = game.num_players
        #: All cards in deal order.
        self.deck = _whole_deck(game, deck)
        #: The game before each move and now, as native batches of one. They are not modified, so
        #: that agents that follow the game need not replay it.
        self.positions = [_core.HanabiGames(game.rules, game.numbers(self.deck)[np.newaxis])]
        self.history: list[int] = []

    @property
    def games(self) -> _core.HanabiGames:
        """This game as a native batch of one."""
        return self.positions[-1]

    def current_player(self) -> int:
        return int(self.games.current_players()[0])

    def legal_actions(self) -> list[int]:
        """The legal actions in ascending order; none when the game is over."""
        legal = int(self.games.legal_actions()[0])
        return [action for action in range(len(self.game.moves)) if legal >> action & 1]

    def apply_action(self, action: int) -> None:
        after = self.games.take(_FIRST)
        try:
            after.step(self.game.steps[action], 1)
        except (KeyError, ValueError):
            raise InputError(self._refusal(action)) from None
        self.advance(action, after)

    def advance(self, action: int, after: _core.HanabiGames) -> None:
        """Take `after`, a batch of one, as the game after a legal action."""
        self.positions.append(after)
        self.history.append(int(action))

    def is_terminal(self) -> bool:
        return self.current_player() == TERMINAL

    def returns(self) -> list[float]:
        """The common score for each player once the game is over, zeros before."""
        return [float(self.score if self.is_terminal() else 0)] * self.num_players

    @property
    def score(self) -> int:
        """Number of cards played; 0 after the last life is lost, unless ``bomb="stack"``."""
        return int(self.games.scores()[0])

    @property
    def information(self) -> int:
        """Information tokens left."""
        return int(self.games.information()[0])

    @property
    def lives(self) -> int:
        return int(self.games.lives()[0])

    @property
    def deck_size(self) -> int:
        """Cards left to draw."""
        return int(self.games.deck_sizes()[0])

    @property
    def fireworks(self) -> list[int]:
        """The highest rank on the stack of each colour, 0 if empty."""
        return list(self.games.fireworks()[0].tolist())

    @property
    def discards(self) -> list[Card]:
        """Discarded cards, sorted by colour and rank."""
        counts = enumerate(self.games.discards()[0].tolist())
        return [self.game.card(number) for number, count in counts for _ in range(count)]

    @property
    def hands(self) -> list[list[Card]]:
        """Each seat's cards, oldest first."""
        hands = self.games.hands()[0].tolist()
        return [[self.game.card(number) for number in hand if number >= 0] for hand in hands]

    @property
    def known(self) -> list[list[Known]]:
        """Each seat's knowledge of its cards, from hints."""
        colours, ranks = self.games.known_colours()[0], self.games.known_ranks()[0]
        return [
            [_known(*bits) for bits in zip(*hand, strict=True) if any(bits)]
            for hand in zip(colours.tolist(), ranks.tolist(), strict=True)
        ]

    @property
    def last_touched(self) -> list[int]:
        """Slots touched by the last action, if it was a hint."""
        touched = int(self.games.last_moves()[0, 2])
        return [slot for slot in range(self.game.hand_size) if touched >> slot & 1]

    def observation_tensor(
        self, player: int | None = None, view: View = "private", *, beliefs: bool = False
    ) -> npt.NDArray[np.float32]:
        """Return the features that `player`, by default the mover, sees.

        Their order is that of the Hanabi Learning Environment; the private view is OpenSpiel's.
        With `beliefs`, the possible values of a card are weighted by the copies not yet played or
        discarded, and sum to 1.
        """
        row = np.empty(self.game.num_features(view), np.float32)
        seats = None if player is None else np.array([self._seat(player)], np.int64)
        self.games.encode(row[np.newaxis], view, seats, beliefs, 1)
        return row

    def clone(self) -> "HanabiState":
        copy = HanabiState.__new__(HanabiState)
        copy.__dict__.update(self.__dict__)
        copy.positions, copy.history = self.positions.copy(), self.history.copy()
        return copy

    def action_to_string(self, action: int, player: int | None = None) -> str:
        """Return the action of `player`, by default the mover, in words; slots count from 1.

        >>> state = Hanabi(players=3).initial_state()
        >>> [state.action_to_string(action) for action in (0, 9, 15, 20)]
        ['discard card 1', 'play card 5', 'tell player 2 red', 'tell player 1 1s']
        """
        kind, at, value = self.game.moves[action]
        if kind in ("discard", "play"):
            return f"{kind} card {at + 1}"
        if player is None:
            player = len(self.history) % self.num_players
        hinted = COLOURS[value] if kind == "color" else f"{value}s"
        return f"tell player {(player + at) % self.num_players} {hinted}"

    @property
    def move_number(self) -> int:
        """Number of the next move, from 1."""
        return len(self.history) + 1

    def last_action_string(self) -> str:
        """The last action with its player and result; empty before the first action."""
        if not self.history:
            return ""
        action, number, _, scored, _ = self.games.last_moves()[0].tolist()
        player = (len(self.history) - 1) % self.num_players
        text = f"player {player}: {self.action_to_string(action, player)}"
        kind = self.game.moves[action].kind
        if kind in ("color", "rank"):
            return f"{text} ({', '.join(str(slot + 1) for slot in self.last_touched)})"
        missed = ", a miss" if kind == "play" and not scored else ""
        return f"{text}, {self.game.card(number)}{missed}"

    def to_svg(self, player: int | None = None) -> str:
        """Return the table from the view of `player` (default: the mover), all cards at the end."""
        from kedge.games.hanabi.drawing import draw

        return draw(self, self._eyes(player))

    def to_text(self, player: int | None = None) -> str:
        """Return the table of `to_svg` as text: cards, and what their holders know of them."""
        eyes, turn = self._eyes(player), self.current_player()
        fireworks = [str(Card(*top)) for top in enumerate(self.fireworks)]
        rows = [
            f"lives {self.lives}, hints {self.information}, deck {self.deck_size}, "
            f"score {self.score}{', over' if self.is_terminal() else ''}",
            f"fireworks  {' '.join(fireworks)}",
            f"discards   {' '.join(map(str, self.discards)) or 'none'}",
        ]
        for seat, (hand, known) in enumerate(zip(self.hands, self.known, strict=True)):
            seen = [
                str(hints) if seat == eyes else f"{card}/{hints}"
                for card, hints in zip(hand, known, strict=True)
            ]
            rows.append(f"player {seat}{' *' if seat == turn else '  '} {' '.join(seen)}")
        if self.history:
            rows.append(f"last       {self.last_action_string()}")
        return "\n".join(rows)

    def __str__(self) -> str:
        return self.to_text()

    def _seat(self, player: int) -> int:
        if player not in range(self.num_players):
            raise InputError(f"player {player}: seats are 0 to {self.num_players - 1}")
        return player

    def _eyes(self, player: int | None) -> int:
        """The seat whose cards are hidden; TERMINAL hides none."""
        return self.current_player() if player is None else self._seat(player)

    def _refusal(self, action: int) -> str:
        """The reason why an action is illegal."""
        if self.is_terminal():
            return "the game is over"
        if action not in range(len(self.game.moves)):
            return f"action {action}: actions are 0 to {len(self.game.moves) - 1}"
        kind = self.game.moves[action].kind
        if kind == "discard" and self.information == self.game.information_tokens:
            reason = "all information tokens are available"
        elif kind in ("color", "rank") and not self.information:
            reason = "no information token is left"
        else:
            reason = "no such card"
        return f"{self.action_to_string(action)}: {reason}"


def _known(colours: int, ranks: int) -> Known:
    may_colours = tuple(i for i in range(5) if colours >> i & 1)
    may_ranks = tuple(i + 1 for i in range(5) if ranks >> i & 1)
    return Known(
        may_colours,
        may_ranks,
        may_colours[0] if colours & TOLD else None,
        may_ranks[0] if ranks & TOLD else None,
    )


def _whole_deck(game: Hanabi, cards: Iterable[Sequence[int]]) -> list[Card]:
    try:
        deck = [Card(*card) for card in cards]
    except TypeError:
        raise InputError("deck: a card must be a colour and a rank") from None
    if len(deck) != len(game.cards):
        raise InputError(f"deck: {len(deck)} cards, expected {len(game.cards)}")
    copies, counts = Counter(game.cards), Counter(deck)
    for card, count in counts.items():
        if card not in copies:
            raise InputError(f"deck: {tuple(card)} is not a card (colour from 0, rank from 1)")
        if count > copies[card]:
            raise InputError(f"deck: {card} occurs {count} times, expected {copies[card]}")
    return deck
