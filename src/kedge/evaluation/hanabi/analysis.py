"""A game of Hanabi as people and piKL-SPARTA see it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kedge.agents.hanabi.players import HanabiAgent, HanabiAnalysis
from kedge.evaluation.decision_reports import (
    DecisionReport,
    DecisionsReport,
    Option,
    Scale,
    likeliest,
)
from kedge.games.hanabi import HanabiState
from kedge.records import HanabiGame

#: Chosen by eye on a few games: rollouts leave smaller differences of values uncertain.
POINTS = Scale("points", mistake=1.0, blunder=2.0)


def analyse_hanabi(
    game: HanabiGame,
    agent: HanabiAgent,
    spec: str,
    rng: np.random.Generator,
    tell: Callable[[int], None] = lambda turns: None,
) -> DecisionsReport:
    """Every move of `game` as `agent`, which `spec` names, sees it through the mover's eyes.

    What was built counts, whatever the game says, when the last life is lost: models of people lose
    nearly all of their games so, and were those worth nothing, search could not choose.
    """
    rules = replace(game, bomb="stack").rules
    agent.check(rules)
    state = rules.initial_state(game.deck)
    decisions: list[DecisionReport] = []
    values: list[float] = []
    for turn, action in enumerate(game.actions):
        [found] = agent.analyse_many([state], rng)
        if turn not in game.slips:  # which nobody decided
            decisions.append(_decision(turn, state, found, action))
        # Where nothing is known of one's cards, nothing is known of the value.
        values.append(float(found.value) if np.isfinite(found.value) else [0.0, *values][-1])
        state.apply_action(action)
        tell(turn + 1)
    return DecisionsReport(
        game,
        spec,
        names=game.players,
        turns=tuple(f"{turn + 1}." for turn in range(len(game))),
        decisions=tuple(decisions),
        values=tuple((value,) for value in [*values, float(state.score)]),
        scale=POINTS,
    )


def _decision(turn: int, state: HanabiState, found: HanabiAnalysis, action: int) -> DecisionReport:
    assert found.actions is not None
    actions = found.actions.tolist()
    played = actions.index(action)

    def option(i: int) -> Option:
        name = state.action_to_string(actions[i])
        return Option(name, name, float(found.anchor[i]), float(found.policy[i]), float(found.q[i]))

    return DecisionReport(
        turn=turn,
        player=state.current_player(),
        played=option(played),
        rank=1 + int((found.anchor > found.anchor[played]).sum()),
        people=tuple(map(option, likeliest(found.anchor.tolist()))),
        choice=option(found.top1),
        kl_to_anchor=found.kl,
        scale=POINTS,
    )
