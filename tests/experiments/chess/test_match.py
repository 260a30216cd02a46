"""A match as an experiment: chunks, seeds, and what makes two matches the same."""

import io

import chess.pgn
import numpy as np
import pytest
import tiny_lc0 as tiny

from kedge.agents import make_agent
from kedge.agents.agent import Analysis
from kedge.agents.devices import computing_on
from kedge.errors import InputError
from kedge.experiments import run
from kedge.experiments.board.match import match_players
from kedge.experiments.chess.match import ChessMatch, play_chess
from kedge.experiments.played_games import match_tasks
from kedge.machine import cores
from kedge.models import shipped_models
from kedge.records import pgn_texts


def quick(**fields):
    return ChessMatch(
        **{"a": "chess", "b": "chess(elo=1100)", "max_plies": 12, "chunk": 2, **fields}
    )


def test_chunks():
    tasks = match_tasks(21, 8)
    assert [task.params["games"] for task in tasks] == [8, 8, 5]
    assert [task.key for task in tasks] == ["games 1-8", "games 9-16", "games 17-21"]
    [labelled] = match_tasks(2, 8, label="c=2", c_puct=2)
    assert (labelled.key, labelled.params) == ("c=2 games 1-2", {"c_puct": 2, "games": 2})


def test_the_engine_does_not_matter(tmp_path):
    match = quick(a="puct(chess, playouts=4)", games=5)
    one = run(match, engine="inline", progress=False, folder=tmp_path / "inline")
    two = run(match, workers=2, progress=False, folder=tmp_path / "local")
    assert one.results == two.results
    games = [game for chunk in one.results.values() for game in chunk["games"]]
    assert [game["first"] for game in games] == [0, 1, 0, 1, 0]
    assert len({game["moves"] for game in games}) == 5


def test_the_digest_of_a_match():
    assert quick(a="puct(chess,playouts=4)").digest == quick(a="puct( chess, playouts=4 )").digest
    assert quick(seed=1).digest != quick().digest
    assert quick(temperature=0.3).digest != quick().digest


def test_a_temperature_of_zero_plays_one_game():
    played = play_chess(
        match_players("chess", "chess", 0.0, game="chess"), 4, np.random.default_rng(0)
    )
    assert len({game["moves"] for game in played}) == 1
    hot = match_players("chess(temperature=0)", "puct(chess, playouts=2)", 0.7, game="chess")
    assert [player.temperature for player in hot] == [0.7, 0.7]
    cold, searching = match_players("chess(temperature=0)", "puct(chess, playouts=2)", game="chess")
    assert (cold.temperature, searching.temperature) == (0.0, 1.0)


def test_threads_are_for_whoever_asks():
    with computing_on("cpu", threads=1):
        assert make_agent("puct(chess)").threads == 1
    assert make_agent("puct(chess)").threads == cores()
    one, other = match_players("puct(chess)", "chess", game="chess")
    assert one.threads == 1
    assert one.network is other.network


def test_another_model_of_the_same_name_is_another_match(tmp_path):
    path = tmp_path / "net.pb.gz"
    tiny.write(path, tiny.net(seed=1))
    first = quick(a=f"puct('{path}', playouts=2)").digest
    assert quick(a=f"puct('{path}', playouts=2)").digest == first
    tiny.write(path, tiny.net(seed=2))
    assert quick(a=f"puct('{path}', playouts=2)").digest != first


def test_shipped_models_are_known_by_their_files():
    found = quick(a="puct(chess, playouts=2)").identity()["config"]["weights"]
    assert found == {"chess": shipped_models.load("chess").sha256}
    assert len(found["chess"]) == 64


class Mates:
    """Black mates at once; a plugin might look so."""

    def analyse_many(self, states, rng):
        found = []
        for state in states:
            wanted = state.parse_uci(["f2f3", "e7e5", "g2g4", "d8h4"][len(state.history)])
            policy = np.array([float(action == wanted) for action in state.legal_actions()])
            found.append(Analysis(policy, policy, policy, 0.0))
        return found


def test_report_and_pgn():
    match = quick(games=3)
    won = play_chess((Mates(), Mates()), 2, np.random.default_rng(0))
    drawn = play_chess((Mates(), Mates()), 1, np.random.default_rng(0), max_plies=3)
    results = {"games 1-2": {"games": won}, "games 3-3": {"games": drawn}}
    report = match.report(results)
    assert report.title == (
        "chess – chess(elo=1100): +1 =1 −1, score 50.0 ± 28.9 %, Elo +0 (95 %: −338 … +338)"
    )
    assert report.text().splitlines()[2:] == [
        "as     games  wins  draws  losses          score   Elo",
        "-----  -----  ----  -----  ------  -------------  ----",
        "white      2     0      1       1  0.250 ± 0.250  -191",
        "black      1     1      0       0          1.000  +inf",
        "both       3     1      1       1  0.500 ± 0.289    +0",
        "",
        "4 plies a game; checkmate 2, move limit 1",
        "only 2 games differ: the errors are larger than they say",
    ]
    text = io.StringIO("".join(pgn_texts(match.records(results))))
    headers, lengths = [], []
    while game := chess.pgn.read_game(text):
        assert not game.errors
        headers.append([game.headers[key] for key in ("White", "Result", "Termination")])
        roster = [game.headers[key] for key in ("Event", "Site", "Date", "Round")]
        assert roster == ["kedge match", "?", "????.??.??", str(len(headers))]
        lengths.append(game.end().ply())
    assert headers == [
        ["chess", "0-1", "normal"],
        ["chess(elo=1100)", "0-1", "normal"],
        ["chess", "1/2-1/2", "adjudication"],
    ]
    assert lengths == [4, 4, 3]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"games": 0}, "games: at least 1"),
        ({"chunk": 3}, "chunk: an even number"),
        ({"max_plies": 0}, "max_plies: at least 1"),
        ({"resign": 1.5}, "resign: a value between 0 and 1"),
        ({"temperature": -1.0}, "temperature: at least 0"),
        ({"a": "chess("}, "ends too early"),
    ],
)
def test_bad_fields(fields, said):
    with pytest.raises(InputError, match=said):
        quick(**fields)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"a": "ches"}, "did you mean chess"),
        ({"b": "rm"}, "agent rm: does not play chess"),
        ({"dtype": "bfloat16"}, "--device cpu computes in float32 only"),
    ],
)
def test_bad_players(fields, said):
    with pytest.raises(InputError, match=said):
        quick(**fields).check()
