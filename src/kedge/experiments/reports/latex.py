"""Plain text as LaTeX source for any engine, including pdfTeX."""

import re

_SYMBOLS = r"""
    < <  > >  | |  ± \pm  × \times  − -  ∞ \infty  ≤ \le  ≥ \ge  ≈ \approx  → \to  ‖ \|
    α \alpha  β \beta  γ \gamma  δ \delta  ε \varepsilon  η \eta  θ \theta  κ \kappa  λ \lambda
    μ \mu  ν \nu  π \pi  ρ \rho  σ \sigma  τ \tau  φ \varphi  χ \chi  ψ \psi  ω \omega
    Δ \Delta  Σ \Sigma  Π \Pi  Ω \Omega
"""
_REPLACEMENTS = str.maketrans(
    {
        **{pair.split()[0]: f"${pair.split()[1]}$" for pair in re.findall(r"\S+ \S+", _SYMBOLS)},
        **{character: "\\" + character for character in "{}$&#_%"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "–": "--",
        "—": "---",
        "…": r"\dots{}",
        "\n": " ",
    }
)


def escape(text: str) -> str:
    """Escape LaTeX's special characters and set symbols as math."""
    return text.translate(_REPLACEMENTS)
