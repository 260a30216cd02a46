"""The tables and figures of the paper, each a frozen dataclass: tasks and a report."""

from kedge import catalogue
from kedge.errors import InputError
from kedge.experiments import Experiment
from kedge.specs import suggest

#: The tables and figures of ``kedge paper``, by name; modules are imported when needed.
EXPERIMENTS = {
    "blotto": "kedge.paper.blotto.figure:BlottoFigure",
    "theory": "kedge.paper.blotto.theory:TheoryFigure",
    "chess-accuracy": "kedge.paper.chess.accuracy:ChessAccuracy",
    "chess-cross-entropy": "kedge.paper.chess.accuracy:ChessCrossEntropy",
    "chess-by-rating": "kedge.paper.chess.groups:ChessByRating",
    "chess-by-time-control": "kedge.paper.chess.groups:ChessByTimeControl",
    "chess-strength": "kedge.paper.chess.strength:ChessStrength",
    "chess-tradeoff": "kedge.paper.chess.strength:ChessTradeoff",
    "go-accuracy": "kedge.paper.go.accuracy:GoAccuracy",
    "go-cross-entropy": "kedge.paper.go.accuracy:GoCrossEntropy",
    "go-rl-agents": "kedge.paper.go.rl_agents:GoRlAgents",
    "go-strength": "kedge.paper.go.strength:GoStrength",
    "go-tradeoff": "kedge.paper.go.strength:GoTradeoff",
    "diplomacy-tradeoff": "kedge.paper.diplomacy.tradeoff:DiplomacyTradeoff",
    "diplomacy-cross-entropy": "kedge.paper.diplomacy.prediction:DiplomacyCrossEntropy",
    "diplomacy-by-rating": "kedge.paper.diplomacy.prediction:DiplomacyByRating",
    "diplomacy-1v6": "kedge.paper.diplomacy.strength:DiplomacyOneVsSix",
    "diplomacy-pool": "kedge.paper.diplomacy.pool:DiplomacyPool",
    "diplomacy-search-settings": "kedge.paper.diplomacy.settings:DiplomacySearchSettings",
    "hanabi-prediction": "kedge.paper.hanabi.prediction:HanabiPrediction",
    "hanabi-score": "kedge.paper.hanabi.score:HanabiScore",
    "hanabi-tradeoff": "kedge.paper.hanabi.tradeoff:HanabiTradeoff",
}


def experiment_class(name: str) -> type[Experiment]:
    """The class of the experiment `name`."""
    if name not in EXPERIMENTS:
        near = suggest(name, sorted(EXPERIMENTS), "kedge paper")
        raise InputError(f"unknown table or figure {name!r}; {near}")
    kind: type[Experiment] = catalogue.load(EXPERIMENTS[name])
    return kind
