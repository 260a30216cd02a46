"""Rebuild the screenshots of the page in docs/images: play a few moves of each game.

python docs/make_screenshots.py      (needs Chromium and Playwright)
"""

import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    from PIL import Image
    from playwright.sync_api import Page, sync_playwright
except ModuleNotFoundError as error:
    sys.exit(
        f"make_screenshots.py needs {str(error.name).partition('.')[0]}; in kedge's folder run "
        ".venv/bin/pip install playwright pillow"
    )

IMAGES = Path(__file__).resolve().parent / "images"
SIZE = {"width": 1280, "height": 850}
OPENING = ["e4", "e5", "Nf3", "Nc6", "Bc4", "Nf6", "Ng5", "d5", "exd5", "Na5"]
FUSEKI = ["Q16", "D4", "Q3", "D17", "C15", "F17", "R5", "O17", "Q14", "L17", "D10", "C6"]
HUMAN = {"human": True}


def chess(table: "Table") -> None:
    table.begin("chess", [{**HUMAN, "dial": 1.0}, {"dial": 0.6}], turns=OPENING)


def go(table: "Table") -> None:
    table.begin("go", [{**HUMAN, "dial": 0.6}, {"dial": 0.6}], turns=FUSEKI)


def diplomacy(table: "Table") -> None:
    """France holds for a year, and the others attack it."""
    table.begin("diplomacy", [{"human": seat == 2, "dial": 1.0} for seat in range(7)])
    while not table.session()["position"]["name"].startswith("S1902"):
        table.play([])


def hanabi(table: "Table") -> None:
    """Four moves."""
    seats = [{**HUMAN, "dial": 1.0}, {"dial": 0.5}]
    table.begin("hanabi", seats, setup={"seed": 3, "bomb": "stack"})
    for number in (9, 12, 9, 10):
        legal = table.session()["position"]["legal"]
        table.play(legal[min(number, len(legal) - 1)])


class Table:
    """A game that is played through the API and shown in a browser."""

    def __init__(self, page: Page, address: str) -> None:
        self._page, self._address, self._path = page, address, ""

    def begin(self, game: str, seats: list[dict[str, object]], **options: object) -> None:
        options |= {"game": game, "seats": seats}
        answer = self._page.request.post(f"{self._address}/api/v1/sessions", data=options)
        self._path = f"{self._address}/api/v1/sessions/{answer.json()['id']}"
        self._page.goto(f"{self._address}/#/s/{answer.json()['id']}")
        self._page.reload()
        self._page.locator(".status").wait_for()

    def session(self) -> dict[str, Any]:
        """The session, once it is a person's turn."""
        for _ in range(300):
            session: dict[str, Any] = self._page.request.get(self._path).json()
            if any(session["seats"][seat]["human"] for seat in session["deciding"]):
                return session
            self._page.wait_for_timeout(100)
        raise TimeoutError("no person's turn within 30 seconds")

    def play(self, move: object) -> None:
        session = self.session()
        person = next(seat for seat in session["deciding"] if session["seats"][seat]["human"])
        body = {"seat": person, "move": move, "turn": len(session["turns"])}
        self._page.request.post(f"{self._path}/move", data=body)


@contextmanager
def served() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "kedge", "play", "--no-browser", "--port", "0"]
        server = subprocess.Popen(
            command, env={"KEDGE_HOME": home}, stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        try:
            yield server.stdout.readline().split()[-1].rstrip("/")
        finally:
            server.terminate()
            server.wait()


def main() -> None:
    with served() as address, sync_playwright() as library:
        chromium = library.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for prepare in (chess, go, diplomacy, hanabi):
            page = chromium.new_page(viewport=SIZE)
            page.goto(address)
            page.evaluate('localStorage.setItem("kedge-advice", "on")')

            prepare(Table(page, address))
            page.wait_for_timeout(6000)
            shot = Image.open(io.BytesIO(page.screenshot()))
            # A palette: a fifth of the size without a visible difference.
            path = IMAGES / f"page-{prepare.__name__}.png"
            shot.convert("RGB").quantize(256).save(path, optimize=True)
            print(path)
            page.close()


if __name__ == "__main__":
    main()
