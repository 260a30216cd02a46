"""Runs the page's server, and opens it in a browser."""

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
from kedge.interfaces.web.play.game.store import SessionStore

_GRACE = 1  # second for open requests when the server ends


def serve(game: str | None, host: str, port: int, *, browser: bool) -> None:
    """Serve the page until Ctrl-C."""
    listener = _listen(host, port)
    games = home() / "games.sqlite"
    SessionStore(games).close()  # report an unusable file before anything else
    token = None if is_local(host) else secrets.token_urlsafe(16)
    name = f"[{host}]" if ":" in host else host
    if host in ("0.0.0.0", "::"):
        name = socket.gethostname()
    hosts = (*LOCAL_HOSTS, name.lower()) if token is None else ()
    address = f"http://{name}:{listener.getsockname()[1]}/" + (f"?token={token}" if token else "")
    address += f"#/{game}" if game else ""
    app = make_app(ServerOptions(hosts=hosts, token=token, games=games))
    typer.echo(f"kedge plays at {address}")
    if token is not None:
        typer.echo(
            f"Listening on {host}: anyone who reaches this machine and has the address with its "
            "token can play.",
            err=True,
        )
    typer.echo("Ctrl-C stops the server; games stay saved.", err=True)
    config = uvicorn.Config(
        app,
        log_level="warning",
        proxy_headers=False,  # else a client could claim any address
        server_header=False,
        ws_max_size=16_384,
        ws_per_message_deflate=False,  # compressing takes longer than it saves
        timeout_graceful_shutdown=_GRACE,
    )
    try:
        _Server(config, address if browser else None).run(sockets=[listener])
    except KeyboardInterrupt:
        pass  # it does not come at all if a shell runs this in the background
    finally:
        listener.close()
    typer.echo("kedge: stopped; games stay saved", err=True)
    # Agents may be thinking in native code, which does not survive Python's own way to end.
    os._exit(130)


def is_local(host: str) -> bool:
    """Whether only this machine can reach it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Server(uvicorn.Server):
    """A server that opens the page once it can answer."""

    def __init__(self, config: uvicorn.Config, address: str | None) -> None:
        super().__init__(config)
        self._address = address

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._address is not None and not self.should_exit:
            # In a thread: a browser in the terminal returns only when it is closed.
            threading.Thread(target=webbrowser.open, args=(self._address,), daemon=True).start()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen()  # early requests wait
    except (OSError, OverflowError) as error:
        code = getattr(error, "errno", None)
        if code == errno.EADDRINUSE:
            raise InputError(
                f"port {port} is in use, perhaps by another kedge; choose one with --port, or 0"
            ) from None
        raise InputError(f"cannot listen on {host}:{port} ({error})") from None
    return listener
