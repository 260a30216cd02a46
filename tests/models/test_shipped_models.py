"""The model that ships: its file runs as it is, and folds to what a search uses."""

import lzma

import numpy as np
import onnxruntime
import pytest

from kedge.agents import make_agent
from kedge.errors import InputError
from kedge.games.chess import START_FEN, ChessState
from kedge.games.diplomacy import POWERS, Diplomacy, DiplomacyBatch, DiplomacyState
from kedge.games.hanabi import Hanabi, Move
from kedge.models import shipped_models
from kedge.models.board.onnx_backends import OnnxNetwork
from kedge.models.board.torch_backend import TorchNetwork
from kedge.models.chess.encoding import CHESS, encode_chess
from kedge.models.diplomacy.backends import OnnxOrderNetwork, TorchOrderNetwork
from kedge.models.diplomacy.orders import NetworkOrders
from kedge.models.diplomacy.values import SmallValues
from kedge.models.hanabi.belief import LearnedBelief
from kedge.models.hanabi.network import PolicyWeights

LINES = ["", "e2e4 e7e5 g1f3", "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6",
         "d2d4 g8f6 c2c4 e7e6 g1f3 f8b4 c1d2 b4e7 d2c1 e7b4 c1d2 b4e7"]  # fmt: skip


@pytest.mark.parametrize("name", shipped_models.names())
def test_cards_say_what_they_must(name):
    card = shipped_models.card(name)
    assert {"name", "data", "parts", "recipe", "metrics", "date", "remake", "licence"} <= set(card)
    shipped = card["metrics"]["as_shipped"]
    assert {"command", "games", "top1", "top1_se", "cross_entropy", "cross_entropy_se"} <= set(
        shipped
    )


@pytest.mark.parametrize("name", shipped_models.names())
def test_cards_tell_what_chose_a_model_from_what_judged_it(name):
    parts = shipped_models.card(name)["parts"]
    assert list(parts)[:3] == ["split_by", "chosen_by", "judged_by"]
    chosen, judged = (set(parts[by]["part"].split(" and ")) for by in ("chosen_by", "judged_by"))
    known = {"choose", "test", "2015-2016", "from 2017 on", "seed 1234"}
    assert chosen | judged <= {*known, "another site", "new games"}
    assert all(parts[by]["what"] for by in ("chosen_by", "judged_by"))
    # Models that are older than the division say that it is not one.
    assert bool(chosen & judged) == bool(parts.get("overlap"))


@pytest.mark.parametrize(
    "name", [name for name in shipped_models.names() if name.startswith("hanabi")]
)
def test_cards_of_hanabi_say_how_many_play(name):
    weights, players = shipped_models.load(name), shipped_models.card(name).get("players")
    assert players == (weights.game.num_players if isinstance(weights, PolicyWeights) else None)


@pytest.mark.parametrize(
    ("game", "most"), [("chess", 6e6), ("go", 15e6), ("diplomacy", 6e6), ("hanabi", 5e6)]
)
def test_they_are_small(game, most):
    ours = [name for name in shipped_models.names() if name.partition("-")[0] == game]
    assert sum(shipped_models.info(name).size for name in ours) < most


def test_a_damaged_one_is_said_so(tmp_path, monkeypatch):
    path = tmp_path / "go-large.onnx.xz"
    path.write_bytes(b"not compressed")
    monkeypatch.setattr(shipped_models, "_path", lambda name: path)
    with pytest.raises(InputError, match=r"go-large\.onnx\.xz: damaged; reinstall its package"):
        shipped_models.load.__wrapped__("go-large")


def test_they_are_of_games():
    assert {name.partition("-")[0] for name in shipped_models.names()} == {
        "chess",
        "go",
        "diplomacy",
        "hanabi",
    }


@pytest.mark.parametrize("name", ["chess", "chess-large"])
@pytest.mark.parametrize(
    "players",
    [
        {"elo": 1100, "opponent": 1900},
        {"elo": 2000, "opponent": 0, "speed": "bullet", "clock": 12.5},
        {"elo": 2450, "scale": "fide"},
    ],
)
def test_folding_the_players_is_exact(name, players):
    """The shipped graph with the players as input = the 112-plane network for those players."""
    states = [ChessState.from_fen(START_FEN, line.split()) for line in LINES]
    masks, rule50 = encode_chess(states)
    who = np.tile(CHESS.players.numbers(**players), (len(states), 1))
    path = shipped_models._path(name)
    content = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    session = onnxruntime.InferenceSession(content)
    planes = CHESS.unpack(masks, rule50)
    policy, value = session.run(["policy", "value"], {"planes": planes, "who": who})
    folded = OnnxNetwork(shipped_models.load_for_players(name, **players)).evaluate_packed(
        masks, rule50
    )
    np.testing.assert_allclose(folded.policy, policy, atol=2e-3)
    np.testing.assert_allclose(folded.value, value, atol=1e-4)


