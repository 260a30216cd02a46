"""A network of Go as an agent: the same code as for chess."""

import numpy as np
import pytest
import tiny_go

from kedge.agents import make_player
from kedge.agents.board.puct import NetworkAgent, PuctAgent
from kedge.errors import InputError
from kedge.games.chess import ChessState
from kedge.games.go import GoState
from kedge.models.board.onnx_backends import OnnxNetwork
from kedge.models.go.encoding import encode_go
from kedge.search.puct import Settings, search


@pytest.fixture(scope="module")
def network():
    return OnnxNetwork(tiny_go.weights())


def test_a_model_by_itself(network):
    state = GoState(komi=6.5)
    for point in (60, 300, 72, 288):
        state.apply_action(point)
    (found,) = NetworkAgent(network).analyse_many([state])
    masks, komi = encode_go([state])
    expected = network.evaluate_packed(masks.reshape(1, -1), komi)
    logits = expected.policy[0, state.legal_actions()].astype(np.float64)
    np.testing.assert_allclose(found.policy, np.exp(logits) / np.exp(logits).sum(), atol=1e-6)
    assert found.value == pytest.approx(expected.value[0])
    assert found.actions.tolist() == state.legal_actions()


def test_search_plays_whole_games(network):
    agent = PuctAgent(network, Settings(2.0, 8), temperature=0.5)
    rng = np.random.default_rng(0)
    state = GoState()
    for _ in range(12):
        state.apply_action(agent.act(state, state.current_player(), rng))
    *_, last = agent.analyse(state, state.current_player())
    assert last.visits.sum() == 7
    assert last.policy.sum() == pytest.approx(1.0)


def test_other_games_and_boards_are_refused(network):
    agent = NetworkAgent(network)
    with pytest.raises(InputError, match="agent plays go"):
        agent.analyse_many([ChessState()])
    with pytest.raises(InputError, match="19×19, not on 9×9"):
        agent.analyse_many([GoState(9)])
    over = GoState()
    for _ in range(2):
        over.apply_action(361)
    with pytest.raises(InputError, match="over"):
        agent.analyse_many([over])


def test_the_shipped_model_opens_as_people_do():
    state = GoState(komi=6.5)
    (found,) = make_player("go", "go").analyse_many([state])
    by_move = dict(zip(map(state.gtp, found.actions), found.policy, strict=True))
    corners = [f"{x}{y}" for x in "CDQR" for y in (3, 4, 16, 17)]
    assert sum(by_move[point] for point in corners) > 0.95
    assert abs(found.value) < 0.2
    for point in ("Q16", "D4", "Q4", "D16", "F17"):  # an approach to the corner is answered there
        state.apply_action(state.parse_gtp(point))
    (found,) = make_player("puct(anchor=go, playouts=20)", "go").analyse_many([state])
    assert state.gtp(int(found.actions[found.policy.argmax()]))[0] in "BCDEFGHJ"


@pytest.mark.parametrize("size", [5, 9, 13])
def test_a_model_plays_on_boards_of_any_size(size):
    agent = PuctAgent(OnnxNetwork(tiny_go.weights(policy="points")), Settings(2.0, 40))
    state, rng = GoState(size, 7.0), np.random.default_rng(1)
    for _ in range(6):
        state.apply_action(agent.act(state, state.current_player(), rng))
    network = agent.on_board_of(state).network

    def plain(state):
        masks, komi = encode_go([state])
        found = network.evaluate_packed(masks.reshape(1, -1), komi)
        logits = np.exp(found.policy[0, state.legal_actions()].astype(np.float64))
        return logits / logits.sum(), float(found.value[0])

    [found] = agent.analyse_many([state])
    assert found.visits.tolist() == search(state, plain, agent.settings).visits.tolist()
    assert agent.on_board_of(state).network is network, "it is made once"
    with pytest.raises(InputError, match=f"boards of {size}×{size} and 19×19"):
        agent.analyse_many([state, GoState()])
    with pytest.raises(InputError, match=f"boards of 19×19 and {size}×{size}"):
        list(agent.analyse_chunks([[state.board]]))


def test_the_shipped_model_hears_komi_on_a_small_board():
    # A game of its own, all but over: Black is 2 points behind before komi.
    moves = (
        "F5 E3 D4 E4 E5 D5 C4 C5 B4 B5 G3 C2 C7 D6 D7 E6 F7 F6 G6 E7 E8 G5 G7 F4 H5 G4 H4 G2 "
        "H2 F3 H3 B7 B8 B6 F2 E2 G1 A8 C8 E1 F1 B9 C9 A7 A9 F8 F9 "
    )
    values = []
    for komi in (-5.0, 7.0):
        state = GoState(9, komi)
        for move in moves.split():
            state.apply_action(state.parse_gtp(move))
        (found,) = make_player("go", "go").analyse_many([state])
        values.append(float(found.value) * (1 - 2 * state.current_player()))
    assert values[0] > 0.5 > -0.5 > values[1]
