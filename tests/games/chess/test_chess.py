"""Chess against published perft counts and python-chess."""

import random
import xml.etree.ElementTree as ElementTree

import chess
import numpy as np
import pytest
from chess_games import KIWIPETE, PROMOTIONS, STARTS, play
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kedge import _core
from kedge.errors import InputError
from kedge.games.chess import START_FEN, TERMINAL, ChessState
from kedge.models.chess.encoding import encode_chess

# The six positions of the chess programming community, with their published leaf counts.
PERFT = [
    (START_FEN, 6, 119_060_324),
    (KIWIPETE, 4, 4_085_603),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 6, 11_030_083),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 5, 15_833_292),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 4, 2_103_487),
    (
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        4,
        3_894_594,
    ),
    (PROMOTIONS, 5, 3_605_103),
]
# What python-chess calls invalid, and this parser takes or fixes.
MENDED = chess.STATUS_BAD_CASTLING_RIGHTS | chess.STATUS_INVALID_EP_SQUARE
ODD = chess.STATUS_TOO_MANY_CHECKERS | chess.STATUS_IMPOSSIBLE_CHECK


@pytest.mark.parametrize(("fen", "depth", "leaves"), PERFT)
def test_perft(fen, depth, leaves):
    """Bulk-counted: the last ply's moves are counted, not made."""
    assert _core.ChessBoard.from_fen(fen).perft(depth) == leaves


# --- Random games beside python-chess ---------------------------------------------------------


def check_position(state: ChessState, board: chess.Board, legal: list[chess.Move]) -> None:
    native = state.board
    actions = native.legal_actions()
    assert actions == sorted(actions)
    assert [state.uci(a) for a in actions] == [
        move.uci() for move in sorted(legal, key=lambda m: (m.promotion or 0, *m_key(m)))
    ]
    assert state.fen() == board.fen()
    assert native.in_check == board.is_check()
    assert native.has_moves == any(board.legal_moves)
    assert native.insufficient_material == board.is_insufficient_material()
    assert (native.repetitions >= 1) == board.is_repetition(2)
    assert (native.repetitions >= 2) == board.is_repetition(3)
    assert native.key == native.key_from_scratch
    outcome = board.outcome()
    over = (
        outcome is not None
        or board.is_repetition(3)
        or board.halfmove_clock >= 100
        or board.is_insufficient_material()
    )
    assert state.is_terminal() == over
    assert (state.termination() is not None) == over
    assert state.current_player() == (TERMINAL if over else int(not board.turn))
    mated = board.is_checkmate()
    white = 0.0 if not mated else (-1.0 if board.turn else 1.0)
    assert state.returns() == [white, 0.0 - white]
    if over:
        assert state.legal_actions() == []


def m_key(move: chess.Move) -> tuple[int, int]:
    return move.to_square, move.from_square


@pytest.mark.parametrize("seed", range(20))
def test_random_games_beside_python_chess(seed):
    """200 games, on past draws that could be claimed, as people play on."""
    for game in range(10):
        for rng, state, board, legal in play(100 * seed + game, 120):
            check_position(state, board, legal)
            for move in rng.sample(legal, min(2, len(legal))):
                action = state.parse_uci(move.uci())
                assert state.parse_move(move.uci()) == action
                text = board.san(move)
                assert state.san(action) == text
                assert state.parse_san(text) == action


