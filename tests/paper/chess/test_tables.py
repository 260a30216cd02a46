"""The chess tables: errors by hand, games shared out exactly once, runs that go on."""

import json

import numpy as np
import pytest
import tiny_lc0 as tiny
from command import answer, kedge

from kedge.errors import InputError
from kedge.experiments import run
from kedge.paper.chess.accuracy import ChessAccuracy, ChessCrossEntropy
from kedge.paper.chess.groups import ChessByRating, ChessByTimeControl
from kedge.paper.chess.prediction import imitated_rating
from kedge.paper.chess.sample import MANY_PLAYERS, default_sources, draw_games
from kedge.paper.chess.strength import ChessStrength, ChessTradeoff
from kedge.paper.table_parts import Scores, short_name, titled
from kedge.records import read_chess_games

MODEL = "chess(elo=1500)"
SMALL = {"models": (MODEL,), "playouts": 2, "c_puct": (2.0,), "shards": 3}


def columns(positions, hits, loss=None, **labels):
    """A task's result, as `run` has it."""
    games = len(positions)
    told = {"time_control": ["600+0"], "clocks": [False], "source": [None], "players": [["a", "b"]]}
    return {
        "positions": positions,
        "top1": hits,
        "top5": positions,
        "cross_entropy": loss or [1.0] * games,
        **{name: values * games for name, values in told.items()},
        **labels,
    }


def scores(*sums):
    return Scores.from_shards([columns(*sums)])


def results(experiment, of_cell):
    """Made-up results: `of_cell` of the first shard, nothing in the others."""
    return {
        task.key: of_cell(**task.params["cell"]) if task.params["shard"] == 0 else columns([], [])
        for task in experiment.tasks()
    }


def test_errors_of_gains_are_those_of_paired_games():
    raw, searched = scores([4, 4, 2], [2, 3, 0]), scores([4, 4, 2], [3, 3, 2])
    gain = searched.gain(raw)
    assert gain["top1"] == pytest.approx(0.3)
    # Gains by game are 1, 0, 2, of which 1.2, 1.2 and 0.6 were expected.
    error = np.sqrt(3 / 2 * (0.2**2 + 1.2**2 + 1.4**2)) / 10
    assert gain["top1_se"] == pytest.approx(error)
    unpaired = np.hypot(raw.summary()["top1_se"], searched.summary()["top1_se"])
    assert gain["top1_se"] != pytest.approx(unpaired)
    assert searched.gain(searched)["top1_se"] == 0.0
    with pytest.raises(InputError, match="games changed"):
        searched.gain(scores([4, 4, 3], [2, 3, 0]))


def test_table_1_from_results():
    experiment = ChessAccuracy(models=("maia-1100", "weights/maia-1900.pb.gz"), c_puct=(5.0, 2.0))
    hits = {None: [5, 5], 5.0: [6, 5], 2.0: [6, 6]}
    found = results(experiment, lambda model, bucket, c_puct: columns([10, 10], hits[c_puct]))
    report = experiment.report(found)
    rows = report.table.rows
    assert [(row["model"], row["bucket"], row["setting"]) for row in rows] == [
        (model, bucket, setting)
        for model, bucket in (("maia-1100", 1100), ("maia-1900", 1900))
        for setting in ("raw", "5", "2")
    ]
    assert [row["top1"] for row in rows[:3]] == [0.5, 0.55, 0.6]
    assert [row["best"] for row in rows[:3]] == ["", "", "best"]
    assert (rows[0]["gain"], rows[2]["gain"]) == (None, pytest.approx(0.1))
    assert rows[2]["gain_se"] == 0.0  # one more of ten in either game
    assert [row["paper"] for row in rows[3:]] == [0.532, 0.540, 0.543]
    assert rows[5]["paper_gain"] == pytest.approx(0.011)
    headings = [column.heading for column in report.table.columns]
    assert {"paper top-1", "paper gain"} < set(headings)
    text = report.text()
    assert "1900: 2 games, 20 positions" in text
    assert "4 of the 4 games do not record clocks" in text
    assert "through 2019" in text


