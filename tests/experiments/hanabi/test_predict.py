"""Predictions of Hanabi: held-out games go to the workers with their tasks."""

import pickle

import numpy as np
import pytest
from hanabi_players import people, registered  # noqa: F401

from kedge.errors import InputError
from kedge.experiments.hanabi.predict import NOT_PLAYED, HanabiPredict
from kedge.games.hanabi import Hanabi
from kedge.records import write_hanabi_games

pytestmark = pytest.mark.usefixtures("registered")


def test_games_are_read_once(tmp_path):
    path = tmp_path / "games.jsonl"
    write_hanabi_games(people(9, participant=None), path)
    experiment = HanabiPredict(agent="hanabi", data=(str(path),), drawn=True, everything=True)
    first, *others = experiment.tasks()
    path.unlink()
    for task in (first, *others):
        sent = pickle.loads(pickle.dumps(task))
        assert sent == task
        result = experiment.run(sent, np.random.default_rng(0))
        assert len(result["games"]) == task.params["end"] - task.params["first"]


def test_files_of_any_size_are_read_again_as_tasks_need_them(tmp_path):
    path = tmp_path / "games.jsonl"
    write_hanabi_games(people(9, participant=None), path)
    experiment = HanabiPredict(agent="hanabi", data=(str(path),), everything=True)
    kept = HanabiPredict(agent="hanabi", data=(str(path),), drawn=True, everything=True)
    for task, same in zip(experiment.tasks(), kept.tasks(), strict=True):
        assert task.data is None
        rng = np.random.default_rng(0)
        assert experiment.run(task, rng)["games"] == kept.run(same, rng)["games"]


def test_games_of_one_number_of_players(tmp_path):
    path = tmp_path / "games.jsonl"
    write_hanabi_games([*people(4), *people(2, players=3)], path)
    for agent, players, count in (
        ("uniform-hanabi", 2, 4),
        ("uniform-hanabi", 3, 2),
        ("uniform-hanabi", 5, 0),
        ("uniform-hanabi", None, 6),
        ("hanabi-smartbot", None, 4),  # each model plays at one table
        ("hanabi-smartbot-3", None, 2),
    ):
        experiment = HanabiPredict(agent=agent, data=(str(path),), everything=True, players=players)
        assert experiment.games().count == count
    [small_hands] = people(1, rules=Hanabi(2, hand_size=4))
    write_hanabi_games([*people(4), small_hands], path)
    found = HanabiPredict(agent="hanabi-smartbot", data=(str(path),), everything=True).games()
    assert (found.count, found.counts["left_out"]) == (4, {NOT_PLAYED: 1})
    with pytest.raises(InputError, match="5 for tables where the agent does not play"):
        HanabiPredict(agent="hanabi-smartbot-5", data=(str(path),), everything=True).tasks()
