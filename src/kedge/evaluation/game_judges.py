"""Who judges a game, and how: from a record to its report."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from kedge.agents import make_agent, make_hanabi_player, make_player
from kedge.agents.chess.mates import forced_end
from kedge.agents.dial import strongest
from kedge.agents.diplomacy.players import ImitationAgent, OrderSearch
from kedge.agents.diplomacy.specs import not_of_diplomacy
from kedge.evaluation.board.game_analysis import GameReport, analyse_game
from kedge.evaluation.chess.rating_fit import move_likelihoods, rating_networks
from kedge.evaluation.chess.told_ratings import told_agent, told_ratings
from kedge.evaluation.decision_reports import DecisionsReport
from kedge.evaluation.diplomacy.analysis import analyse_orders
from kedge.evaluation.hanabi.analysis import analyse_hanabi
from kedge.games.chess import ChessState
from kedge.games.go import GoState

# Over the shipped model of a game; in chess the model is told the players' ratings.
_PUCT = "puct({}, c_puct=2, playouts=50)"
#: From a recorded game to its report; told now and then how many moves are done.
Judge: TypeAlias = Callable[[Any, Callable[[int], None]], GameReport]
#: The same of decisions that a search values by themselves; told of turns.
DecisionJudge: TypeAlias = Callable[[Any, Callable[[int], None]], DecisionsReport]


def default_judge(game: str) -> str:
    """Who judges where nobody is named: in Hanabi and Diplomacy the strongest on the dial."""
    return strongest(game).spec if game in ("hanabi", "diplomacy") else _PUCT.format(game)


def go_judge(agent: str | None = None) -> Judge:
    """From a game of Go to its report."""
    player = make_player(agent or default_judge("go"), GoState)
    return lambda game, tell: analyse_game(game, [player, player], tell=tell)


def chess_judge(agent: str | None = None, elo: int | None = None, fit: bool | None = None) -> Judge:
    """From a game of chess to its report, by default with fitted ratings where no agent is given.

    `elo` is what both players are judged as, whatever the record says.
    """
    given = None if agent is None else make_player(agent, ChessState)
    is_fitted = given is None if fit is None else fit
    networks = cache(rating_networks)  # loaded when there is a game

    def judge(game: Any, tell: Callable[[int], None]) -> GameReport:
        if given is not None:
            ratings, agents = None, [given, given]
        else:
            ratings = told_ratings(game, elo)
            told = told_agent(*ratings), told_agent(*ratings[::-1])
            agents = [make_player(spec, ChessState) for spec in told]
        likelihoods = None if not is_fitted else move_likelihoods(game, networks())
        return analyse_game(
            game, agents, ratings=ratings, likelihoods=likelihoods, proven=forced_end, tell=tell
        )

    return judge


def hanabi_judge(agent: str | None = None) -> DecisionJudge:
    """From a game of Hanabi to its report."""
    spec = agent or default_judge("hanabi")
    player = make_hanabi_player(spec)
    return lambda game, tell: analyse_hanabi(game, player, spec, np.random.default_rng(0), tell)


def diplomacy_judge(agent: str | None = None) -> DecisionJudge:
    """From a game of Diplomacy to its report."""
    spec = agent or default_judge("diplomacy")
    player = make_agent(spec)
    if not isinstance(player, OrderSearch | ImitationAgent):
        raise not_of_diplomacy(spec)
    return lambda game, tell: analyse_orders(game, player, spec, np.random.default_rng(0), tell)
