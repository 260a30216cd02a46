"""One-ply search: its plain twin, exact answers, roots in lockstep, the two presets."""

import numpy as np
import pytest

from kedge import _core
from kedge.errors import InputError
from kedge.search.one_ply import OnePly, OnePlySearch, search
from kedge.search.regret import Oracle, PiKLHedge, qre

ALGORITHMS = ("rm", "hedge", "pikl-hedge", "dil-pikl")


def tensor_oracle(games):
    """Three players each; games with fewer actions are padded."""
    counts = np.array([payoffs.shape[1:] for payoffs in games])

    def utilities(sampled):
        out = np.zeros((*counts.shape, counts.max()))
        for game, payoffs in enumerate(games):
            for player, count in enumerate(counts[game]):
                at = [*sampled[game]]
                at[player] = slice(None)
                out[game, player, :count] = payoffs[(player, *at)]
        return out

    return Oracle(counts, utilities)


@pytest.fixture
def games():
    rng = np.random.default_rng(0)
    return [rng.random((3, *actions)) for actions in ((2, 3, 2), (4, 1, 3))]


@pytest.fixture
def anchors(games):
    rng = np.random.default_rng(1)
    return [[rng.dirichlet(np.ones(n)) for n in payoffs.shape[1:]] for payoffs in games]


@pytest.mark.parametrize("preset", ["paper", "authors"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_plain_twin_agrees(games, anchors, preset, algorithm):
    settings = OnePly.preset(preset, algorithm, 100)
    native, plain = (
        search(tensor_oracle(games), anchors, settings, [3, 4], engine)
        for engine in ("native", "python")
    )
    for one, other in zip(native, plain, strict=True):
        for field in ("policies", "average", "current", "q"):
            for ours, theirs in zip(getattr(one, field), getattr(other, field), strict=True):
                np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_the_caller_values_the_draws(games, anchors):
    settings, counts = OnePly.preset("paper", "pikl-hedge", 50), [(2, 3, 2), (4, 1, 3)]
    utilities = tensor_oracle(games).utilities
    searching = OnePlySearch(counts, anchors, settings, [3, 4])
    for sampled in searching.samples():
        padded = utilities(sampled.reshape(2, 3))
        real = np.arange(4) < np.array(counts)[:, :, None]
        searching.observe(padded[real])
    for ours, theirs in zip(
        searching.finals(), search(tensor_oracle(games), anchors, settings, [3, 4]), strict=True
    ):
        np.testing.assert_array_equal(*map(np.concatenate, (ours.policies, theirs.policies)))
    with pytest.raises(InputError, match="not a finite number"):
        searching.observe(np.full(15, np.nan))


def test_a_root_does_not_depend_on_the_others(games, anchors):
    settings = OnePly.preset("authors", "rm", 50)
    both = search(tensor_oracle(games), anchors, settings, [3, 4])
    alone = search(tensor_oracle(games[1:]), anchors[1:], settings, [4])
    for ours, theirs in zip(both[1].policies, alone[0].policies, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("preset", ["paper", "authors"])
def test_near_the_exact_equilibrium(games, anchors, preset):
    settings = OnePly.preset(preset, "pikl-hedge", 20_000, lam=0.5)
    found = search(tensor_oracle(games), anchors, settings, [0, 1])
    for one, payoffs, taus in zip(found, games, anchors, strict=True):
        exact = qre(payoffs, 0.5, anchors=taus)
        for policy, solution in zip(one.policies, exact.policies, strict=True):
            np.testing.assert_allclose(policy, solution, atol=0.02)


def test_numbering():
    """As a dictionary does it, in batches with repeats."""
    numbering, known, rng = _core.Numbering(), {}, np.random.default_rng(0)
    for bits in (3, 12, 12, 16, 64):
        keys = rng.integers(0, 2**bits, 3000, dtype=np.uint64, endpoint=bits < 64)
        before = len(known)
        numbers, fresh = numbering.number(keys)
        assert numbers.tolist() == [known.setdefault(key, len(known)) for key in keys.tolist()]
        assert keys[fresh].tolist() == list(known)[before:]
        assert len(numbering) == len(known)


def test_the_dead_take_no_part():
    def utilities(sampled):
        assert (sampled[:, 1] == -1).all()
        return np.broadcast_to([0.0, 1.0], (1, 3, 2))

    [found] = search(Oracle([[2, 0, 2]], utilities), [None], OnePly(PiKLHedge(0.1), 200), [0])
    assert [len(policy) for policy in found.policies] == [2, 0, 2]
    np.testing.assert_allclose(found.q[0], [0.0, 1.0])
    assert found.policies[2][1] > 0.95


def test_the_hopeless_play_their_anchor():
    met = []

    def utilities(sampled):
        met.append(sampled[0].copy())
        return np.array([[[0.0, 0.01], [0.0, 1.0]]])

    settings = OnePly.preset("authors", "rm", 300)
    [found] = search(Oracle([[2, 2]], utilities), [[[0.75, 0.25], [0.75, 0.25]]], settings, [0])
    np.testing.assert_allclose(found.policies, [[0.75, 0.25], [0.0, 1.0]])
    # The other meets the anchor, too, once patience is at an end.
    assert np.mean([action for action, _ in met[1:64]]) == 1.0
    assert 0.15 < np.mean([action for action, _ in met[64:]]) < 0.35


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("papers", "rm"), "preset: one of paper, authors"),
        (("paper", "mmd"), "algorithm: one of rm"),
        (("paper", "rm", 0), "iterations"),
    ],
)
def test_bad_settings(arguments, said):
    with pytest.raises(InputError, match=said):
        OnePly.preset(*arguments)
