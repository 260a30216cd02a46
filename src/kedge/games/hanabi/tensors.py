"""Hanabi as torch tensors: the native rules again, for games that stay on a GPU.

A game is a row of some hundred bytes, and a step is the same few operations on all rows. Nothing
here waits for the device, and shapes never change. Hands are in order of play, the mover's first,
so that all games have the same layout. Tables hold what depends on the rules alone.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from kedge import _core
from kedge.games.hanabi.game import TOLD, Hanabi, View

_DISCARD, _PLAY, _COLOUR, _RANK, _NO_MOVE = range(5)
_KINDS = {"discard": _DISCARD, "play": _PLAY, "color": _COLOUR, "rank": _RANK}
_MOST = 255

Bytes = npt.NDArray[np.uint8]
#: A feature is 1 if a column is within bounds: the column, the least and the most.
Feature = tuple[int, int, int]


class _Row(NamedTuple):
    """The columns of a row. A missing card or rank is the number after the last one."""

    hands: Any  # players · slots · (card, the colours and the ranks that it may be by its hints)
    fireworks: Any
    discards: Any  # how many, by card
    drawn: Any
    information: Any
    lives: Any
    turns_left: Any  # once the deck is empty
    over: Any
    # The last move: its kind; the receiver, colour and rank of a hint; its slot.
    move: Any
    card: Any
    scored: Any
    regained: Any  # a token, for a finished stack
    touched: Any  # by slot


class TensorRules:
    """The tables of `TensorGames` with the same rules on the same device."""

    def __init__(self, game: Hanabi, device: str | torch.device = "cpu") -> None:
        self.game, self.device = game, torch.device(device)
        #: Number of different cards; this number itself means no card.
        self.cards = game.colors * game.ranks
        self.sizes = _sizes(game)
        shown = np.array(_features(game, self.sizes))
        columns, bounds = shown[:, 0], shown[:, 1:].astype(np.uint8)
        hidden = {"full": 0, "private": 1, "public": game.num_players}
        starts = {view: hands * game.hand_size * self.cards for view, hands in hidden.items()}
        #: Columns and bounds of all features except those of hints, by view.
        self.features = {
            view: tuple(map(self.there, (columns[first:], *bounds[first:].T)))
            for view, first in starts.items()
        }
        #: The features of hints, by the two bytes of a card's possible colours and ranks.
        self.hinted = self.there(_hinted(game))
        #: The columns of the last move, by action; the last row is for no action.
        self.moves = self.there(_moves(game))
        self.effects = self.there(_effects(game))
        self.values = self.there(_values(game))
        every = 2**game.colors - 1, 2**game.ranks - 1
        drawn = [(card, *every) for card in range(self.cards)]
        #: The three bytes of a card that was just drawn, by card.
        self.fresh = self.there(np.array([*drawn, (self.cards, 0, 0)], np.uint8))
        self.copies = self.there(_copies(game))
        self.numbers = self.there(np.arange(self.cards, dtype=np.uint8))
        self.ranks = self.there(np.arange(game.ranks, dtype=np.uint8))
        #: The first card of each colour's stack.
        self.lowest = self.numbers[:: game.ranks]
        self.seats = self.there(np.arange(game.num_players)[:, np.newaxis])
        self.slots = self.there(np.arange(game.hand_size, dtype=np.uint8)[:, np.newaxis])

    def there(self, array: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)


class TensorGames:
    """Games with the same rules on one device, like `kedge._core.HanabiGames`."""

    def __init__(self, rules: TensorRules, decks: Tensor, rows: Tensor) -> None:
        self.rules = rules
        # In deal order, with "no card" at the end for draws from an empty pile.
        self._decks, self._rows = decks, rows

    @classmethod
    def of(cls, rules: TensorRules, games: _core.HanabiGames) -> "TensorGames":
        """Return a copy of native games."""
        decks = np.pad(games.decks(), ((0, 0), (0, 1)), constant_values=rules.cards)
        return cls(rules, rules.there(decks), _rows(rules, games))

    def __len__(self) -> int:
        return len(self._rows)

    def take(self, which: Tensor) -> "TensorGames":
        return TensorGames(self.rules, self._decks[which], self._rows[which])

    def step(self, actions: Tensor) -> None:
        """Apply one action per game; −1 and finished games change nothing.

        Other actions must be legal, which is not checked.
        """
        rules, game, was = self.rules, self.rules.game, self._row()
        going = (actions >= 0) & ~self.is_over()
        actions = actions.clamp(min=0)
        move = rules.moves[actions]
        kind, slot = move[:, :1], move[:, -1:]
        hands = self._hands()

        # A card is played or discarded; for a hint, it is "no card".
        held = functional.pad(hands[:, 0, :, 0], (0, 1), value=rules.cards)
        card = held.gather(1, slot.long())
        is_played = kind == _PLAY
        fits = (card == was.fireworks + rules.lowest) & (was.fireworks < game.ranks) & is_played
        scored = fits.any(1, keepdim=True)
        regained = scored & (card % game.ranks == game.ranks - 1)
        regained &= was.information < game.information_tokens
        fireworks = was.fireworks + fits
        discards = was.discards + ((card == rules.numbers) & ~scored)
        tokens = was.information + (regained | (kind == _DISCARD))
        information = tokens - (kind > _PLAY).byte()
        lives = was.lives - (is_played & ~scored).byte()
        turns_left = was.turns_left - (was.drawn == len(game.cards)).byte()

        # Draw a card, unless the game is over.
        over = (lives == 0) | (turns_left == 0) | (fireworks.sum(1, keepdim=True) == rules.cards)
        draws = (kind <= _PLAY) & ~over
        drawn = self._decks.gather(1, was.drawn.long()).where(draws, rules.cards)

        # A hint updates all cards, and cards after the one that left move up.
        effects = rules.effects[actions[:, None, None], rules.seats, hands[..., 0].long()]
        known = hands[..., 1:] & effects[..., :2] | effects[..., 2:4]
        hands = torch.cat([hands[..., :1], known], 3)
        longer = torch.cat([hands[:, 0], rules.fresh[drawn.long()]], 1)
        own = longer[:, 1:].where(rules.slots >= slot[:, None], longer[:, :-1])
        hands = torch.cat([hands[:, 1:], own[:, None]], 1)

        parts = _Row(
            hands.flatten(1), fireworks, discards, was.drawn + (drawn < rules.cards), information,
            lives, turns_left, over, move, card, scored, regained, effects[..., 4].amax(1),
        )  # fmt: skip
        self._rows = torch.cat(parts, 1).where(going[:, None], self._rows)

    def legal_actions(self) -> Tensor:
        """Mask of legal actions (games, actions); empty rows for finished games."""
        game, row, held = self.rules.game, self._row(), self._hands()[..., 0]
        own = held[:, 0] < self.rules.cards
        shown = self.rules.values[held[:, 1:].long()].any(2)
        may_hint = row.information > 0
        legal = [
            own & (row.information < game.information_tokens),
            own,
            shown[..., : game.colors].flatten(1) & may_hint,
            shown[..., game.colors :].flatten(1) & may_hint,
        ]
        return torch.cat(legal, 1) & ~self.is_over()[:, None]

    def is_over(self) -> Tensor:
        return self._row().over[:, 0].bool()

    def scores(self) -> Tensor:
        row = self._row()
        stack = row.fireworks.sum(1)
        return stack * (row.lives[:, 0] > 0) if self.rules.game.bomb == "zero" else stack

    def encode(
        self,
        view: View = "private",
        *,
        beliefs: bool = False,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """The mover's features: see `HanabiState.observation_tensor`."""
        columns, least, most = self.rules.features[view]
        seen = self._rows.index_select(1, columns)
        known = self._hands()[..., 1:].long()
        hinted = self.rules.hinted[known[..., 0], known[..., 1]].flatten(1)
        rows = torch.cat([(seen >= least) & (seen <= most), hinted], 1).to(dtype)
        if beliefs:
            self._weigh(rows[:, -hinted.shape[1] :])
        return rows

    def _weigh(self, hinted: Tensor) -> None:
        """Replace the possible values of each card by their public probabilities."""
        rules, row = self.rules, self._row()
        played = (row.fireworks[..., None] > rules.ranks).flatten(1)
        left = rules.copies - row.discards - played.byte()
        each = hinted.unflatten(1, (-1, rules.hinted.shape[2]))[..., : rules.cards]
        each *= left[:, None]
        each /= each.sum(2, keepdim=True).clamp(min=1)  # where there is no card

    def _row(self) -> _Row:
        return _Row(*self._rows.split(self.rules.sizes, 1))

    def _hands(self) -> Tensor:
        """Hands (games, players, slots, 3)."""
        game = self.rules.game
        return self._row().hands.unflatten(1, (game.num_players, game.hand_size, 3))


