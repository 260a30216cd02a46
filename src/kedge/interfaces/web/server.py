"""Runs the page's server, and opens a browser at it."""

import errno
import ipaddress
import os
import secrets
import socket
import threading
import webbrowser

import typer
import uvicorn

from kedge.errors import InputError
from kedge.home import home
from kedge.interfaces.web.app import LOCAL_HOSTS, ServerOptions, make_app
from kedge.interfaces.web.play.store import SessionStore

_GRACE = 1  # second, that requests under way have when the server ends


def serve(game: str | None, host: str, port: int, *, browser: bool) -> None:
    """Until Ctrl-C."""
    listener = _listen(host, port)
    games = home() / "games.sqlite"
    SessionStore(games).close()  # a file that cannot be used is told of before anything else
    token = None if is_local(host) else secrets.token_urlsafe(16)
    name = f"[{host}]" if ":" in host else host
    if host in ("0.0.0.0", "::"):
        name = socket.gethostname()
    address = f"http://{name}:{listener.getsockname()[1]}/" + (f"?token={token}" if token else "")
    address += f"#/{game}" if game else ""
    typer.echo(f"kedge plays at {address}")
    if token is not None:
        typer.echo(
            f"It listens on {host}: whoever reaches this machine and has that address, with its "
            "token, may play.",
            err=True,
        )
    typer.echo("Ctrl-C ends it; games are kept.", err=True)
    hosts = (*LOCAL_HOSTS, name.lower()) if token is None else ()
    config = uvicorn.Config(
        make_app(ServerOptions(hosts=hosts, token=token, games=games)),
        log_level="warning",
        proxy_headers=False,  # else a client says itself who it is
        server_header=False,
        ws_max_size=16_384,
        ws_per_message_deflate=False,  # it takes longer than what it saves on the way
        timeout_graceful_shutdown=_GRACE,
    )
    try:
        _Server(config, address if browser else None).run(sockets=[listener])
    except KeyboardInterrupt:
        pass  # nor does it come where a shell that runs this in the background ignores Ctrl-C
    finally:
        listener.close()
    typer.echo("kedge: ended; games are kept", err=True)
    # Agents may be thinking in native code, which does not survive Python's own way to end.
    os._exit(130)


def is_local(host: str) -> bool:
    """Whether only this machine can reach it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Server(uvicorn.Server):
    """One that opens the page once it can answer."""

    def __init__(self, config: uvicorn.Config, address: str | None) -> None:
        super().__init__(config)
        self._address = address

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._address is not None and not self.should_exit:
            # In a thread: one that runs in the terminal comes back only when it is closed.
            threading.Thread(target=webbrowser.open, args=(self._address,), daemon=True).start()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen()  # whoever follows the printed address at once waits
    except (OSError, OverflowError) as error:
        code = getattr(error, "errno", None)
        if code == errno.EADDRINUSE:
            raise InputError(
                f"port {port} is taken, maybe by another kedge; name a free one with --port, or 0"
            ) from None
        raise InputError(f"cannot listen on {host}:{port} ({error})") from None
    return listener
