"""Files that browsers get: the page's own, and those that each game names."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from fastapi import HTTPException, Request, Response

if TYPE_CHECKING:
    from kedge.interfaces.web.pages.page_game import PageGame

STATIC: Traversable = files("kedge.interfaces.web") / "static"
_KINDS = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webp": "image/webp",
    ".json": "application/json",
    ".woff2": "font/woff2",
}


def script_url(game: "PageGame") -> str:
    """The address of a game's board."""
    return _url(game, game.script.name)


def style_url(game: "PageGame") -> str | None:
    """The address of a game's stylesheet; None if it has none."""
    return None if game.style is None else _url(game, game.style.name)


def game_file(game: "PageGame", name: str, request: Request) -> Response:
    """Answer with a file that the game names, or with 304; raise 404 for any other."""
    read = _files(game).get(name)
    if read is None:
        raise HTTPException(404)
    try:
        content = read()
    except FileNotFoundError:
        raise HTTPException(404) from None
    tag = f'"{sha256(content).hexdigest()[:32]}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    kind = _KINDS.get(PurePosixPath(name).suffix, "application/octet-stream")
    return Response(content, media_type=kind, headers={"ETag": tag})


def _files(game: "PageGame") -> Mapping[str, Callable[[], bytes]]:
    named = [game.script] if game.style is None else [game.script, game.style]
    return {**game.assets, **{file.name: file.read_bytes for file in named}}


def _url(game: "PageGame", file: str) -> str:
    return f"/games/{game.name}/{file}"
