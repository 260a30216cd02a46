"""The minimisers against traces computed at 50 digits by other code."""

import numpy as np
import pytest

from kedge.search.regret import (
    Constant,
    Hedge,
    Oracle,
    PiKLHedge,
    RegretMatching,
    iterates,
    solve,
)

ENGINES = ["native", "python"]


def replay(trace, algorithm, average, engine):
    """The row player's iterates while the other plays the trace's actions."""
    payoff = np.array(trace["payoff_row"], float)
    told = iter(trace["opponent_actions"])

    def utilities(_):
        padded = np.zeros((1, 2, 3))
        padded[0, 0] = payoff[:, next(told)]
        return padded

    anchors = [trace.get("anchor", [1 / 3] * 3), [1.0]]
    steps = iterates(
        Oracle([[3, 1]], utilities),
        algorithm,
        anchors=anchors,
        feedback="sampled",
        average=average,
        checkpoints=range(len(trace["opponent_actions"]) + 1),
        engine=engine,
    )
    return list(steps)


def algorithm_of(trace):
    name = trace["algorithm"]
    if "released" in name:
        return PiKLHedge.released(trace["lam"]), "linear"
    if "regret matching" in name:
        return RegretMatching(), "uniform"
    if "Hedge (" in name:
        return Hedge(Constant(trace["eta"])), "uniform"
    indexing = "t-1" if "t-1" in name else "t"
    return PiKLHedge(trace["lam"], Constant(trace["eta"]), indexing), "uniform"


@pytest.mark.parametrize("engine", ENGINES)
def test_sampled_traces_step_by_step(oracle, engine):
    traces = [t for t in oracle("pikl_hedge_traces.json") if t["mode"] == "sampled"]
    assert len(traces) == 13
    for trace in traces:
        algorithm, average = algorithm_of(trace)
        steps = replay(trace, algorithm, average, engine)
        for step, policy in zip(steps, [*trace["policies"], trace["policy_after"]], strict=True):
            np.testing.assert_allclose(step.current[0], policy, rtol=0, atol=1e-12)
        np.testing.assert_allclose(steps[-1].average[0], trace["average"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_expected_self_play_traces(oracle, engine):
    traces = [t for t in oracle("pikl_hedge_traces.json") if t["mode"] != "sampled"]
    assert len(traces) == 2
    for trace in traces:
        payoff = np.array(trace["payoff_row"], float)
        algorithm = PiKLHedge(trace["lam"], Constant(trace["eta"]))
        end = solve(
            [payoff, -payoff],
            algorithm,
            trace["iterations"],
            anchors=trace["anchors"],
            engine=engine,
        )
        np.testing.assert_allclose(end.average, trace["average"], rtol=0, atol=1e-12)
        last = solve(
            [payoff, -payoff],
            algorithm,
            trace["iterations"] - 1,
            anchors=trace["anchors"],
            engine=engine,
        )
        np.testing.assert_allclose(last.current, trace["last"], rtol=0, atol=1e-12)
