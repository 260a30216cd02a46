"""Many games of Go replayed at once: beside states, with faults, and those of professionals."""

import lzma
import random
from collections import Counter

import numpy as np
import pytest

from kedge import _core
from kedge.games.go import GoState, parse_sgf
from kedge.models.go.encoding import GO, encode_go


def flat(games: list[dict[str, object]]) -> dict[str, np.ndarray]:
    """`go_replay`'s arrays: every ply of every game."""
    lengths = [len(game["moves"]) for game in games]
    offsets = np.cumsum([0, *lengths])
    setup = [
        (g, point, colour)
        for g, game in enumerate(games)
        for colour, points in enumerate(game.get("setup", ((), ())))
        for point in points
    ]
    return {
        "moves": np.array([m for game in games for m in game["moves"]], np.int16),
        "colours": np.array(
            [c for game in games for c in game.get("colours", alternate(game))], np.uint8
        ),
        "offsets": offsets,
        "plies": np.concatenate([np.arange(n) for n in lengths]),
        "ply_offsets": offsets,
        "sizes": np.array([game["size"] for game in games], np.uint8),
        "komi": np.array([game.get("komi", 7.5) for game in games], np.float32),
        "setup": np.array(setup, np.int32).reshape(-1, 3),
    }


def alternate(game: dict[str, object]) -> list[int]:
    return [ply % 2 for ply in range(len(game["moves"]))]


def random_record(size: int, plies: int, seed: int) -> list[int]:
    board = _core.GoBoard(size)
    rng, moves = random.Random(seed), []
    while len(moves) < plies and not board.is_terminal():
        legal = board.legal_actions()
        moves.append(legal[-1] if rng.random() < 0.02 else rng.choice(legal))
        board.push(moves[-1])
    return moves


def test_replay_is_what_the_states_show():
    games = [
        {"size": size, "moves": random_record(size, 80, size), "komi": 0.5 * size}
        for size in range(2, 20)
    ]
    arrays = flat(games)
    masks, komi, played, legal, tactics, illegal = _core.go_replay(
        **arrays, legal=True, tactics=True, threads=2
    )
    assert illegal == []
    states, want = [], []
    for game in games:
        state = GoState(game["size"], game["komi"], superko="simple")
        for move in game["moves"]:
            states.append(state.clone())
            want.append(state.legal_actions())
            state.apply_action(move)
    their_masks, their_komi = encode_go(states)
    assert np.array_equal(masks, their_masks[:, : GO.number_plane])
    assert np.array_equal(tactics, their_masks[:, GO.number_plane + 1 :])
    assert np.array_equal(komi, their_komi)
    assert np.array_equal(played, arrays["moves"])
    bits = np.unpackbits(legal.view(np.uint8), axis=1, bitorder="little")
    assert [np.flatnonzero(row).tolist() for row in bits] == want
    now, *_ = _core.go_replay(**arrays, steps=1)
    assert np.array_equal(now, masks[:, :2])


def test_replay_of_setup_and_of_players_who_do_not_alternate():
    game = {"size": 9, "moves": [0, 1, 81], "colours": [1, 1, 0], "setup": ([40], [41])}
    masks, *_, illegal = _core.go_replay(**flat([game]))
    assert illegal == []
    state = GoState(9, black=[40], white=[41], player=1)
    first = state.clone()
    state.apply_action(0)
    state.set_player(1)
    assert np.array_equal(masks[:2], encode_go([first, state])[0][:, : GO.number_plane])


