"""Diplomacy on the page: seven powers give orders at once."""

import io
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, Field

from kedge.agents.agent import Row
from kedge.agents.diplomacy.models import value_model
from kedge.agents.diplomacy.players import OrdersAnalysis
from kedge.errors import InputError
from kedge.games.diplomacy import (
    POWERS,
    Diplomacy,
    DiplomacyBatch,
    DiplomacyState,
    PackedOrders,
    format_orders,
    parts_of,
    short_order,
)
from kedge.games.diplomacy.drawing import MAP
from kedge.interfaces.web.assets import STATIC
from kedge.interfaces.web.pages.page_game import (
    Heading,
    Outcome,
    PageGame,
    PlayedGame,
    Record,
    Turn,
)
from kedge.interfaces.web.pages.searching import turn_to_search
from kedge.interfaces.web.pages.thoughts import (
    SHOWN,
    Action,
    ConsideredMove,
    Decision,
    Move,
    Question,
)
from kedge.models.diplomacy.network import VALUE
from kedge.records.diplomacy.files import saved_game
from kedge.records.diplomacy.games import COMPLETED, DiplomacyGame, Final, Phase
from kedge.records.diplomacy.positions import replayed_games
from kedge.records.report import ReadReport

_BOARD = STATIC / "js" / "boards" / "diplomacy"
_MODULES = ("map.js", "orders.js")  # that the board imports
_ASSETS = {
    **{name: (_BOARD / name).read_bytes for name in _MODULES},
    "map.json": MAP.read_bytes,
}
_PLACE = re.compile(r"\b[A-Z]{3}\b")
_LIKELY, _MET = 0.1, 4  # least probability and number of other powers' orders in a row


class DiplomacySetup(BaseModel, extra="forbid"):
    position: Annotated[
        dict[str, Any] | None,
        Field(description="A position as the `diplomacy` package writes it; null for the start"),
    ] = None
    last_year: Annotated[
        int | None,
        Field(ge=1901, le=2100, description="The game is drawn after this year; null for no limit"),
    ] = None


@dataclass
class _Played:
    """A position, and how it came about."""

    state: DiplomacyState
    past: tuple[list[dict[str, Any]], ...] = ()
    """The parts of all orders, per phase from the last movement phase on."""
    drawn: dict[str, Any] | None = None
    """The drawing for the board, once somebody has looked; the same for all."""

    def clone(self) -> "_Played":
        return _Played(self.state.clone(), self.past)


@dataclass(frozen=True)
class _Orders:
    """A power's orders, and how they are written."""

    packed: PackedOrders
    texts: list[str]

    @classmethod
    def of(cls, packed: PackedOrders) -> "_Orders":
        return cls(packed, format_orders(packed))


