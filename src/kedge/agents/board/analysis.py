"""The result of PUCT as an agent's analysis."""

from kedge.agents.agent import Analysis
from kedge.search.puct import SearchResult, sharpened


def puct_analysis(result: SearchResult, temperature: float, forward_lambda: float) -> Analysis:
    """Return the analysis of a search: visit counts at a temperature, or τ·exp(q/λ) if λ > 0."""
    forward = result.forward_policy(forward_lambda) if forward_lambda else None
    return Analysis(
        anchor=result.prior,
        policy=result.policy(temperature) if forward is None else sharpened(forward, temperature),
        q=result.q,
        value=result.value,
        smooth=result.smooth_policy() if forward is None else forward,
        visits=result.visits,
        best=result.order[..., 0] if forward is None else None,
        lines=result.lines,
        actions=result.actions,
        mask=result.mask,
    )
