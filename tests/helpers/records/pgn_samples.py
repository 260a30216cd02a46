"""Small games: as PGN texts, as random ones made with python-chess, and how to read them."""

import io
import json
import random

import chess
import chess.engine
import chess.pgn
import numpy as np

from kedge import _core
from kedge.games.chess import START_FEN, ChessState
from kedge.records import ChessGame, ReadReport, read_chess_games
from kedge.records.chess.evals import MATE

LICHESS = """\
[Event "Rated Blitz game"]
[Site "https://lichess.org/abcdefgh"]
[Date "2019.12.01"]
[Round "-"]
[White "ann"]
[Black "bob"]
[Result "0-1"]
[UTCDate "2019.12.02"]
[UTCTime "00:00:01"]
[WhiteElo "1912"]
[BlackElo "1987"]
[WhiteRatingDiff "-6"]
[BlackTitle "BOT"]
[ECO "C20"]
[TimeControl "180+2"]
[Termination "Time forfeit"]

1. e4 { [%eval 0.17] [%clk 0:03:00] } 1... e5 { [%eval 0.19] [%clk 0:02:59] } 2. Nf3 \
{ [%clk 0:03:01.5] } 2... Nc6?! { [%eval #-3] } 3. Bb5 { [%clk 1:00:00] } 0-1


"""


def game(moves: str, result: str = "1-0", **tags: str) -> str:
    lines = [f'[{name} "{value}"]' for name, value in {"Event": "?", **tags}.items()]
    return "\n".join([*lines, f'[Result "{result}"]', "", moves, "", ""])


def line(**changes: object) -> str:
    """Return a game as a JSON line."""
    return json.dumps({"moves": "e2e4 e7e5", "result": "1-0", **changes}) + "\n"


def random_game(seed: int, *, plies: int = 80, branches: bool = True) -> chess.pgn.Game:
    """Return a random game with some comments, glyphs, nested variations, clocks and evals."""
    rng = random.Random(seed)
    board = chess.Board()
    if rng.random() < 0.3:
        board = chess.Board("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 3 17")
    root = chess.pgn.Game()
    root.setup(board)
    root.headers["White"] = rng.choice(["Ann", "Žofie", 'Joe "The Rook"', "back\\slash", "{brace}"])
    root.headers["Result"] = rng.choice(["1-0", "0-1", "1/2-1/2", "*"])
    if rng.random() < 0.2:
        root.comment = "before the first move"
    _grow(rng, root, rng.randint(0, plies), 2 if branches else 0)
    return root


WORDS = ["good (or not)", "1. e4 e5 1-0", "[%eval 0.3]", "; no", "a\nb", "[%clk", "$5", '"', "½–½"]

SCORES = [chess.engine.Cp(24), chess.engine.Cp(-1305), chess.engine.Mate(3), chess.engine.Mate(-12)]


def _grow(rng: random.Random, node: chess.pgn.GameNode, plies: int, depth: int) -> None:
    for _ in range(plies):
        legal = list(node.board().legal_moves)
        if not legal:
            return
        first, *others = rng.sample(legal, min(len(legal), 3))
        child = node.add_variation(first)
        if rng.random() < 0.2:
            child.comment = rng.choice(WORDS)
        if rng.random() < 0.3:
            child.set_clock(rng.randrange(0, 40000) / 10)
        if rng.random() < 0.3:
            child.set_eval(chess.engine.PovScore(rng.choice(SCORES), chess.WHITE))
        if rng.random() < 0.1:
            child.nags = {rng.randrange(1, 140)}
        if depth and others and rng.random() < 0.15:
            for other in others[: rng.randint(1, 2)]:
                side = node.add_variation(other)
                if rng.random() < 0.3:
                    side.comment = rng.choice(WORDS)
                _grow(rng, side, rng.randint(0, 4), depth - 1)
        node = child


def read(content: str | bytes) -> tuple[list[ChessGame], ReadReport]:
    report = ReadReport()
    raw = content.encode() if isinstance(content, str) else content
    return list(read_chess_games(io.BufferedReader(io.BytesIO(raw)), report)), report


def only(content: str | bytes) -> ChessGame:
    games, report = read(content)
    assert report.broken == []
    [found] = games
    return found


def shuffle(plies: int, **fields: object) -> ChessGame:
    """Knights out and back: threefold from ply 8 on, so people played past a draw."""
    state = ChessState()
    moves = []
    for i in range(plies):
        text = ("g1f3", "g8f6", "f3g1", "f6g8")[i % 4]
        moves.append(state.board.parse_uci(text))
        state.board.push(moves[-1])
    return ChessGame(np.array(moves, np.uint16), **fields)


def uci(found: ChessGame) -> list[str]:
    return [_core.ChessBoard.uci(action) for action in found.moves.tolist()]


def theirs(text: str) -> chess.pgn.Game:
    found = chess.pgn.read_game(io.StringIO(text))
    assert found is not None
    assert not found.errors
    return found


def check_beside_python_chess(ours: ChessGame, text: str) -> None:
    their = theirs(text)
    nodes = list(their.mainline())
    assert uci(ours) == [node.move.uci() for node in nodes]
    assert ours.result == their.headers["Result"]
    assert (ours.fen or START_FEN) == their.board().fen()
    clocks = [np.nan if node.clock() is None else node.clock() for node in nodes]
    evals = [np.nan if node.eval() is None else node.eval().white() for node in nodes]
    evals = [each if each is np.nan else each.score(mate_score=int(MATE)) for each in evals]
    for our, their in ((ours.clocks, clocks), (ours.evals, evals)):
        if our is None:
            assert np.isnan(their).all()
        else:
            np.testing.assert_array_equal(our, np.float32(their))
