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

_LARGEST = 1 << 26  # most bytes of a message, as on the server
_MOST = 1 << 14  # messages in the queue while an agent thinks; if it is full, pings wait too


class LostError(Exception):
    """The connection is lost, or a message is invalid. Connecting again may help."""


class RefusedError(InputError):
    """The server refuses a request; `kind` is the server's name for the error."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class DiplomacyClient:
    """A session with a server: `ask` sends requests, and `event` receives notifications.

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
        """Sign in as this user; a new name is registered."""
        try:
            self._token = self.ask("sign_in", username=user, password=password)
        except RefusedError as error:
            if error.kind != "UserException":
                raise
            raise InputError(
                f"user {user}: wrong password; choose another --user, "
                "or give the password in a --password-file"
            ) from None

    def ask(self, request: str, **fields: Any) -> Any:
        """Send a request; return the data of the answer, or None."""
        token = {} if self._token is None else {"token": self._token}
        number = str(uuid.uuid4())
        text = json.dumps({"name": request, "request_id": number, **token, **fields})
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
                reason = " ".join(str(message.get("message")).split())
                raise RefusedError(f"the server says: {reason}", str(message.get("error_type")))
            else:
                return message.get("data")

    def event(self, timeout: float) -> dict[str, Any] | None:
        """Return the next notification; None if none comes within `timeout` seconds."""
        if self._events:
            return self._events.popleft()
        message = self._message(timeout)
        # An answer that came too late is dropped.
        return message if message is None or "notification_id" in message else {}

    def _message(self, timeout: float) -> dict[str, Any] | None:
        try:
            message = json.loads(self._socket.recv(timeout))
        except TimeoutError:
            return None
        except (WebSocketException, OSError) as error:
            raise LostError(_reason(error)) from None
        except (ValueError, RecursionError):
            raise LostError("a message of the server is not JSON") from None
        if not isinstance(message, dict):
            raise LostError("a message of the server is not a JSON object")
        return message


@contextlib.contextmanager
def connected(host: str, port: int, timeout: float = 30.0) -> Iterator[DiplomacyClient]:
    """Connect to the server; the connection closes with the ``with`` block."""
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
    reason = error.strerror if isinstance(error, OSError) else None
    return " ".join((reason or str(error) or type(error).__name__).split())


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """Turn errors in reading a message of the server into a `LostError`."""
    try:
        yield
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise LostError(f"unreadable message from the server ({why})") from None
