"""Runs the page's server, and opens a browser at it."""

import errno
import ipaddress
import secrets
import socket
import webbrowser

import typer
import uvicorn

from kedge.errors import InputError
from kedge.home import home
from kedge.interfaces.web.app import ServerOptions, make_app


def serve(game: str | None, host: str, port: int, *, browser: bool) -> None:
    """Until Ctrl-C."""
    listener = _listen(host, port)
    port = listener.getsockname()[1]
    local = is_local(host)
    token = None if local else secrets.token_urlsafe(16)
    options = ServerOptions(token=token, games=home() / "games.sqlite")
    if not local:
        options = ServerOptions(hosts=(), token=token, games=options.games)
    shown = f"[{host}]" if ":" in host else host
    if host in ("0.0.0.0", "::"):
        shown = socket.gethostname()
    address = f"http://{shown}:{port}/" + (f"?token={token}" if token else "")
    address += f"#/{game}" if game else ""
    typer.echo(f"kedge plays at {address}")
    if not local:
        typer.echo(
            f"It listens on {host}: whoever reaches this machine and has that address may play.",
            err=True,
        )
    typer.echo("Ctrl-C ends it; games are kept.", err=True)
    config = uvicorn.Config(
        make_app(options), log_level="warning", ws_max_size=16_384, timeout_graceful_shutdown=2
    )
    server = _Server(config, address if browser else None)
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        listener.close()


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
        if self._address is not None:
            webbrowser.open(self._address)


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
