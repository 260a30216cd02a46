"""Hanabi on the page. Until the game is over, nobody sees more than their seat does."""

import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, Field

from kedge.agents.hanabi.players import HanabiAnalysis
from kedge.errors import InputError
from kedge.games.hanabi import COLOURS, Bomb, Card, Hanabi, HanabiState, Known
from kedge.interfaces.web.assets import STATIC
from kedge.interfaces.web.pages.page_game import (
    EVERYTHING,
    PERSON,
    Heading,
    Outcome,
    PageGame,
    PlayedGame,
    Record,
    Turn,
)
from kedge.interfaces.web.pages.thoughts import (
    SHOWN,
    Action,
    ConsideredMove,
    Decision,
    Move,
    Question,
)
from kedge.records.hanabi.files import live_game
from kedge.records.hanabi.games import HanabiGame
from kedge.records.hanabi.positions import replayed_hanabi_games
from kedge.records.report import ReadReport

_NAMES = ("Alice", "Bob", "Cathy", "Donald", "Emily")  # as hanab.live's players call them
_MODELLED = 2  # players in the games that the model learned from
_LETTERS = [colour[0].upper() for colour in COLOURS]
_BROKEN_OFF = "the game was broken off"
_BY_ALL = (-1, 0)  # hanab.live's numbers for who ended a game, and why
_LIKELY = 8  # cards shown per slot


class HanabiSetup(BaseModel, extra="forbid"):
    players: Annotated[int, Field(ge=2, le=5)] = 2
    # Nearly all games of the model lose the last life: if they scored 0, search could not choose.
    bomb: Annotated[Bomb, Field(description="The score of a game that loses its last life")] = (
        "stack"
    )
    seed: Annotated[int | None, Field(ge=0, lt=2**53, description="Seed of the shuffle")] = None
    deck: Annotated[
        str | None,
        Field(
            max_length=200,
            description="Cards in the order of dealing, such as R1 G3, instead of a seed",
        ),
    ] = None


class HanabiPage(PageGame):
    name, emblem = "hanabi", "✺"
    about = "Together; everyone sees all cards but their own."
    script = STATIC / "js" / "boards" / "hanabi.js"
    style = STATIC / "css" / "hanabi.css"
    setup = HanabiSetup
    files = (".json",)
    secret = frozenset({"seed", "deck"})
    undoes = False

    def seats(self, setup: HanabiSetup) -> tuple[str, ...]:
        return _NAMES[: setup.players]

    def no_agents(self, setup: HanabiSetup) -> str | None:
        if setup.players == _MODELLED:
            return None
        return "agents play Hanabi with two players; with more, seat people only"

    def dealt(self, setup: HanabiSetup, rng: np.random.Generator) -> HanabiSetup:
        if setup.deck is not None and setup.seed is not None:
            raise InputError("setup: give a seed or a deck, not both")
        if setup.deck is not None or setup.seed is not None:
            return setup
        return setup.model_copy(update={"seed": int(rng.integers(2**53))})

    def begin(self, setup: HanabiSetup) -> HanabiState:
        rules = Hanabi(setup.players, bomb=setup.bomb)
        if setup.deck is not None:
            return rules.initial_state([_card(name) for name in setup.deck.split()])
        return rules.initial_state(rng=np.random.default_rng(setup.seed))

    def deciding(self, state: HanabiState) -> list[int]:
        return [] if state.is_terminal() else [state.current_player()]

    def parse(self, state: HanabiState, seat: int, move: Move) -> int:
        for action in range(len(state.game.moves)):
            if state.action_to_string(action) == move:
                return action
        raise InputError(
            "unknown move; write such as play card 1, discard card 5 or tell player 1 red"
        )

    def text(self, state: HanabiState, action: int) -> str:
        return state.action_to_string(action)

    def apply(self, state: HanabiState, actions: Mapping[int, Action]) -> None:
        (action,) = actions.values()
        state.apply_action(action)

    def turn_name(
        self, before: HanabiState, actions: Mapping[int, Action], after: HanabiState
    ) -> str:
        return _named(after.last_action_string())

    def position(self, state: HanabiState, eyes: int | None) -> dict[str, Any]:
        rules, player = state.game, state.current_player()
        # Legal hints reveal the cards of their receiver, so only the mover sees legal moves.
        legal = state.legal_actions() if eyes in (player, EVERYTHING) else []
        hands = zip(state.hands, state.known, strict=True)
        return {
            "player": None if state.is_terminal() else player,
            "hands": [
                [
                    _shown(card if _sees(eyes, seat) else None, known)
                    for card, known in zip(hand, hints, strict=True)
                ]
                for seat, (hand, hints) in enumerate(hands)
            ],
            "fireworks": state.fireworks,
            "discards": [str(card) for card in state.discards],
            "information": [state.information, rules.information_tokens],
            "lives": [state.lives, rules.life_tokens],
            "deck": state.deck_size,
            "score": [state.score, rules.colors * rules.ranks],
            "legal": [state.action_to_string(action) for action in legal],
            "last": _last(state),
        }

    def shows_thoughts(self, seat: int, eyes: int | None) -> bool:
        # They depend on the cards that this seat sees, which their holders must not see.
        return eyes in (seat, EVERYTHING)

    def outcome(self, state: HanabiState) -> Outcome | None:
        if not state.is_terminal():
            return None
        most = state.game.colors * state.game.ranks
        if not state.lives:
            how = "the last life is lost"
            how += ", and what was built" if state.score < sum(state.fireworks) else ""
        else:
            how = "all fireworks are complete" if state.score == most else "the deck has run out"
        return Outcome(result=_score(state), how=how)

    def think(self, question: Question) -> Iterator[Decision]:
        state: HanabiState = question.state
        ((seat, (_, agent)),) = question.agents.items()
        analysis = agent.explain(state, question.rng)
        answers = analysis.answers or [None] * len(analysis.policy)

        rows = []
        for row in analysis.rows(SHOWN):
            move = state.action_to_string(row.action)
            line = [_named(move), *_answered(state, answers[row.index])]
            rows.append(ConsideredMove.of(row, move, _named(move), line))
        more = {"cards": _believed(state, analysis)}
        thought = question.thought(seat, analysis, rows, more=more)
        yield Decision(seat, analysis.draw(question.rng), thought)

    def write(self, game: PlayedGame) -> str:
        return json.dumps(live_game(self.recorded(game))) + "\n"

    def recorded(self, game: PlayedGame) -> HanabiGame:
        state, setup, outcome = game.state, game.setup, game.outcome
        broken_off = outcome is not None and outcome.how == _BROKEN_OFF
        who = zip(game.names, self.seats(setup), strict=True)
        return HanabiGame(
            id="kedge" if setup.seed is None else f"kedge-{setup.seed}",
            players=tuple(_player(name, seat) for name, seat in who),
            deck=tuple(state.deck),
            actions=tuple(state.history),
            hand_size=state.game.hand_size,
            score=state.score,
            bomb=setup.bomb,
            abandoned=_BY_ALL if broken_off else None,
        )

    def read(self, text: str) -> Record:
        report = ReadReport()
        games = replayed_hanabi_games(io.BytesIO(text.encode()), report)
        game = next(games, None)
        if game is None or report.broken:  # the first game counts
            reasons = [fault.reason for fault in report.broken] or ["no game in it"]
            raise InputError(f"not a game of Hanabi: {reasons[0]}")
        if str(game.rules) != str(Hanabi(len(game.players), bomb=game.bomb)):
            raise InputError("only games with five colours and the usual hand size are supported")
        deck = " ".join(map(str, game.deck))
        *states, last = game.states()
        turns: list[Turn] = [
            state.action_to_string(action)
            for state, action in zip(states, game.actions, strict=True)
        ]
        broken_off = Outcome(result=_score(last), how=_BROKEN_OFF)
        outcome = None if game.abandoned is None else broken_off
        heading = Heading(names=game.players, ratings=(None,) * len(game.players))
        setup = {"players": len(game.players), "bomb": game.bomb, "deck": deck}
        return Record(setup, turns, heading, outcome)


