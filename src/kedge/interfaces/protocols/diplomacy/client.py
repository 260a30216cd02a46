"""A client of the `diplomacy` package's game server: JSON requests and answers over a websocket."""

import contextlib
import json
import uuid
from collections import deque
from collections.abc import Iterator
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from kedge.errors import InputError

_LARGEST = 1 << 26  # bytes of a message, as the server itself has it
_MOST = 1 << 14  # messages that may wait while an agent thinks; beyond, pings would wait too


class LostError(Exception):
    """The connection broke, or what came over it makes no sense: to connect again may help."""


class RefusedError(InputError):
    """The server's own word on why it does not do what it was asked; `kind` is its name for it."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class DiplomacyClient:
    """A talk with a server: `ask` is answered, and `event` hears what it tells unasked.

    Parameters
    ----------
    socket
        The open connection (see `connected`).
    timeout
        Seconds that an answer may take.
    """

    def __init__(self, socket: ClientConnection, timeout: float) -> None:
        self._socket, self._timeout = socket, timeout
        self._events: deque[dict[str, Any]] = deque()
        self._token: str | None = None

    def sign_in(self, user: str, password: str) -> None:
        """As this user, who is registered if nobody has the name yet."""
        try:
            self._token = self.ask("sign_in", username=user, password=password)
        except RefusedError as error:
            if error.kind != "UserException":
                raise
            raise InputError(
                f"user {user}: the server knows another password; take another --user, "
                "or give its password in a --password-file"
            ) from None

    def ask(self, request: str, **fields: Any) -> Any:
        """The data of the answer, if it has any."""
        known = {} if self._token is None else {"token": self._token}
        number = str(uuid.uuid4())
        text = json.dumps({"name": request, "request_id": number, **known, **fields})
        try:
            self._socket.send(text)
        except (WebSocketException, OSError) as error:
            raise LostError(_reason(error)) from None
        while True:
            message = self._message(self._timeout)
            if message is None:
                raise LostError(f"no answer to {request} in {self._timeout:g} seconds")
            if message.get("request_id") != number:
                if "notification_id" in message:
                    self._events.append(message)
            elif message.get("name") == "error":
                said = " ".join(str(message.get("message")).split())
                raise RefusedError(f"the server says: {said}", str(message.get("error_type")))
            else:
                return message.get("data")

    def event(self, timeout: float) -> dict[str, Any] | None:
        """The next that it tells unasked; None if that takes longer than `timeout` seconds."""
        if self._events:
            return self._events.popleft()
        message = self._message(timeout)
        # An answer that came too late is for nobody.
        return message if message is None or "notification_id" in message else {}

    def _message(self, timeout: float) -> dict[str, Any] | None:
        try:
            message = json.loads(self._socket.recv(timeout))
        except TimeoutError:
            return None
        except (WebSocketException, OSError) as error:
            raise LostError(_reason(error)) from None
        except (ValueError, RecursionError):
            raise LostError("what it says is not JSON") from None
        if not isinstance(message, dict):
            raise LostError("what it says is not a JSON object")
        return message


@contextlib.contextmanager
def connected(host: str, port: int, timeout: float = 30.0) -> Iterator[DiplomacyClient]:
    """A connection to the server, closed with its ``with`` block."""
    with contextlib.ExitStack() as stack:
        try:
            socket = stack.enter_context(
                connect(
                    f"ws://{host}:{port}/",
                    open_timeout=timeout,
                    close_timeout=1.0,
                    max_size=_LARGEST,
                    max_queue=_MOST,
                )
            )
        except (WebSocketException, OSError, ValueError) as error:
            raise LostError(_reason(error)) from None
        yield DiplomacyClient(socket, timeout)


def _reason(error: Exception) -> str:
    said = error.strerror if isinstance(error, OSError) else None
    return " ".join((said or str(error) or type(error).__name__).split())