def _rows(rules: TensorRules, games: _core.HanabiGames) -> Tensor:
    """Return the rows of native games; they are assembled on the device to move few bytes."""
    game, there = rules.game, rules.there
    in_hand, hinted = there(games.hands()), (games.known_colours(), games.known_ranks())
    hands = [in_hand.where(in_hand >= 0, rules.cards).byte(), *map(there, hinted)]
    cards = torch.stack(hands, 3)
    seats = (there(games.next_players())[:, None] + rules.seats[:, 0]) % game.num_players
    action, card, touched, scored, gained = there(games.last_moves()).split(1, 1)
    move = rules.moves[action[:, 0].long()]
    kind = move[:, :1]
    parts = _Row(
        cards.gather(1, seats[..., None, None].expand_as(cards)),
        there(games.fireworks()),
        there(games.discards()),
        len(game.cards) - there(games.deck_sizes()),
        there(games.information()),
        there(games.lives()),
        there(games.turns_left()),
        there(games.current_players()) < 0,
        move,
        card.where(kind <= _PLAY, rules.cards),
        scored,
        gained * (kind == _PLAY),
        touched >> rules.slots[:, 0] & 1,
    )
    return torch.cat([part.reshape(len(games), -1).byte() for part in parts], 1)


# --- Tables -------------------------------------------------------------------------------------


