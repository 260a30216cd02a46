"""PUCT: the plain twin against reference code, the native forest against the twin."""

import zlib
from math import sin

import numpy as np
import pytest
from native_games import native_games

from kedge import _core
from kedge.errors import InputError
from kedge.games.chess import START_FEN, ChessState
from kedge.games.go import GoState
from kedge.search.puct import Settings, admit, search, search_chunks, search_many


class TicTacToe:
    """Noughts and crosses with OpenSpiel's verbs."""

    LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

    def __init__(self, moves=()):
        self.moves = list(moves)

    def _winner(self):
        for player in (0, 1):
            mine = self.moves[player::2]
            if any(all(cell in mine for cell in line) for line in self.LINES):
                return player
        return None

    def current_player(self):
        return len(self.moves) % 2

    def legal_actions(self):
        return [] if self.is_terminal() else [c for c in range(9) if c not in self.moves]

    def apply_action(self, action):
        self.moves.append(action)

    def is_terminal(self):
        return self._winner() is not None or len(self.moves) == 9

    def returns(self):
        winner = self._winner()
        return [0.0, 0.0] if winner is None else [1.0 - 2.0 * winner, 2.0 * winner - 1.0]

    def clone(self):
        return TicTacToe(self.moves)


def evaluate(state):
    """The oracle's evaluator: a prior that rises with the cell, a value from the moves so far."""
    weights = np.array([1.0 + 0.1 * action for action in state.legal_actions()])
    for_x = 0.8 * sin(sum((i + 1) * (a + 1) for i, a in enumerate(state.moves)))
    return weights / weights.sum(), for_x if state.current_player() == 0 else -for_x


def native_evaluate(forest):
    priors, values = [], []
    for row in range(len(forest.waiting())):
        prior, value = evaluate(TicTacToe(forest.leaf(row).moves()))
        priors.append(prior)
        values.append(value)
    forest.update(np.concatenate(priors), np.array(values))


def native(moves):
    board = native_games().TicTacToe()
    for move in moves:
        board.push(move)
    return board


def native_search(histories, settings, threads=2):
    forest = native_games().TicTacToeForest(threads)
    return search_many(forest, [native(moves) for moves in histories], native_evaluate, settings)


def test_the_paper_search_is_the_oracles(oracle):
    for case in oracle("paper_mcts_tictactoe.json"):
        settings = Settings(case["c_puct"], case["visits"])
        plain = search(TicTacToe(case["history"]), evaluate, settings)
        for found in (plain, native_search([case["history"]], settings)[0]):
            assert found.actions.tolist() == case["actions"]
            assert found.visits.tolist() == case["N"]
            np.testing.assert_allclose(found.prior, case["prior"], atol=1e-12)
            expected = [np.nan if q is None else q for q in case["Q"]]
            np.testing.assert_allclose(found.q, expected, atol=1e-12)
            np.testing.assert_allclose(found.filled_q, case["Q_filled"], atol=1e-12)
            np.testing.assert_allclose(found.smooth_policy(), case["smooth_policy"], atol=1e-9)


def histories():
    rng = np.random.default_rng(0)
    for _ in range(60):
        state = TicTacToe()
        for _ in range(int(rng.integers(0, 8))):
            if not state.is_terminal():
                state.apply_action(int(rng.choice(state.legal_actions())))
        if not state.is_terminal():
            yield state.moves


