"""Makes docs/results and docs/images anew: `python docs/make_results.py`, some ten seconds."""

import shutil
import tempfile
from pathlib import Path

from kedge.experiments import run
from kedge.paper import experiment_class

DOCS = Path(__file__).resolve().parent
MADE = ("blotto", "theory")  # those of chess need human games, Maia, and a GPU or hours
KEPT = ("report.txt", "report.csv", "figure.svg")


def main() -> None:
    for name in MADE:
        # A folder of its own: nothing is taken from an earlier run, and none is left behind.
        with tempfile.TemporaryDirectory() as folder:
            files = run(experiment_class(name)(), folder=folder).write_report()
            target = DOCS / "results" / name
            target.mkdir(parents=True, exist_ok=True)
            for file in files:
                if file.name in KEPT:
                    shutil.copyfile(file, target / file.name)
                    print(target / file.name)
    (DOCS / "images").mkdir(exist_ok=True)
    shutil.copyfile(DOCS / "results" / "blotto" / "figure.svg", DOCS / "images" / "blotto.svg")


if __name__ == "__main__":  # the local pool's workers import this file
    main()
