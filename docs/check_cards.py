"""Measure the shipped models again, and compare with the figures on their cards.

python docs/check_cards.py                  (all models: needs KEDGE_DATA and torch)
python docs/check_cards.py go diplomacy     (some models)
python docs/check_cards.py go --write       (put what was measured on the card instead)

A card's metrics have entries: a command, and the figures that it prints. Commands that predict or
that score a model are run, in a fresh home, so that no stored result is used; commands that train
or play are not. Those with `--device cuda` need a GPU. The exit status is 1 if a figure differs, or
if anything but a GPU is missing to measure it.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from kedge.files import write_atomic
from kedge.models import shipped_models

ROOT = Path(__file__).resolve().parent.parent
MEASURES = ("kedge predict ", "python benchmarks/")
#: What cards call the positions of a game.
POSITIONS = ("positions", "orders", "moves", "cards")
FIGURES = ("positions", "games", "top1", "top1_se", "cross_entropy", "cross_entropy_se")
DIGITS = 4
NEEDS_GPU = "needs a GPU"


class Entry(NamedTuple):
    """A part of a card: a command with the figures that it printed."""

    model: str
    name: str
    content: dict[str, Any]

    @property
    def command(self) -> str:
        return str(self.content["command"])


class Comparison(NamedTuple):
    figure: str
    said: float
    found: float | None
    agrees: bool


def entries(model: str, card: Mapping[str, Any]) -> Iterator[Entry]:
    """Yield the parts of a card's metrics that can be measured again."""

    def within(name: str, content: Any) -> Iterator[Entry]:
        if isinstance(content, dict):
            if str(content.get("command", "")).startswith(MEASURES):
                yield Entry(model, name, content)
            for key, part in content.items():
                yield from within(key, part)

    yield from within("metrics", card["metrics"])


def compared(content: Mapping[str, Any], answer: Mapping[str, Any]) -> list[Comparison]:
    """Compare each figure of an entry with the command's answer."""
    positions = next((content[name] for name in POSITIONS if name in content), 0)
    rows = []
    for name, said in content.items():
        if isinstance(said, bool) or not isinstance(said, int | float):
            continue
        found = answer.get("positions" if name in POSITIONS else name)
        agrees = found is not None and abs(found - said) <= tolerance(name, said, positions)
        rows.append(Comparison(name, said, found, agrees))
    return rows


def tolerance(name: str, said: float, positions: int) -> float:
    """Return how far a figure may be off: counts agree, others to the digits that are printed.

    Another processor sums in another order, so the last digit may differ by one, and a share by the
    two positions whose best moves are tied.
    """
    if isinstance(said, int):
        return 0.0
    digits = len(repr(said).partition(".")[2])
    ties = 2.0 / positions if name.startswith("top") and positions else 0.0
    return float(max(1.5 * 10.0 ** -max(digits, DIGITS), ties))


def missing(entry: Entry) -> str | None:
    """Return why the entry cannot be measured on this machine, or None."""
    words = shlex.split(entry.command)
    if "cuda" in words and not has_gpu():
        return NEEDS_GPU
    if "belief" in entry.model and not has_torch():
        return "needs torch"
    for word in words:
        if is_data(word) and data_file(word) is None:
            return f"{word} is not below KEDGE_DATA"
    return None


def has_torch() -> bool:
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


def has_gpu() -> bool:
    if not has_torch():
        return False
    import torch

    return bool(torch.cuda.is_available())


def is_data(word: str) -> bool:
    return word.endswith((".jsonl.xz", ".tsv.xz"))


def data_file(name: str) -> Path | None:
    """Return the file of this name: a path in the repository, or a file below KEDGE_DATA."""
    if "/" in name:
        return ROOT / name
    folder = os.environ.get("KEDGE_DATA")
    return next(Path(folder).glob(f"data/*/{name}"), None) if folder else None


def answer_to(entry: Entry) -> dict[str, Any]:
    """Run the entry's command, and return the JSON object that it prints."""
    program, *words = shlex.split(entry.command)
    words = [str(data_file(word)) if is_data(word) else word for word in words]
    if program == "kedge":
        words = ["-m", "kedge", *words, "--json"]
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=ROOT,
            env={**os.environ, "KEDGE_HOME": home},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"{entry.command}\n{done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def written(entry: Entry, answer: Mapping[str, Any]) -> None:
    """Put the figures of an answer into the entry."""
    for name in FIGURES:
        there = next((kind for kind in POSITIONS if kind in entry.content), name)
        entry.content[there if name == "positions" else name] = (
            round(answer[name], DIGITS) if isinstance(answer[name], float) else answer[name]
        )


def text_of(figure: float | None) -> str:
    if figure is None:
        return "not printed"
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:.{DIGITS + 1}f}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="*", help="default: all")
    parser.add_argument("--write", action="store_true", help="write the figures to the cards")
    options = parser.parse_args(arguments)
    cards = {name: shipped_models.card(name) for name in options.models or shipped_models.names()}
    todo = [entry for name, card in cards.items() for entry in entries(name, card)]
    differ = skipped = lacking = 0
    print(f"{'':8}{'model':30}{'entry':20}{'figure':18}{'card':>12}{'measured':>14}")
    for number, entry in enumerate(todo, 1):
        start = f"{f'{number}/{len(todo)}':8}{entry.model:30}{entry.name:20}"
        reason = missing(entry)
        if reason is not None:
            skipped += 1
            lacking += reason != NEEDS_GPU
            print(f"{start}skipped: {reason}", flush=True)
            continue
        began = time.monotonic()
        answer = answer_to(entry)
        if options.write:
            written(entry, answer)
        for row in compared(entry.content, answer):
            differ += not row.agrees
            print(
                f"{start}{row.figure:18}{text_of(row.said):>12}{text_of(row.found):>14}"
                f"{'' if row.agrees else '  differs'}",
                flush=True,
            )
        print(f"{'':8}{time.monotonic() - began:.0f} s", flush=True)
    for name, card in cards.items() if options.write else ():
        path = shipped_models.info(name).path.with_name(f"{name}.json")
        write_atomic(path, json.dumps(card, indent=2, ensure_ascii=False) + "\n")
    print(f"{len(todo) - skipped} entries measured, {skipped} skipped, {differ} figures differ")
    return int(differ + lacking > 0)


if __name__ == "__main__":
    sys.exit(main())