def test_fewer_playouts_are_not_set_beside_the_paper():
    experiment = ChessAccuracy(models=("maia-1900",), playouts=20)
    found = results(experiment, lambda model, bucket, c_puct: columns([10], [5]))
    report = experiment.report(found)
    assert {row["paper"] for row in report.table.rows} == {None}
    assert not any("paper" in column.heading for column in report.table.columns)
    assert not any("paper's standard errors" in note for note in report.notes)


def test_titles_name_the_models():
    assert "accuracy of Maia, raw" in titled(ChessAccuracy())
    assert "accuracy of chess(elo=1500), raw" in titled(ChessAccuracy(models=(MODEL,)))
    assert "over Maia-1900 against" in titled(ChessStrength())
    assert "over Maia-1500 against" in titled(ChessStrength(models=("maia-1500",)))


def test_less_cross_entropy_is_better():
    experiment = ChessCrossEntropy(models=("maia-1500",), c_puct=(5.0,))
    found = results(
        experiment,
        lambda model, bucket, c_puct: columns([10, 10], [5, 5], [15.0, 14.0 if c_puct else 16.0]),
    )
    raw, searched = experiment.report(found).table.rows
    assert (raw["cross_entropy"], searched["cross_entropy"]) == (1.55, 1.45)
    assert (raw["best"], searched["best"]) == ("", "best")
    assert searched["gain"] == pytest.approx(-0.1)
    assert (raw["paper"], searched["paper"]) == (1.476, 1.465)


