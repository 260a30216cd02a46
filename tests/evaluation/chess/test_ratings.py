"""Ratings as input of chess models."""

from pathlib import Path

import numpy as np
import pytest
from chess_games import recorded

from kedge.agents import make_agent
from kedge.agents.board.networks import model_spec
from kedge.agents.chess.engine import Options, choose_models
from kedge.errors import InputError
from kedge.evaluation.board.players import with_players
from kedge.evaluation.chess.ratings import (
    game_ratings,
    players_of,
    rated_search,
)
from kedge.games.chess import START_FEN, ChessState
from kedge.models import shipped_models, store
from kedge.specs import Spec, parse


@pytest.mark.parametrize(
    ("tags", "elo", "ratings"),
    [
        ({"white_elo": 1571, "black_elo": 1728}, None, (1600, 1700)),
        ({"black_elo": 1728}, None, (1700, 1700)),
        ({}, None, (1500, 1500)),
        ({"white_elo": 150, "black_elo": 2860}, None, (600, 2800)),
        ({"white_elo": 1571}, 1200, (1200, 1200)),
    ],
)
def test_ratings_of_a_game(tags, elo, ratings):
    assert game_ratings(recorded("", **tags), elo) == ratings
    spec = rated_search(*ratings)
    people = f"chess(elo={ratings[0]}, opponent={ratings[1]})"
    assert str(spec) == f"puct({people}, c_puct=2, playouts=50)"


def test_which_agents_take_ratings():
    rated = {"elo": 1200, "opponent": 1900}
    assert str(with_players(parse("puct(chess(temperature=0.5), c_puct=1)"), rated)) == (
        "puct(chess(elo=1200, opponent=1900, temperature=0.5), c_puct=1)"
    )
    for agent in ("maia-1900", "puct(maia-1900)", "rm"):
        with pytest.raises(InputError, match="takes no players as input; chess does"):
            with_players(parse(agent), rated, "chess")
    with pytest.raises(InputError, match=r"chess\(elo=1500\): already sets elo"):
        with_players(parse("puct(chess(elo=1500))"), rated)


def test_players_of_each_position():
    tags = {"white_elo": 1571, "black_elo": 1728, "time_control": "180+2", "time_class": "blitz"}
    game = recorded("e2e4 e7e5 g1f3", **tags, clocks=np.array([181.0, 40.0, 6.0], np.float32))
    white, black = {"elo": 1600, "opponent": 1700}, {"elo": 1700, "opponent": 1600}
    assert players_of(game) == [
        {**white, "speed": "blitz", "clock": 120.0},
        {**black, "speed": "blitz", "clock": 120.0},
        {**white, "speed": "blitz", "clock": 120.0},
    ]
    over_the_board = recorded("e2e4", white_elo=2450, black_elo=2510, scale="fide")
    assert players_of(over_the_board) == [{"elo": 2400, "opponent": 2500, "scale": "fide"}]


def test_a_model_of_ones_own_takes_ratings_too(monkeypatch, tmp_path):
    monkeypatch.setenv("KEDGE_HOME", str(tmp_path))
    file = tmp_path / "model.onnx"
    file.write_bytes(Path(shipped_models.info("chess").path).read_bytes())
    store.add("mine", file)
    state = ChessState.from_fen(START_FEN, ["e2e4", "e7e5", "d1h5"])
    for name in ("mine", str(file)):
        for arguments in ("elo=900", "elo=2300, opponent=1200"):
            agents = (make_agent(f"{agent}({arguments})") for agent in (name, "chess"))
            ours, theirs = (agent.policy(state, state.current_player()) for agent in agents)
            assert (ours == theirs).all()
        assert str(with_players(parse(f"puct({name})"), {"elo": 1200, "opponent": 1900})) == (
            f"puct({name}(elo=1200, opponent=1900))"
        )
        assert choose_models(Options(model=name, elo=1700))[0] == [f"{name}(elo=1700)"]
    odd = tmp_path / "model (1).onnx"
    odd.write_bytes(file.read_bytes())
    [name], _ = choose_models(Options(model=str(odd), elo=1700))
    assert model_spec(name) == Spec(str(odd), (), {"elo": 1700})
    with pytest.raises(InputError, match="has no parameter 'eli'; it takes elo, opponent"):
        make_agent("mine(eli=1200)")
