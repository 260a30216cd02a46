"""The two operators: reference answers, optimality, limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.errors import InputError
from kedge.regularize import forward_kl, kl_divergence, reverse_kl

OPERATORS = [forward_kl, reverse_kl]

values = st.floats(-10, 10)
lambdas = st.floats(1e-6, 1e6)


@st.composite
def decisions(draw, most=8):
    n = draw(st.integers(1, most))
    weights = np.array(draw(st.lists(st.floats(0, 1), min_size=n, max_size=n)))
    if weights.sum() < 1e-3:
        weights += 1.0
    return weights / weights.sum(), np.array(draw(st.lists(values, min_size=n, max_size=n)))


def test_oracle(oracle):
    for case in oracle("reverse_kl.json"):
        policy = reverse_kl(case["tau"], case["q"], case["lam"])
        np.testing.assert_allclose(policy, case["policy"], rtol=0, atol=1e-9)
        best = int(np.argmax(policy))
        alpha = case["q"][best] + case["lam"] * case["tau"][best] / policy[best]
        assert alpha == pytest.approx(case["alpha"], abs=1e-9)
        forward = forward_kl(case["tau"], case["q"], case["lam"])
        np.testing.assert_allclose(forward, case["forward_kl_policy"], rtol=0, atol=1e-9)


def test_reverse_kl_is_the_limit_of_puct(oracle):
    for case in oracle("puct_vs_kl.json"):
        visits = np.array(case["visits"]) / sum(case["visits"])
        lam = case["c"] * np.sqrt(case["N"]) / (case["actions"] + case["N"])
        distance = 0.5 * np.abs(visits - reverse_kl(case["tau"], case["q"], lam)).sum()
        assert distance == pytest.approx(case["tv_kA"], abs=1e-6)


@pytest.mark.parametrize("operator", OPERATORS)
@given(decision=decisions(), lam=lambdas)
def test_is_a_distribution_on_the_support(operator, decision, lam):
    tau, q = decision
    policy = operator(tau, q, lam)
    assert policy.sum() == pytest.approx(1.0, abs=1e-12)
    assert (policy >= 0.0).all()
    assert (policy[tau == 0.0] == 0.0).all()
    assert (policy[tau < 1e-310] == 0.0).all()


@given(decision=decisions(), lam=st.floats(1e-3, 1e3), other=decisions())
def test_forward_is_optimal(decision, lam, other):
    tau, q = decision
    policy = forward_kl(tau, q, lam)
    best = policy @ q - lam * kl_divergence(policy, tau)
    rivals = [
        tau,
        forward_kl(tau, q, lam * 1.1),
        forward_kl(tau, q + 0.01 * np.arange(len(q)), lam),
    ]
    for rival in rivals:
        assert best >= rival @ q - lam * kl_divergence(rival, tau) - 1e-9


@given(decision=decisions(), lam=st.floats(1e-3, 1e3))
def test_reverse_meets_the_optimality_condition(decision, lam):
    tau, q = decision
    policy = reverse_kl(tau, q, lam)
    played = (tau > 1e-300) & (policy > 0.0)
    # q(a) + λτ(a)/π(a) is the same multiplier α for every action.
    alphas = q[played] + lam * tau[played] / policy[played]
    assert np.ptp(alphas) <= 1e-6 * max(1.0, np.abs(alphas).max())


@pytest.mark.parametrize("operator", OPERATORS)
@given(decision=decisions(), lam=lambdas, shift=values, scale=st.floats(1e-3, 1e3))
def test_shift_and_scale_change_nothing(operator, decision, lam, shift, scale):
    tau, q = decision
    policy = operator(tau, q, lam)
    np.testing.assert_allclose(operator(tau, scale * (q + shift), scale * lam), policy, atol=1e-6)


@pytest.mark.parametrize("operator", OPERATORS)
@given(decision=decisions(), lam=lambdas, data=st.data())
def test_order_of_actions_does_not_matter(operator, decision, lam, data):
    tau, q = decision
    order = data.draw(st.permutations(range(len(q))))
    np.testing.assert_allclose(
        operator(tau[order], q[order], lam), operator(tau, q, lam)[order], atol=1e-12
    )


@pytest.mark.parametrize("operator", OPERATORS)
def test_limits(operator):
    tau, q = np.array([0.2, 0.3, 0.5, 0.0]), np.array([1.0, 1.0, 0.0, 9.0])
    np.testing.assert_allclose(operator(tau, q, 0.0), [0.4, 0.6, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(operator(tau, q, 1e-300), [0.4, 0.6, 0.0, 0.0], atol=1e-15)
    np.testing.assert_array_equal(operator(tau, q, np.inf), tau)
    np.testing.assert_allclose(operator(tau, q, 1e300), tau, atol=1e-15)
    np.testing.assert_array_equal(operator([1.0], [-3.0], 0.7), [1.0])


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("lam", [0.0, 5e-324, 1e-300, 1e-9, 1.0, 1e9, 1e300, np.inf])
def test_huge_ranges_stay_finite(operator, lam):
    policy = operator([1e-300, 0.5, 0.5], [1.7e308, -1.7e308, 0.0], lam)
    assert np.isfinite(policy).all()
    assert policy.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("operator", OPERATORS)
def test_batches_are_rows_and_masks_are_shorter_rows(operator):
    rng = np.random.default_rng(0)
    tau, q = rng.dirichlet(np.ones(5), 7), rng.normal(size=(7, 5))
    lam = rng.uniform(0.1, 1.0, 7)
    rows = np.stack([operator(*row) for row in zip(tau, q, lam, strict=True)])
    np.testing.assert_allclose(operator(tau, q, lam), rows, atol=1e-15)

    short = operator(tau[0, :3] / tau[0, :3].sum(), q[0, :3], 0.5)
    padded_tau = np.append(tau[0, :3] / tau[0, :3].sum(), [0.7, np.nan])
    padded_q = np.append(q[0, :3], [99.0, np.nan])
    masked = operator(padded_tau, padded_q, 0.5, mask=[True] * 3 + [False] * 2)
    np.testing.assert_allclose(masked, [*short, 0.0, 0.0], atol=1e-15)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(
    ("tau", "q", "lam", "said"),
    [
        ([0.5, 0.6], [0, 0], 1, "sums to 1.1"),
        ([-0.5, 1.5], [0, 0], 1, "negative"),
        ([np.nan, 1.0], [0, 0], 1, "finite"),
        ([0.5, 0.5], [np.inf, 0], 1, "q: an entry is not"),
        ([0.5, 0.5], [0, 0], -1, "lambda"),
        ([0.5, 0.5], [0, 0], np.nan, "lambda"),
        ([], [], 1, "at least one action"),
    ],
)
def test_bad_input(operator, tau, q, lam, said):
    with pytest.raises(InputError, match=said):
        operator(tau, q, lam)
