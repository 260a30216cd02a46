"""Prediction: known answers, clustered errors, and the command."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from command import answer, kedge

from kedge.agents import make_agent
from kedge.agents.agent import Analysis
from kedge.evaluation.prediction import (
    FEW,
    GameScore,
    Prediction,
    few_games,
    predict,
    summary,
)
from kedge.games.chess import ChessState
from kedge.jsonable import ordered
from kedge.records import ChessGame, write_pgn
from kedge.records.chess.positions import boards_of, chess_positions


def game(text, **tags):
    state, actions = ChessState(), []
    for move in text.split():
        actions.append(state.parse_uci(move))
        state.board.push(actions[-1])
    tags = {"result": "1-0", "white_elo": 1500, "black_elo": 1550, "rated": True,
            "time_control": "600+0", "time_class": "rapid", **tags}  # fmt: skip
    return ChessGame(np.array(actions, np.uint16), **tags)


OPENING = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 f1e1 b7b5 a4b3 d7d6"


class Lowest:
    """Holds the lowest action likeliest, with nine tenths."""

    batch_size = 5

    def analyse_chunks(self, chunks):
        for boards in chunks:
            legal = [board.legal_actions() for board in boards]
            shape = len(boards), max(map(len, legal))
            actions, policy = np.full(shape, 1 << 16), np.zeros(shape)
            for row, moves in enumerate(legal):
                actions[row, : len(moves)] = moves
                policy[row, : len(moves)] = 0.1 / (len(moves) - 1)
            policy[:, 0] = 0.9
            yield Analysis(policy, policy, policy, policy[:, 0], actions=actions)


def test_counts_by_hand():
    games = [game(OPENING)]
    last = predict(list(chess_positions(games, ())), Lowest(), boards_of)
    hits = [
        ChessState.from_fen(games[0].state(ply).fen()).legal_actions()[0] == action
        for ply, action in enumerate(games[0].moves)
    ]
    summary = last.to_json()
    assert summary["positions"] == len(OPENING.split())
    assert summary["top1"] == pytest.approx(np.mean(hits))
    assert set(summary["groups"]) >= {"bucket", "time_class", "phase"}


@dataclass
class Throw:
    """A move of another game, in which one chooses among three."""

    game: object
    ply: int
    action: int
    groups: dict

    phases: ClassVar = {"moves 1-4": 0, "moves 5-10": 4, "moves 11-": 10}


def test_another_game_brings_its_own_boards():
    class Three:
        def legal_actions(self):
            return [0, 1, 2]

    games = object(), object()
    moves = [Throw(game, ply, action=ply % 3, groups={}) for game in games for ply in range(12)]
    prediction = predict(moves, Lowest(), boards=lambda batch: [Three() for _ in batch])
    found = prediction.to_json()
    assert (found["games"], found["positions"], found["top1"]) == (2, 24, pytest.approx(1 / 3))
    # The store sorts keys as text.
    kept = ordered([game.to_json() for game in prediction.games])
    for each in (found, Prediction([GameScore.from_json(game) for game in kept]).to_json()):
        phases = [(name, one["positions"]) for name, one in each["groups"]["phase"].items()]
        assert phases == [("moves 1-4", 8), ("moves 5-10", 12), ("moves 11-", 4)]


def test_errors_are_clustered_by_game():
    found = summary([[4, hits, 4, 4.0] for hits in (4, 0, 2, 2)])
    assert found["top1"] == 0.5
    # Residuals by game are +2, −2, 0, 0 of 16 positions.
    assert found["top1_se"] == pytest.approx(np.sqrt(4 / 3 * 8) / 16)
    assert found["cross_entropy_se"] == 0.0


def test_few_games_claim_no_more_than_their_positions():
    alike = summary([[100, 55, 80, 150.0], [100, 55, 81, 151.0], [100, 56, 82, 149.0]])
    share = 166 / 300
    assert alike["top1_se"] == pytest.approx(np.sqrt(share * (1 - share) / 300))
    assert alike["cross_entropy_se"] < 0.01
    alone = summary([[100, 50, 80, 150.0]])
    assert alone["top1_se"] == pytest.approx(0.05)
    assert np.isnan(alone["cross_entropy_se"])
    assert summary([[1, 1, 1, 0.1]] * 3)["top1_se"] == pytest.approx(0.25)  # 3 of 3, not ± 0
    assert summary([[1, 0, 0, 9.0]] * 3)["top5_se"] == pytest.approx(0.25)
    assert summary([[100, 50, 80, 150.0]] * FEW)["top1_se"] == 0.0
    assert few_games([FEW, 500]) == few_games([]) == []
    assert few_games([500, 3])[0].startswith("few games: ")


def test_search_and_network_agree_at_one_playout():
    games = [game(OPENING)]
    raw, searched = (
        predict(list(chess_positions(games, ())), make_agent(spec), boards_of).to_json()
        for spec in ("chess", "puct(chess, playouts=1)")
    )
    assert raw["top1"] == searched["top1"]
    assert raw["cross_entropy"] == pytest.approx(searched["cross_entropy"], abs=1e-6)
    assert raw["top1"] > 0.4  # people's favourite opening


def test_the_command(tmp_path):
    write_pgn([game(OPENING), game(OPENING, time_class="bullet", time_control="60+0")],
              tmp_path / "games.pgn")  # fmt: skip
    command = ["predict", "chess", tmp_path / "games.pgn"]
    found = answer(*command, "--agent", "puct(chess, c_puct=2, playouts=4)")
    assert {"agent", "games", "positions", "top1", "top1_se", "cross_entropy", "groups"} <= set(
        found
    )
    assert (found["games"], found["positions"]) == (1, 4)  # no bullet, after ten plies
    for bad, said in (
        (["--agent", "rm"], "does not play chess"),
        (["--agent", "chess", "--bucket", "2800"], "no position left"),
        (["--agent", "ches"], "did you mean chess"),
        (["--agent", "chess(elo=-5)"], "elo: a rating"),
    ):
        done = kedge(*command, *bad)
        assert done.returncode == 2
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1
