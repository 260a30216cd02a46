"""Makes docs/results and docs/images anew.

python docs/make_results.py           (those without human games: some ten seconds)
python docs/make_results.py chess     (needs KEDGE_DATA, the Maia models and a GPU: ten minutes)
"""

import shutil
import sys
from pathlib import Path
from typing import Any

from kedge.experiments import run
from kedge.paper import experiment_class

DOCS = Path(__file__).resolve().parent
KEPT = ("report.txt", "report.csv", "figure.svg")
GPU: dict[str, Any] = {"device": "cuda"}
#: By what they need: the folder of each, its experiment, and the fields that are not the default's.
RESULTS: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "": {"blotto": ("blotto", {}), "theory": ("theory", {})},
    "chess": {
        "chess-accuracy": ("chess-accuracy", GPU | {"shards": 1}),
        "chess-cross-entropy": ("chess-cross-entropy", GPU | {"shards": 1}),
        "chess-accuracy-all": ("chess-accuracy", GPU | {"shards": 1, "sources": ()}),
        "chess-by-rating": ("chess-by-rating", GPU | {"shards": 1}),
        "chess-by-time-control": ("chess-by-time-control", GPU | {"shards": 1}),
        "chess-strength": ("chess-strength", GPU | {"chunk": 1000}),
        "chess-tradeoff": ("chess-tradeoff", GPU | {"chunk": 1000, "shards": 1}),
    },
}


def main() -> None:
    for folder, (name, fields) in RESULTS["".join(sys.argv[1:])].items():
        engine = "inline" if fields else "local"
        files = run(experiment_class(name)(**fields), engine=engine).write_report()
        target = DOCS / "results" / folder
        target.mkdir(parents=True, exist_ok=True)
        for file in files:
            if file.name in KEPT:
                shutil.copyfile(file, target / file.name)
                print(target / file.name)
    (DOCS / "images").mkdir(exist_ok=True)
    for folder, image in (("blotto", "blotto"), ("chess-tradeoff", "chess-tradeoff")):
        shutil.copyfile(DOCS / "results" / folder / "figure.svg", DOCS / "images" / f"{image}.svg")


if __name__ == "__main__":  # the local pool's workers import this file
    main()
