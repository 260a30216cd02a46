"""Hanabi's networks: the same answers by ONNX Runtime, by torch, and from a file."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kedge.agents import make_agent, make_player  # noqa: E402
from kedge.agents.hanabi.models import belief, blueprint  # noqa: E402
from kedge.errors import InputError  # noqa: E402
from kedge.experiments.fingerprints import weight_hashes  # noqa: E402
from kedge.games.hanabi import BOMBS, Hanabi  # noqa: E402
from kedge.models import store  # noqa: E402
from kedge.models.hanabi.backends import (  # noqa: E402
    OnnxBelief,
    OnnxPolicy,
    TorchBelief,
    TorchPolicy,
)
from kedge.models.hanabi.belief import LearnedBelief, _Seats  # noqa: E402
from kedge.models.hanabi.blueprint import NetworkBlueprint  # noqa: E402
from kedge.models.hanabi.conventions import ConventionsBlueprint  # noqa: E402
from kedge.models.hanabi.exact import ExactBelief  # noqa: E402
from kedge.models.hanabi.model import (  # noqa: E402
    Followed,
    Games,
    Stepwise,
    UniformBlueprint,
    legal_moves,
)
from kedge.models.hanabi.network import (  # noqa: E402
    PolicyValue,
    odds_by_hints,
    to_shipped_onnx,
)
from kedge.models.hanabi.torch_network import BeliefModule, PolicyModule  # noqa: E402
from kedge.models.named import load  # noqa: E402
from kedge.models.weight_files import read_model  # noqa: E402

GAME = Hanabi()
SMALL = {"players": 3, "colors": 3, "hand_size": 2}


def policy_weights(game=GAME, layers=1):
    torch.manual_seed(0)
    return PolicyModule(game, 16, layers).weights("test")


def valued(bomb="stack", greedy=True):
    """The same, but it plays cards less often, so that games last; and says what they come to,
    something else wherever they are."""
    plain = policy_weights()
    plays = np.array([move.kind == "play" for move in GAME.moves])
    arrays = {**plain.arrays, "action.bias": plain.arrays["action.bias"] - np.float32(0.05) * plays}
    row = np.linspace(-200.0, 300.0, 16, dtype=np.float32)
    value = PolicyValue(row, 70.5, bomb, greedy)
    return replace(plain, arrays=arrays, value=value)


def belief_weights(game=GAME, layers=2):
    torch.manual_seed(0)
    return BeliefModule(game, 16, layers).weights("test")


def some_games(game, count=40, plies=9):
    games = game.deal(count, np.random.default_rng(0))
    for ply in range(plies):
        games.step(games.random_actions(ply))
    return games


def some_states(game, plies):
    rng = np.random.default_rng(0)
    states = [game.initial_state(rng=rng) for _ in plies]
    for state, moves in zip(states, plies, strict=True):
        for _ in range(moves):
            state.apply_action(int(rng.choice(state.legal_actions())))
    return states


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hanabi")
    for name, weights in (("policy", policy_weights()), ("belief", belief_weights())):
        (folder / f"{name}.onnx").write_bytes(to_shipped_onnx(weights).SerializeToString())
    return folder


@pytest.mark.parametrize(("rules", "layers"), [({}, 1), (SMALL, 2)])
def test_policies_are_the_same_everywhere(rules, layers):
    game = Hanabi(**rules)
    weights, games = policy_weights(game, layers), some_games(game, 600)
    found = []
    for network in (OnnxPolicy(weights, 2), TorchPolicy(weights, "cpu")):
        blueprint = NetworkBlueprint(network, game)
        memory = blueprint.begin(len(games))
        for _ in range(3):
            memory = blueprint.observe(games, memory)
        policy = blueprint.policy(games, memory)
        assert (policy[~legal_moves(games, len(game.moves))] == 0.0).all()
        # So closely that numpy draws by them.
        np.testing.assert_allclose(policy.sum(1), games.legal_actions() > 0, atol=1e-12)
        found.append([policy, *map(np.asarray, memory)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_turns_one_by_one_are_the_sequence_that_is_trained_on():
    module = PolicyModule(GAME, 16).eval()
    blueprint = NetworkBlueprint(OnnxPolicy(module.weights()), GAME)
    games, rows, policies = some_games(GAME, 5, 0), [], []
    memory = blueprint.begin(5)
    for ply in range(6):
        memory = blueprint.observe(games, memory)
        policies.append(blueprint.policy(games, memory))
        rows.append(np.empty((5, GAME.num_features()), np.float32))
        games.encode(rows[-1], "private", None, True)
        games.step(games.random_actions(ply))
    logits = module(torch.from_numpy(np.stack(rows))).detach().numpy()
    for policy, said in zip(policies, logits, strict=True):
        for probabilities, numbers in zip(policy, said, strict=True):
            legal = probabilities > 0.0
            expected = np.exp(numbers[legal]) / np.exp(numbers[legal]).sum()
            np.testing.assert_allclose(probabilities[legal], expected, atol=1e-5)


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("kind", [OnnxPolicy, TorchPolicy])
def test_a_network_plays_out_as_it_would_step_by_step(kind, bomb):
    device, played = {OnnxPolicy: 2, TorchPolicy: "cpu"}[kind], Hanabi(bomb=bomb)
    blueprint = NetworkBlueprint(kind(policy_weights(), device), GAME)
    scores = [
        play_out(blueprint, some_games(played, 8), blueprint.begin(8), rng(), greedy=True)
        for play_out in (NetworkBlueprint.play_out, by_observing_and_choosing)
    ]
    assert scores[0].tolist() == scores[1].tolist()
    assert any(scores[0]) == (bomb == "stack")  # an untrained network bombs
    drawn = blueprint.play_out(some_games(GAME, 8), blueprint.begin(8), rng(), greedy=False)
    again = blueprint.play_out(some_games(GAME, 8), blueprint.begin(8), rng(), greedy=False)
    assert drawn.tolist() == again.tolist()


@pytest.mark.parametrize("greedy", [False, True])
@pytest.mark.parametrize("depth", [0, 3, 8, 11])
def test_rollouts_end_with_what_the_network_says_there(depth, greedy):
    """Rollouts that are over before end with their score."""
    played, weights = Hanabi(bomb="stack"), valued(greedy=greedy)
    blueprint = NetworkBlueprint(OnnxPolicy(weights), GAME, weights.value)
    games = some_games(played, 60, 12)
    scores = blueprint.play_out(
        games.take(np.arange(60)), blueprint.begin(60), rng(), greedy=greedy, depth=depth
    )
    memory, same = blueprint.begin(60), rng()
    for _ in range(depth):
        going = np.flatnonzero(games.legal_actions())
        part = tuple(one[going] for one in memory)
        actions = np.full(60, -1)
        actions[going], part = blueprint.move(games.take(going), part, same, greedy=greedy)
        for whole, one in zip(memory, part, strict=True):
            whole[going] = one
        games.step(actions)
    worth = blueprint.value(games, blueprint.observe(games, memory))
    over = games.legal_actions() == 0
    assert 0 < over.sum() < 60
    np.testing.assert_allclose(scores, np.where(over, games.scores(), worth), atol=1e-4)
    assert np.ptp(scores[~over]) > 1.0


@pytest.mark.parametrize("depth", [0, 3, 8, 11, 100])
def test_rollouts_end_alike_natively_and_as_tensors(depth):
    played, weights = Hanabi(bomb="stack"), valued()
    ours, theirs = (
        NetworkBlueprint(network, GAME, weights.value).play_out(
            some_games(played, 60, 12), network.begin(60), rng(), greedy=True, depth=depth
        )
        for network in (OnnxPolicy(weights), TorchPolicy(weights, "cpu"))
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-3)
    assert (ours % 1.0 == 0.0).all() == (depth == 100)  # by then they are all over


@pytest.mark.parametrize("kind", [OnnxPolicy, TorchPolicy])
def test_a_value_is_not_taken_for_what_it_is_not(kind):
    device = {OnnxPolicy: 1, TorchPolicy: "cpu"}[kind]
    weights = valued("zero", greedy=False)
    blueprint = NetworkBlueprint(kind(weights, device), GAME, weights.value)
    for bomb, greedy in (("zero", True), ("stack", False)):
        with pytest.raises(InputError, match=r"value is for drawn play with bomb=zero, not for"):
            blueprint.play_out(
                some_games(Hanabi(bomb=bomb), 2), blueprint.begin(2), rng(), greedy=greedy, depth=2
            )
    without = NetworkBlueprint(kind(policy_weights(), device), GAME)
    for other in (without, UniformBlueprint(len(GAME.moves)), ConventionsBlueprint()):
        with pytest.raises(InputError, match="depth: the anchor has no value for unfinished games"):
            other.play_out(some_games(GAME, 2), other.begin(2), rng(), greedy=False, depth=2)


def rng():
    return np.random.default_rng(1)


def by_observing_and_choosing(blueprint, games, memory, rng, *, greedy):
    class Plain(NetworkBlueprint):
        play_out, move = Stepwise.play_out, Stepwise.move

    plain = Plain(blueprint._network, GAME)
    return plain.play_out(games, memory, rng, greedy=greedy)


@pytest.mark.parametrize("rules", [{}, SMALL])
def test_beliefs_are_the_same_everywhere(rules):
    game = Hanabi(**rules)
    weights = belief_weights(game)
    rows = np.empty((8, game.num_features()), np.float32)
    some_games(game, 8).encode(rows, "private", None, True)
    found = []
    for network in (OnnxBelief(weights), TorchBelief(weights, "cpu")):
        memory = network.observe(rows, network.observe(rows, network.begin(8)))
        hands = network.hands(rows, memory, 4000, rng())
        assert hands.shape == (8, 4000, game.hand_size)
        counts = (hands[..., None] == np.arange(game.colors * game.ranks)).mean(1)
        found.append([counts, *map(np.asarray, memory)])
    (ours, *memory), (theirs, *other) = found
    np.testing.assert_allclose(ours, theirs, atol=0.05)  # they are drawn
    for one, another in zip(memory, other, strict=True):
        np.testing.assert_allclose(one, another, atol=1e-5)


def test_the_cards_of_a_hand_are_drawn_one_after_the_other():
    """They have the odds that the network was trained to give."""
    module = BeliefModule(GAME, 16).eval()
    with torch.no_grad():
        for part in (module.before, module.card):  # so that the card before matters
            part.weight.mul_(40.0)
    network = OnnxBelief(module.weights())
    rows = np.empty((1, GAME.num_features()), np.float32)
    some_games(GAME, 1).encode(rows, "private", None, True)
    hands = network.hands(rows, network.observe(rows, network.begin(1)), 30_000, rng())[0]
    first = int(np.bincount(hands[:, 0]).argmax())
    after = hands[hands[:, 0] == first, 1]
    asked = torch.tensor([[first, 0, 0, 0, 0]])
    going = torch.ones(1, 1, dtype=torch.bool)
    odds = module(torch.from_numpy(rows)[None], going, asked).softmax(2)[0, 1].detach().numpy()
    np.testing.assert_allclose(np.bincount(after, minlength=25) / len(after), odds, atol=0.05)
    assert np.abs(odds - 1 / 25).max() > 0.1


def test_beliefs_begin_as_what_hints_and_counts_say():
    state = Hanabi().initial_state(Hanabi().cards)  # in order: player 1 holds two red 4s
    state.apply_action(GAME.actions["rank", 1, 4])
    [odds] = odds_by_hints(GAME, state.observation_tensor(beliefs=True)[None])
    assert odds.shape == (5, 25)
    np.testing.assert_allclose(odds.sum(1), 1.0, atol=1e-6)
    for slot, known in enumerate(state.known[1]):
        ranks = {card % 5 + 1 for card in np.flatnonzero(odds[slot])}
        assert ranks == set(known.ranks)


def test_beliefs_follow_games_and_draw_what_can_be():
    states = some_states(GAME, (0, 2, 5))
    network = OnnxBelief(belief_weights())
    belief = LearnedBelief(network, GAME)
    for _ in range(2):
        for state, hands in zip(states, belief.draw(states, 300, rng()), strict=True):
            assert len(hands) <= 300
            which = np.zeros(len(hands), np.int64)
            holders = which + state.current_player()
            assert state.games.possible(which, holders, hands).all()
        for state in states:
            state.apply_action(state.legal_actions()[-1])
    fresh = LearnedBelief(network, GAME).draw(states, 300, rng())
    for one, other in zip(belief.draw(states, 300, rng()), fresh, strict=True):
        assert one.tolist() == other.tolist()


def test_each_seat_remembers_what_it_saw():
    """Two games alike but for the cards of one seat, which alone does not see them."""
    games = some_games(GAME, 1, 0)
    hand = np.roll(games.hands()[0, :1].astype(np.uint8), 1)
    other = games.redealt(np.array([0]), np.array([0]), hand, np.array([1], np.uint64))
    seats = _Seats(OnnxBelief(belief_weights()), GAME)
    hidden, _ = seats.observe(Games.join([games, other]), seats.begin(2))
    assert (hidden[0, 0] == hidden[1, 0]).all()
    assert (hidden[0, 1] != hidden[1, 1]).any()


def test_models_come_back_from_their_files(files):
    ours, theirs = read_model(files / "policy.onnx"), policy_weights()
    assert ours.architecture() == {
        "game": str(GAME),
        "width": 16,
        "layers": 1,
        "parameters": theirs.parameters,
    }
    for name, array in theirs.arrays.items():
        np.testing.assert_allclose(ours.arrays[name], array, atol=np.abs(array).max() / 200)
    assert type(read_model(files / "belief.onnx")).__name__ == "BeliefWeights"


def test_a_value_comes_back_from_its_file_and_leaves_the_policy_alone(files, tmp_path):
    plain = read_model(files / "policy.onnx")
    value = valued("stack", greedy=False).value
    path = tmp_path / "valued.onnx"
    path.write_bytes(to_shipped_onnx(replace(plain, value=value)).SerializeToString())
    found = read_model(path)
    assert plain.value is None
    assert (found.value.bias, found.value.bomb, found.value.greedy) == (70.5, "stack", False)
    np.testing.assert_allclose(found.value.weight, value.weight, atol=2.0)
    assert found.arrays.keys() == plain.arrays.keys()
    for name, array in plain.arrays.items():
        np.testing.assert_allclose(found.arrays[name], array, rtol=1e-6)
    [state] = some_states(Hanabi(bomb="stack"), (3,))
    agent = make_agent(f'sparta("{path}", rollouts=40, belief="{files}/belief.onnx", depth=1)')
    [searched] = agent.analyse_many([state], rng())
    assert searched.q.max() > 25.0  # which no score is


@pytest.mark.parametrize(
    "damage", [{"weight": np.ones(9, np.float32)}, {"bomb": "half"}, {"bias": [1.0, 2.0]}]
)
def test_damaged_values_are_refused(damage, tmp_path):
    weights = replace(policy_weights(), value=replace(valued().value, **damage))
    (tmp_path / "wrong.onnx").write_bytes(to_shipped_onnx(weights).SerializeToString())
    with pytest.raises(InputError, match="not a network trained by kedge"):
        read_model(tmp_path / "wrong.onnx")


def test_models_play_and_believe_by_name(files):
    [state] = some_states(GAME, (3,))
    player = make_player(f'"{files}/policy.onnx"(greedy=true)', "hanabi")
    [found] = player.analyse_many([state], rng())
    assert found.policy.max() == 1.0
    [hands] = belief(f"{files}/belief.onnx").draw([state], 10, rng())
    assert hands.shape[1] == 5
    memory = Followed(blueprint(f"{files}/policy.onnx")).memories([state])
    assert memory[0].shape == (1, 1, 16)


def test_models_are_not_taken_for_what_they_are_not(files):
    with pytest.raises(InputError, match=r"belief\.onnx is a belief model and cannot play"):
        make_agent(f'"{files}/belief.onnx"')
    with pytest.raises(InputError, match="is not a model that plays Hanabi"):
        blueprint(f"{files}/belief.onnx")
    with pytest.raises(InputError, match="is not a belief model"):
        belief(f"{files}/policy.onnx")
    [state] = some_states(Hanabi(players=3), (3,))
    with pytest.raises(InputError, match="plays Hanabi for 2 players, not this game"):
        make_player(f'"{files}/policy.onnx"', "hanabi").analyse_many([state], rng())


def test_damaged_files_are_refused(tmp_path):
    model = to_shipped_onnx(policy_weights())
    model.metadata_props[-1].value = '{"players": 99}'
    (tmp_path / "wrong.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match="not a network trained by kedge"):
        read_model(tmp_path / "wrong.onnx")


def test_a_search_believes_what_a_model_says(files):
    policy, belief = files / "policy.onnx", files / "belief.onnx"
    agent = make_agent(f'sparta("{policy}", lambda=1, rollouts=40, belief="{belief}")')
    states = [Hanabi().initial_state(rng=np.random.default_rng(seed)) for seed in range(3)]
    for found in agent.explain_many(states, np.random.default_rng(0)):
        assert np.isfinite(found.q).all()
        np.testing.assert_allclose(found.cards.sum(1), 1.0)
    assert isinstance(agent.belief, LearnedBelief)
    assert isinstance(make_agent(f'sparta("{policy}")').belief, ExactBelief)
    # One that has the anchor's name goes with it.
    for name, path in (("mine", policy), ("mine-belief", belief)):
        store.add(name, path)
    assert isinstance(make_agent("sparta(mine)").belief, LearnedBelief)
    assert isinstance(make_agent("sparta(mine, belief=exact)").belief, ExactBelief)
    assert isinstance(make_agent("sparta(mine, greedy=true)").belief, ExactBelief)
    assert set(weight_hashes("sparta(mine)")) == {"mine", "mine-belief"}
    # What ships plays before what is stored under its name, and is what a run is known by.
    store.add("hanabi", policy)
    assert weight_hashes("hanabi")["hanabi"] == load("hanabi").sha256
