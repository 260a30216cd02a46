"""The rules of Hanabi as one would tell them: the specification of the native games."""

from collections.abc import Sequence
from dataclasses import dataclass

from kedge.errors import InputError

Card = tuple[int, int]  # a colour from 0, a rank from 1


def copies(rank: int, ranks: int) -> int:
    """Copies of a card in the deck: three ones, one of the highest rank, two of those between."""
    return 3 if rank == 1 else 1 if rank == ranks else 2


def full_deck(colors: int, ranks: int) -> list[Card]:
    return [
        (c, r) for c in range(colors) for r in range(1, ranks + 1) for _ in range(copies(r, ranks))
    ]


@dataclass
class Held:
    """A card in a hand, and what its holder knows of it from hints."""

    card: Card
    colors: set[int]  # that it may have
    ranks: set[int]
    told_color: int | None = None  # by a hint that touched it
    told_rank: int | None = None


@dataclass
class PlainHanabi:
    """A game from its deck in deal order: seat 0's hand, seat 1's, …, then the draw pile.

    Actions are numbered: discards by slot, plays by slot, then hints of a colour to the next
    player, to the one after, …, then hints of a rank likewise. Slot 0 is a hand's oldest card.
    """

    deck: Sequence[Card]
    players: int = 2
    colors: int = 5
    ranks: int = 5
    hand_size: int | None = None
    information_tokens: int = 8
    life_tokens: int = 3
    bomb: str = "zero"

    def __post_init__(self) -> None:
        self.slots = self.hand_size or (5 if self.players < 4 else 4)
        self.pile = list(self.deck)
        assert sorted(self.pile) == full_deck(self.colors, self.ranks)
        self.hands: list[list[Held]] = [[] for _ in range(self.players)]
        for seat in range(self.players):
            for _ in range(self.slots):
                self.draw(seat)
        self.fireworks = [0] * self.colors
        self.discards: list[Card] = []
        self.information, self.lives = self.information_tokens, self.life_tokens
        self.player = 0
        self.turns_left = self.players  # once the pile is empty

    def draw(self, seat: int) -> None:
        if self.pile:
            colors, ranks = set(range(self.colors)), set(range(1, self.ranks + 1))
            self.hands[seat].append(Held(self.pile.pop(0), colors, ranks))

    # What may be done.

    def words(self, action: int) -> tuple[str, int, int]:
        """("discard", slot, 0), ("play", slot, 0), ("color", seat, 0…), ("rank", seat, 1…)."""
        others = self.players - 1
        for kind, count in ("discard", self.slots), ("play", self.slots):
            if action < count:
                return kind, action, 0
            action -= count
        for kind, count, first in ("color", self.colors, 0), ("rank", self.ranks, 1):
            if action < others * count:
                seat = (self.player + 1 + action // count) % self.players
                return kind, seat, first + action % count
            action -= others * count
        raise InputError("there is no such action")

    @property
    def num_actions(self) -> int:
        return 2 * self.slots + (self.players - 1) * (self.colors + self.ranks)

    def is_legal(self, action: int) -> bool:
        kind, target, value = self.words(action)
        if kind == "play":
            return target < len(self.hands[self.player])
        if kind == "discard":
            is_there = target < len(self.hands[self.player])
            return is_there and self.information < self.information_tokens
        return self.information > 0 and any(
            value == held.card[kind == "rank"] for held in self.hands[target]
        )

    def legal_actions(self) -> list[int]:
        if self.is_terminal():
            return []
        return [action for action in range(self.num_actions) if self.is_legal(action)]

    # What it does.

    def apply_action(self, action: int) -> None:
        if self.is_terminal():
            raise InputError("the game is over")
        kind, target, value = self.words(action)
        if not self.is_legal(action):
            raise InputError(f"illegal: {kind} {target} {value}")
        if not self.pile:
            self.turns_left -= 1
        if kind == "color":
            self.tell_color(target, value)
        elif kind == "rank":
            self.tell_rank(target, value)
        else:
            card = self.hands[self.player].pop(target).card
            if kind == "play":
                self.play(card)
            else:
                self.discards.append(card)
                self.information += 1
            if not self.is_terminal():
                self.draw(self.player)
        self.player = (self.player + 1) % self.players

    def play(self, card: Card) -> None:
        color, rank = card
        if rank != self.fireworks[color] + 1:
            self.lives -= 1
            self.discards.append(card)
            return
        self.fireworks[color] = rank
        if rank == self.ranks:  # a firework is complete
            self.information = min(self.information + 1, self.information_tokens)

    def tell_color(self, seat: int, color: int) -> None:
        self.information -= 1
        for held in self.hands[seat]:
            if held.card[0] == color:
                held.colors, held.told_color = {color}, color
            else:
                held.colors.discard(color)

    def tell_rank(self, seat: int, rank: int) -> None:
        self.information -= 1
        for held in self.hands[seat]:
            if held.card[1] == rank:
                held.ranks, held.told_rank = {rank}, rank
            else:
                held.ranks.discard(rank)

    # How it ends.

    def is_terminal(self) -> bool:
        is_complete = sum(self.fireworks) == self.colors * self.ranks
        return self.lives == 0 or is_complete or self.turns_left == 0

    def score(self) -> int:
        """The score if the game ends here."""
        return 0 if self.lives == 0 and self.bomb == "zero" else sum(self.fireworks)
