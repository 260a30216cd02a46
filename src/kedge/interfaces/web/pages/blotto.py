"""Colonel Blotto on the page: both sides spread their troops at once, round by round."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from kedge.agents.agent import Analysis, Player
from kedge.errors import InputError
from kedge.games.normal_form import NormalFormGame, blotto
from kedge.interfaces.web.assets import STATIC
from kedge.interfaces.web.pages.page_game import Outcome, PageGame, PlayedGame, Record, Turn
from kedge.interfaces.web.pages.thoughts import (
    SHOWN,
    Action,
    ConsideredMove,
    Decision,
    Move,
    Question,
)
from kedge.interfaces.web.problems import plain_error

_SIDES = ("Blue", "Red")
_MOST = 500  # ways to spread troops: a regret minimiser solves that in a second or two


class BlottoSetup(BaseModel, extra="forbid"):
    rounds: Annotated[int, Field(ge=1, le=100)] = 10
    troops: Annotated[int, Field(ge=1, le=50)] = 10
    fields: Annotated[int, Field(ge=2, le=8)] = 3


class BlottoRecord(BaseModel, extra="forbid"):
    """A record file: how both sides spread their troops in each round."""

    game: Literal["blotto"]
    setup: BlottoSetup
    rounds: Annotated[list[tuple[str, str]], Field(max_length=100)]


@dataclass(frozen=True)
class BlottoMatch:
    """The rounds of a game so far."""

    game: NormalFormGame
    setup: BlottoSetup
    played: list[tuple[int, int]]

    def clone(self) -> "BlottoMatch":
        return replace(self, played=self.played.copy())

    def spread(self, action: int) -> list[int]:
        """The troops on each field."""
        return [int(troops) for troops in self.game.action_name(0, action).split("-")]

    def winner(self, joint: tuple[int, int]) -> int | None:
        """The winner of a round; None if it is level."""
        lead = self.game.payoffs[0][joint]
        return None if lead == 0.0 else int(lead < 0.0)

    def score(self) -> list[int]:
        """The number of rounds that each side has won."""
        winners = [self.winner(joint) for joint in self.played]
        return [winners.count(seat) for seat in range(len(_SIDES))]


class BlottoPage(PageGame):
    name, emblem = "blotto", "▥"
    about = "Both sides send troops to the fields at once."
    script = STATIC / "js" / "boards" / "blotto.js"
    style = STATIC / "css" / "blotto.css"
    setup = BlottoSetup
    files = (".json",)
    undoes = False

    def seats(self, setup: BlottoSetup) -> tuple[str, ...]:
        return _SIDES

    def begin(self, setup: BlottoSetup) -> BlottoMatch:
        count = comb(setup.troops + setup.fields - 1, setup.fields - 1)
        if count > _MOST:
            raise InputError(
                f"setup: {setup.troops} troops on {setup.fields} fields have {count:,} ways to be "
                f"spread, more than {_MOST}; take fewer"
            )
        return BlottoMatch(_game(setup.troops, setup.fields), setup, [])

    def deciding(self, state: BlottoMatch) -> list[int]:
        return [0, 1] if len(state.played) < state.setup.rounds else []

    def parse(self, state: BlottoMatch, seat: int, move: Move) -> int:
        name = "-".join(map(str, move)) if isinstance(move, list) else move
        names = _spreads(state)
        if name not in names:
            troops, fields = state.setup.troops, state.setup.fields
            raise InputError(f"spread {troops} troops on {fields} fields, such as {names[-1]}")
        return names.index(name)

    def text(self, state: BlottoMatch, action: int) -> str:
        return _spreads(state)[action]

    def apply(self, state: BlottoMatch, actions: Mapping[int, Action]) -> None:
        state.played.append((actions[0], actions[1]))

    def turn_name(
        self, before: BlottoMatch, actions: Mapping[int, Action], after: BlottoMatch
    ) -> str:
        joint = actions[0], actions[1]
        winner = after.winner(joint)
        blue, red = (self.text(after, action) for action in joint)
        return f"{blue} : {red}, {'level' if winner is None else _SIDES[winner]}"

    def join(self, moves: Mapping[int, Move]) -> list[Move]:
        return [moves[seat] for seat in range(len(_SIDES))]

    def split(self, state: BlottoMatch, turn: Turn) -> dict[int, Move]:
        if not isinstance(turn, list) or len(turn) != len(_SIDES):
            raise InputError('a round of Blotto has two moves, such as ["4-3-3", "0-5-5"]')
        return dict(enumerate(turn))

    def position(self, state: BlottoMatch, eyes: int | None) -> dict[str, Any]:
        return {
            "round": len(state.played),
            "score": state.score(),
            "rounds": [
                {
                    "spread": [state.spread(action) for action in joint],
                    "winner": state.winner(joint),
                }
                for joint in state.played
            ],
        }

    def outcome(self, state: BlottoMatch) -> Outcome | None:
        if self.deciding(state):
            return None
        blue, red = state.score()
        level = len(state.played) - blue - red
        winner = None if blue == red else _SIDES[red > blue]
        return Outcome(winner, how=f"{max(blue, red)} to {min(blue, red)}, {level} level")

    def write(self, game: PlayedGame) -> str:
        record = BlottoRecord(game="blotto", setup=game.setup, rounds=list(game.turns))
        return record.model_dump_json() + "\n"

    def read(self, text: str) -> Record:
        try:
            record = BlottoRecord.model_validate_json(text)
        except ValidationError as error:
            raise InputError(f"not a game of Blotto: {plain_error(error.errors())}") from None
        return Record(record.setup.model_dump(), [list(both) for both in record.rounds])

    def think(self, question: Question) -> Iterator[Decision]:
        state, spreads = question.state, _spreads(question.state)
        for seat, (_, agent) in question.agents.items():
            analysis = _solved(agent, state.game, seat)
            more = {"troops": _on_a_field(state, analysis)}
            rows = [
                ConsideredMove.of(row, spreads[row.action], spreads[row.action])
                for row in analysis.rows(SHOWN)
            ]
            thought = question.thought(seat, analysis, rows, more=more)
            yield Decision(seat, analysis.draw(question.rng), thought)


def _on_a_field(state: BlottoMatch, analysis: Analysis) -> list[tuple[float, float]]:
    """Probabilities that a field gets 0, 1, 2, … troops: by the anchor, and by the policy."""
    spreads = np.array([state.spread(action) for action in range(len(analysis.policy))])
    shares = (spreads[:, :, np.newaxis] == np.arange(state.setup.troops + 1)).mean(1)
    return list(
        zip((analysis.anchor @ shares).tolist(), (analysis.policy @ shares).tolist(), strict=True)
    )


def _spreads(state: BlottoMatch) -> Sequence[str]:
    """The names of all ways to spread troops, the same for both sides."""
    names = state.game.actions
    assert names is not None
    return names[0]


@lru_cache(16)
def _game(troops: int, fields: int) -> NormalFormGame:
    return blotto(troops, fields)


@lru_cache(64)
def _solved(agent: Player[Any], game: NormalFormGame, seat: int) -> Analysis:
    """Return the analysis of a round; all rounds are alike."""
    *_, last = agent.analyse(game.initial_state(), seat)
    return last