def _score(state: HanabiState) -> str:
    return f"{state.score} of {state.game.colors * state.game.ranks}"


def _player(name: str | None, seat: str) -> str:
    """Return a player's name as hanab.live writes it."""
    if name is None or name == PERSON:
        return seat
    return f"ai:{name}" if name.startswith("kedge") else name


def _card(name: str) -> Card:
    if re.fullmatch(f"[{''.join(_LETTERS)}][1-5]", name) is None:
        raise InputError(f"deck: {name[:8]!r} is not a card, such as R1 or W5")
    return Card(_LETTERS.index(name[0]), int(name[1]))


def _named(text: str) -> str:
    """Replace the players' numbers by their names."""
    return re.sub(r"\bplayer (\d)", lambda match: _NAMES[int(match[1])], text)


def _answered(state: HanabiState, answer: tuple[int, float] | None) -> list[str]:
    """The expected answer of the next player, in words."""
    if answer is None:
        return []
    (action, share), player = answer, (state.current_player() + 1) % state.num_players
    return [f"– {_NAMES[player]}: {_named(state.action_to_string(action, player))} ({share:.0%})"]


def _sees(eyes: int | None, seat: int) -> bool:
    """Whether `eyes` sees the cards at a seat: everyone sees all but their own."""
    return eyes is not None and eyes != seat


def _shown(card: Card | None, known: Known) -> dict[str, Any]:
    """Return a card, None if hidden, and what hints said about it."""
    return {"card": None if card is None else str(card), **known._asdict()}


def _last(state: HanabiState) -> dict[str, Any] | None:
    """Return the last move, and the cards that a hint touched."""
    if not state.history:
        return None
    move, by = state.game.moves[state.history[-1]], len(state.history) - 1
    is_hint = move.kind in ("color", "rank")
    return {
        "said": _named(state.last_action_string()),
        "told": (by + move.at) % state.num_players if is_hint else None,
        "touched": state.last_touched if is_hint else [],
    }


def _believed(state: HanabiState, analysis: HanabiAnalysis) -> list[list[tuple[str, float]]] | None:
    """The likely cards of each slot in hand, with their probabilities."""
    if analysis.cards is None:
        return None
    return [
        [
            (str(state.game.card(int(number))), float(slot[number]))
            for number in (-slot).argsort(kind="stable")[:_LIKELY]
            if slot[number] > 0.0
        ]
        for slot in analysis.cards
    ]
