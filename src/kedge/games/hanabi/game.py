"""Hanabi for two to five players: the rules. The native games do the work.

Actions are numbered as in the Hanabi Learning Environment and OpenSpiel: discard slot 0, 1, …, play
slot 0, 1, …, tell the next player each colour, the one after, …, then each rank in the same way.
Slot 0 is a hand's oldest card, and a new one comes last. A game is a deck in the order in which it
is dealt, and the actions: nothing else is left to chance.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.errors import InputError

TERMINAL = -4  #: What `current_player` answers after the end, as in OpenSpiel.
COLOURS = ("red", "yellow", "green", "white", "blue")
TOLD = 128  #: The native core's mark, in what is known of a card, of what a hint said.

Kind = Literal["discard", "play", "color", "rank"]
#: What a game is worth whose last life is lost: nothing, or what was built.
Bomb = Literal["zero", "stack"]
BOMBS: tuple[Bomb, ...] = get_args(Bomb)
#: Which cards a row of features shows: all, all but one's own, or none.
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
    """What an action is: a slot to discard or play, or a hint."""

    kind: Kind
    #: The slot; of a hint, how many seats on the player sits who is told.
    at: int
    #: The colour or the rank that is told, numbered as in `Card`.
    value: int = -1


class Known(NamedTuple):
    """What the hints of a game tell the holder of a card about it."""

    #: What it may be, one by one.
    colours: tuple[int, ...]
    ranks: tuple[int, ...]
    #: What a hint said that it is.
    colour: int | None
    rank: int | None

    def __str__(self) -> str:
        colour = COLOURS[self.colours[0]][0].upper() if len(self.colours) == 1 else "?"
        return colour + (str(self.ranks[0]) if len(self.ranks) == 1 else "?")


class Hanabi:
    """The rules, as `kedge.games.load_game` hands them out.

    A hand has five cards, four from four players on, unless `hand_size` says so. When the last life
    is lost, a game is worth nothing; with ``bomb="stack"`` it is worth the cards that were played.
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
                raise InputError(f"hanabi: {name} is a whole number, not {value!r}")
        bomb = str(bomb)  # a word of a spec is one itself
        if bomb not in BOMBS:
            raise InputError(f"hanabi: bomb is zero or stack, not {bomb!r}")
        self.num_players, self.colors, self.ranks = players, colors, ranks
        self.hand_size, self.bomb = hand_size, bomb
        self.information_tokens, self.life_tokens = information_tokens, life_tokens
        try:
            #: The native rules.
            self.rules = _core.HanabiRules(**self.parameters, bomb_is_zero=bomb == "zero")
        except ValueError as error:
            raise InputError(f"hanabi: {error}") from None
        #: What each action is.
        self.moves = [
            Move(kind, at, value + (kind == "rank")) for kind, at, value in self.rules.moves()
        ]
        #: The action of each move.
        self.actions = {move: action for action, move in enumerate(self.moves)}
        #: All cards, in order.
        self.cards = [self.card(number) for number in self.rules.deck().tolist()]

    def card(self, number: int) -> Card:
        """The card that the native core knows by this number."""
        colour, rank = divmod(number, self.ranks)
        return Card(colour, rank + 1)

    def num_features(self, view: View = "private") -> int:
        """How many numbers a network is shown: of two players 783 in all, 658 or 533."""
        return self.rules.features(view)

    def deal(self, count: int, rng: np.random.Generator) -> _core.HanabiGames:
        """Many games at once, each from a deck of its own: arrays that step together."""
        decks = np.tile(self.rules.deck(), (count, 1))
        return _core.HanabiGames(self.rules, rng.permuted(decks, axis=1))

    def initial_state(
        self, deck: Iterable[Sequence[int]] | None = None, rng: np.random.Generator | None = None
    ) -> "HanabiState":
        """A new game, from cards (colour, rank) in deal order, or from those that `rng` shuffles.

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
        """Native rules are not copied: they are made again."""
        return Hanabi, (*self.parameters.values(), self.bomb)


class HanabiState:
    """A game of Hanabi up to some turn, with OpenSpiel's verbs.

    >>> state = Hanabi().initial_state(Hanabi().cards)
    >>> state.apply_action(state.game.actions[Move("rank", 1, 4)])
    >>> [str(known) for known in state.known[1]], state.information
    (['??', '??', '?4', '?4', '??'], 7)
    """

    def __init__(self, game: Hanabi, deck: Iterable[Sequence[int]]) -> None:
        self.game = game
        self.num_players = game.num_players
        #: Every card, in the order in which they are dealt.
        self.deck = _whole_deck(game, deck)
        #: This one game, as the native core holds thousands.
        self.games = self.beginning()
        self.history: list[int] = []

    def beginning(self) -> _core.HanabiGames:
        """The game before its first move."""
        numbers = [card.colour * self.game.ranks + card.rank - 1 for card in self.deck]
        return _core.HanabiGames(self.game.rules, np.array([numbers], np.uint8))

    def current_player(self) -> int:
        return int(self.games.current_players()[0])

    def legal_actions(self) -> list[int]:
        """In ascending order; none when the game is over."""
        legal = int(self.games.legal_actions()[0])
        return [action for action in range(len(self.game.moves)) if legal >> action & 1]

    def apply_action(self, action: int) -> None:
        if self.is_terminal():
            raise InputError("the game is over")
        if action not in self.legal_actions():
            raise InputError(self._refusal(action))
        self.games.step(np.array([action], np.int64), 1)
        self.history.append(int(action))

    def is_terminal(self) -> bool:
        return self.current_player() == TERMINAL

    def returns(self) -> list[float]:
        """The score, which is everyone's, once the game is over."""
        return [float(self.score if self.is_terminal() else 0)] * self.num_players

    @property
    def score(self) -> int:
        """Cards that were played; 0 after the last life, unless the game counts them."""
        return int(self.games.scores()[0])

    @property
    def information(self) -> int:
        """Tokens left to give hints with."""
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
        """By colour, the highest rank on its stack, 0 for none."""
        return list(self.games.fireworks()[0].tolist())

    @property
    def discards(self) -> list[Card]:
        """In order of colour and rank."""
        counts = enumerate(self.games.discards()[0].tolist())
        return [self.game.card(number) for number, count in counts for _ in range(count)]

    @property
    def hands(self) -> list[list[Card]]:
        """Everyone's cards by seat, the oldest first."""
        hands = self.games.hands()[0].tolist()
        return [[self.game.card(number) for number in hand if number >= 0] for hand in hands]

    @property
    def known(self) -> list[list[Known]]:
        """What everyone was told of each card in hand."""
        colours, ranks = self.games.known_colours()[0], self.games.known_ranks()[0]
        return [
            [_known(*bits) for bits in zip(*hand, strict=True) if any(bits)]
            for hand in zip(colours.tolist(), ranks.tolist(), strict=True)
        ]

    @property
    def last_touched(self) -> list[int]:
        """Slots that the last action, a hint, was about."""
        touched = int(self.games.last_moves()[0, 2])
        return [slot for slot in range(self.game.hand_size) if touched >> slot & 1]

    def observation_tensor(
        self, player: int | None = None, view: View = "private", *, beliefs: bool = False
    ) -> npt.NDArray[np.float32]:
        """What `player`, or who is to move, sees, in the order of the Hanabi Learning Environment.

        The private view is OpenSpiel's. With `beliefs`, what a card may be, by its hints, is
        weighed by the cards that nobody has seen played or discarded, and sums to 1.
        """
        row = np.empty(self.game.num_features(view), np.float32)
        seats = None if player is None else np.array([self._seat(player)], np.int64)
        self.games.encode(row[np.newaxis], view, seats, beliefs, 1)
        return row

    def clone(self) -> "HanabiState":
        copy = HanabiState.__new__(HanabiState)
        copy.__dict__.update(self.__dict__, games=self.games.take(np.zeros(1, np.int64)))
        copy.history = self.history.copy()
        return copy

    def action_to_string(self, action: int, player: int | None = None) -> str:
        """In words, of `player` or of who is to move; slots count from 1, the oldest card.

        >>> state = Hanabi(players=3).initial_state()
        >>> [state.action_to_string(action) for action in (0, 9, 15, 20)]
        ['discard card 1', 'play card 5', 'tell player 2 red', 'tell player 1 1s']
        """
        kind, at, value = self.game.moves[action]
        if kind in ("discard", "play"):
            return f"{kind} card {at + 1}"
        if player is None:
            player = self._turn(len(self.history))
        told = COLOURS[value] if kind == "color" else f"{value}s"
        return f"tell player {(player + at) % self.num_players} {told}"

    @property
    def move_number(self) -> int:
        """Of the next move, as a record counts."""
        return len(self.history) + 1

    def last_action_string(self) -> str:
        """Who did what, and what came of it; nothing before the first action."""
        if not self.history:
            return ""
        action, number, _, scored, _ = self.games.last_moves()[0].tolist()
        player = self._turn(len(self.history) - 1)
        text = f"player {player}: {self.action_to_string(action, player)}"
        kind = self.game.moves[action].kind
        if kind in ("color", "rank"):
            return f"{text} ({', '.join(str(slot + 1) for slot in self.last_touched)})"
        missed = ", a miss" if kind == "play" and not scored else ""
        return f"{text}, {self.game.card(number)}{missed}"

    def to_svg(self, player: int | None = None) -> str:
        """The table as `player`, or who is to move, sees it; all cards once the game is over."""
        from kedge.games.hanabi.drawing import draw

        return draw(self, self._eyes(player))

    def to_text(self, player: int | None = None) -> str:
        """The same in a few lines: cards, or what their holder was told of them, or both."""
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
                str(told) if seat == eyes else f"{card}/{told}"
                for card, told in zip(hand, known, strict=True)
            ]
            rows.append(f"player {seat}{' *' if seat == turn else '  '} {' '.join(seen)}")
        if self.history:
            rows.append(f"last       {self.last_action_string()}")
        return "\n".join(rows)

    def __str__(self) -> str:
        return self.to_text()

    def _turn(self, ply: int) -> int:
        """Whose turn it was, so many actions into the game."""
        return ply % self.num_players

    def _seat(self, player: int) -> int:
        if player not in range(self.num_players):
            raise InputError(f"player {player}: seats are 0 to {self.num_players - 1}")
        return player

    def _eyes(self, player: int | None) -> int:
        """Whose cards are hidden; nobody's at the end."""
        return self.current_player() if player is None else self._seat(player)

    def _refusal(self, action: int) -> str:
        """Why it is not legal."""
        if action not in range(len(self.game.moves)):
            return f"action {action}: there are 0 to {len(self.game.moves) - 1}"
        kind = self.game.moves[action].kind
        if kind == "discard" and self.information == self.game.information_tokens:
            why = "not while all information tokens are there"
        elif kind in ("color", "rank") and not self.information:
            why = "no information token is left"
        else:
            why = "there is no such card"
        return f"{self.action_to_string(action)}: {why}"


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
        raise InputError("deck: a card is a colour and a rank") from None
    if len(deck) != len(game.cards):
        raise InputError(f"a deck has {len(game.cards)} cards, not {len(deck)}")
    copies, counts = Counter(game.cards), Counter(deck)
    for card, count in counts.items():
        if card not in copies:
            raise InputError(f"deck: {tuple(card)} is not a card (colour from 0, rank from 1)")
        if count > copies[card]:
            raise InputError(f"deck: {card} comes {count} times, not {copies[card]}")
    return deck


__all__ = [
    "BOMBS",
    "COLOURS",
    "TERMINAL",
    "Bomb",
    "Card",
    "Hanabi",
    "HanabiState",
    "Known",
    "Move",
    "View",
]
