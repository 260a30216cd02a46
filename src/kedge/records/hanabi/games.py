"""What a record of a game of Hanabi says: the deck, the moves, and who sat where."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from kedge.games.hanabi import Bomb, Card, Hanabi, HanabiState
from kedge.records.splits import is_one_in


@dataclass(frozen=True, slots=True)
class HanabiGame:
    """One game, with five ranks. What the record does not say is None."""

    id: str
    players: tuple[str, ...]  #: by seat; the names of programs begin with ``ai:``
    deck: tuple[Card, ...]  #: in deal order: seat 0's hand, seat 1's, …, then the draw pile
    actions: tuple[int, ...]  #: as `Hanabi` numbers them; the seats move in turn
    hand_size: int
    colors: int = 5
    score: int | None = None  #: as the source counts it: after a bomb 0, or what was built
    bomb: Bomb = "zero"
    """What a game was worth, where it was played, whose last life was lost."""
    legal: bool = True
    """False where the source let people play against the rules. Replayed, it ends before that."""
    abandoned: tuple[int, int] | None = None
    """Who broke the game off (−1 for all), and why, as hanab.live numbers it (3: out of time)."""
    slips: tuple[int, ...] = ()
    """Moves, counted from 0, that were not their players' choice, such as those made at random to
    see what a program does next: nothing is to be learned of anybody from them."""
    participant: str | None = None  #: whose game it is, where one person's games are known
    source: str | None = None
    licence: str | None = None

    @property
    def humans(self) -> tuple[int, ...]:
        """The seats of people."""
        return tuple(i for i, name in enumerate(self.players) if not name.startswith("ai:"))

    def choices(self, *, people: bool) -> npt.NDArray[np.bool_]:
        """Which of the moves people chose, or programs."""
        moves = np.arange(len(self))
        is_human = np.isin(moves % len(self.players), self.humans)
        return np.asarray((is_human == people) & ~np.isin(moves, self.slips))

    @property
    def rules(self) -> Hanabi:
        return rules_of(len(self.players), self.colors, self.hand_size, self.bomb)

    def states(self) -> Iterator[HanabiState]:
        """The game before each of its moves and at its end."""
        state = self.rules.initial_state(self.deck)
        yield state
        for action in self.actions:
            state = state.clone()
            state.apply_action(action)
            yield state

    def __len__(self) -> int:
        return len(self.actions)


@lru_cache
def rules_of(
    players: int, colors: int, hand_size: int | None = None, bomb: Bomb = "zero"
) -> Hanabi:
    """Made once, however many games go by them."""
    return Hanabi(players, colors, hand_size=hand_size, bomb=bomb)


def decks_and_actions(
    games: Sequence[HanabiGame],
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Of games by the same rules, as the native core numbers cards: (n, cards of a deck) in deal
    order, and (n, plies), −1 after the end."""
    ranks = games[0].rules.ranks
    decks = [[card.colour * ranks + card.rank - 1 for card in game.deck] for game in games]
    actions = np.full((len(games), max(map(len, games))), -1)
    for row, game in zip(actions, games, strict=True):
        row[: len(game)] = game.actions
    return np.array(decks, np.uint8), actions


def is_held_out(game: HanabiGame) -> bool:
    """Games that models are not trained on, to be tested on.

    Those of one participant in five, by a hash of the name; where none is known, one game in twenty
    by a hash of its id.
    """
    count, key = (20, game.id) if game.participant is None else (5, game.participant)
    return is_one_in(count, key.encode("utf-8", "surrogatepass"))


__all__ = ["HanabiGame", "decks_and_actions", "is_held_out", "rules_of"]
