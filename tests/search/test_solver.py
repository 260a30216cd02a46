"""The solvers as a whole: twins, invariances, limits, batches, feedback, bounds."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge import _core
from kedge.errors import InputError
from kedge.games.normal_form import (
    NormalFormGame,
    blotto,
    exploitability,
    random_game,
    regrets,
)
from kedge.search.regret import (
    MMD,
    Adaptive,
    Constant,
    DiLPiKL,
    Hedge,
    Oracle,
    PiKLHedge,
    RegretMatching,
    Theory,
    batch_iterates,
    iterates,
    oracle_from_function,
    solve,
    tabulate,
)

ALGORITHMS = {
    "pikl-hedge": PiKLHedge(0.2),
    "pikl-hedge t-1": PiKLHedge(0.2, indexing="t-1"),
    "pikl-hedge adaptive": PiKLHedge(0.2, Adaptive()),
    "pikl-hedge one λ a player": PiKLHedge([0.0, 0.3, np.inf]),
    "pikl-hedge linear": PiKLHedge(0.2, Constant(0.4), weighting="linear"),
    "pikl-hedge released": PiKLHedge.released(0.2),
    "hedge": Hedge(),
    "hedge constant": Hedge(Constant([0.1, 0.2, 0.3])),
    "rm": RegretMatching(),
    "rm+": RegretMatching(plus=True),
    "rm released": RegretMatching.released(),
    "mmd": MMD(0.2),
    "mmd at 0": MMD(0.0, 0.1),
    "dil-pikl": DiLPiKL((0.5, 0.01, 0.1), shares=(0.5, 0.2, 0.3)),
}
NAMED = pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS.keys())


def three_players():
    rng = np.random.default_rng(3)
    payoffs = rng.normal(size=(3, 4, 3, 5))
    anchors = [rng.dirichlet(np.ones(count)) for count in (4, 3, 5)]
    anchors[2] = np.array([0.4, 0.0, 0.3, 0.3, 0.0])
    return payoffs, anchors


def assert_same(ours, theirs, tolerance=1e-12):
    assert ours.iteration == theirs.iteration
    for key in ("policies", "average", "current"):
        for p, q in zip(getattr(ours, key), getattr(theirs, key), strict=True):
            np.testing.assert_allclose(p, q, rtol=0, atol=tolerance)
    for p, q in zip(
        itertools.chain(*ours.type_policies), itertools.chain(*theirs.type_policies), strict=True
    ):
        np.testing.assert_allclose(p, q, rtol=0, atol=tolerance)
    np.testing.assert_allclose(ours.regret, theirs.regret, rtol=1e-9, atol=1e-9)


@NAMED
@pytest.mark.parametrize("feedback", ["full", "sampled"])
@pytest.mark.parametrize("average", ["uniform", "linear", "last"])
def test_native_is_its_plain_twin(algorithm, feedback, average):
    payoffs, anchors = three_players()
    runs = [
        iterates(
            payoffs,
            algorithm,
            anchors=anchors,
            feedback=feedback,
            average=average,
            checkpoints=[0, 1, 2, 3, 10, 60],
            seed=5,
            engine=engine,
        )
        for engine in ("native", "python")
    ]
    for ours, theirs in zip(*runs, strict=True):
        assert_same(ours, theirs)


@NAMED
@pytest.mark.parametrize("feedback", ["full", "sampled"])
def test_policies_are_distributions(algorithm, feedback):
    payoffs, anchors = three_players()
    for step in iterates(
        payoffs, algorithm, anchors=anchors, feedback=feedback, checkpoints=[0, 1, 50]
    ):
        for policy in itertools.chain(step.policies, step.average, step.current):
            assert (policy >= 0.0).all()
            if step.iteration or policy.any():
                assert policy.sum() == pytest.approx(1.0, abs=1e-9)


SCALED = {
    "pikl-hedge": lambda s: PiKLHedge(0.2 * s, Constant(0.3 / s)),
    "pikl-hedge theory": lambda s: PiKLHedge(0.2 * s),
    "hedge": lambda s: Hedge(Constant(0.3 / s)),
    "hedge theory": lambda s: Hedge(),
    "rm": lambda s: RegretMatching(),
    "rm+": lambda s: RegretMatching(plus=True),
    "mmd": lambda s: MMD(0.2 * s, 0.3 / s),
    "mmd safe": lambda s: MMD(0.2 * s),
    "dil-pikl": lambda s: DiLPiKL((0.1 * s, 0.3 * s)),
}


@pytest.mark.parametrize("make", SCALED.values(), ids=SCALED.keys())
@settings(deadline=None, max_examples=15)
@given(shift=st.floats(-5, 5), scale=st.floats(0.1, 10))
def test_shifting_and_scaling_utilities_changes_nothing(make, shift, scale):
    payoffs, anchors = three_players()
    plain = solve(payoffs, make(1.0), 100, anchors=anchors)
    moved = solve(scale * (payoffs + shift), make(scale), 100, anchors=anchors)
    for p, q in zip(plain.policies, moved.policies, strict=True):
        np.testing.assert_allclose(p, q, atol=1e-6)


@NAMED
def test_order_of_actions_does_not_matter(algorithm):
    payoffs, anchors = three_players()
    order = np.array([2, 0, 3, 1])
    plain = solve(payoffs, algorithm, 40, anchors=anchors)
    moved = solve(payoffs[:, order], algorithm, 40, anchors=[anchors[0][order], *anchors[1:]])
    np.testing.assert_allclose(moved.policies[0], plain.policies[0][order], atol=1e-9)
    np.testing.assert_allclose(moved.policies[2], plain.policies[2], atol=1e-9)


@pytest.mark.parametrize("make", [PiKLHedge, MMD])
def test_infinite_lambda_is_the_anchor(make):
    payoffs, anchors = three_players()
    for policy, anchor in zip(
        solve(payoffs, make(np.inf), 20, anchors=anchors).policies, anchors, strict=True
    ):
        np.testing.assert_allclose(policy, anchor, atol=1e-15)


def test_large_lambda_tends_to_the_anchor():
    payoffs, anchors = three_players()
    for lam in (1e3, 1e6):
        end = solve(payoffs, PiKLHedge(lam), 2000, anchors=anchors, average="last")
        distance = max(np.abs(p - a).max() for p, a in zip(end.policies, anchors, strict=True))
        assert distance < 0.01


def test_small_lambda_tends_to_the_best_response():
    # One player alone: piKL-Hedge must find the best action of its anchor's support.
    payoffs = np.array([[0.1, 0.9, 0.3, 1.5]])
    anchors = [[0.3, 0.1, 0.6, 0.0]]
    end = solve(payoffs, PiKLHedge(1e-4), 2000, anchors=anchors, average="last")
    np.testing.assert_allclose(end.policies[0], [0.0, 1.0, 0.0, 0.0], atol=1e-9)


def test_lambda_zero_is_hedge_and_ignores_the_anchor():
    payoffs, anchors = three_players()
    hedge = solve(payoffs, Hedge(Constant(0.3)), 50)
    pikl = solve(payoffs, PiKLHedge(0.0, Constant(0.3)), 50, anchors=anchors)
    for p, q in zip(hedge.policies, pikl.policies, strict=True):
        np.testing.assert_allclose(p, q, atol=1e-15)


def test_dil_pikl_with_one_type_is_pikl_hedge():
    payoffs, anchors = three_players()
    one = solve(payoffs, DiLPiKL((0.3,)), 50, anchors=anchors)
    same = solve(payoffs, PiKLHedge(0.3, indexing="t-1"), 50, anchors=anchors)
    assert_same(one, same)


def test_dil_pikl_acts_as_its_lowest_lambda_and_is_met_as_a_mixture():
    payoffs, anchors = three_players()
    end = solve(payoffs, ALGORITHMS["dil-pikl"], 50, anchors=anchors)
    for player in range(3):
        kinds = end.type_policies[player]
        np.testing.assert_array_equal(end.policies[player], kinds[1])
        np.testing.assert_allclose(end.average[player], np.array([0.5, 0.2, 0.3]) @ np.array(kinds))


@pytest.mark.parametrize("algorithm", [RegretMatching(), RegretMatching(plus=True), Hedge()])
def test_regret_minimisers_find_nash(algorithm):
    game = blotto(6, 3)
    end = solve(game, algorithm, 20_000)
    assert exploitability(game, end.policies) < 0.02
    assert (end.regret / end.iteration < 0.02).all()


def test_sampled_feedback_converges_to_the_same_point():
    game = blotto(5, 3)
    exact = solve(game, MMD(0.3), 5000, average="last").policies
    sampled = solve(game, PiKLHedge(0.3), 300_000, feedback="sampled", seed=1).policies
    assert max(np.abs(p - q).max() for p, q in zip(exact, sampled, strict=True)) < 5e-3


def test_seeds_repeat_and_differ():
    game = blotto(5, 3)
    one, same, other = (
        solve(game, PiKLHedge(0.1), 100, feedback="sampled", seed=seed).policies[0]
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-3


def test_checkpoints_do_not_change_the_path():
    game = blotto(5, 3)
    *_, stepped = iterates(game, PiKLHedge(0.1), feedback="sampled", checkpoints=range(0, 301, 7))
    straight = solve(game, PiKLHedge(0.1), 294, feedback="sampled")
    assert_same(stepped, straight, 0.0)


def test_a_batch_is_its_games_one_by_one():
    rng = np.random.default_rng(0)
    games = [random_game(int(n), int(a), 7) for n, a in ((2, 3), (3, 2), (1, 4), (2, 9), (4, 3))]
    anchors = [[rng.dirichlet(np.ones(a)) for a in game.num_actions] for game in games]
    seeds = list(range(5))
    for algorithm in (PiKLHedge(0.2), RegretMatching(), MMD(0.3), DiLPiKL((0.1, 0.4))):
        for feedback, threads in (("full", 1), ("full", 3), ("sampled", 1), ("sampled", 3)):
            batch = next(
                batch_iterates(
                    games,
                    algorithm,
                    anchors=anchors,
                    feedback=feedback,
                    checkpoints=[80],
                    seeds=seeds,
                    threads=threads,
                )
            )
            for k, game in enumerate(games):
                alone = solve(
                    game, algorithm, 80, anchors=anchors[k], feedback=feedback, seed=seeds[k]
                )
                assert_same(batch[k], alone, 0.0)


def hashed(seed=1):
    """Two games of four players, ragged, with a dead player each."""
    return _core.HashedUtilities([[3, 0, 4, 2], [5, 1, 0, 6]], seed)


def padded_oracle(native):
    calls = []

    def utilities(sampled):
        calls.append(sampled.copy())
        out = np.full((2, 4, 6), np.nan)
        for game in range(2):
            flat = native.against(game, sampled[game].tolist())
            at = 0
            for player, count in enumerate(native.actions(game)):
                out[game, player, :count] = flat[at : at + count]
                at += count
        return out

    return Oracle([native.actions(0), native.actions(1)], utilities), calls


@pytest.mark.parametrize(
    "algorithm", [PiKLHedge(0.1), RegretMatching(), DiLPiKL((0.1, 0.2), eta=Adaptive())]
)
def test_one_oracle_call_for_all_games_with_dead_players(algorithm):
    native = hashed()
    oracle, calls = padded_oracle(native)
    options = {"feedback": "sampled", "checkpoints": [1, 30], "seeds": [4, 5]}
    asked = list(batch_iterates(oracle, algorithm, **options))
    inside = list(batch_iterates(native, algorithm, **options))
    twin = list(batch_iterates(oracle, algorithm, engine="python", **options))
    assert len(calls) == 60
    assert (calls[0][0] == -1).tolist() == [False, True, False, False]
    for ours, theirs, plain in zip(asked, inside, twin, strict=True):
        for game in range(2):
            assert_same(ours[game], theirs[game], 0.0)
            assert_same(ours[game], plain[game])
            assert [len(policy) for policy in ours[game].policies] == native.actions(game)


def test_an_oracle_may_answer_flat():
    native = hashed()
    padded, _ = padded_oracle(native)

    def utilities(sampled):
        return np.concatenate([native.against(game, sampled[game].tolist()) for game in range(2)])

    options = {"feedback": "sampled", "checkpoints": [30], "seeds": [4, 5]}
    flat = next(batch_iterates(Oracle(padded.num_actions, utilities), PiKLHedge(0.1), **options))
    for ours, theirs in zip(
        flat, next(batch_iterates(padded, PiKLHedge(0.1), **options)), strict=True
    ):
        assert_same(ours, theirs, 0.0)


def test_lambda_by_game_and_player():
    games = [random_game(2, 3, 1), random_game(2, 3, 2)]
    lams = [[0.1, 0.2], [0.3, np.inf]]
    batch = next(batch_iterates(games, PiKLHedge(lams), checkpoints=[50]))
    for game, lam, found in zip(games, lams, batch, strict=True):
        assert_same(found, solve(game, PiKLHedge(lam), 50), 0.0)


def test_functions_as_games():
    payoffs, anchors = three_players()

    def utility(joint):
        return payoffs[(slice(None), *joint)]

    np.testing.assert_array_equal(tabulate(utility, (4, 3, 5)), payoffs)
    oracle = oracle_from_function(utility, (4, 3, 5))
    options = {"anchors": anchors, "feedback": "sampled", "seed": 9}
    asked = solve(oracle, PiKLHedge(0.2, Constant(0.3)), 60, **options)
    tensor = solve(payoffs, PiKLHedge(0.2, Constant(0.3)), 60, **options)
    assert_same(asked, tensor, 1e-15)


def test_default_step_size_depends_on_what_is_known():
    payoffs, _ = three_players()
    oracle = oracle_from_function(lambda joint: payoffs[(slice(None), *joint)], (4, 3, 5))
    asked = solve(oracle, PiKLHedge(0.2), 30, feedback="sampled")
    adaptive = solve(payoffs, PiKLHedge(0.2, Adaptive()), 30, feedback="sampled")
    assert_same(asked, adaptive, 1e-12)
    theory = solve(payoffs, PiKLHedge(0.2, Theory()), 30, feedback="sampled")
    assert_same(solve(payoffs, PiKLHedge(0.2), 30, feedback="sampled"), theory, 0.0)


@pytest.mark.parametrize("feedback", ["full", "sampled"])
@pytest.mark.parametrize("seed", range(5))
def test_the_papers_bounds_hold(feedback, seed):
    rng = np.random.default_rng(seed)
    payoffs = rng.uniform(-1, 1, (6, 5))
    game = NormalFormGame([payoffs, -payoffs])
    anchors = [rng.dirichlet(np.ones(6)), np.array([0.5, 0.0, 0.2, 0.3, 0.0])]
    lams = rng.uniform(0.05, 1.0, 2)
    for step in iterates(
        game,
        PiKLHedge(lams, indexing="t-1"),
        anchors=anchors,
        feedback=feedback,
        checkpoints=[1, 10, 100, 1000, 10_000],
        seed=seed,
    ):
        assert (step.regret <= step.regret_bound).all()
        assert (step.kl_to_anchor <= step.kl_bound).all()
        assert step.xi(0.05) > 0.0
    # In the game as it is, the action that the anchor never plays may be the best: no bound.
    assert step.nash_bound == np.inf
    kept = [0, 2, 3]
    supported = NormalFormGame(game.payoffs[:, :, kept])
    end = solve(supported, PiKLHedge(lams), 20_000, anchors=[anchors[0], anchors[1][kept]])
    assert np.isfinite(end.nash_bound)
    assert regrets(supported, end.policies).max() <= end.nash_bound + 1e-3


def test_bounds_say_where_they_are_not_proved():
    game = blotto(4, 3)
    assert np.isnan(solve(game, PiKLHedge(0.1), 10).regret_bound).all()
    assert np.isnan(solve(game, RegretMatching(), 10).regret_bound).all()
    too_fast = PiKLHedge(0.1, Constant(9.0), indexing="t-1")
    assert np.isnan(solve(game, too_fast, 10).regret_bound).all()
    assert np.isnan(solve(three_players()[0], PiKLHedge(0.1), 10).nash_bound)
    for unproved in (
        solve(game, PiKLHedge(0.1, weighting="linear"), 10),
        solve(game, PiKLHedge(0.1), 10, average="last"),
        solve(game, DiLPiKL((0.1, 0.2)), 10),
    ):
        assert np.isnan(unproved.kl_bound).all()
        assert np.isnan(unproved.nash_bound)
        assert np.isnan(unproved.xi(0.1))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"algorithm": PiKLHedge(-0.1)}, "lambda: must be at least 0"),
        ({"algorithm": PiKLHedge([0.1, 0.2])}, "2 values for 3 players"),
        ({"algorithm": PiKLHedge(0.1, Constant(0.0))}, "eta: must be a positive number"),
        ({"algorithm": PiKLHedge(0.1, Constant(np.nan))}, "eta: must be a positive number"),
        ({"algorithm": MMD(0.0)}, "no safe step size"),
        ({"algorithm": DiLPiKL(())}, "none given"),
        ({"algorithm": DiLPiKL((0.1, 0.2), shares=(0.5, 0.6))}, "sums to 1.1"),
        ({"anchors": [[1.0]]}, "1 policy for 3 players"),
        ({"anchors": [[0.5, 0.5, 0, np.nan], [1, 0, 0], [1, 0, 0, 0, 0]]}, "player 0.*finite"),
        ({"game": [[0.0, 1.0]] * 2}, "shape"),
        ({"algorithm": PiKLHedge(0.1, indexing="T")}, "indexing: one of t, t-1, not 'T'"),
        ({"algorithm": RegretMatching(weighting="linaer")}, "weighting: one of uniform, linear"),
        ({"algorithm": MMD(0.1, 0.0)}, "eta: must be a positive number"),
        ({"feedback": "sampld"}, "feedback: one of full, sampled, not 'sampld'"),
        ({"average": "linaer"}, "average: one of"),
        ({"engine": "pyton"}, "engine: one of"),
        ({"iterations": -1}, "checkpoints: must ascend; -1 comes after 0"),
        ({"iterations": 1e4}, "checkpoints"),
        ({"algorithm": PiKLHedge(0.1, eta="paper")}, "eta: a number, Theory"),
        ({"algorithm": PiKLHedge(0.1, eta=[1.0, 2.0])}, "eta: 2 values for 3 players"),
        ({"algorithm": "pikl-hedge"}, "algorithm: expected one such as PiKLHedge"),
        ({"algorithm": PiKLHedge}, "algorithm: expected one such as PiKLHedge"),
        ({"algorithm": PiKLHedge("x")}, "lambda: expected a number"),
        ({"threads": -1}, "threads: a whole number"),
        ({"seed": -1}, "seed: a whole number"),
        ({"game": lambda joint: (0.0, 0.0)}, "a function is not a game: use tabulate"),
    ],
)
def test_bad_input(change, said):
    options = {"game": three_players()[0], "algorithm": PiKLHedge(0.1), "iterations": 3} | change
    with pytest.raises(InputError, match=said):
        solve(**options)


def test_a_number_is_a_constant_step_size():
    payoffs, _ = three_players()
    assert_same(
        solve(payoffs, PiKLHedge(0.2, eta=0.7), 20),
        solve(payoffs, PiKLHedge(0.2, Constant(0.7)), 20),
    )


def test_ragged_batches_take_ragged_lambdas():
    games = [random_game(2, 3, 1), random_game(3, 2, 2)]
    lams = [[0.1, 0.2], [0.3, 0.4, 0.5]]
    batch = next(batch_iterates(games, PiKLHedge(lams), checkpoints=[20]))
    for game, lam, found in zip(games, lams, batch, strict=True):
        assert_same(found, solve(game, PiKLHedge(lam), 20), 0.0)


def test_one_player_may_have_no_anchor():
    payoffs, anchors = three_players()
    given = solve(payoffs, PiKLHedge(0.2), 20, anchors=[None, *anchors[1:]])
    spelt = solve(payoffs, PiKLHedge(0.2), 20, anchors=[np.full(4, 0.25), *anchors[1:]])
    assert_same(given, spelt, 0.0)


def test_bounds_of_dead_players_and_adaptive_steps():
    oracle = Oracle([[2, 0, 3]], lambda sampled: np.zeros((1, 3, 3)))
    end = solve(oracle, PiKLHedge(0.1, indexing="t-1"), 5, feedback="sampled")
    assert np.isnan(end.regret_bound).all()
    adaptive = PiKLHedge(0.1, Adaptive(0.01), indexing="t-1")
    assert np.isnan(solve(blotto(3, 2), adaptive, 5).regret_bound).all()
    with pytest.raises(InputError, match="delta"):
        solve(blotto(3, 2), PiKLHedge(0.1), 5).xi(0.0)


def test_batches_need_games_and_their_seeds():
    with pytest.raises(InputError, match="none given"):
        next(batch_iterates([], PiKLHedge(0.1)))
    with pytest.raises(InputError, match="seeds: 1 for 2 games"):
        next(batch_iterates([blotto(2, 2)] * 2, PiKLHedge(0.1), seeds=[1]))


def test_every_must_be_positive():
    with pytest.raises(InputError, match="every: a whole number, at least 1, not 0"):
        next(iterates(blotto(2, 2), PiKLHedge(0.1), every=0))


def test_oracles_are_checked():
    def run(oracle, **options):
        return solve(oracle, PiKLHedge(0.1), 3, **options)

    good = Oracle([[2, 2]], lambda sampled: np.zeros((1, 2, 2)))
    with pytest.raises(InputError, match="full feedback needs payoff tensors"):
        run(good)
    with pytest.raises(InputError, match="returned shape"):
        run(Oracle([[2, 2]], lambda sampled: np.zeros((2, 2))), feedback="sampled")
    with pytest.raises(InputError, match=r"returned shape \(5,\), not \(4,\) or \(1, 2, 2\)"):
        run(Oracle([[2, 2]], lambda sampled: np.zeros(5)), feedback="sampled")
    with pytest.raises(InputError, match="finite"):
        run(Oracle([[2, 2]], lambda sampled: np.full((1, 2, 2), np.nan)), feedback="sampled")
    with pytest.raises(InputError, match="ranges"):
        run(Oracle([[2, 2]], good.utilities, ranges=[[1.0, np.nan]]), feedback="sampled")
    with pytest.raises(InputError, match="num_actions"):
        run(Oracle([2, 2], lambda sampled: np.zeros((1, 2, 2))), feedback="sampled")


def test_large_tensors_are_not_copied():
    """A tensor of 2e7 entries is solved within a small fraction of its own size."""
    import tracemalloc

    payoffs = np.random.default_rng(0).random((2, 3200, 3200))
    tracemalloc.start()
    solve(payoffs, PiKLHedge(0.1), 3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < payoffs.nbytes / 50
