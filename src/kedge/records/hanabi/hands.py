"""The hands of a game in records, in which cards have places in the deck."""

from collections.abc import Sequence
from typing import Any

from kedge.games.hanabi import Card, Hanabi, Move

KINDS = ("play", "discard", "color", "rank")  # kinds of moves, in the order of hanab.live
HINTS = ("color", "rank")


class HintToOneselfError(ValueError):
    """A hint to the mover, which some servers accept although the rules forbid it."""


def action_of(rules: Hanabi, seat: int, cards: int, kind: Any, target: Any, value: Any) -> int:
    """Return the number of an action of `seat`, which holds `cards` cards."""
    if kind not in KINDS or type(target) is not int or type(value) is not int:
        raise ValueError("unknown kind of move, slot or value")
    if kind not in HINTS:
        if not 0 <= target < cards:
            raise ValueError(f"no card in slot {target}")
        return rules.actions[Move(kind, target)]
    players = rules.num_players
    if target == seat:
        raise HintToOneselfError("hint to oneself")
    if not 0 <= target < players:
        raise ValueError(f"hint to seat {target}; seats are 0 to {players - 1}")
    action = rules.actions.get(Move(kind, (target - seat) % players, value))
    if action is None:
        raise ValueError(f"hint of unknown {kind} {value}")
    return action


class DeckHands:
    """The player to move, and the hands as places in the deck."""

    def __init__(self, rules: Hanabi) -> None:
        self._rules, size = rules, rules.hand_size
        self.seat = 0
        self._hands = [[*range(i * size, (i + 1) * size)] for i in range(rules.num_players)]
        self._drawn = rules.num_players * size

    @property
    def hand(self) -> list[int]:
        """The hand of the player to move, oldest card first."""
        return self._hands[self.seat]

    def make(self, kind: Any, target: Any, value: Any) -> int:
        """Make a move with the card in a slot, or a hint to a seat; return its action number."""
        action = action_of(self._rules, self.seat, len(self.hand), kind, target, value)
        if kind not in HINTS:
            del self.hand[target]
            if self._drawn < len(self._rules.cards):
                self.hand.append(self._drawn)
                self._drawn += 1
        self.seat = (self.seat + 1) % self._rules.num_players
        return action

    def words(self, action: int) -> tuple[str, int, int]:
        """Return the arguments of `make` for an action."""
        kind, at, value = self._rules.moves[action]
        return kind, (self.seat + at) % self._rules.num_players if kind in HINTS else at, value

    def touched(self, deck: Sequence[Card], kind: str, target: int, value: int) -> int:
        """Return the deck place of the oldest card that a move plays, discards or hints."""
        if kind not in HINTS:
            return self.hand[target]
        hand: list[int] = self._hands[target]
        return next(card for card in hand if deck[card][HINTS.index(kind)] == value)
