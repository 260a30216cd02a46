"""Makes docs/results and docs/images anew.

python docs/make_results.py           (those without human games: some ten seconds)
python docs/make_results.py chess     (needs KEDGE_DATA, the Maia models and a GPU: ten minutes)
python docs/make_results.py go        (needs KEDGE_DATA and a GPU)
python docs/make_results.py diplomacy (needs KEDGE_DATA, and many cores)
python docs/make_results.py hanabi    (needs KEDGE_DATA and a GPU)
python docs/make_results.py katago PROGRAM NETWORK…    (needs KEDGE_DATA and KataGo)
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
GO = GPU | {"dtype": "bfloat16"}
# A fifth of the paper's test games: half a minute a setting and shard, so that little is lost when
# a machine is taken away. All of them (None) halve the standard errors.
GO_MOVES = {"positions": 100_000, "shards": 4}
GO_GAMES = {"games": 400, "chunk": 400}
# SearchBot's rollouts take minutes a turn without a GPU.
DIPLOMACY: dict[str, Any] = {"games": 105, "claim_games": 406, "rollout": 0}
PREDICTED = {"tier": "A", "positions": 1000}
HANABI = GPU | {"dtype": "bfloat16"}
EVERY, TABLES = {"positions": None}, {"games": 250}
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
        "hanabi-prediction": ("hanabi-prediction", HANABI | EVERY),
        "hanabi-tradeoff": ("hanabi-tradeoff", HANABI | EVERY | TABLES),
        "hanabi-score": ("hanabi-score", HANABI | TABLES),
        "hanabi-score-smartbot": (
            "hanabi-score",
            HANABI | TABLES | {"models": ("hanabi-smartbot",), "bomb": "zero"},
        ),
    },
    "katago": {"go-rl-agents": ("go-rl-agents", {"positions": 4000, "shards": 1})},
}


def main() -> None:
    needs, *katago = sys.argv[1:] or [""]
    given = {"katago": katago[0], "networks": tuple(katago[1:])} if katago else {}
    for folder, (name, usual) in RESULTS[needs].items():
        fields = usual | given
        engine = "inline" if "device" in fields else "local"
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