def test_ratings_matter():
    masks, rule50 = encode_chess([ChessState.from_fen(START_FEN, ["e2e4", "e7e5", "d1h5"])])
    weak, strong = (
        OnnxNetwork(shipped_models.load_for_players("chess", elo=elo))
        .evaluate_packed(masks, rule50)
        .policy
        for elo in (900, 2300)
    )
    assert np.abs(weak - strong).max() > 0.1


def test_bad_ratings_and_names():
    with pytest.raises(InputError, match="chess: elo: a rating"):
        shipped_models.load_for_players("chess", elo=-1)
    with pytest.raises(InputError, match="no shipped model 'ches'; did you mean chess"):
        shipped_models.load_for_players("ches")
    with pytest.raises(InputError, match="go does not take elo; it takes no players as input"):
        shipped_models.load_for_players("go", elo=1500)
    with pytest.raises(InputError, match="chess does not take rank; it takes elo, opponent, scale"):
        shipped_models.load_for_players("chess", rank="3d")
    with pytest.raises(InputError, match="speed: one of bullet, blitz, rapid, classical, not fast"):
        shipped_models.load_for_players("chess", speed="fast")


@pytest.mark.parametrize("name", ["chess", "go"])
def test_they_compute_alike_in_torch(name):
    pytest.importorskip("torch")
    weights = shipped_models.load_for_players(name)
    rng = np.random.default_rng(0)
    packed = rng.integers(2**60, size=(2, weights.encoding.words)), rng.uniform(size=2)
    ours, theirs = (made(weights).evaluate_packed(*packed) for made in (OnnxNetwork, TorchNetwork))
    np.testing.assert_allclose(ours.policy, theirs.policy, atol=1e-3)
    np.testing.assert_allclose(ours.value, theirs.value, atol=1e-4)


def test_the_diplomacy_model_computes_alike_in_torch():
    pytest.importorskip("torch")
    weights = shipped_models.load("diplomacy")
    state = Diplomacy().initial_state()
    questions = [(state, power) for power in range(len(POWERS))]
    models = [
        NetworkOrders(OnnxOrderNetwork(weights)),
        NetworkOrders(TorchOrderNetwork(weights, "cpu")),
    ]
    drawn = models[0].draw(questions, 5, np.random.default_rng(0))
    orders = [one.orders[0] for one in drawn]
    ours, theirs = (np.concatenate(model.score(questions, orders)) for model in models)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
    assert np.exp(ours).mean() > 0.3  # it knows how people begin


def test_diplomacy_positions_are_worth_more_to_who_has_more():
    values = SmallValues(shipped_models.load("diplomacy-value"))
    start = Diplomacy().initial_state()
    won = DiplomacyState.from_json(
        {
            "name": "S1910M",
            "units": {"FRANCE": ["A PAR", "A BUR", "A MUN", "F MAO"], "ITALY": ["A ROM"]},
            "centers": {
                "FRANCE": [
                    "PAR",
                    "BRE",
                    "MAR",
                    "SPA",
                    "POR",
                    "BEL",
                    "HOL",
                    "MUN",
                    "KIE",
                    "BER",
                    "LON",
                    "LVP",
                    "EDI",
                    "DEN",
                    "NWY",
                ],
                "ITALY": ["ROM", "NAP"],
            },
        }
    )
    shares = values.values(DiplomacyBatch([start.board, won.board]))
    assert shares[0].max() < 0.25
    assert shares[1].argmax() == POWERS.index("FRANCE")
    assert shares[1, POWERS.index("RUSSIA")] == 0.0


def test_the_hanabi_models_are_of_rules_and_not_of_what_a_bomb_is_worth():
    names = ("hanabi", "hanabi-belief", "hanabi-belief-greedy")
    assert {str(shipped_models.load(name).game) for name in names} == {str(Hanabi())}


def test_the_hanabi_models_go_together():
    """A player with a hint of ones plays one, and a search uses the model of beliefs."""
    game = Hanabi(bomb="stack")
    cards = sorted(game.cards, key=lambda card: card.rank)
    state = game.initial_state([*cards[15:20], *cards[:5], *cards[5:15], *cards[20:]])
    state.apply_action(game.actions[Move("rank", 1, 1)])
    [found] = make_agent("hanabi").analyse_many([state], np.random.default_rng(0))
    plays = [game.moves[action].kind == "play" for action in found.actions]
    assert found.policy[plays].sum() > 0.7
    for spec in ("sparta(hanabi, lambda=1, rollouts=99)", "sparta(hanabi, greedy=true)"):
        assert isinstance(make_agent(spec).belief, LearnedBelief)
