"""The result of PUCT as an agent's analysis."""

from typing import Any

from kedge.agents.agent import Analysis
from kedge.regularize import Array
from kedge.search.puct import SearchResult, sharpened


class PuctPlayer:
    """Plays the result of PUCT: visit counts at a temperature, or τ·exp(q/λ) if λ > 0."""

    temperature: float
    forward_lambda: float
    """λ; 0 for visit counts."""

    def analysis(self, result: SearchResult) -> Analysis:
        """Return the result of a search as this player plays it."""
        if self.forward_lambda:
            smooth = result.forward_policy(self.forward_lambda)
            policy = sharpened(smooth, self.temperature)
            return analysis_of(result, policy, smooth, visits=result.visits)
        smooth, policy = result.smooth_policy(), result.policy(self.temperature)
        return analysis_of(result, policy, smooth, visits=result.visits, best=result.first)


def analysis_of(result: SearchResult, policy: Array, smooth: Array, **more: Any) -> Analysis:
    """Return the result of a search as an analysis with these policies and `more` columns."""
    return Analysis(
        anchor=result.prior,
        policy=policy,
        q=result.q,
        value=result.value,
        smooth=smooth,
        lines=result.lines,
        actions=result.actions,
        mask=result.mask,
        **more,
    )