@pytest.mark.parametrize(
    "settings",
    [Settings(c, n) for c in (0.0, 0.3, 2.0, 30.0) for n in (1, 2, 50, 400)]
    + [Settings(playouts=100, constant_lambda=0.2)]
    + [Settings(1.0, 120, batch=batch) for batch in (2, 5, 64)]
    + [
        Settings(1.0, n, gumbel=m, gumbel_seed=seed, batch=batch, c_scale=0.1)
        for n, m, seed, batch in [
            (1, 4, 3, 1),
            (2, 4, 3, 1),
            (60, 1, 3, 1),
            (60, 2, None, 1),
            (60, 4, 3, 1),
            (60, 16, None, 1),
            (60, 16, 3, 1),
            (60, 16, 3, 4),
        ]
    ],
    ids=str,
)
def test_native_is_its_plain_twin(settings):
    starts = list(histories())
    for moves, found in zip(starts, native_search(starts, settings), strict=True):
        plain = search(TicTacToe(moves), evaluate, settings)
        assert found.visits.tolist() == plain.visits.tolist()
        np.testing.assert_array_equal(found.totals, plain.totals)
        assert found.lines == plain.lines
        assert found.best == plain.best
        assert found.value == plain.value
        assert found.visits.sum() == settings.playouts - 1


def test_a_tree_does_not_depend_on_its_neighbours():
    settings = Settings(1.0, 100)
    starts = list(histories())
    together = native_search(starts, settings)
    for moves, found in zip(starts, together, strict=True):
        (alone,) = native_search([moves], settings)
        assert found.visits.tolist() == alone.visits.tolist()


def test_roots_come_and_go_between_batches():
    forest = native_games().TicTacToeForest(1)
    first = forest.add(native([]), 1.0, 30)
    for _ in range(5):
        forest.collect()
        native_evaluate(forest)
    assert forest.playouts(first) >= 5
    second = forest.add(native([4]), 1.0, 10)
    forest.collect()
    forest.remove(first)  # while its leaf waits
    assert forest.waiting().tolist() == [second]
    native_evaluate(forest)
    while forest.collect():
        native_evaluate(forest)
    assert forest.finished(second)
    assert len(forest) == 1
    with pytest.raises(IndexError):
        forest.roots([first])


def test_reuse_keeps_what_was_searched():
    forest = native_games().TicTacToeForest(1)
    tree = forest.add(native([]), 1.0, 200)
    while forest.collect():
        native_evaluate(forest)
    _, actions, _, visits, *_ = forest.roots([tree])
    best = int(np.argmax(visits))
    forest.advance(tree, int(actions[best]))
    assert forest.playouts(tree) == visits[best]
    kept = forest.roots([tree])[3]
    assert kept.sum() == visits[best] - 1
    while forest.collect():
        native_evaluate(forest)
    assert forest.playouts(tree) == 200
    assert (forest.roots([tree])[3] >= kept).all()
    # A move never tried leaves an empty tree, which starts again.
    untried = forest.add(native([]), 1.0, 2)
    while forest.collect():
        native_evaluate(forest)
    forest.advance(untried, 0)
    assert forest.playouts(untried) == 0
    while forest.collect():
        native_evaluate(forest)
    assert forest.playouts(untried) == 2


def test_chunks_are_searched_in_order_and_padded():
    settings = Settings(1.0, 60)
    starts = list(histories())
    lanes = [(native_games().TicTacToeForest(1), native_evaluate) for _ in range(2)]
    chunks = [starts[first : first + 7] for first in range(0, len(starts), 7)]
    boards = ([native(moves) for moves in chunk] for chunk in chunks)
    found = list(search_chunks(lanes, boards, settings, lambda many: many))
    assert len(found) == len(chunks)
    for chunk, many in zip(chunks, found, strict=True):
        many_policies = many.policy(), many.policy(0.3), many.policy(0.0), many.smooth_policy()
        for row, moves in enumerate(chunk):
            alone = search(TicTacToe(moves), evaluate, settings)
            one = many[row]
            assert one.visits.tolist() == alone.visits.tolist()
            assert one.best == alone.best == many.best[row]
            assert many.value[row] == pytest.approx(alone.value)
            policies = alone.policy(), alone.policy(0.3), alone.policy(0.0), alone.smooth_policy()
            for theirs, ours in zip(many_policies, policies, strict=True):
                np.testing.assert_allclose(theirs[row][many.mask[row]], ours, atol=1e-12)
                assert (theirs[row][~many.mask[row]] == 0.0).all()


