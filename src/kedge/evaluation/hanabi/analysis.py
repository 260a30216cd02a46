"""Review of a Hanabi game."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kedge.agents.hanabi.players import HanabiAgent, HanabiAnalysis
from kedge.evaluation.decision_reports import (
    DecisionOption,
    DecisionReport,
    DecisionsReport,
    Scale,
    likeliest_indices,
)
from kedge.evaluation.ranks import rank_among
from kedge.games.hanabi import HanabiState
from kedge.records import HanabiGame

#: Chosen by looking at a few games: rollouts are too noisy for smaller differences of values.
POINTS = Scale("points", mistake=1.0, blunder=2.0)


def analyse_hanabi(
    game: HanabiGame,
    agent: HanabiAgent,
    spec: str,
    rng: np.random.Generator,
    tell: Callable[[int], None] = lambda turns: None,
    *,
    is_human: bool = True,
) -> DecisionsReport:
    """Review every move of `game` with `agent`, which `spec` names; it sees what the mover sees.

    The stacks count even when the last life is lost, whatever the rules of the game: models of
    people lose nearly all games so, and if those were worth 0, all moves would look equal.
    """
    rules = replace(game, bomb="stack").rules
    agent.check(rules)
    state = rules.initial_state(game.deck)
    decisions: list[DecisionReport] = []
    values: list[float] = []
    for turn, action in enumerate(game.actions):
        [analysis] = agent.analyse_many([state], rng)
        if turn not in game.slips:  # slips are random moves that nobody decided
            decisions.append(_decision(turn, state, analysis, action, game.players))
        # Without a belief about the cards there is no value: then the last one stays.
        values.append(float(analysis.value) if np.isfinite(analysis.value) else [0.0, *values][-1])
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
        is_human=is_human,
    )


def _decision(
    turn: int, state: HanabiState, analysis: HanabiAnalysis, action: int, names: Sequence[str]
) -> DecisionReport:
    assert analysis.actions is not None
    actions, anchor = analysis.actions.tolist(), analysis.anchor
    played = actions.index(action)

    def option(i: int) -> DecisionOption:
        move = state.action_to_string(actions[i])
        name = re.sub(r"\bplayer (\d)", lambda seat: names[int(seat[1])], move)
        return DecisionOption(
            name, move, float(anchor[i]), float(analysis.policy[i]), float(analysis.q[i])
        )

    rank, ties = rank_among(anchor[played], np.delete(anchor, played))
    return DecisionReport(
        turn=turn,
        player=state.current_player(),
        played=option(played),
        rank=rank,
        people=tuple(map(option, likeliest_indices(anchor.tolist()))),
        choice=option(analysis.top1),
        kl_to_anchor=analysis.kl,
        scale=POINTS,
        ties=ties,
    )