def test_random_games_reach_every_ending():
    """Else the games above would prove little."""
    seen = set()
    for game in range(200):
        for _, state, board, legal in play(100 * (game // 10) + game % 10, 120):
            native = state.board
            seen.add("mate" if not legal and native.in_check else "")
            seen.add("stalemate" if not legal and not native.in_check else "")
            seen.add("threefold" if native.repetitions >= 2 else "")
            seen.add("fifty" if native.rule50 >= 100 else "")
            seen.add("material" if native.insufficient_material else "")
            seen.add("en passant" if board.has_legal_en_passant() else "")
    assert seen >= {"mate", "stalemate", "threefold", "fifty", "material", "en passant"}


@pytest.mark.parametrize("seed", range(6))
def test_pop_restores_every_bit(seed):
    states = []
    for _, state, _, _ in play(seed, 80):
        states.append((state.board.copy(), encode_chess([state])[0].tobytes()))
    board = state.board
    for before, planes in reversed(states):
        if board.length() > before.length():
            board.pop()
        assert board == before
        assert board.fen() == before.fen()
        twin = ChessState()
        twin.board = board
        assert encode_chess([twin])[0].tobytes() == planes
    with pytest.raises(IndexError):
        board.pop()


@pytest.mark.parametrize("seed", range(8))
def test_all_san_of_a_game(seed):
    """Every legal move, from positions with many pieces of one kind too."""
    fens = [
        "8/7k/2Q1Q3/8/2Q5/2Q5/8/K7 w - - 0 1",
        "7k/8/1N3N2/8/1N3N2/8/8/K7 w - - 0 1",
        # A pinned knight does not make the other one ambiguous.
        "4r1k1/8/8/8/1b6/2N5/4N3/4K3 w - - 0 1",
        "1r2k3/P1P5/8/8/8/8/8/4K3 w - - 0 1",
    ]
    boards = [chess.Board(fen) for fen in fens] if seed == 0 else []
    boards += [board.copy() for *_, board, _ in play(1000 + seed, 60)][::8]
    for board in boards:
        state = ChessState.from_fen(board.fen())
        for move in board.legal_moves:
            text = board.san(move)
            action = state.parse_uci(move.uci())
            assert state.san(action) == text
            assert state.parse_san(text) == action
            assert state.parse_san(board.lan(move)) == action


@pytest.mark.parametrize(
    ("fen", "text", "uci"),
    [
        (START_FEN, "  e4!? ", "e2e4"),
        (START_FEN, "Ng1-f3", "g1f3"),
        (START_FEN, "Pe4", "e2e4"),
        (START_FEN, "e2e4", "e2e4"),
        (KIWIPETE, "0-0", "e1g1"),
        (KIWIPETE, "O-O-O+!!", "e1c1"),
        (KIWIPETE, "o-o", "e1g1"),
        (KIWIPETE, "e1c1", "e1c1"),
        (KIWIPETE, "e1h1", "e1g1"),
        (START_FEN, "g1f3", "g1f3"),
        ("8/P6k/8/8/8/8/7K/8 w - - 0 60", "a7a8=Q+", "a7a8q"),
        ("8/P6k/8/8/8/8/7K/8 w - - 0 60", "a8=Q+", "a7a8q"),
        ("8/P6k/8/8/8/8/7K/8 w - - 0 60", "a8Q", "a7a8q"),
        ("8/P6k/8/8/8/8/7K/8 w - - 0 60", "a8=n", "a7a8n"),
        ("8/P6k/8/8/8/8/7K/8 w - - 0 60", "a8(R)#", "a7a8r"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "exd6 e.p.", "e5d6"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "exd6e.p.+", "e5d6"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "ed6", "e5d6"),
    ],
)
def test_san_as_people_write_it(fen, text, uci):
    state = ChessState.from_fen(fen)
    assert state.uci(state.parse_san(text)) == uci


@pytest.mark.parametrize(
    "text",
    (
        "|+|e|e5|Ke3|O-O|O-O-O-O|e1g1|g1g3|Nd2|e4=Q|=Q|(Q)|xx|e9|i4|é4|Nbf3|--|Z0|NNf3|Q|e.p.|\0e4|N\nf3|"
        + "e4" * 1000
    ).split("|"),
)
def test_san_that_is_not_a_move(text):
    with pytest.raises(InputError, match="not a legal move"):
        ChessState().parse_san(text)


@settings(max_examples=300, deadline=None)
@given(st.text("NBRQKPabcdefgh12345678x-+=#Oo0()/. ", max_size=9))
def test_san_fuzz(text):
    """Whatever python-chess reads, this reads alike."""
    board, state = chess.Board(KIWIPETE), ChessState.from_fen(KIWIPETE)
    try:
        action = state.parse_san(text)
    except InputError:
        action = None
    try:
        move = board.parse_san(text)
    except ValueError:
        return
    if move:
        assert action is not None
        assert state.uci(action) == move.uci()


# --- FEN --------------------------------------------------------------------------------------


def agree(fen: str) -> None:
    """Either an error, or what python-chess makes of it."""
    try:
        state = ChessState.from_fen(fen)
    except InputError:
        return
    board = chess.Board(fen)
    assert not board.status() & ~(MENDED | ODD)
    if board.status() & chess.STATUS_INVALID_EP_SQUARE:
        board.ep_square = None
    board.castling_rights = board.clean_castling_rights()
    assert state.fen() == board.fen()
    if board.is_valid():
        check_position(state, board, list(board.legal_moves))
    assert ChessState.from_fen(state.fen()).fen() == state.fen()


@st.composite
def broken_fens(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from([*STARTS, *(fen for fen, _, _ in PERFT)]))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 2))
        text = (
            text[:at]
            + draw(st.text("pnbrqkPNBRQK/12345678 wbKQkq-ae36", max_size=2))
            + (text[at + cut :])
        )
    return text


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(broken_fens())
def test_fen_fuzz(fen):
    agree(fen)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=90))