def test_a_failed_evaluation_ends_all_lanes():
    def fail(forest):
        raise InputError("no")

    lanes = [(native_games().TicTacToeForest(1), fail) for _ in range(2)]
    with pytest.raises(InputError):
        list(search_chunks(lanes, [[native([])]] * 5, Settings(), lambda many: many))
    assert [len(forest) for forest, _ in lanes] == [0, 0]


def test_chunks_can_be_given_up():
    lanes = [(native_games().TicTacToeForest(1), native_evaluate)]

    def endless():
        while True:
            yield [native([])]

    found = search_chunks(lanes, endless(), Settings(1.0, 10), lambda many: many)
    next(found)
    found.close()
    assert len(lanes[0][0]) == 0


@pytest.mark.parametrize("batch", [2, 8, 64])
def test_virtual_loss_lets_leaves_wait_together(batch):
    forest = native_games().TicTacToeForest(1)
    tree = forest.add(native([]), 2.0, 500, batch=batch)
    most = 0
    while forest.collect():
        boards = {tuple(forest.leaf(row).moves()) for row in range(len(forest.waiting()))}
        assert len(boards) == len(forest.waiting()), "no state is evaluated twice"
        most = max(most, len(boards))
        native_evaluate(forest)
    assert 1 < most <= batch
    assert forest.playouts(tree) == 500
    _, _, _, visits, totals, _ = forest.roots([tree])
    assert visits.sum() == 499
    q = totals / np.maximum(1, visits)
    assert (np.abs(q) <= 1.0 + 1e-9).all(), "no loss is left behind"
    alone = search(TicTacToe(), evaluate, Settings(2.0, 500))
    assert 0.5 * np.abs(visits - alone.visits).sum() / 499 < 0.1


@pytest.mark.parametrize("batch", [1, 8])
def test_a_search_can_be_watched_batch_by_batch(batch):
    settings, moves = Settings(1.0, 300, batch=batch), [0, 3, 1, 4, 8, 6]  # many games end
    forest = native_games().TicTacToeForest(1)
    tree = admit(forest, native(moves), settings)
    made, empty = 0, 0
    while not forest.finished(tree):
        if forest.collect(one_batch=True):
            native_evaluate(forest)
        else:
            empty += 1
        assert made < forest.playouts(tree) <= made + batch
        made = forest.playouts(tree)
    assert empty > 0
    (whole,) = native_search([moves], settings)
    assert made == 300
    assert forest.roots([tree])[3].tolist() == whole.visits.tolist()
    assert forest.collect(one_batch=True) == 0, "it is finished"


def test_leaves_that_wait_are_forgotten_when_asked():
    forest = native_games().TicTacToeForest(1)
    tree = forest.add(native([]), 2.0, 50, batch=4)
    for _ in range(3):
        forest.collect()
        native_evaluate(forest)
    before = [column.tolist() for column in forest.roots([tree])]
    assert forest.collect() > 1
    forest.cancel()
    assert len(forest.waiting()) == 0
    np.testing.assert_allclose(forest.roots([tree])[4], before[4], atol=1e-12)
    assert forest.roots([tree])[3].tolist() == before[3]
    while forest.collect():
        native_evaluate(forest)
    assert forest.playouts(tree) == 50


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_evaluations_that_are_not_finite_are_refused(bad):
    forest = native_games().TicTacToeForest(1)
    forest.add(native([]), 2.0, 50)
    forest.collect()
    priors = np.full(9, 1 / 9)
    with pytest.raises(ValueError, match="finite"):
        forest.update(np.append(priors[:8], bad), np.zeros(1))
    with pytest.raises(ValueError, match="finite"):
        forest.update(priors, np.array([bad]))
    with pytest.raises(ValueError, match="finite"):
        forest.update_logits(np.full(9, -np.inf, np.float32), np.zeros(1, np.float32))
    forest.update(priors, np.zeros(1))  # nothing was lost
    assert forest.collect() == 1