def test_illegal_moves_are_reported():
    ko = {"size": 4, "setup": ([1, 4, 9], [2, 5, 7, 10])}
    games = [
        {"size": 9, "moves": [0, 1, 2]},
        {"size": 9, "moves": [0, 0, 2]},
        {"size": 9, "moves": [0, 82, 2]},
        {"size": 9, "moves": [0, -1, 2]},
        {**ko, "moves": [6, 5, 0]},
        {**ko, "moves": [6, 16, 16, 5]},
        {"size": 3, "moves": [1, 8, 3, 0]},
        {"size": 9, "moves": [5, 6], "setup": ([1, 9], [0])},
        {"size": 9, "moves": []},
    ]
    want = [
        (1, 1, "occupied"),
        (2, 1, "not on the board"),
        (3, 1, "not on the board"),
        (4, 1, "ko"),
        (6, 3, "suicide"),
        (7, -1, "suicide"),
    ]
    masks, komi, played, legal, _, illegal = _core.go_replay(**flat(games))
    assert illegal == want
    assert legal.shape == (0, 6)
    assert played[:9].tolist() == [0, 1, 2, 0, 0xFFFF, 0xFFFF, 0, 0xFFFF, 0xFFFF]
    assert not masks[4:6].any()
    assert not komi[4:6].any()
    *_, illegal = _core.go_replay(**flat(games), superko="positional")
    assert illegal == [*want[:4], (5, 3, "superko"), *want[4:]]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("offsets", np.array([0, 2])),
        ("offsets", np.array([1, 3])),
        ("ply_offsets", np.array([0])),
        ("plies", np.array([0, 2, 1])),
        ("plies", np.array([0, 1, 3])),
        ("colours", np.array([0, 1, 2], np.uint8)),
        ("colours", np.array([0, 1], np.uint8)),
        ("sizes", np.array([20], np.uint8)),
        ("komi", np.zeros(2, np.float32)),
        ("setup", np.array([[1, 0, 0]], np.int32)),
        ("setup", np.array([[0, 361, 0]], np.int32)),
        ("setup", np.array([[0, 0, 2]], np.int32)),
        ("superko", "natural"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name, value):
    with pytest.raises(ValueError):
        _core.go_replay(**{**flat([{"size": 9, "moves": [0, 1, 2]}]), name: value})


@pytest.fixture(scope="module")
def professionals(shared) -> dict[str, np.ndarray]:
    """`go_replay`'s arrays of all games of ``$KEDGE_DATA``, to be checked only."""
    with lzma.open(shared("data/go/cwi_pro_games.tsv.xz"), "rt", encoding="utf-8") as lines:
        header = next(lines).rstrip("\n").split("\t")
        rows = [dict(zip(header, line.rstrip("\n").split("\t"), strict=True)) for line in lines]
    lengths = np.array([len(row["moves"]) // 2 for row in rows])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    letters = np.frombuffer("".join(row["moves"] for row in rows).encode(), np.uint8)
    x, y = (letters.reshape(-1, 2).T - ord("a")).astype(np.int16)
    setup = [
        (g, parse_sgf(text[i : i + 2], 19), colour)
        for g, row in enumerate(rows)
        for colour, text in enumerate((row["AB"], row["AW"]))
        for i in range(0, len(text), 2)
    ]
    first = np.array([row["colors"][:1] == "W" for row in rows])
    colours = (np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)) % 2
    colours ^= np.repeat(first, lengths)
    for g, row in enumerate(rows):
        if len(row["colors"]) > 1:
            colours[offsets[g] : offsets[g + 1]] = ["BW".index(c) for c in row["colors"]]
    return {
        "moves": np.where(x == 19, 361, 19 * y + x).astype(np.int16),
        "colours": colours.astype(np.uint8),
        "offsets": offsets,
        "plies": np.empty(0, np.int64),
        "ply_offsets": np.zeros(len(rows) + 1, np.int64),
        "sizes": np.full(len(rows), 19, np.uint8),
        "komi": np.zeros(len(rows), np.float32),
        "setup": np.array(setup, np.int32).reshape(-1, 3),
    }


@pytest.mark.parametrize(
    ("superko", "broken"),
    [("simple", {}), ("positional", {"superko": 41}), ("situational", {"superko": 41})],
)
def test_games_of_professionals(professionals, superko, broken):
    """Nobody broke simple ko in 65,117 games; 41 come back to a board that had been there."""
    assert len(professionals["sizes"]) == 65_117
    *_, illegal = _core.go_replay(**professionals, superko=superko)
    assert Counter(reason for _, _, reason in illegal) == broken