def test_fen_noise(text):
    agree(text)


def pawns_used(board: chess.Board, side: chess.Color) -> int:
    """Pawns, and pieces beyond those of the start, each of which was one."""
    count = [len(board.pieces(piece, side)) for piece in chess.PIECE_TYPES]
    return count[0] + sum(max(0, n - 2) for n in count[1:4]) + max(0, count[4] - 1)


@pytest.mark.parametrize("seed", range(4))
def test_random_boards(seed):
    """Boards that no game reaches, but that are in order: none is refused."""
    rng = random.Random(seed)
    played = 0
    for _ in range(300):
        board = chess.Board(None)
        squares = rng.sample(range(64), rng.randint(2, 24))
        for i, square in enumerate(squares):
            piece = "Kk"[i] if i < 2 else rng.choice("PNBRQpnbrq")
            board.set_piece_at(square, chess.Piece.from_symbol(piece))
        board.turn = rng.random() < 0.5
        board.castling_rights = chess.BB_CORNERS
        board.ep_square = rng.choice([None, rng.randrange(40, 48) if board.turn else 16])
        fen = board.fen(en_passant="fen")
        agree(fen)
        in_order = not board.status() & ~(MENDED | ODD)
        if in_order and all(pawns_used(board, side) <= 8 for side in chess.COLORS):
            assert ChessState.from_fen(fen)
            played += 1
    assert played > 30


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        ("", "0 fields"),
        (START_FEN + " x", "7 fields"),
        ("a " * 10**6, "8 or more fields"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN w KQkq - 0 1", "8 ranks of 8"),
        ("rnbqkbnr/ppppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "rank 7 "),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR/8 w KQkq - 0 1", "more than 8 ranks"),
        ("rnbqkbnr/pppppppp/8/44/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "two digits"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQXBNR w KQkq - 0 1", "'X' is not a piece"),
        ("8/8/8/8/8/8/8/K7 w - - 0 1", "black has 0 kings"),
        ("kk6/8/8/8/8/8/8/K7 w - - 0 1", "black has 2 kings"),
        ("k6P/8/8/8/8/8/8/K7 w - - 0 1", "a pawn is on the first or last rank"),
        ("k7/8/8/8/8/8/8/K6r b - - 0 1", "white is in check but not to move"),
        ("k7/8/8/8/P7/PPPPPPPP/8/K7 w - - 0 1", "white has 9 pawns"),
        ("k7/8/8/QQQQQQQQ/QQ6/8/7K/8 b - - 0 1", "more pieces than promotions allow"),
        ("k7/8/8/8/8/8/8/K7 x - - 0 1", "side to move 'x'"),
        ("k7/8/8/8/8/8/8/K7 w KK - 0 1", "castling 'KK'"),
        ("k7/8/8/8/8/8/8/K7 w HAha - 0 1", "castling 'HAha'"),
        ("k7/8/8/8/8/8/8/K7 w - e3 0 1", "en passant 'e3'"),
        ("k7/8/8/8/8/8/8/K7 w - - -1 1", "half-move clock '-1'"),
        ("k7/8/8/8/8/8/8/K7 w - - 0 99999", "move number '99999'"),
        ("é7/8/8/8/8/8/8/K7 w - - 0 1", "not ASCII"),
        ("\ud800", "not ASCII"),
        ("k\x007/8/8/8/8/8/8/K7 w - - 0 1", "is not a piece"),
    ],
)
def test_absurd_fens_are_refused(fen, reason):
    with pytest.raises(InputError) as caught:
        ChessState.from_fen(fen)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_fen_is_mended_as_python_chess_does():
    state = ChessState.from_fen("4k2r/8/8/8/8/8/8/4K3 w KQkq e6 3 0")
    assert state.fen() == "4k2r/8/8/8/8/8/8/4K3 w k - 3 1"
    assert ChessState.from_fen("4k3/8/8/8/8/8/8/4K3 b - -").fen().endswith(" b - - 0 1")