def test_only_legal_moves_are_played_on_a_tree():
    forest = native_games().TicTacToeForest(1)
    tree = forest.add(native([4]), 2.0, 50)
    with pytest.raises(ValueError, match="legal"):
        forest.advance(tree, 4)


def test_a_gumbel_root_halves_what_it_considers():
    settings = Settings(2.0, 17, gumbel=4)
    found = search(TicTacToe(), evaluate, settings)
    assert sorted(found.visits.tolist()) == [0, 0, 0, 0, 0, 2, 2, 6, 6]
    assert (found.visits[5:] > 0).all(), "without noise the highest priors"
    # σ and the mixed value, as the paper prints them.
    tried = found.visits > 0
    prior, q = found.prior[tried], found.q[tried]
    mixed = (found.network_value + 16 * (prior @ q) / prior.sum()) / 17
    completed = np.where(tried, found.q, mixed)
    logits = np.log(found.prior) + (50 + 6) * (completed + 1) / 2
    improved = np.exp(logits - logits.max())
    np.testing.assert_allclose(found.gumbel_policy(), improved / improved.sum(), atol=1e-12)
    finalists = np.flatnonzero(found.visits == 6)
    assert found.best == finalists[logits[finalists].argmax()]
    assert found.gumbel_policy() @ completed > found.prior @ completed
    for policy in (found.policy(), found.smooth_policy()):
        np.testing.assert_allclose(policy, found.gumbel_policy(), rtol=1e-12)
    assert found.policy(0.0)[found.best] == 1.0


def test_gumbel_noise_comes_from_its_seed():
    def considered(seed):
        found = search(TicTacToe(), evaluate, Settings(2.0, 5, gumbel=4, gumbel_seed=seed))
        return tuple(np.flatnonzero(found.visits))

    assert considered(1) == considered(1)
    drawn = [considered(seed) for seed in range(200)]
    assert len(set(drawn)) > 20
    # Top m of g + log τ is a draw without replacement: the likelier are in it more often.
    often = np.bincount(np.concatenate(drawn), minlength=9)
    assert often[8] > often[0] > 0


def test_a_gumbel_root_finds_the_win():
    settings = Settings(2.0, 40, gumbel=8)
    found = search(TicTacToe([0, 3, 1, 4]), evaluate, settings)
    assert found.best == 2  # three in a row, and the lowest prior
    assert found.gumbel_policy().argmax() == 0


def test_many_gumbel_roots_are_each_alone():
    settings = Settings(1.0, 30, gumbel=4, gumbel_seed=5)
    starts = list(histories())[:12]
    lanes = [(native_games().TicTacToeForest(1), native_evaluate)]
    (many,) = search_chunks(lanes, [[native(moves) for moves in starts]], settings, lambda m: m)
    for row, moves in enumerate(starts):
        alone = search(TicTacToe(moves), evaluate, settings)
        assert many[row].visits.tolist() == alone.visits.tolist()
        assert many.best[row] == alone.best
        policy = many.policy()[row]
        np.testing.assert_allclose(policy[many.mask[row]], alone.policy(), atol=1e-12)
        assert (policy[~many.mask[row]] == 0.0).all()


def test_a_gumbel_root_survives_what_is_cancelled_and_is_not_left():
    forest = native_games().TicTacToeForest(1)
    # From here playouts that end the game are counted between leaves that wait.
    root = native([0, 3, 1, 4])
    tree = forest.add(root, 1.0, 60, batch=5, gumbel=5)
    rounds = 0
    while forest.collect():
        rounds += 1
        if rounds % 3 == 0:
            forest.cancel()
        else:
            native_evaluate(forest)
    assert forest.playouts(tree) == 60
    with pytest.raises(ValueError, match="Gumbel"):
        forest.advance(tree, 2)
    with pytest.raises(ValueError, match="noise"):
        forest.add(root, 1.0, 60, gumbel=5, noise=[0.0])


