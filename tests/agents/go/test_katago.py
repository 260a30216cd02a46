"""KataGo's networks through its analysis engine: every answer to its position."""

import fake_katago
import numpy as np
import pytest

from kedge.agents.go.katago import KataGo
from kedge.errors import InputError
from kedge.records.go.games import GoGame
from kedge.records.go.positions import GoPosition


@pytest.fixture
def program(tmp_path):
    return str(fake_katago.write(tmp_path / "katago"))


def game(*moves, **told):
    return GoGame(np.array(moves, np.int16), **told)


def test_answers_are_put_to_their_positions(program):
    first, second = game(60, 72, 361, 288), game(3, 1, komi=7.5)
    chosen = [GoPosition(first, 1), GoPosition(first, 3), GoPosition(second, 2)]
    with KataGo(program, "net") as katago:
        one, two = katago.analyse_chunks([chosen, chosen[:1]])
    assert one.actions.shape == one.policy.shape == (3, 362)
    assert one.policy.argmax(axis=1).tolist() == [1, 3, 2]
    assert [np.flatnonzero(row == 0.0).tolist() for row in one.policy] == [
        [60],
        [60, 72, 361],
        [1, 3],
    ]
    assert two.policy.tolist() == one.policy[:1].tolist()


def test_a_program_that_dies_is_told_in_a_line(program):
    with (
        KataGo(program, "broken.bin.gz") as katago,
        pytest.raises(InputError, match=r"katago: analysis: .* ended with 1 \(no such network\)$"),
    ):
        list(katago.analyse_chunks([[GoPosition(game(3, 4), 1)]]))


def test_refusals_of_katago_are_reported(program):
    with (
        KataGo(program, "net") as katago,
        pytest.raises(InputError, match="katago: Komi is bad luck"),
    ):
        list(katago.analyse_chunks([[GoPosition(game(3, 4, komi=13.0), 1)]]))
    with pytest.raises(InputError, match="cannot be started"):
        KataGo("/nowhere/katago", "net")
