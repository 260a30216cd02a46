"""The conventions as one would tell them: the specification of the native player."""

from dataclasses import dataclass
from fractions import Fraction

from plain_hanabi import Card, Held, PlainHanabi, copies


@dataclass
class Mark:
    """What all can tell of a card in hand."""

    may: set[Card]
    clued: bool = False  # a hint was about it


class Table:
    """What all see of each kind of card."""

    def __init__(self, game: PlainHanabi) -> None:
        kinds = {(c, r) for c in range(game.colors) for r in range(1, game.ranks + 1)}
        played = {(c, r) for c, r in kinds if r <= game.fireworks[c]}
        #: In hands or in the pile.
        self.left = {
            (c, r): copies(r, game.ranks) - game.discards.count((c, r)) - ((c, r) in played)
            for c, r in kinds
        }
        self.there = {card for card in kinds if self.left[card] > 0}
        #: To be played yet, unless one before it is lost.
        self.needed = {
            (c, r)
            for c, r in kinds - played
            if all((c, rank) in self.there for rank in range(game.fireworks[c] + 1, r + 1))
        }
        self.critical = {card for card in self.needed if self.left[card] == 1}
        self.playable = {(c, r) for c, r in self.needed if r == game.fireworks[c] + 1}

    def is_certain(self, mark: Mark) -> bool:
        return mark.may <= self.playable

    def is_useless(self, mark: Mark) -> bool:
        return not mark.may & self.needed


def told(held: Held) -> set[Card]:
    return {(color, rank) for color in held.colors for rank in held.ranks}


def kept(mark: Mark, held: Held, cards: set[Card]) -> Mark:
    """What a mark leaves of `cards`; if that is nothing, what the hints alone do."""
    return Mark(mark.may & cards or told(held) & cards, mark.clued)


def chop(marks: list[Mark]) -> int | None:
    return next((slot for slot, mark in enumerate(marks) if not mark.clued), None)


def read_hint(
    table: Table, kind: str, value: int, touched: list[int], hand: list[Held], marks: list[Mark]
) -> list[Mark]:
    """Play the newest that it is about, the fresh ones first; or keep the chop."""
    oldest = chop(marks)
    named = {card for card in table.there if card[kind == "rank"] == value}
    fresh = [slot for slot in touched if not marks[slot].clued]
    out = []
    for slot, (mark, held) in enumerate(zip(marks, hand, strict=True)):
        is_touched = slot in touched
        new = kept(mark, held, named if is_touched else table.there - named)
        out.append(Mark(new.may, mark.clued or is_touched))
    keep = table.critical - table.playable
    if kind == "rank" and oldest in touched and out[oldest].may & keep:
        return out
    meant = out[(fresh or touched)[-1]]
    meant.may = meant.may & table.playable or meant.may
    return out


class PlainConventions:
    """Everyone's marks in one game, and what who is to move does."""

    def __init__(self, game: PlainHanabi) -> None:
        self.game = game
        self.marks = [[Mark(set()) for _ in hand] for hand in game.hands]
        self.keep()

    def keep(self) -> None:
        there = Table(self.game).there
        for seat, hand in enumerate(self.game.hands):
            pairs = zip(self.marks[seat], hand, strict=True)
            self.marks[seat] = [kept(mark, held, there) for mark, held in pairs]

    def apply_action(self, action: int) -> None:
        """Makes a move in the game, and observes it."""
        game, mover = self.game, self.game.player
        kind, target, value = game.words(action)
        game.apply_action(action)
        if kind in ("play", "discard"):
            del self.marks[mover][target]
            if len(game.hands[mover]) > len(self.marks[mover]):
                self.marks[mover].append(Mark(set()))
        else:
            hand = game.hands[target]
            touched = self.touched(hand, kind, value)
            self.marks[target] = read_hint(
                Table(game), kind, value, touched, hand, self.marks[target]
            )
        self.keep()

    @staticmethod
    def touched(hand: list[Held], kind: str, value: int) -> list[int]:
        return [slot for slot, held in enumerate(hand) if held.card[kind == "rank"] == value]

    def choose(self) -> int:
        game, table = self.game, Table(self.game)
        own = self.own(table)
        legal = game.legal_actions()
        hints = [a for a in legal if game.words(a)[0] in ("color", "rank")]
        may_discard = any(game.words(a)[0] == "discard" for a in legal)
        following = (game.player + 1) % game.players
        danger = bool(hints) and self.loses_critical(table, self.marks[following])
        plays = [slot for slot, mark in enumerate(own) if table.is_certain(mark)]
        best, best_value, best_plays, best_saves = None, -1, 0, False
        if danger or not plays:
            for action in hints:
                value, new_plays, saves = self.weigh(table, own, action, danger)
                if value > best_value:
                    best, best_value, best_plays, best_saves = action, value, new_plays, saves
        if best is not None and best_saves:
            return best
        if plays:
            return game.slots + plays[0]
        if best is not None:
            is_late = len(game.pile) <= game.players
            if best_plays or is_late or not may_discard:
                return best
        if may_discard:
            return self.discard(table, own)
        return hints[0] if hints else game.slots

    def own(self, table: Table) -> list[Mark]:
        """The mover's knowledge of its own hand: it sees all others."""
        game = self.game
        others = [
            h.card for seat, hand in enumerate(game.hands) for h in hand if seat != game.player
        ]
        hidden = {card for card in table.there if others.count(card) < table.left[card]}
        pairs = zip(self.marks[game.player], game.hands[game.player], strict=True)
        return [kept(mark, held, hidden) for mark, held in pairs]

    def loses_critical(self, table: Table, marks: list[Mark]) -> bool:
        """Whether the next player is about to discard the last of a kind."""
        hand = self.game.hands[(self.game.player + 1) % self.game.players]
        if any(table.is_certain(mark) or table.is_useless(mark) for mark in marks):
            return False
        oldest = chop(marks)
        return oldest is not None and hand[oldest].card in table.critical

    def weigh(
        self, table: Table, own: list[Mark], action: int, danger: bool
    ) -> tuple[int, int, bool]:
        """What a hint is worth, less than nothing if it misleads; cards to play; what it saves."""
        game = self.game
        kind, seat, value = game.words(action)
        following = (game.player + 1) % game.players
        going = {card for mark in own if len(mark.may) == 1 for card in mark.may}
        for other, hand in enumerate(game.hands):
            if other != game.player:
                pairs = zip(self.marks[other], hand, strict=True)
                going |= {held.card for mark, held in pairs if table.is_certain(mark)}
        hand, before = game.hands[seat], self.marks[seat]
        touched = self.touched(hand, kind, value)
        after = read_hint(table, kind, value, touched, hand, before)
        plays = worth = 0
        for held, old, new in zip(hand, before, after, strict=True):
            if held.card not in new.may:
                return -1, 0, False
            if table.is_certain(new) and not table.is_certain(old):
                if held.card in going:
                    return -1, 0, False
                going.add(held.card)
                plays += 1
            worth += old != new and held.card in table.needed
        saves = danger and not self.loses_critical(
            table, after if seat == following else self.marks[following]
        )
        return worth + 20 * plays + 100 * saves, plays, saves

    def discard(self, table: Table, own: list[Mark]) -> int:
        for slot, mark in enumerate(own):
            if table.is_useless(mark):
                return slot
        oldest = chop(own)
        if oldest is not None:
            return oldest
        risk = [Fraction(len(mark.may & table.critical), len(mark.may)) for mark in own]
        return risk.index(min(risk))