class DiplomacyPage(PageGame):
    name, emblem = "diplomacy", "⚔"
    about = "Seven powers that send no messages; play any of them."
    script = _BOARD / "diplomacy.js"
    style = STATIC / "css" / "diplomacy.css"
    assets = _ASSETS
    setup = DiplomacySetup
    files = (".json", ".jsonl")

    def seats(self, setup: DiplomacySetup) -> tuple[str, ...]:
        return tuple(power.title() for power in POWERS)

    def dealt(self, setup: DiplomacySetup, rng: np.random.Generator) -> DiplomacySetup:
        """Normalise the position."""
        if setup.position is None:
            return setup
        return setup.model_copy(update={"position": self.begin(setup).state.to_json()})

    def begin(self, setup: DiplomacySetup) -> _Played:
        game = Diplomacy(setup.last_year)
        if setup.position is None:
            return _Played(game.initial_state())
        if "centers" not in setup.position:
            raise InputError("position: 'centers' is missing")
        state = DiplomacyState.from_json(setup.position, game)
        if not state.is_terminal() and not _due(state):
            raise InputError("position: no power has an order to give")
        return _Played(state)

    def deciding(self, state: _Played) -> list[int]:
        rules = state.state
        return [] if rules.is_terminal() else _due(rules)

    def parse(self, state: _Played, seat: int, move: Move) -> _Orders:
        if not isinstance(move, list) or not all(isinstance(text, str) for text in move):
            raise InputError('orders are a list of texts, such as ["A PAR - BUR", "F BRE H"]')
        return _Orders.of(_packed(state.state, seat, move))

    def text(self, state: _Played, action: _Orders) -> list[str]:
        return action.texts

    def join(self, moves: Mapping[int, Move]) -> Turn:
        return {POWERS[seat]: moves[seat] for seat in sorted(moves)}

    def split(self, state: _Played, turn: Turn) -> dict[int, Move]:
        due = [POWERS[seat] for seat in _due(state.state)]
        if not isinstance(turn, dict) or not turn.keys() <= set(due):
            raise InputError(
                f"{state.state.phase}: a turn is an object with the orders of {', '.join(due)}"
            )
        return {POWERS.index(power): turn[power] for power in due if power in turn}

    def apply(self, state: _Played, actions: Mapping[int, Action]) -> None:
        rules = state.state
        packed = [actions[seat].packed for seat in sorted(actions)]
        orders = np.concatenate([rules.pack({}), *packed])
        after, failing = rules.board.resolve(orders)
        failed = {*failing.tolist()}
        given = [
            {"power": POWERS[seat], **parts_of(order), "failed": order in failed}
            for seat in sorted(actions)
            for order in actions[seat].packed.tolist()
        ]
        state.past = (*(() if rules.board.moving else state.past), given)
        state.drawn = None
        rules.go_to(after, orders)

    def turn_name(self, before: _Played, actions: Mapping[int, Action], after: _Played) -> str:
        return before.state.phase

    def position(self, state: _Played, eyes: int | None) -> dict[str, Any]:
        if state.drawn is None:
            rules, due = state.state, [POWERS[seat] for seat in self.deciding(state)]
            state.drawn = {
                **rules.to_json(),
                "legal": {power: rules.order_parts(power) for power in due},
                "adjustments": {power: rules.adjustment(power) for power in POWERS},
                "shares": rules.shares(),
                "values": value_model(VALUE).values(DiplomacyBatch([rules.board]))[0].tolist(),
                "past": state.past,
            }
        return state.drawn

    def outcome(self, state: _Played) -> Outcome | None:
        rules = state.state
        if not rules.is_terminal():
            return None
        winner = rules.board.winner
        if winner is not None:
            name = POWERS[winner].title()
            return Outcome(name, result=f"{name} wins alone")
        return _drawn(rules)

    def think(self, question: Question) -> Iterator[Decision]:
        stop, rng = question.stop, question.rng
        for spec, agent in dict(question.agents.values()).items():
            seats = [seat for seat, (other, _) in question.agents.items() if other == spec]
            # A model alone is quick enough not to wait for a turn.
            with turn_to_search(stop) if agent.is_search else nullcontext():
                if stop.stopped:
                    return
                # One search answers for all powers, including those that the agents will meet. A
                # model alone answers for one power at a time.
                state = question.state.state
                others = _due(state) if agent.is_search else seats
                analyses = agent.analyse_many([(state, seat) for seat in others], rng)
                by_seat = dict(zip(others, analyses, strict=True))
            likely = {seat: _likely(analysis) for seat, analysis in by_seat.items()}
            for seat in seats:
                analysis = by_seat[seat]
                orders = analysis.draw(rng)
                others_likely = {s: shares for s, shares in likely.items() if s != seat}
                rows = [_considered(row, others_likely) for row in analysis.rows(SHOWN)]
                yield Decision(seat, _Orders.of(orders), question.thought(seat, analysis, rows))

    def resigned(self, state: _Played, seat: int, how: str) -> Outcome:
        raise InputError("powers do not resign in Diplomacy; seat an agent instead")

    def write(self, game: PlayedGame) -> str:
        return json.dumps(saved_game(self.recorded(game))) + "\n"

    def recorded(self, game: PlayedGame) -> DiplomacyGame:
        state = self.begin(game.setup).state
        phases = []
        for orders in game.turns:
            phases.append(Phase.of(state, orders))
            state.apply(orders)
        end = Phase.of(state)
        if game.outcome is not None:
            end = replace(end, name=COMPLETED)
        counts = tuple(map(len, state.board.centres()))
        return DiplomacyGame(
            id="kedge",
            phases=tuple(phases),
            final=Final(end.name, counts, game.outcome is not None, end),
            press="none",
            players=tuple(game.names),
            ratings=tuple(
                rating if isinstance(rating, int | float) else None for rating in game.ratings
            ),
            source="kedge play",
        )

    def read(self, text: str) -> Record:
        position = _position_in(text)
        if position is not None:
            return Record({"position": position}, [])
        report = ReadReport()
        game = next(replayed_games(io.BytesIO(text.encode()), report), None)
        if game is None:
            reasons = [fault.reason for fault in report.broken] or ["no game in it"]
            raise InputError(f"not a game of Diplomacy: {reasons[0]}")
        start = game.phases[0].state().to_json()
        setup = {} if start == Diplomacy().initial_state().to_json() else {"position": start}
        nobody = (None,) * len(POWERS)
        heading = Heading(names=game.players or nobody, ratings=game.ratings or nobody)
        *_, end = game.states()
        is_over = game.final is not None and game.final.done
        return Record(setup, list(_turns(game)), heading, _drawn(end) if is_over else None)