def _sizes(game: Hanabi) -> list[int]:
    wide = {
        "hands": game.num_players * game.hand_size * 3,
        "fireworks": game.colors,
        "discards": game.colors * game.ranks,
        "move": 5,
        "touched": game.hand_size,
    }
    return [wide.get(name, 1) for name in _Row._fields]


def _copies(game: Hanabi) -> Bytes:
    """Copies of each card in the deck."""
    return np.bincount(game.rules.deck()).astype(np.uint8)


def _features(game: Hanabi, sizes: list[int]) -> list[Feature]:
    """All features but those of hints, in the order of the Hanabi Learning Environment."""
    parts = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    at = _Row(*(part.tolist() for part in parts))
    held = np.reshape(at.hands, (game.num_players, game.hand_size, 3))[..., 0]
    cards, deck = game.colors * game.ranks, len(game.cards)
    pile = deck - held.size
    kind, receiver, colour, rank, slot = at.move

    def one_of(columns: Iterable[int], values: Iterable[int]) -> list[Feature]:
        return [(column, value, value) for column in columns for value in values]

    def so_many(column: int, most: int) -> list[Feature]:
        return [(column, count, _MOST) for count in range(1, most + 1)]

    return [
        *one_of(held.ravel(), range(cards)),
        *one_of(held[:, -1], [cards]),
        *((at.drawn[0], 0, deck - left) for left in range(1, pile + 1)),
        *one_of(at.fireworks, range(1, game.ranks + 1)),
        *so_many(at.information[0], game.information_tokens),
        *so_many(at.lives[0], game.life_tokens),
        *(one for each in zip(at.discards, _copies(game), strict=True) for one in so_many(*each)),
        # The player of the last move: always the previous seat, if any.
        *[(kind, 1, 0)] * (game.num_players - 1),
        (kind, 0, _NO_MOVE - 1),
        *one_of([kind], [_PLAY, _DISCARD, _COLOUR, _RANK]),
        *one_of([receiver], range(game.num_players)),
        *one_of([colour], range(game.colors)),
        *one_of([rank], range(game.ranks)),
        *one_of(at.touched, [1]),
        *one_of([slot], range(game.hand_size)),
        *one_of(at.card, range(cards)),
        *one_of(at.scored + at.regained, [1]),
    ]


def _hinted(game: Hanabi) -> npt.NDArray[np.bool_]:
    """(256, 256, features): the possible cards, and the hinted colour and rank."""
    numbers = np.arange(256)[:, np.newaxis]
    is_told = numbers >= TOLD
    colours = (numbers >> np.arange(game.colors) & 1).astype(bool)
    ranks = (numbers >> np.arange(game.ranks) & 1).astype(bool)
    may_be = colours[:, np.newaxis, :, np.newaxis] & ranks[:, np.newaxis]
    parts = [
        may_be.reshape(256, 256, -1),
        np.repeat((colours & is_told)[:, np.newaxis], 256, 1),
        np.repeat((ranks & is_told)[np.newaxis], 256, 0),
    ]
    return np.concatenate(parts, 2)


def _moves(game: Hanabi) -> Bytes:
    none = [_NO_MOVE, game.num_players, game.colors, game.ranks, game.hand_size]
    rows = np.array([none] * (len(game.moves) + 1), np.uint8)
    for row, (kind, at, value) in zip(rows[:-1], game.moves, strict=True):
        row[0] = _KINDS[kind]
        if kind == "color":
            row[1:3] = at - 1, value  # seats are counted from the next player
        elif kind == "rank":
            row[1], row[3] = at - 1, value - 1
        else:
            row[4] = at
    return rows


def _effects(game: Hanabi) -> Bytes:
    """The effects of actions, by seat from the mover on and by card.

    The five bytes are the bits that the possible colours and ranks keep, the bits that they get,
    and whether a hint touches the card.
    """
    values = _values(game)
    table = np.zeros((len(game.moves), game.num_players, len(values), 5), np.uint8)
    table[..., :2] = _MOST
    for of_action, (kind, at, value) in zip(table, game.moves, strict=True):
        if kind not in ("color", "rank"):
            continue
        which = int(kind == "rank")
        bit = 1 << value - which
        touched = values[:, value - 1 + game.colors if which else value]
        of_action[at, :, which] = np.where(touched, 0, _MOST - bit)
        of_action[at, :, 2 + which] = np.where(touched, bit | TOLD, 0)
        of_action[at, :, 4] = touched
    return table


def _values(game: Hanabi) -> npt.NDArray[np.bool_]:
    """One-hot colour and rank of each card; the last row, for no card, is empty."""
    numbers = np.arange(game.colors * game.ranks)[:, np.newaxis]
    colours = numbers // game.ranks == np.arange(game.colors)
    ranks = numbers % game.ranks == np.arange(game.ranks)
    return np.pad(np.concatenate([colours, ranks], 1), ((0, 1), (0, 0)))


__all__ = ["TensorGames", "TensorRules"]
