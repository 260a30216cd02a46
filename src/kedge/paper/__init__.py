"""The tables and figures of the paper, each a frozen dataclass: tasks and a report."""

from importlib import import_module

from kedge.errors import InputError
from kedge.experiments import Experiment
from kedge.specs import suggest

#: What ``kedge paper`` knows, and where it is; modules are imported when asked for.
EXPERIMENTS = {
    "blotto": ("kedge.paper.blotto", "BlottoFigure"),
    "theory": ("kedge.paper.theory", "TheoryFigure"),
    "chess-accuracy": ("kedge.paper.chess_accuracy", "ChessAccuracy"),
    "chess-cross-entropy": ("kedge.paper.chess_accuracy", "ChessCrossEntropy"),
    "chess-by-rating": ("kedge.paper.chess_groups", "ChessByRating"),
    "chess-by-time-control": ("kedge.paper.chess_groups", "ChessByTimeControl"),
    "chess-strength": ("kedge.paper.chess_strength", "ChessStrength"),
    "chess-tradeoff": ("kedge.paper.chess_strength", "ChessTradeoff"),
    "go-accuracy": ("kedge.paper.go_accuracy", "GoAccuracy"),
    "go-cross-entropy": ("kedge.paper.go_accuracy", "GoCrossEntropy"),
    "go-rl-agents": ("kedge.paper.go_rl_agents", "GoRlAgents"),
    "go-strength": ("kedge.paper.go_strength", "GoStrength"),
    "go-tradeoff": ("kedge.paper.go_strength", "GoTradeoff"),
    "diplomacy-tradeoff": ("kedge.paper.diplomacy_tradeoff", "DiplomacyTradeoff"),
    "diplomacy-cross-entropy": ("kedge.paper.diplomacy_prediction", "DiplomacyCrossEntropy"),
    "diplomacy-by-rating": ("kedge.paper.diplomacy_prediction", "DiplomacyByRating"),
    "diplomacy-1v6": ("kedge.paper.diplomacy_strength", "DiplomacyOneVsSix"),
    "diplomacy-pool": ("kedge.paper.diplomacy_pool", "DiplomacyPool"),
    "diplomacy-search-settings": ("kedge.paper.diplomacy_settings", "DiplomacySearchSettings"),
    "hanabi-prediction": ("kedge.paper.hanabi_prediction", "HanabiPrediction"),
    "hanabi-score": ("kedge.paper.hanabi_score", "HanabiScore"),
    "hanabi-tradeoff": ("kedge.paper.hanabi_tradeoff", "HanabiTradeoff"),
}


def experiment_class(name: str) -> type[Experiment]:
    """The experiment called `name`."""
    if name not in EXPERIMENTS:
        raise InputError(f"unknown table or figure {name!r}; {suggest(name, sorted(EXPERIMENTS))}")
    module, class_name = EXPERIMENTS[name]
    found: type[Experiment] = getattr(import_module(module), class_name)
    return found
