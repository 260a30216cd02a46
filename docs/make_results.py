"""Rebuild docs/results and docs/images.

python docs/make_results.py           (tables without human games: about ten seconds)
python docs/make_results.py chess     (needs KEDGE_DATA, the Maia models and a GPU: ten minutes)
python docs/make_results.py go        (needs KEDGE_DATA and a GPU)
python docs/make_results.py diplomacy (needs KEDGE_DATA, and many cores)
python docs/make_results.py hanabi    (needs KEDGE_DATA; a GPU for the scores)
python docs/make_results.py katago PROGRAM NETWORK…    (needs KEDGE_DATA and KataGo)

Tables of many games can be computed in parts: after an interruption, the finished tasks are stored
beside the reports, and another run resumes from them, even on another machine.
"""

import contextlib
import json
import lzma
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from kedge.experiments import Experiment, run
from kedge.experiments.experiment import jobs_of
from kedge.experiments.store import Store
from kedge.files import make_folder, write_atomic
from kedge.home import home
from kedge.paper import experiment_class

DOCS = Path(__file__).resolve().parent
KEPT = ("report.txt", "report.csv", "figure.svg")
PIECES = "tasks.jsonl.xz"
GPU: dict[str, Any] = {"device": "cuda"}
GO = GPU | {"dtype": "bfloat16"}
# A tenth of the test games' moves. With all of them (None) the standard errors are a third.
GO_MOVES = {"positions": 50_000}
GO_GAMES = {"games": 400, "chunk": 400}
# No rollouts: SearchBot's take minutes per turn without a GPU.
DIPLOMACY: dict[str, Any] = {"games": 105, "claim_games": 406, "rollout": 0}
PREDICTED = {"tier": "A", "positions": 1000}
HANABI = GPU | {"dtype": "bfloat16"}
TABLES = {"games": 250, "chunk": 125}
# On a CPU: ten minutes for people's moves, half an hour for the games.
PEOPLE: dict[str, Any] = {"positions": None}
TRADEOFF = PEOPLE | {"games": 60, "chunk": 15}
SCORES: dict[str, Any] = {"games": 80, "chunk": 10}  # hours on a CPU


def months() -> str:
    """The file of all games of January 2013 and of the rapid games of 2022: many players each."""
    games = Path(os.environ["KEDGE_DATA"], "data", "chess")
    files = [games / "lichess_2013-01.jsonl.xz", *sorted(games.glob("lichess_rapid_evals_*.xz"))]
    together = home() / "cache" / "months.jsonl.xz"
    make_folder(together.parent)
    write_atomic(together, b"".join(file.read_bytes() for file in files))
    return str(together)


#: The tables by argument: the folder, its experiment, and the fields that differ from the defaults.
#: A function is called for the field's value.
RESULTS: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "": {"blotto": ("blotto", {}), "theory": ("theory", {})},
    "chess": {
        "chess-accuracy": ("chess-accuracy", GPU | {"shards": 1}),
        "chess-cross-entropy": ("chess-cross-entropy", GPU | {"shards": 1}),
        "chess-accuracy-all": ("chess-accuracy", GPU | {"shards": 1, "sources": ()}),
        "chess-by-rating": ("chess-by-rating", GPU | {"shards": 1}),
        "chess-by-time-control": (
            "chess-by-time-control",
            GPU | {"shards": 1, "data": months},
        ),
        "chess-strength": ("chess-strength", GPU | {"chunk": 1000}),
        "chess-tradeoff": ("chess-tradeoff", GPU | {"chunk": 1000, "shards": 1}),
    },
    "go": {
        "go-accuracy": ("go-accuracy", GO | GO_MOVES),
        "go-cross-entropy": ("go-cross-entropy", GO | GO_MOVES),
        "go-strength": ("go-strength", GO | GO_GAMES),
        "go-tradeoff": ("go-tradeoff", GO | GO_MOVES | GO_GAMES),
    },
    "diplomacy": {
        "diplomacy-tradeoff": ("diplomacy-tradeoff", DIPLOMACY | PREDICTED),
        "diplomacy-cross-entropy": ("diplomacy-cross-entropy", PREDICTED),
        "diplomacy-1v6": ("diplomacy-1v6", DIPLOMACY),
        "diplomacy-pool": ("diplomacy-pool", DIPLOMACY),
        "diplomacy-search-settings": ("diplomacy-search-settings", DIPLOMACY),
    },
    "hanabi": {
        "hanabi-prediction": ("hanabi-prediction", PEOPLE),
        "hanabi-tradeoff": ("hanabi-tradeoff", TRADEOFF),
        "hanabi-score": ("hanabi-score", SCORES),
        "hanabi-score-smartbot": (
            "hanabi-score",
            HANABI | TABLES | {"models": ("hanabi-smartbot",), "bomb": "zero"},
        ),
    },
    "katago": {"go-rl-agents": ("go-rl-agents", {"positions": 4000})},
}


#: Tables that take too long for one session.
GATHERED = {
    "go-strength",
    "diplomacy-1v6",
    "diplomacy-pool",
    "hanabi-score",
    "hanabi-score-smartbot",
}


def experiment_of(needs: str, folder: str, **given: Any) -> Experiment:
    """The experiment whose table goes into a folder."""
    name, fields = RESULTS[needs][folder]
    made = {field: value() if callable(value) else value for field, value in fields.items()}
    experiment: Experiment = experiment_class(name)(**{**made, **given})
    return experiment


def bring_in(experiment: Experiment, pieces: Path) -> None:
    """Copy stored results into the experiment's run."""
    if not pieces.exists():
        return
    with lzma.open(pieces, "rt", encoding="utf-8") as file:
        header, *tasks = map(json.loads, file)
    if header["digest"] != experiment.digest:
        print(f"{pieces}: from other models or settings; ignored")
        return
    results = {task["key"]: task["result"] for task in tasks}
    jobs, store = jobs_of(experiment), Store(experiment)
    store.open(len(jobs))
    for job in jobs:
        if job.task.key in results and store.load(job) is None:
            store.save(job, results[job.task.key])


def bring_out(experiment: Experiment, pieces: Path) -> None:
    """Store the part of the run's results that the report needs."""
    store = Store(experiment)
    rows: list[dict[str, Any]] = [{"digest": experiment.digest}]
    for job in jobs_of(experiment):
        result = store.load(job)
        if result is not None:
            rows.append({"key": job.task.key, "result": experiment.gist(result)})
    if len(rows) > 1:
        pieces.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(row) + "\n" for row in rows)
        write_atomic(pieces, lzma.compress(text.encode(), preset=9))


@contextlib.contextmanager
def gathering(experiment: Experiment, folder: Path) -> Any:
    if folder.name not in GATHERED:
        yield
        return
    bring_in(experiment, folder / PIECES)
    try:
        yield
    finally:
        bring_out(experiment, folder / PIECES)


def main() -> None:
    needs, *katago = sys.argv[1:] or [""]
    given = {"katago": katago[0], "networks": tuple(katago[1:])} if katago else {}
    for folder, (_, fields) in RESULTS[needs].items():
        experiment, target = experiment_of(needs, folder, **given), DOCS / "results" / folder
        engine = "inline" if "device" in fields else "local"
        with gathering(experiment, target):
            files = run(experiment, engine=engine).write_report()
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