def _drawn(rules: DiplomacyState) -> Outcome:
    shares = sorted(zip(rules.shares(), POWERS, strict=True), reverse=True)
    return Outcome(how=", ".join(f"{p.title()} {share:.0%}" for share, p in shares if share))


def _due(rules: DiplomacyState) -> list[int]:
    """The powers that have orders to give."""
    return [power for power, due in enumerate(rules.due) if due]


def _packed(rules: DiplomacyState, seat: int, texts: list[str]) -> PackedOrders:
    """Return a power's orders, or raise `InputError` if they are not legal together."""
    who = f"{POWERS[seat].title()} in {rules.phase}"
    orders = [rules.board.legal_order(text, seat) for text in texts]
    if 0 in orders:
        raise InputError(f"{who}: illegal order {texts[orders.index(0)][:40]!r}")
    places = [_place(text) for text in texts if text.strip() != "WAIVE"]
    for place in places:
        if places.count(place) > 1:
            raise InputError(f"{who}: two orders for {place}")
    if len(orders) > rules.due[seat]:
        raise InputError(f"{who}: {len(orders)} orders given, {rules.due[seat]} allowed")
    return np.array(orders, np.uint32)


def _place(order: str) -> str:
    """The province that an order is for."""
    return order.split()[1][:3]


def _likely(analysis: OrdersAnalysis) -> dict[str, float]:
    """The probabilities of a power's likely orders."""
    shares = {order: share for order, share in analysis.marginals().items() if share >= _LIKELY}
    return dict(zip(format_orders(np.array([*shares], np.uint32)), shares.values(), strict=True))


def _met(likely: Mapping[int, Mapping[str, float]], orders: list[str]) -> list[str]:
    """Likely moves of other powers to the places of these orders, in words."""
    places = {place for order in orders for place in _PLACE.findall(order)}
    coming = [
        (share, f"{POWERS[seat].title()} {short_order(order)} ({share:.0%})")
        for seat, shares in likely.items()
        for order, share in shares.items()
        if " - " in order and order.split(" - ")[1][:3] in places
    ]
    return [f"– {text}" for _, text in sorted(coming, reverse=True)[:_MET]]


def _considered(row: Row, likely: Mapping[int, Mapping[str, float]]) -> ConsideredMove:
    """Return the row with the moves that it may meet, of the `likely` orders of other powers."""
    orders = format_orders(row.action)
    name = ", ".join(map(short_order, orders)) or "nothing"
    return ConsideredMove.of(row, orders, name, [name, *_met(likely, orders)])


def _position_in(text: str) -> dict[str, Any] | None:
    """Return the position that the text holds; None if it holds something else."""
    try:
        position = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return position if isinstance(position, dict) and "units" in position else None


def _turns(game: DiplomacyGame) -> Iterator[Turn]:
    """Yield the orders that count: the first for each unit, and no more than are due."""
    for phase, state, given in game.decisions():
        turn = {}
        for seat in _due(state):
            power = POWERS[seat]
            auto = format_orders(state.pack({power: phase.auto.get(power, ())}))
            written = [*format_orders(given.get(power, state.pack({}))), *auto]
            first = {order if order == "WAIVE" else _place(order): order for order in written[::-1]}
            turn[power] = [*first.values()][::-1][: state.due[seat]]
        yield turn