def test_chunks_that_are_given_up_end_at_the_next_batch():
    lanes = [(native_games().TicTacToeForest(1), native_evaluate)]
    over, endless = [native([0, 3, 1, 4, 2])], [native([])]
    settings = Settings(2.0, 2**31 - 1)
    found = search_chunks(lanes, [over, endless], settings, lambda many: many)
    assert next(found).visits.sum() == 0
    found.close()
    assert len(lanes[0][0]) == 0


def test_policies():
    found = search(TicTacToe(), evaluate, Settings(2.0, 50))
    visits = found.visits / 49
    np.testing.assert_allclose(found.policy(), visits)
    np.testing.assert_allclose(found.policy(0.5), visits**2 / (visits**2).sum())
    assert found.policy(0.0)[found.first] == 1.0
    assert found.policy(1e-3).argmax() == visits.argmax()
    assert found.smooth_policy().sum() == pytest.approx(1.0)
    assert found.forward_policy(0.1).sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found.forward_policy(np.inf), found.prior)


def test_one_playout_is_the_prior():
    found = search(TicTacToe(), evaluate, Settings(2.0, 1))
    assert found.best == 8  # the highest prior
    np.testing.assert_array_equal(found.smooth_policy(), found.prior)
    np.testing.assert_allclose(found.policy(), found.prior)
    assert found.value == found.network_value


def test_large_c_puct_is_the_prior_and_small_is_greedy():
    wide = search(TicTacToe(), evaluate, Settings(1e6, 20_00))
    assert 0.5 * np.abs(wide.policy() - wide.prior).sum() < 0.01
    greedy = search(TicTacToe(), evaluate, Settings(0.0, 200))
    assert greedy.visits.max() > 150


def test_a_finished_game_has_nothing_to_search():
    over = [0, 3, 1, 4, 2]
    found = search(TicTacToe(over), evaluate, Settings(2.0, 50))
    assert len(found.actions) == 0
    (found,) = native_search([over], Settings(2.0, 50))
    assert len(found.actions) == 0


class Countdown:
    """A game of rewards on the way: each takes 1 or 2 from a pile and gains as much."""

    def __init__(self, pile=5, player=0, gained=(0.0, 0.0)):
        self.pile, self.player, self.gained = pile, player, gained

    def current_player(self):
        return self.player

    def legal_actions(self):
        return [take for take in (1, 2) if take <= self.pile]

    def apply_action(self, take):
        self.pile -= take
        self.gained = (take, -take) if self.player == 0 else (-take, take)
        self.player = 1 - self.player

    def is_terminal(self):
        return self.pile == 0

    def rewards(self):
        return self.gained

    def returns(self):
        return [0.0, 0.0]  # all that was won was won on the way

    def clone(self):
        return Countdown(self.pile, self.player, self.gained)


def test_intermediate_rewards_count():
    found = search(Countdown(), lambda state: ([0.5, 0.5][: len(state.legal_actions())], 0.0),
                   Settings(0.5, 400))  # fmt: skip
    # Taking 2 each time wins 2 − 2 + 1 = 1; taking 1 first loses 1 − 2 + 2 − … at best play.
    assert found.best == 2
    assert found.q[1] == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("pile", [1, 2, 5, 12])
@pytest.mark.parametrize("batch", [1, 4])
def test_native_rewards_are_its_plain_twins(pile, batch):
    settings = Settings(0.7, 150, batch=batch)

    def evaluate_leaves(forest):
        counts = forest.action_counts()
        forest.update(np.repeat(1.0 / counts, counts), np.full(len(counts), 0.25))

    (found,) = search_many(
        native_games().CountdownForest(1),
        [native_games().Countdown(pile)],
        evaluate_leaves,
        settings,
    )
    plain = search(
        Countdown(pile),
        lambda state: (np.full(len(state.legal_actions()), 1 / len(state.legal_actions())), 0.25),
        settings,
    )
    assert found.visits.tolist() == plain.visits.tolist()
    np.testing.assert_allclose(found.totals, plain.totals, atol=1e-9)