def test_ratings_are_told_apart():
    experiment = ChessByRating(models=("maia-1500",), best=(5.0,), buckets=(1400, 1500))
    found = results(
        experiment,
        lambda model, bucket, c_puct: columns([10], [bucket // 500 + bool(c_puct)]),
    )
    rows = experiment.report(found).table.rows
    assert [(row["bucket"], row["own"], row["raw"], row["mcts"]) for row in rows] == [
        (1400, "", 0.2, 0.3),
        (1500, "own", 0.3, 0.4),
    ]


def test_time_controls_with_few_games_are_left_out():
    controls = ["900+15", "180+0", "180+0", "900+15", "180+0", None, "-", "-", "300+0"]
    players = [["ann", f"p{number}"] for number in range(6)] + [[None, None]] * 3
    experiment = ChessByTimeControl(models=("maia-1900",), best=(2.0,), fewest=2)
    found = results(
        experiment,
        lambda model, bucket, c_puct: columns(
            [10] * 9, [5 + bool(c_puct)] * 9, time_control=controls, players=players
        ),
    )
    rows = experiment.report(found).table.rows
    assert [(row["time_control"], row["games"]) for row in rows] == [("3+0", 3), ("15+15", 2)]
    assert [row["paper_gain"] for row in rows] == [0.008, 0.022]
    assert (rows[0]["players"], rows[0]["busiest"]) == (4, 1.0)


def match(score):
    return {"games": [{"score": one} for one in score]}


def test_matches_are_set_beside_the_papers():
    experiment = ChessStrength(games=4, chunk=2, c_puct=(2.0,))
    found = {task.key: match([1.0, 0.5]) for task in experiment.tasks()}
    warm, cool = experiment.report(found).table.rows
    assert (warm["games"], warm["score"], warm["paper"], cool["paper"]) == (4, 0.75, 0.880, 0.861)
    assert warm["score_se"] == pytest.approx(np.sqrt(4 * 0.25**2 / 3 / 4))


def test_tradeoff_joins_accuracy_and_strength():
    experiment = ChessTradeoff(c_puct=(2.0,), games=2, chunk=2, shards=1)
    asked = {task.key: task.params["params"] for task in experiment.tasks()}
    found = {
        key: columns([10], [5 + bool(params["cell"]["c_puct"])])
        if "cell" in params
        else match([1.0, 0.0])
        for key, params in asked.items()
    }
    assert len(found) == 3, "one temperature of two"
    (row,) = experiment.report(found).table.rows
    assert (row["gain"], row["score"]) == (pytest.approx(0.1), 0.5)
    assert (row["paper_gain"], row["paper_score"]) == (pytest.approx(0.011), 0.880)


def test_models_say_whom_they_imitate():
    assert [
        imitated_rating(model) for model in ("maia-1100", "chess(elo=1560)", "a/maia-1900.pb.gz")
    ] == [
        1100,
        1500,
        1900,
    ]
    assert short_name("some/where/maia-1900.pb.gz") == "maia-1900"
    for model in ("chess", "g170", "'kata/g170-b6c96-s175.pb.gz'", "net-8700"):
        with pytest.raises(InputError, match="cannot tell the rating that"):
            ChessAccuracy(models=(model,))


def drawn(path, limit=None, seed=0):
    return draw_games(path, (1400, 1500), (), limit, seed)


def moves(games):
    return [game.moves.tobytes() for game in games]


def test_games_are_drawn_whole_and_by_the_seed(human_games):
    everything = drawn(human_games)
    assert [len(everything[bucket]) for bucket in (1400, 1500)] == [8, 8]
    some = drawn(human_games, 20)[1500]
    # The front of the same order, until there are twenty: those after the tenth ply count.
    assert moves(some) == moves(everything[1500])[: len(some)]
    counts = [len(game) - 10 for game in some]
    assert sum(counts[:-1]) < 20 <= sum(counts)
    assert moves(some) == moves(drawn(human_games, 20)[1500])
    assert moves(everything[1500]) != moves(drawn(human_games, seed=1)[1500])
    in_file = [game for game in read_chess_games(human_games) if game.white_elo == 1510]
    assert moves(everything[1500]) != moves(in_file)[:8]


def test_default_sources_are_those_of_the_project(tmp_path, monkeypatch):
    monkeypatch.setenv("KEDGE_DATA", str(tmp_path / "shared"))
    assert default_sources(tmp_path / "shared" / "data" / "games.pgn") == MANY_PLAYERS
    assert default_sources(tmp_path / "mine.pgn") == ()


def test_other_games_or_weights_of_the_same_name_are_another_run(human_games, tmp_path):
    data, weights = tmp_path / "games.pgn", tmp_path / "tiny-1500.pb.gz"
    data.write_bytes(human_games.read_bytes())
    tiny.write(weights, tiny.net(seed=1))
    named = {"models": (f"'{weights}'",)}
    kinds = ((ChessAccuracy, {"data": str(data)}), (ChessStrength, {}))
    before = [kind(**named, **fields).digest for kind, fields in kinds]
    assert [kind(**named, **fields).digest for kind, fields in kinds] == before
    tiny.write(weights, tiny.net(seed=2))
    after = [kind(**named, **fields).digest for kind, fields in kinds]
    assert all(one != other for one, other in zip(before, after, strict=True))
    data.write_bytes(human_games.read_bytes() * 2)
    assert ChessAccuracy(**named, data=str(data)).digest != after[0]


def test_an_empty_file_leaves_nothing_behind(human_games, tmp_path):
    data = tmp_path / "games.pgn"
    data.write_text("")
    folder = tmp_path / "run"
    experiment = ChessAccuracy(**SMALL, data=str(data))
    with pytest.raises(InputError, match=r"games\.pgn: no position left: 0 games read"):
        run(experiment, engine="inline", folder=folder, progress=False)
    assert not folder.exists()
    data.write_bytes(human_games.read_bytes())
    assert run(experiment, engine="inline", folder=folder, progress=False).report().table.rows


@pytest.mark.parametrize("kind", [ChessAccuracy, ChessStrength])
def test_a_missing_device_is_told_before_anything_is_done(kind, human_games, tmp_path):
    fields = {"data": str(human_games)} if kind is ChessAccuracy else {}
    experiment = kind(models=(MODEL,), device="no-such-device", **fields)
    with pytest.raises(InputError, match=r"torch|device"):
        run(experiment, folder=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_sources_are_asked_of_games_that_name_one(tmp_path, human_games):
    lines = []
    for number, game in enumerate(read_chess_games(human_games)):
        state, words = game.state(0), []
        for action in game.moves.tolist():
            words.append(state.uci(action))
            state.apply_action(action)
        told = {"white_elo": game.white_elo, "black_elo": game.black_elo, "rated": True}
        source = {"source": ("many", "one")[number % 2]} if number % 3 else {}
        lines.append(json.dumps({"moves": " ".join(words), **told, **source}))
    path = tmp_path / "games.jsonl"
    path.write_text("\n".join(lines))
    found = draw_games(path, (1400, 1500), ("many",), None, 0)
    assert {game.source for games in found.values() for game in games} == {"many", None}


def test_shards_share_out_every_game_once(human_games, tmp_path):
    sums = []
    for shards in (1, 3, 20):
        experiment = ChessAccuracy(**{**SMALL, "shards": shards}, data=str(human_games))
        done = run(experiment, engine="inline", folder=tmp_path / str(shards), progress=False)
        found = experiment.gather(done.results)
        sums.append([sorted(map(tuple, one.sums.round(4).tolist())) for one in found.values()])
        assert [len(one.sums) for one in found.values()] == [8, 8]
    assert sums[0] == sums[1] == sums[2]


def test_a_run_goes_on_and_two_reports_share_it(human_games, tmp_path, monkeypatch):
    experiment = ChessAccuracy(**SMALL, data=str(human_games))
    whole = run(experiment, engine="inline", folder=tmp_path / "whole", progress=False)
    half = run(experiment, engine="inline", folder=tmp_path / "half", progress=False)
    for path in sorted((tmp_path / "half" / "tasks").iterdir())[::2]:
        path.unlink()
    half = run(experiment, engine="inline", folder=tmp_path / "half", progress=False)
    assert half.report().text() == whole.report().text()
    assert half.report().figure("svg") == whole.report().figure("svg")

    def never(*_):
        raise AssertionError("all of it was computed before")

    monkeypatch.setattr(ChessAccuracy, "run", never)
    other = run(
        ChessCrossEntropy(**SMALL, data=str(human_games)),
        engine="inline",
        folder=tmp_path / "whole",
        progress=False,
    )
    written = {path.parent for path in (*whole.write_report(), *other.write_report())}
    assert written == {tmp_path / "whole" / "report", tmp_path / "whole" / "report/cross-entropy"}


def test_missing_games_are_told_before_anything_is_done(monkeypatch, tmp_path):
    monkeypatch.delenv("KEDGE_DATA", raising=False)
    with pytest.raises(InputError, match="--data FILE"):
        ChessAccuracy().file()
    with pytest.raises(InputError, match="no such file"):
        run(ChessAccuracy(data=str(tmp_path / "none.pgn")), folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_no_games_of_that_rating(human_games, tmp_path):
    experiment = ChessAccuracy(**{**SMALL, "models": ("chess(elo=2000)",)}, data=str(human_games))
    with pytest.raises(InputError, match="no position left: 19 games read, 19 outside the buck"):
        run(experiment, engine="inline", folder=tmp_path / "run", progress=False)


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        (ChessAccuracy, {"c_puct": (2.0, 2.0)}, "c_puct: a value is given twice"),
        (ChessAccuracy, {"c_puct": (0.0,)}, "c_puct: above 0"),
        (ChessAccuracy, {"positions": 0}, "positions: at least 1"),
        (ChessAccuracy, {"models": ()}, "models: none given"),
        (ChessByRating, {"best": (5.0, 2.0)}, "best: one number, or one for each of the 3"),
        (ChessByRating, {"buckets": (1550,)}, "buckets: multiples of 100"),
        (ChessByTimeControl, {"fewest": 0}, "fewest: at least 1"),
        (ChessStrength, {"chunk": 3}, "chunk: must be even"),
        (ChessTradeoff, {"games": 0}, "games: at least 1"),
    ],
)
def test_bad_settings(kind, fields, said):
    with pytest.raises(InputError, match=said):
        kind(**fields)


def test_the_command(human_games, tmp_path):
    found = answer(
        "paper", "chess-accuracy", "--data", human_games, "--positions", "20", "--engine", "inline",
        "--set", f"models={MODEL},chess(elo=1400, opponent=1450)", "--set", "playouts=2",
        "--set", "c_puct=2",
    )  # fmt: skip
    rows = found["rows"]
    assert [(row["bucket"], row["setting"]) for row in rows] == [
        (1500, "raw"), (1500, "2"), (1400, "raw"), (1400, "2"),
    ]  # fmt: skip
    assert all(20 <= row["positions"] < 40 for row in rows)
    for bad, said in (
        (["blotto", "--positions", "5"], "--positions: blotto has no such setting"),
        (["chess-strength", "--data", "x"], "--data: chess-strength has no such setting"),
        (["chess-accuracy", "--data", "none.pgn"], "no such file"),
    ):
        done = kedge("paper", *bad)
        assert done.returncode == 2
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1
