"""Positions of recorded games: as states, as boards and as planes."""

import chess
import numpy as np
import pytest
from pgn_samples import only, random_game, shuffle

from kedge import _core
from kedge.errors import InputError
from kedge.games.chess import ChessState
from kedge.models.chess.encoding import encode_chess
from kedge.records import ChessGame, ChessPosition, chess_positions, encode_chess_positions
from kedge.records.chess.positions import boards_of

RATED = {"rated": True, "white_elo": 1900, "black_elo": 1999, "time_class": "blitz"}


def test_a_position():
    game = shuffle(12, **RATED, clocks=np.arange(12, dtype=np.float32), time_control="180+2")
    position = ChessPosition(game, 9)
    assert position.action == game.moves[9]
    assert (position.mover, position.rating, position.clock) == (1, 1999, 9.0)
    assert position.state().history == game.moves[:9].tolist()
    assert position.groups == {
        "bucket": "1900",
        "time_class": "blitz",
        "time_control": "180+2",
        "clocks": "known",
    }
    bare = ChessPosition(shuffle(2), 0)
    assert (bare.rating, bare.clock) == (None, None)
    assert set(bare.groups.values()) == {"mixed", "unknown"}


def check_rows(games: list[ChessGame], fill: bool) -> int:
    chosen = list(chess_positions(games))
    encoded = encode_chess_positions(chosen, fill=fill)
    mask = encoded.legal_mask()
    row = 0
    for game in games:
        state = ChessState() if game.fen is None else ChessState.from_fen(game.fen)
        for action in game.moves.tolist():
            planes, rule50 = encode_chess([state], fill=fill)
            np.testing.assert_array_equal(encoded.planes[row], planes[0])
            assert encoded.rule50[row] == rule50[0]
            assert encoded.played[row] == state.board.policy_index(action)
            legal = sorted(state.board.policy_indices().tolist())
            assert np.flatnonzero(mask[row]).tolist() == legal
            state.board.push(action)
            row += 1
    assert row == len(encoded) == len(chosen)
    return row


@pytest.mark.parametrize("fill", [True, False])
def test_encoding_beside_states(fill):
    """Also past claimable draws, from positions in the middle, with promotions."""
    games = [only(str(random_game(seed, branches=False)) + "\n\n") for seed in range(25)]
    games.append(shuffle(40))
    assert any(game.fen for game in games)
    assert check_rows(games, fill) > 800


def test_boards_are_those_of_states():
    played = shuffle(20), shuffle(9)
    chosen = [ChessPosition(game, ply) for game in played for ply in (0, 3, 4, 8)]
    for position, board in zip(chosen, boards_of(chosen), strict=True):
        assert board == position.state().board
        assert board.repetitions == position.state().board.repetitions
    start = ChessState().board
    for plies in ([21], [3, 2], [-1]):
        with pytest.raises(ValueError, match="ply"):
            _core.chess_replay(start, played[0].moves, np.array(plies))
    with pytest.raises(ValueError, match="legal"):
        _core.chess_replay(start, np.zeros(3, np.uint16), np.array([2]))


def test_encoding_of_some_plies_in_any_order():
    game = shuffle(30)
    whole = encode_chess_positions([ChessPosition(game, ply) for ply in range(30)])
    order = [29, 3, 3, 17]
    some = encode_chess_positions([ChessPosition(game, ply) for ply in order], threads=1)
    np.testing.assert_array_equal(some.planes, whole.planes[order])
    np.testing.assert_array_equal(some.legal, whole.legal[order])
    np.testing.assert_array_equal(some.played, whole.played[order])
    assert len(encode_chess_positions([])) == 0
    assert encode_chess_positions([]).legal_mask().shape == (0, 1858)


def test_encoding_refuses_what_is_no_game():
    bad = ChessGame(np.array([0, 1], np.uint16))
    with pytest.raises(InputError, match="game 1: half-move 1 is not a legal move"):
        encode_chess_positions([ChessPosition(shuffle(3), 0), ChessPosition(bad, 0)])
    for ply in (3, -1):
        with pytest.raises(InputError, match=f"game 0: has no half-move {ply}"):
            encode_chess_positions([ChessPosition(shuffle(3), ply)])
    with pytest.raises(InputError, match="game 0: FEN: has 1 fields"):
        encode_chess_positions([ChessPosition(shuffle(3, fen="x"), 0)])


@pytest.mark.parametrize(
    ("offsets", "ply_offsets", "fens"),
    [
        ([0, 2], [0, 1], []),
        ([0, 4], [0, 1], []),
        ([1, 3], [0, 1], []),
        ([0, 3], [0, 2], []),
        ([0, 3], [0, 1, 1], []),
        ([0, 4, 3], [0, 0, 1], []),
        ([], [], []),
        ([0, 3], [0, 1], ["", ""]),
    ],
)
def test_native_encoding_checks_its_offsets(offsets, ply_offsets, fens):
    moves = shuffle(3).moves
    with pytest.raises(ValueError, match=r"offsets|fens"):
        _core.chess_encode_games(
            moves, np.int64(offsets), np.int64([0]), np.int64(ply_offsets), fens
        )


def test_apply_if_legal_is_generate():
    """Every 16-bit number, legal or not, as a game's next move."""
    fens = [
        chess.STARTING_FEN,
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "rnbqkbnr/1ppppp1p/8/p5pP/8/8/PPPPPPP1/RNBQKBNR w KQkq g6 0 3",
        "8/8/8/8/k2Pp2Q/8/8/4K3 b - d3 0 1",  # the capture in passing would open the rank
        "4k3/8/8/8/7b/8/5P2/r3K2R w K - 0 1",
    ]
    for fen in fens:
        board = _core.ChessBoard.from_fen(fen)
        legal = set(board.legal_actions())
        every = np.arange(1 << 16, dtype=np.uint16)
        for action in every[:: 1 if fen == fens[0] else 7].tolist() + sorted(legal):
            game = ChessGame(np.array([action], np.uint16), fen=fen)
            try:
                encode_chess_positions([ChessPosition(game, 0)], threads=1)
            except InputError:
                assert action not in legal
            else:
                assert action in legal
