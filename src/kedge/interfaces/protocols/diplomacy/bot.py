"""A player on a game server of the `diplomacy` package."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

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
    reading,
)
from kedge.interfaces.protocols.diplomacy.seats import NewGame, Seats

_SHORTEST_WAIT, _LONGEST_WAIT = 0.5, 30.0  # seconds before it connects again
#: Events after which the server's record and ours may differ, so that we fetch it again.
_UNSETTLING = ("game_phase_update", "cleared_orders", "cleared_units", "cleared_centers")


class DiplomacyBot:
    """Plays the seats of one game with an agent.

    It reconnects when the connection is lost. In a game with a deadline it first orders all units
    to hold. So an agent that is too slow, or fails, loses a phase but never the seat.

    Parameters
    ----------
    seats
        Server, game and powers.
    agent
        Writes the orders.
    tell
        Receives a phase, a power, its orders and its number of centres after they are sent.
    warn
        Receives a line about an error after which the bot goes on.
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
        #: The powers it plays; empty until it has its seats.
        self.powers: tuple[str, ...] = ()
        #: Number of phases that it has sent orders for.
        self.phases = 0
        self._state = DiplomacyState(_core.DiplomacyBoard())
        # The last movement phase: its position, and the orders of all powers.
        self._moved: tuple[DiplomacyState, Mapping[str, Sequence[str]]] | None = None
        self._status = "forming"
        self._deadline = 0
        self._ordered: str | None = None  # last phase whose orders are sent
        self._voted: str | None = None  # last phase of a vote

    def play(self) -> dict[str, Any]:
        """Play until the game is over or all of its powers are eliminated; return the result."""
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
                if self.powers and error.kind == "GameIdException":  # deleted meanwhile
                    raise self._deleted() from None
                raise
            except LostError as error:
                if not self.powers:
                    raise InputError(
                        f"{where}: no Diplomacy server answers ({error}); "
                        f"start one: python -m diplomacy.server.run --port {self._seats.port}"
                    ) from None
                lost_at = lost_at or time.monotonic()
                if time.monotonic() - lost_at > self._seats.patience:
                    raise InputError(
                        f"{where}: connection lost ({error}); to go on, run this again "
                        f"with --power {','.join(self.powers)} and without --create"
                    ) from None
                self._warn(f"connection lost ({error}); next try in {wait:g} s")
                time.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)

    # --- Seats ----------------------------------------------------------------------------------

    def _take_seats(self) -> tuple[str, ...]:
        """Create a game or join an existing one; return our powers."""
        seats, new = self._seats, self._seats.new_game
        free = list(POWERS) if new is not None else self._free_powers()
        if seats.powers == "any":
            wanted = tuple(self._rng.permutation(free)[:1].tolist())
        elif seats.powers == "all":
            wanted = tuple(free)
        else:
            wanted = seats.powers
        if not wanted:
            raise InputError(f"game {seats.game}: no power is free; name your own with --power")
        if new is not None:
            self._create(new, wanted[0])
        try:
            self._sit_down(wanted)
        except RefusedError as error:
            hint = f"free powers: {', '.join(free)}" if free else "no power is free"
            raise InputError(f"game {seats.game}: {error} ({hint})") from None
        return wanted

    def _create(self, new: NewGame, power: str) -> None:
        """Create the game with a seat of ours: without one we could only watch it."""
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
            raise InputError(f"game {game} exists already; leave out --create") from None

    def _free_powers(self) -> list[str]:
        """Return the powers that nobody plays; for ``all``, also our own."""
        game = self._seats.game
        try:
            free = self._client.ask("get_playable_powers", game_id=game)
        except RefusedError as error:
            if error.kind != "GameIdException":
                raise
            raise InputError(
                f"game {game} is not on this server; create it with --create"
            ) from None
        ours = []
        if self._seats.powers == "all":
            ours = self._client.ask("get_games_info", games=[game])
        with reading():
            mine = [power for info in ours for power in info["controlled_powers"]]
            return [power for power in POWERS if power in free or power in mine]

    def _sit_down(self, powers: Sequence[str]) -> None:
        self._client.ask("join_powers", game_id=self._seats.game, power_names=list(powers))

    # --- State of the game ----------------------------------------------------------------------

    def _look(self) -> None:
        """Take lost seats again and fetch the state of the game."""
        try:
            self._sit_down(self._alive())
            game = self._client.ask(
                "join_game", game_id=self._seats.game, power_name=self._alive()[0]
            )
        except RefusedError as refusal:
            self._look_back(refusal)
            return
        with reading():
            board = game["map_name"]
        if board != "standard":
            raise InputError(f"game {self._seats.game}: its map is {board}, not standard")
        with reading():
            powers: dict[str, dict[str, Any]] = game["powers"]
            position = {
                "name": game["phase_abbr"],
                "units": {power: state["units"] for power, state in powers.items()},
                "centers": {power: state["centers"] for power, state in powers.items()},
                "dislodged": {power: list(state["retreats"]) for power, state in powers.items()},
                "retreats": {power: state["retreats"] for power, state in powers.items()},
            }
            moves = [name for name in game["state_history"] if name.endswith("M")]
            for name in moves[-1:]:
                self._remember(game["state_history"][name], game["order_history"][name])
            self._status, self._deadline = game["status"], game["deadline"]
            self._place(position)
            # The server's flags say whether it still waits for us: our orders may have been lost.
            ours = [powers[power] for power in self._alive()]
            if not all(state["order_is_set"] and not state["wait"] for state in ours):
                self._ordered = None

    def _look_back(self, refusal: RefusedError) -> None:
        """Read the result from the record if the game is over for us; else raise `refusal`."""
        try:
            saved = self._request("save_game")
        except RefusedError:
            raise refusal from None
        if refusal.kind == "GameFinishedException":
            self._status = "canceled"  # `_see` corrects it if the game was completed
        with reading():
            before, after = saved["phases"][-2:][0], saved["phases"][-1]
            self._see(before, after)
        if not self._is_over():
            raise refusal

    def _hear(self, event: Mapping[str, Any]) -> None:
        name = event.get("name")
        if event.get("game_id") != self._seats.game:
            return
        if name == "game_processed":
            with reading():
                self._see(event["previous_phase_data"], event["current_phase_data"])
        elif name == "game_status_update":
            self._status = str(event.get("status"))
        elif name == "power_vote_updated":
            if event.get("count_voted"):
                self._vote(self._seats.draw)
        elif name == "game_deleted":
            raise self._deleted()
        elif name == "powers_controllers":
            with reading():
                ours = [event["powers"].get(power) == self._seats.user for power in self._alive()]
            if not all(ours):
                self._look()
        elif name in _UNSETTLING:
            self._look()

    def _deleted(self) -> InputError:
        return InputError(f"game {self._seats.game}: was deleted on the server")

    def _see(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Take over a new phase. The server reports it once for every seat."""
        if before["name"].endswith("M"):
            self._remember(before["state"], before["orders"])
        if after["name"] == "COMPLETED":
            # Our states have no such phase: keep the name of the last one.
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
        """Set the current position, with the last movement orders as its history."""
        state = DiplomacyState.from_json(position)
        if self._moved is not None:
            before, orders = self._moved
            played = before.clone()
            played.apply(orders)
            # The server decides where the units are.
            played.board = state.board
            state = played
        self._state = state

    # --- Orders and votes -----------------------------------------------------------------------

    def _step(self) -> None:
        """Send the orders that are due; if there are none, wait for an event."""
        if self._status == "active" and self._state.phase != self._ordered:
            try:
                self._order()
            except RefusedError as error:
                # Usually the phase ended meanwhile.
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
        # The last power that the server waits for ends the phase: powers without orders go first.
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
                self._warn(f"{phase}: ended before the orders were ready; the units held")
            return
        for power in powers:
            self._send(phase, power, orders[power], wait=False)
        self._ordered = phase
        self.phases += 1
        centres = state.board.centres()
        for power in powers:
            self._tell(phase, power, orders[power], len(centres[player(power)]))

    def _written(self, state: DiplomacyState, powers: Sequence[str]) -> dict[str, list[str]]:
        """Return the agent's orders by power; an empty list for a power without orders due."""
        due = [power for power in powers if state.orders(power)]
        written: dict[str, list[str]] = {power: [] for power in powers}
        if not due:
            return written
        try:
            actions = self._agent.act_many([(state, player(power)) for power in due], self._rng)
            for power, packed in zip(due, actions, strict=True):
                written[power] = [_core.diplomacy_format_order(int(order)) for order in packed]
        except Exception as error:  # the game goes on, whatever the agent does
            why = " ".join(f"{type(error).__name__}: {error}".split())
            self._warn(f"{state.phase}: the agent failed ({why}); the units hold")
        return written

    def _send(self, phase: str, power: str, orders: list[str], *, wait: bool) -> None:
        self._request("set_orders", phase=phase, power_name=power, orders=orders, wait=wait)

    def _vote(self, vote: str) -> None:
        """Vote for every seat, once per phase: the server forgets votes when a phase ends."""
        if self._voted == self._state.phase:
            return
        self._voted = self._state.phase
        for power in self._alive():
            try:
                self._request("vote", power_name=power, vote=vote)
            except RefusedError as error:  # the vote may have ended the game
                if error.kind != "GameFinishedException":
                    self._warn(f"{self._voted}: vote: {error}")
                return

    def _request(self, request: str, *, phase: str | None = None, **fields: Any) -> Any:
        """Send a request about the game for one of our seats; return the data of the answer."""
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
