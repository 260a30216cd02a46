"""The Go tables: moves drawn from all games, the paper's figures and KataGo beside ours."""

import re

import pytest
from command import answer, kedge

from kedge.errors import InputError
from kedge.experiments import run
from kedge.experiments.go.predict import GoPredict
from kedge.paper.go.accuracy import GoAccuracy, GoCrossEntropy
from kedge.paper.go.rl_agents import GoRlAgents
from kedge.specs import parse

POSITIONS = 8 + 9 + 10 + 11 + 12


def result(hits, loss):
    """A task's result, as `run` has it: a game of ten moves for each number of hits."""
    sums = [[10.0, top1, 10.0, nats] for top1, nats in zip(hits, loss, strict=True)]
    return {"games": [{"groups": {}, "phases": {"moves 1-50": row}} for row in sums]}


@pytest.mark.parametrize(
    ("kind", "key", "raw", "searched", "best"),
    [
        (GoAccuracy, "top1", 0.578, 0.585, "2"),
        (GoCrossEntropy, "cross_entropy", 1.388, 1.362, "raw"),
    ],
)
def test_tables_from_results(kind, key, raw, searched, best, go_games):
    experiment = kind(c_puct=(2.0,), positions=1, data=str(go_games))
    found = {
        task.key: result([5, hits], [15.0, loss])
        for task, hits, loss in zip(experiment.tasks(), (5, 6), (14.0, 16.0), strict=True)
    }
    report = experiment.report(found)
    rows = report.table.rows
    assert [(row["model"], row["bucket"], row["setting"]) for row in rows] == [
        ("go", "2015-2016", "raw"),
        ("go", "2015-2016", "2"),
    ]
    assert [row["paper"] for row in rows] == [raw, searched]
    assert [row["setting"] for row in rows if row["best"]] == [best]
    assert rows[1]["gain"] == pytest.approx({"top1": 0.05, "cross_entropy": 0.1}[key])
    assert "20 moves of 2 games" in report.text()
    assert "Wang et al. (2017) 57.7%" in report.text()


def test_other_years_are_not_set_beside_the_paper(go_games, tmp_path):
    later = tmp_path / "later.sgf"
    later.write_text(re.sub(r"DT\[201\d", "DT[2018", go_games.read_text()))
    for kind in (GoAccuracy, GoRlAgents):
        experiment = kind(split="modern", positions=1, data=str(later))
        found = {task.key: result([5], [15.0]) for task in experiment.tasks()}
        report = experiment.report(found)
        assert not any("paper" in column.heading for column in report.table.columns)
        assert "2017 and later" in report.text()


def drawn(path, positions=None, seed=0):
    experiment = GoAccuracy(data=str(path), positions=positions, seed=seed)
    games = [part.games().kept for part in experiment.parts().values()]
    assert all(kept is games[0] for kept in games), "the cells share what is read"
    return [(game.date, ply) for game, plies in games[0] for ply in plies]


def test_moves_are_drawn_from_all_games(go_games):
    everything, some, fewer = drawn(go_games), drawn(go_games, 20), drawn(go_games, 10)
    assert len(everything) == len(set(everything)) == POSITIONS
    assert not any(date.startswith("2014") for date, _ in everything)
    assert (len(some), len(fewer)) == (20, 10)
    assert set(fewer) < set(some) < set(everything)
    assert some == drawn(go_games, 20) != drawn(go_games, 20, seed=1)
    assert len({date for date, _ in fewer}) > 1


@pytest.mark.parametrize("positions", [None, 20])
def test_predictions_and_tables_share_their_results(positions, go_games, go_model, monkeypatch):
    drawn = {"limit": positions, "drawn": positions is not None}
    search = f"puct({parse(go_model)}, c_puct=2, playouts=2)"
    alone = {
        agent: run(GoPredict(agent=agent, data=(str(go_games),), **drawn), engine="inline")
        for agent in (go_model, search)
    }
    monkeypatch.setattr(GoPredict, "predict", lambda *_: pytest.fail("computed again"))
    table = {"models": (go_model,), "playouts": 2, "positions": positions, "data": str(go_games)}
    experiment = GoAccuracy(**table, c_puct=(2.0,))
    report = run(experiment, engine="inline").report()
    assert run(GoCrossEntropy(**table, c_puct=(2.0,)), engine="inline").report().table.rows
    for row, done in zip(report.table.rows, alone.values(), strict=True):
        data = done.report().data
        assert row["positions"] == data["positions"] == (positions or POSITIONS)
        assert (row["top1"], row["top1_se"]) == (data["top1"], data["top1_se"])


def test_katago_is_set_beside_the_model(go_games, go_model, katago, tmp_path):
    experiment = GoRlAgents(models=(go_model,), data=str(go_games), **katago)
    report = run(experiment, engine="inline", folder=tmp_path / "run", progress=False).report()
    rows = report.table.rows
    assert [row["agent"] for row in rows] == ["tiny", "g170-b6c96", "mine"]
    assert [row["paper"] for row in rows] == [0.578, 0.35, None]
    assert {row["positions"] for row in rows} == {POSITIONS}
    assert (rows[0]["gain"], rows[1]["gain"]) == (None, rows[1]["top1"] - rows[0]["top1"])
    assert rows[1]["cross_entropy"] == pytest.approx(6.58, abs=0.1)  # of 0.5 / 361, but for a hit


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"networks": ()}, "networks: none given; add KataGo's with --network FILE"),
        (
            {"katago": "no-such-program"},
            "no-such-program: no such program; give KataGo with --katago",
        ),
        ({"networks": ("none.bin.gz",)}, r"none\.bin\.gz: No such file"),
    ],
)
def test_a_missing_katago_is_reported_first(fields, said, go_games, go_model, katago, tmp_path):
    given = {**katago, **fields}
    with pytest.raises(InputError, match=said):
        run(
            GoRlAgents(models=(go_model,), data=str(go_games), **given),
            engine="inline",
            folder=tmp_path / "run",
        )
    assert not (tmp_path / "run").exists()


def test_other_games_leave_nothing(go_games, go_model, tmp_path):
    experiment = GoAccuracy(models=(go_model,), data=str(go_games), split="modern")
    with pytest.raises(InputError, match=r"6 games read, 6 not in the modern.*split=all"):
        run(experiment, engine="inline", folder=tmp_path / "run")
    with pytest.raises(InputError, match="split: one of train, test, modern, modern-test, "):
        GoAccuracy(split="new")


def test_the_command(go_games, go_model, katago):
    found = answer(
        "paper", "go-rl-agents", "--data", go_games, "--anchor", go_model, "--engine", "inline",
        "--katago", katago["katago"], "--network", katago["networks"][0],
    )  # fmt: skip
    assert [row["agent"] for row in found["rows"]] == ["tiny", "g170-b6c96"]
    done = kedge("paper", "blotto", "--anchor", go_model)
    assert done.returncode == 2
    assert "--anchor: blotto has no such setting" in done.stderr