@pytest.mark.parametrize(
    "change",
    [
        {"c_puct": -1.0},
        {"c_puct": np.nan},
        {"playouts": 0},
        {"constant_lambda": -1.0},
        {"batch": 0},
        {"gumbel": -1},
        {"gumbel_seed": -1},
        {"c_visit": -1.0},
        {"c_scale": np.nan},
    ],
)
def test_bad_settings(change):
    with pytest.raises(InputError):
        Settings(**change)


def evaluate_chess(state):
    """A prior and a value from nothing but the position's text."""
    seed = zlib.crc32(state.fen().encode())
    rng = np.random.default_rng(seed)
    weights = rng.random(len(state.legal_actions())) ** 4 + 1e-3
    return weights / weights.sum(), float(rng.uniform(-1.0, 1.0))


CHESS = [
    "",
    "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6",
    "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1",  # a repetition is one move away
    "f2f3 e7e5 g2g4",  # a mate is
]


@pytest.mark.parametrize(
    "settings",
    [
        *(Settings(c_puct, 150) for c_puct in (0.5, 2.0, 10.0)),
        Settings(1.0, 100, batch=8),
        Settings(1.0, 100, gumbel=8, gumbel_seed=1),
    ],
    ids=str,
)
def test_chess_forest_is_its_plain_twin(settings):
    states = [ChessState.from_fen(START_FEN, line.split()) for line in CHESS]
    states += [
        ChessState.from_fen("7k/5Q2/8/6K1/8/8/8/8 w - - 98 120"),  # fifty moves run out
        ChessState.from_fen("8/P6k/8/8/8/8/7p/K7 w - - 0 1"),
    ]

    def evaluate_leaves(forest):
        answers = [evaluate_chess(forest.leaf(row)) for row in range(len(forest.waiting()))]
        forest.update(
            np.concatenate([prior for prior, _ in answers]), np.array([v for _, v in answers])
        )

    roots = [state.board for state in states]
    found = search_many(_core.ChessForest(2), roots, evaluate_leaves, settings)
    for state, native_result in zip(states, found, strict=True):
        plain = search(state, evaluate_chess, settings)
        assert native_result.visits.tolist() == plain.visits.tolist()
        np.testing.assert_array_equal(native_result.totals, plain.totals)
        assert native_result.lines == plain.lines


def evaluate_go(state):
    """A prior that likes to pass, and a value, from nothing but the moves."""
    rng = np.random.default_rng([7, *state.history])
    weights = rng.random(len(state.legal_actions())) ** 4 + 1e-3
    if len(weights):
        weights[-1] += 2.0
        weights /= weights.sum()
    return weights, float(rng.uniform(-1.0, 1.0))


@pytest.mark.parametrize("size", [2, 5, 19])
def test_go_forest_is_its_plain_twin(size):
    settings = Settings(1.0, 120)
    rng = np.random.default_rng(size)
    states = []
    for plies in (0, 1, 4, 9):
        state = GoState(size)
        for _ in range(plies):
            state.apply_action(int(rng.choice(state.legal_actions()[:-1] or [size * size])))
        states.append(state)
    states[1].apply_action(size * size)  # a second pass would end it

    def evaluate_leaves(forest):
        priors, values = [], []
        for row, tree in enumerate(forest.waiting()):
            root, board = states[int(tree)], forest.leaf(row)
            leaf = root.clone()
            for back in range(board.length() - root.board.length(), 0, -1):
                leaf.apply_action(board.move(back - 1))
            prior, value = evaluate_go(leaf)
            priors.append(prior)
            values.append(value)
        forest.update(np.concatenate(priors), np.array(values))

    found = search_many(
        _core.GoForest(1), [state.board for state in states], evaluate_leaves, settings
    )
    for state, native_result in zip(states, found, strict=True):
        plain = search(state, evaluate_go, settings)
        assert native_result.visits.tolist() == plain.visits.tolist()
        np.testing.assert_array_equal(native_result.totals, plain.totals)
