"""A network's view: lc0's planes and moves, and AlphaGo Zero's planes."""

import chess
import numpy as np
import plain_planes
import pytest
from chess_games import play
from plain_go import PlainGo
from plain_tactics import PlainTactics

from kedge import _core
from kedge.games.chess import START_FEN, ChessState
from kedge.games.go import GoState
from kedge.models.chess.encoding import CHESS, encode_chess
from kedge.models.chess.lc0_moves import MOVES
from kedge.models.go.encoding import GO, encode_go


def test_planes_of_lc0(oracle):
    for case in oracle("lc0_maia.json")["positions"]:
        state = ChessState.from_fen(case["fen"] or START_FEN, case["moves"])
        for fill, answers in case["eval"].items():
            planes, clocks = encode_chess([state], fill=fill == "fen_only")
            want = np.zeros((112, 64), np.float32)
            for plane, on in answers["planes"].items():
                mask, value = on if isinstance(on, list) else (on, 1.0)
                bits = [int(mask, 16) >> square & 1 for square in range(64)]
                want[int(plane)] = np.array(bits, np.float32) * value
            got = CHESS.unpack(planes, clocks)
            assert np.array_equal(got[0].reshape(112, 64), want), (case["name"], fill)
            policy = answers["maia-1100"].get("policy") or {}
            assert {state.uci(action) for action in state.board.legal_actions()} == set(policy)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("fill", [True, False])
def test_chess_planes_beside_plain_python(seed, fill):
    states, boards = [], []
    for _, state, board, _ in play(seed, 60):
        states.append(state.clone())
        boards.append(board.copy())
    planes, clocks = encode_chess(states[::3], fill=fill)
    for packed, clock, board in zip(planes, clocks, boards[::3], strict=True):
        assert ([int(mask) for mask in packed], int(clock)) == plain_planes.encode(board, fill)


def test_boards_that_are_none_are_refused():
    planes, clocks = encode_chess([ChessState(), ChessState()])
    with pytest.raises(TypeError):
        _core.chess_encode([None], planes, clocks)


def test_policy_list():
    """From-square, then to-square over queen and knight moves, then promotions q, r, b."""
    plain = []
    for a in range(64):
        for b in range(64):
            up, right = abs(a // 8 - b // 8), abs(a % 8 - b % 8)
            if a != b and (up == right or up * right == 0 or up * right == 2):
                plain.append(chess.Move(a, b).uci())
    for a in range(8):
        for b in range(8):
            if abs(a - b) <= 1:
                plain += [f"{'abcdefgh'[a]}7{'abcdefgh'[b]}8{piece}" for piece in "qrb"]
    assert _core.chess_policy_moves() == list(MOVES) == plain
    assert len(set(plain)) == CHESS.moves


@pytest.mark.parametrize("seed", range(10))
def test_policy_index(seed):
    """Each legal move has its own place, black's that of the same move seen from black's side."""
    names = _core.chess_policy_moves()
    for _, state, board, legal in play(seed, 60):
        seen = set()
        for move in legal:
            text = move.uci()
            if board.is_castling(move):
                text = text[:2] + ("h" if text[2] == "g" else "a") + text[3:]
            if not board.turn:
                text = "".join(str(9 - int(c)) if c.isdigit() else c for c in text)
            index = state.board.policy_index(state.parse_uci(move.uci()))
            assert names[index] == text.removesuffix("n")
            seen.add(index)
        assert len(seen) == len(legal)
        actions = state.board.legal_actions()
        indices = [state.board.policy_index(action) for action in actions]
        assert state.board.policy_indices().tolist() == indices


def plain_go_planes(line: list[GoState]) -> tuple[np.ndarray, float]:
    """Return the planes of the last state of a line that starts at the first move."""
    now = line[-1]
    mover, size = now.board.player(), now.size
    masks = np.zeros((16, 6), np.uint64)
    for k, state in enumerate(line[::-1][:8]):
        for p in range(size * size):
            colour = state.board.colour(p)
            if colour < 2:
                masks[2 * k + (colour != mover), p // 64] |= np.uint64(1 << p % 64)
    return masks, (now.komi if mover else -now.komi) / 10 * 361 / size**2


@pytest.mark.parametrize("size", [2, 9, 19])
def test_go_planes_beside_plain_python(size):
    state, line = GoState(size, 6.5, black=[1]), []
    for ply in range(30):
        line.append(state.clone())
        state.board.play_random(1, ply)
    masks, komi = encode_go(line)
    for i in range(len(line)):
        want, number = plain_go_planes(line[: i + 1])
        assert np.array_equal(masks[i, : GO.number_plane], want)
        assert not masks[i, GO.number_plane].any()
        assert komi[i] == pytest.approx(number, rel=1e-6)


@pytest.mark.parametrize(("size", "plies"), [(3, 20), (5, 60), (9, 120), (19, 60)])
def test_go_tactics_beside_plain_python(size, plies):
    state, plain = GoState(size, superko="simple"), PlainGo(size, "simple", suicide=False)
    caught = 0
    for ply in range(plies):
        state.board.play_random(1, ply)
        plain.play(state.board.move())
        if state.is_terminal():
            break
        masks, _ = encode_go([state])
        bits = np.unpackbits(masks[0].view(np.uint8), axis=1, bitorder="little")
        planes = [set(np.flatnonzero(row).tolist()) for row in bits[GO.number_plane + 1 :]]
        want = PlainTactics(plain, state.board.ko).planes()
        assert planes == want
        caught += len(want[4])
    assert caught


def test_a_ladder_across_the_board_works_until_a_stone_breaks_it():
    def point(x, y):
        return y * 19 + x

    stones = {"white": [point(3, 3)], "black": [point(3, 2), point(2, 3), point(2, 4), point(4, 2)]}
    # White to escape, Black to catch: Black chases the stone to the lower right.
    breaker = point(15, 15)
    for white, caught in ([], True), ([breaker], False):
        state = GoState(black=stones["black"], white=stones["white"] + white, player=0)
        masks, _ = encode_go([state])
        bits = np.unpackbits(masks[0].view(np.uint8), axis=1, bitorder="little")
        assert bool(bits[21, point(3, 3)]) is caught
        assert bits[22].any() == caught


def test_go_arrays_that_do_not_fit_are_refused():
    masks, komi = encode_go([GoState(), GoState()])
    with pytest.raises(ValueError):
        _core.go_encode([GoState().board] * 3, masks, komi)
    with pytest.raises(TypeError):
        _core.go_encode([None], masks, komi)
    with pytest.raises(TypeError):
        _core.go_encode([GoState().board], masks[:, :8], komi)
