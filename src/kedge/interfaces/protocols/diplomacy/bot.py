"""A player on a game server of the `diplomacy` package: it takes its seats and plays to the end."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kedge import _core
from kedge.agents.diplomacy.players import OrdersAgent
from kedge.errors import InputError
from kedge.games.diplomacy import POWERS, DiplomacyState, player
from kedge.interfaces.protocols.diplomacy.client import (
    DiplomacyClient,
    LostError,
    RefusedError,
    connected,
)

_SHORTEST_WAIT, _LONGEST_WAIT = 0.5, 30.0  # seconds before it connects again
#: Told when the server's record and ours may differ, so that it is asked.
_UNSETTLING = ("game_phase_update", "cleared_orders", "cleared_units", "cleared_centers")


@dataclass(frozen=True)
class NewGame:
    """What a game is made with: how many seats start it, and the seconds that a phase may take."""

    players: int = len(POWERS)
    deadline: int = 300


@dataclass(frozen=True)
class Seats:
    """Where to play, and as whom.

    Parameters
    ----------
    powers
        Names of powers, or ``any`` for one that is free, or ``all`` that are free or ours.
    new_game
        To make the game first.
    draw
        The answer when others vote to end the game in a draw.
    last_year
        The year after which it votes for a draw itself.
    patience
        Seconds to try to come back when the connection is lost.
    silence
        Seconds without news after which it asks the server how things stand.
    timeout
        Seconds that the server may take for an answer.
    """

    host: str
    port: int
    game: str
    user: str
    password: str
    powers: tuple[str, ...] | Literal["any", "all"] = "any"
    new_game: NewGame | None = None
    draw: Literal["yes", "no"] = "yes"
    last_year: int | None = None
    patience: float = 600.0
    silence: float = 30.0
    timeout: float = 30.0


class DiplomacyBot:
    """Plays the seats of one game with an agent.

    A lost connection is made anew. With a deadline, all units are first told to hold: an agent that
    is too slow, or fails, costs a phase and never the seat.

    Parameters
    ----------
    seats
        Where it plays.
    agent
        Who writes the orders.
    tell
        Takes a phase, a power, its orders and its number of centres, once they are sent.
    warn
        Takes a line on what went wrong, when it goes on nevertheless.
    """

    def __init__(
        self,
        seats: Seats,
        agent: OrdersAgent,
        rng: np.random.Generator,
        tell: Callable[[str, str, list[str], int], None],
        warn: Callable[[str], None],
    ) -> None:
        self._seats, self._agent, self._rng = seats, agent, rng
        self._tell, self._warn = tell, warn
        self._client: DiplomacyClient
        #: The powers it plays, once it has its seats.
        self.powers: tuple[str, ...] = ()
        #: How many phases it has sent orders for.
        self.phases = 0
        self._state = DiplomacyState(_core.DiplomacyBoard())
        # The last movement phase: what everyone ordered, and where.
        self._moved: tuple[DiplomacyState, Mapping[str, Sequence[str]]] | None = None
        self._status = "forming"
        self._deadline = 0
        self._ordered: str | None = None  # the phase that needs nothing more of us
        self._voted: str | None = None

    def play(self) -> dict[str, Any]:
        """Until the game is over, or all of its powers are out of it; then how it ended."""
        wait = _SHORTEST_WAIT
        lost_at: float | None = None
        where = f"{self._seats.host}:{self._seats.port}"
        while True:
            try:
                with connected(self._seats.host, self._seats.port, self._seats.timeout) as client:
                    self._client = client
                    client.sign_in(self._seats.user, self._seats.password)
                    if not self.powers:
                        self.powers = self._take_seats()
                    self._look()
                    wait, lost_at = _SHORTEST_WAIT, None
                    while not self._is_over():
                        self._step()
                    return self._result()
            except RefusedError as error:
                if self.powers and error.kind == "GameIdException":  # it went as we asked
                    raise self._deleted() from None
                raise
            except LostError as error:
                if not self.powers:
                    raise InputError(
                        f"{where}: no Diplomacy server answers ({error}); "
                        f"`python -m diplomacy.server.run --port {self._seats.port}` starts one"
                    ) from None
                lost_at = lost_at or time.monotonic()
                if time.monotonic() - lost_at > self._seats.patience:
                    raise InputError(
                        f"{where}: the connection is lost ({error}); run this again to go on, "
                        f"with --power {','.join(self.powers)} and without --create"
                    ) from None
                self._warn(f"connection lost ({error}); again in {wait:g} s")
                time.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)

    # --- Seats ----------------------------------------------------------------------------------

    def _take_seats(self) -> tuple[str, ...]:
        """Sit down at a new game, or at one that is there."""
        seats, new = self._seats, self._seats.new_game
        free = list(POWERS) if new is not None else self._free_powers()
        if seats.powers == "any":
            wanted = tuple(self._rng.permutation(free)[:1].tolist())
        elif seats.powers == "all":
            wanted = tuple(free)
        else:
            wanted = seats.powers
        if not wanted:
            raise InputError(f"game {seats.game}: no power is free; name yours with --power")
        if new is not None:
            self._create(new, wanted[0])
        try:
            self._sit_down(wanted)
        except RefusedError as error:
            hint = f"free are {', '.join(free)}" if free else "none is free"
            raise InputError(f"game {seats.game}: {error} ({hint})") from None
        return wanted

    def _create(self, new: NewGame, power: str) -> None:
        """Make the game; who has no seat from the start could only watch it."""
        game = self._seats.game
        try:
            self._client.ask(
                "create_game",
                game_id=game,
                power_name=power,
                n_controls=new.players,
                deadline=new.deadline,
            )
        except RefusedError as error:
            if error.kind != "GameIdException":
                raise
            raise InputError(f"game {game}: is there already; leave out --create") from None

    def _free_powers(self) -> list[str]:
        """The powers that nobody plays; for ``all``, those too that we do."""
        game = self._seats.game
        try:
            free = self._client.ask("get_playable_powers", game_id=game)
        except RefusedError as error:
            if error.kind != "GameIdException":
                raise
            raise InputError(f"game {game}: not on this server; --create makes it") from None
        ours = []
        if self._seats.powers == "all":
            ours = self._client.ask("get_games_info", games=[game])
        with _reading():
            mine = [power for info in ours for power in info["controlled_powers"]]
            return [power for power in POWERS if power in free or power in mine]

    def _sit_down(self, powers: Sequence[str]) -> None:
        self._client.ask("join_powers", game_id=self._seats.game, power_names=list(powers))

    # --- What the server tells ------------------------------------------------------------------

    def _look(self) -> None:
        """Take the seats again, should they be lost, and see how things stand."""
        try:
            self._sit_down(self._alive())
            found = self._client.ask(
                "join_game", game_id=self._seats.game, power_name=self._alive()[0]
            )
        except RefusedError as refusal:
            self._look_back(refusal)
            return
        with _reading():
            board = found["map_name"]
        if board != "standard":
            raise InputError(f"game {self._seats.game}: on the map {board}, not the standard one")
        with _reading():
            powers: dict[str, dict[str, Any]] = found["powers"]
            position = {
                "name": found["phase_abbr"],
                "units": {power: one["units"] for power, one in powers.items()},
                "centers": {power: one["centers"] for power, one in powers.items()},
                "dislodged": {power: list(one["retreats"]) for power, one in powers.items()},
                "retreats": {power: one["retreats"] for power, one in powers.items()},
            }
            moves = [name for name in found["state_history"] if name.endswith("M")]
            for name in moves[-1:]:
                self._remember(found["state_history"][name], found["order_history"][name])
            self._status, self._deadline = found["status"], found["deadline"]
            self._place(position)
            # Its flags say whether it still waits for us: orders may have been lost on the way.
            mine = [powers[power] for power in self._alive()]
            if not all(one["order_is_set"] and not one["wait"] for one in mine):
                self._ordered = None

    def _look_back(self, refusal: RefusedError) -> None:
        """The game is over, or is for us; its record says how. Else the seat is lost."""
        try:
            saved = self._request("save_game")
        except RefusedError:
            raise refusal from None
        if refusal.kind == "GameFinishedException":
            self._status = "canceled"  # unless its last position is one of a game that was played
        with _reading():
            before, after = saved["phases"][-2:][0], saved["phases"][-1]
            self._see(before, after)
        if not self._is_over():
            raise refusal

    def _hear(self, event: Mapping[str, Any]) -> None:
        name = event.get("name")
        if event.get("game_id") != self._seats.game:
            return
        if name == "game_processed":
            with _reading():
                self._see(event["previous_phase_data"], event["current_phase_data"])
        elif name == "game_status_update":
            self._status = str(event.get("status"))
        elif name == "power_vote_updated":
            if event.get("count_voted"):
                self._vote(self._seats.draw)
        elif name == "game_deleted":
            raise self._deleted()
        elif name == "powers_controllers":
            with _reading():
                ours = [event["powers"].get(power) == self._seats.user for power in self._alive()]
            if not all(ours):
                self._look()
        elif name in _UNSETTLING:
            self._look()

    def _deleted(self) -> InputError:
        return InputError(f"game {self._seats.game}: was deleted on the server")

    def _see(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """A phase is over, and another begins: it comes once for every seat."""
        if before["name"].endswith("M"):
            self._remember(before["state"], before["orders"])
        if after["name"] == "COMPLETED":
            # An end is no phase of ours.
            self._place({**after["state"], "name": before["name"]})
            self._status = "completed"
        else:
            self._place(after["state"])

    def _remember(
        self, position: Mapping[str, Any], orders: Mapping[str, Sequence[str] | None]
    ) -> None:
        given = {power: texts for power, texts in orders.items() if texts}
        self._moved = DiplomacyState.from_json(position), given

    def _place(self, position: Mapping[str, Any]) -> None:
        """The position as it stands; what was ordered last is known to it."""
        state = DiplomacyState.from_json(position)
        if self._moved is not None:
            before, orders = self._moved
            played = before.clone()
            played.apply(orders)
            # Where the units are is for the server to say.
            played.board = state.board
            state = played
        self._state = state

    # --- Orders and votes -----------------------------------------------------------------------

    def _step(self) -> None:
        """Order what there is to order, then wait for news."""
        if self._status == "active" and self._state.phase != self._ordered:
            try:
                self._order()
            except RefusedError as error:
                # Most often the phase ended meanwhile.
                phase = self._state.phase
                self._look()
                if not self._is_over() and self._state.phase == phase:
                    self._warn(f"{phase}: {error}")
                    self._ordered = phase
            return
        event = self._client.event(self._seats.silence)
        if event is None:
            self._look()
        else:
            self._hear(event)

    def _order(self) -> None:
        state, phase = self._state, self._state.phase
        # The last that the server waits for ends the phase: those it does not wait for go first.
        powers = sorted(self._alive(), key=lambda power: bool(state.orders(power)))
        if self._seats.last_year is not None and state.board.year > self._seats.last_year:
            self._vote("yes")
        if self._deadline:  # a seat without orders at the deadline is lost
            for power in powers:
                self._send(phase, power, [], wait=True)
        orders = self._written(state, powers)
        while not self._is_over() and (event := self._client.event(0.0)) is not None:
            self._hear(event)
        if self._is_over():
            return
        if self._state.phase != phase:
            if any(orders.values()):
                self._warn(f"{phase}: was over before the orders were written; the units held")
            return
        for power in powers:
            self._send(phase, power, orders[power], wait=False)
        self._ordered = phase
        self.phases += 1
        centres = state.board.centres()
        for power in powers:
            self._tell(phase, power, orders[power], len(centres[player(power)]))

    def _written(self, state: DiplomacyState, powers: Sequence[str]) -> dict[str, list[str]]:
        """What the agent orders for each power; nothing where there is nothing to order."""
        asked = [power for power in powers if state.orders(power)]
        written: dict[str, list[str]] = {power: [] for power in powers}
        if not asked:
            return written
        try:
            found = self._agent.act_many([(state, player(power)) for power in asked], self._rng)
            for power, packed in zip(asked, found, strict=True):
                written[power] = [_core.diplomacy_format_order(int(order)) for order in packed]
        except Exception as error:  # whatever an agent may do, the game goes on
            why = " ".join(f"{type(error).__name__}: {error}".split())
            self._warn(f"{state.phase}: the agent failed ({why}); the units hold")
        return written

    def _send(self, phase: str, power: str, orders: list[str], *, wait: bool) -> None:
        self._request("set_orders", phase=phase, power_name=power, orders=orders, wait=wait)

    def _vote(self, vote: str) -> None:
        """Once a phase, for every seat; the server forgets votes when a phase ends."""
        if self._voted == self._state.phase:
            return
        self._voted = self._state.phase
        for power in self._alive():
            try:
                self._request("vote", power_name=power, vote=vote)
            except RefusedError as error:  # the game has ended, perhaps by this very vote
                if error.kind != "GameFinishedException":
                    self._warn(f"{self._voted}: vote: {error}")
                return

    def _request(self, request: str, *, phase: str | None = None, **fields: Any) -> Any:
        """One within the game, on behalf of a seat."""
        return self._client.ask(
            request,
            game_id=self._seats.game,
            game_role=(self._alive() or self.powers)[0],
            phase=phase or self._state.phase,
            **fields,
        )

    # --- The end --------------------------------------------------------------------------------

    def _alive(self) -> list[str]:
        board = self._state.board
        units, centres, dislodged = board.units(), board.centres(), board.dislodged()
        return [
            power
            for power in self.powers
            if any(kind[player(power)] for kind in (units, centres, dislodged))
        ]

    def _is_over(self) -> bool:
        return self._status in ("completed", "canceled") or not self._alive()

    def _result(self) -> dict[str, Any]:
        board, shares = self._state.board, self._state.shares()
        alive = self._alive()
        results = {}
        for power in self.powers:
            number = player(power)
            if power not in alive:
                outcome = "eliminated"
            elif self._status == "canceled":
                outcome = "cancelled"
            elif board.winner is None:
                outcome = "drawn"
            else:
                outcome = "won" if board.winner == number else "lost"
            centres = len(board.centres()[number])
            results[power] = {"outcome": outcome, "centers": centres, "share": shares[number]}
        return {
            "game": self._seats.game,
            "powers": results,
            "phases": self.phases,
            "last_phase": self._state.phase,
        }


@contextlib.contextmanager
def _reading() -> Iterator[None]:
    """Around what takes apart a message of the server's."""
    try:
        yield
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise LostError(f"what it says cannot be read ({why})") from None