def test_a_move_that_is_not_legal_is_named():
    with pytest.raises(InputError, match="move 2: 'e2e4' is not a legal move in rnbq"):
        ChessState.from_fen(START_FEN, ["e2e4", "e2e4"])


def test_uci_castles_by_taking_the_rook_too():
    state = ChessState.from_fen(KIWIPETE)
    assert state.parse_uci("e1h1") == state.parse_uci("e1g1")
    assert state.parse_uci("e1a1") == state.parse_uci("e1c1")
    for text in ["", "e1", "e1g1q", "e1e9", "é1g1", "0000", "e1g1 "]:
        with pytest.raises(InputError):
            state.parse_uci(text)


# --- The state's verbs ------------------------------------------------------------------------


def test_plays_to_an_end():
    state = ChessState.from_fen(START_FEN, ["f2f3", "e7e5", "g2g4"])
    before = state.clone()
    mate = state.parse_san("Qh4#")
    state.apply_action(np.int64(mate))
    assert state.is_terminal()
    assert state.current_player() == TERMINAL
    assert state.returns() == [-1.0, 1.0]
    assert state.legal_actions() == []
    assert before.current_player() == 1
    assert before.returns() == [0.0, 0.0]
    assert before.history == state.history[:-1]
    with pytest.raises(InputError, match="over"):
        state.apply_action(mate)


@pytest.mark.parametrize("action", [-1, 0, 1 << 15, 1 << 40, 0xFFFF, 12 | 28 << 6 | 4 << 12])
def test_impossible_actions_are_refused(action):
    state = ChessState()
    with pytest.raises(InputError, match="not a legal move"):
        state.apply_action(action)
    with pytest.raises(InputError, match="not a legal move"):
        state.san(action)
    assert state.fen() == START_FEN


def test_repetition_counts_an_illegal_en_passant_as_none():
    """After e2e4 no black pawn can take, so the position met again is the same."""
    shuffle = ["g8f6", "g1f3", "f6g8", "f3g1"]
    state = ChessState.from_fen(START_FEN, ["e2e4", *shuffle, *shuffle])
    assert state.board.repetitions == 2
    assert state.is_terminal()
    assert state.returns() == [0.0, 0.0]
    # A legal capture makes the first position another one.
    fen = "4k1n1/8/8/8/3p4/8/4P3/4K1N1 w - - 0 1"
    state = ChessState.from_fen(fen, ["e2e4", *shuffle, *shuffle])
    assert state.board.repetitions == 1


def test_mate_comes_before_the_fifty_move_rule():
    state = ChessState.from_fen("k7/8/1K6/8/8/8/8/7R w - - 99 90", ["h1h8"])
    assert state.board.rule50 == 100
    assert state.returns() == [1.0, -1.0]


@pytest.mark.parametrize(
    ("fen", "moves", "termination"),
    [
        (START_FEN, "f2f3 e7e5 g2g4 d8h4", "checkmate"),
        ("k7/8/1K6/8/8/8/8/7R w - - 99 90", "h1h8", "checkmate"),
        ("k7/8/1K6/8/8/8/8/7R w - - 99 90", "h1h7", "fifty moves"),
        ("k7/7Q/8/1K6/8/8/8/8 w - - 0 1", "h7c7", "stalemate"),
        ("k7/1P6/1K6/8/8/8/8/8 b - - 0 1", "a8b8", None),
        ("1k6/1P6/1K6/8/8/8/8/7B b - - 0 1", "", "stalemate"),
        ("k7/1P6/8/1K6/8/8/8/8 b - - 0 1", "a8b7", "insufficient material"),
        (START_FEN, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8", "threefold repetition"),
        (START_FEN, "g1f3 g8f6 f3g1 f6g8", None),
    ],
)
def test_how_a_game_ended(fen, moves, termination):
    assert ChessState.from_fen(fen, moves.split()).termination() == termination


def test_draws_and_names_itself():
    state = ChessState()
    for text in ["e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6", "Qxf7"]:
        assert str(state).endswith(state.fen())
        assert ElementTree.fromstring(state.to_svg()).tag.endswith("svg")
        state.apply_action(state.parse_san(text))
    assert "r . b q k b . r" in str(state)
    assert ElementTree.fromstring(state.to_svg()).tag.endswith("svg")
