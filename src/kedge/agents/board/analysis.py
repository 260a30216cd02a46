"""The result of PUCT as an agent's analysis."""

from kedge.agents.agent import Analysis
from kedge.search.puct import SearchResult, sharpened


class PuctPlayer:
    """Plays the result of PUCT: visit counts at a temperature, or τ·exp(q/λ) if λ > 0."""

    temperature: float
    forward_lambda: float
    """λ; 0 for visit counts."""

    def analysis(self, result: SearchResult) -> Analysis:
        """Return the result of a search as this player plays it."""
        lam, temperature = self.forward_lambda, self.temperature
        forward = result.forward_policy(lam) if lam else None
        return Analysis(
            anchor=result.prior,
            policy=result.policy(temperature)
            if forward is None
            else sharpened(forward, temperature),
            q=result.q,
            value=result.value,
            smooth=result.smooth_policy() if forward is None else forward,
            visits=result.visits,
            best=result.first if forward is None else None,
            lines=result.lines,
            actions=result.actions,
            mask=result.mask,
        )
