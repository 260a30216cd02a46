"""A recorded game of Hanabi: deck, moves and players."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from kedge import _core
from kedge.games.hanabi import Bomb, Card, Hanabi, HanabiState
from kedge.records.splits import CHOOSE, LEARN, TEST, is_one_in


@dataclass(frozen=True, slots=True)
class HanabiGame:
    """One recorded game with five ranks. Unknown fields are None."""

    id: str
    players: tuple[str, ...]  #: names by seat; those of programs begin with ``ai:``
    deck: tuple[Card, ...]  #: in deal order: seat 0's hand, seat 1's, …, then the draw pile
    actions: tuple[int, ...]  #: action numbers of `Hanabi`; the seats move in turn
    hand_size: int
    colors: int = 5
    score: int | None = None  #: as the source counts it; see `bomb`
    bomb: Bomb = "zero"
    """How the source scores a game whose last life was lost."""
    legal: bool = True
    """False if the source accepted illegal moves. A replay ends before the first of them."""
    abandoned: tuple[int, int] | None = None
    """The seat that ended the game early (−1 for all) and hanab.live's reason (3: out of time)."""
    slips: tuple[int, ...] = ()
    """Moves, from 0, that their players did not choose, such as random moves that test a program.
    They are neither learned nor predicted."""
    participant: str | None = None  #: the person whose game it is, if known
    source: str | None = None
    licence: str | None = None
    positions: _core.HanabiGames | None = field(default=None, compare=False, repr=False)
    """What `replayed` returns, if the reader kept it."""

    @property
    def humans(self) -> tuple[int, ...]:
        """The seats of people."""
        return tuple(i for i, name in enumerate(self.players) if not name.startswith("ai:"))

    def choices(self, *, people: bool) -> npt.NDArray[np.bool_]:
        """Return a mask of the moves that people chose, or that programs chose."""
        moves = np.arange(len(self))
        is_human = np.isin(moves % len(self.players), self.humans)
        return np.asarray((is_human == people) & ~np.isin(moves, self.slips))

    @property
    def rules(self) -> Hanabi:
        return rules_of(len(self.players), self.colors, self.hand_size, self.bomb)

    def replayed(self) -> _core.HanabiGames:
        """Return the native game before each move and at the end, or before an illegal move."""
        if self.positions is not None:
            return self.positions
        rules = self.rules
        return _core.HanabiGames.replay(
            rules.rules, rules.numbers(self.deck), np.array(self.actions, np.int64)
        )

    def replay(self) -> Iterator[HanabiState]:
        """Yield one state as the game goes on: before each move, and at the end.

        It is the same object each time, so that agents that remember it observe a move once. An
        illegal move raises an `InputError`.
        """
        positions, state = self.replayed(), self.rules.initial_state(self.deck)
        yield state
        for number, action in enumerate(self.actions, 1):
            if number < len(positions):
                state.advance(action, positions.take(np.array([number])))
            else:
                state.apply_action(action)  # illegal: the error says why
            yield state

    def states(self) -> Iterator[HanabiState]:
        """Yield the state before each move, and the final one."""
        return (state.clone() for state in self.replay())

    def __len__(self) -> int:
        return len(self.actions)


@lru_cache
def rules_of(players: int, colors: int, hand_size: int | None, bomb: Bomb) -> Hanabi:
    """Return the rules; games with the same arguments share one object."""
    return Hanabi(players, colors, hand_size=hand_size, bomb=bomb)


def decks_and_actions(
    games: Sequence[HanabiGame],
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return the decks and actions of games with the same rules, as the native core takes them.

    Decks are (n, cards) in deal order; actions are (n, plies), −1 after the end.
    """
    rules = games[0].rules
    actions = np.full((len(games), max(map(len, games))), -1)
    for row, game in zip(actions, games, strict=True):
        row[: len(game)] = game.actions
    return np.array([rules.numbers(game.deck) for game in games]), actions


def part_of(game: HanabiGame) -> int:
    """Return what a game is for: LEARN, CHOOSE or TEST.

    Participants are split by a hash of the name: one in five is for testing models, and one in five
    of the others for choosing them. Games without a participant are split by a hash of the id, one
    in twenty for each.
    """
    if game.participant is None:
        key = game.id.encode("utf-8", "surrogatepass")
        if is_one_in(20, key):
            return TEST
        return CHOOSE if is_one_in(20, b"choose " + key) else LEARN
    # Earlier versions held people out by the plain hash, and chose models and recipes by them. So
    # these people still choose models, and the test uses people who never did.
    key = game.participant.encode("utf-8", "surrogatepass")
    if is_one_in(5, b"hanabi test " + key):
        return TEST
    return CHOOSE if is_one_in(5, key) else LEARN


def is_for_testing(game: HanabiGame) -> bool:
    """Whether a game is held out of training and of the choice of models, for testing."""
    return part_of(game) == TEST


__all__ = ["HanabiGame", "decks_and_actions", "is_for_testing", "part_of", "rules_of"]
