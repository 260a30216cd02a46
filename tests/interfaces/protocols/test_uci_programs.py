"""Sequences such as chess programs send (written by hand, not recorded), and whole games."""

import re
import shutil
import time

import chess
import chess.engine
import pytest
from uci_session import MATE, Session, errors, legal

STOCKFISH = shutil.which("stockfish", path="/usr/games:/usr/local/bin:/usr/bin:/opt/homebrew/bin")
AFTER_E4 = chess.Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1")


def test_it_starts_stops_and_ends_quickly():
    """Bounds for a busy machine; alone 0.35 s, 0.02 s and 0.03 s."""
    begun = time.perf_counter()
    session = Session()
    session.ask("uci", start="uciok")
    assert time.perf_counter() - begun < 3.0
    session.ask("isready", start="readyok")
    begun = time.perf_counter()
    session.send("quit")
    assert session.process.wait(10) == 0
    assert time.perf_counter() - begun < 1.0


def test_lichess_bot(session):
    """As lichess-bot drives it through python-chess: by the clock, and pondering."""
    session.ask("uci", start="uciok")
    session.send("setoption name Threads value 1", "setoption name Hash value 512",
                 "setoption name Move Overhead value 100",
                 "setoption name Ponder value true",
                 "setoption name Seed value 1")  # fmt: skip
    session.ask("ucinewgame", "isready", start="readyok")
    session.send("position startpos moves e2e4")
    said = session.ask("go wtime 60000 btime 60000 winc 1000 binc 1000")
    assert not errors(said)
    move = legal(said, AFTER_E4)
    ponder = re.fullmatch(r"bestmove \S+ ponder (\S+)", said[-1])
    assert ponder, "somebody to ponder on"
    guess = f"position startpos moves e2e4 {move} {ponder[1]}"
    board = AFTER_E4.copy()
    board.push_uci(move)
    board.push_uci(ponder[1])
    session.send(guess, "go ponder wtime 59000 btime 60000 winc 1000 binc 1000")
    assert not errors(session.ask("isready", start="readyok"))
    legal(session.ask("ponderhit"), board)
    # The opponent played something else: stop, throw the answer away, and go on.
    session.send(guess, "go ponder wtime 59000 btime 60000 winc 1000 binc 1000")
    legal(session.ask("stop"), board)
    other = f"position startpos moves e2e4 {move} a2a3"
    board.pop()
    board.push_uci("a2a3")
    legal(session.ask(other, "go wtime 58000 btime 60000 winc 1000 binc 1000"), board)
    session.send("quit")
    assert session.process.wait(10) == 0


@pytest.mark.parametrize(
    "script",
    [
        # fastchess: moves to go, and a fixed number of nodes.
        ["uci", "setoption name Threads value 1", "isready", "ucinewgame", "isready",
         "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves e2e4",
         "go wtime 8000 btime 8000 movestogo 40", "go nodes 20"],
        # Arena: analysis, then a depth.
        ["uci", "debug on", "setoption name UCI_AnalyseMode value false", "ucinewgame", "isready",
         "position startpos moves e2e4", "go depth 4", "go mate 2"],
        # Banksia: carriage returns, spaces at the ends, a registration.
        ["uci\r", "  isready  \r", "register later\r", "ucinewgame\r", "\r", "",
         "position\tstartpos   moves  e2e4 \r", "go movetime 40\r"],
        # Stockfish's own words, which are not UCI.
        ["uci", "isready", "position startpos moves e2e4", "go perft 3", "eval", "bench", "flip"],
    ],
    ids=["fastchess", "arena", "banksia", "stockfish"],
)  # fmt: skip
def test_scripts(session, script):
    gone = sum(line.lstrip().startswith("go") for line in script)
    said = []
    session.send(*script)
    for _ in range(gone):
        said += session.until("bestmove")
        legal(said, AFTER_E4)
    assert not errors(said)
    assert session.close() == (0, "")


def test_nibbler(session):
    """Endless analysis of every move at once, another position at every click."""
    session.ask("uci", start="uciok")
    session.send("setoption name MultiPV value 500", "setoption name UCI_AnalyseMode value true")
    session.ask("ucinewgame", "isready", start="readyok")
    for moves in ("", " moves e2e4", " moves e2e4 e7e5"):
        session.send(f"position startpos{moves}", "go infinite")
        time.sleep(0.2)
        begun = time.perf_counter()
        said = session.ask("stop")
        assert time.perf_counter() - begun < 1.0
        board = chess.Board()
        for move in moves.split()[1:]:
            board.push_uci(move)
        legal(said, board)
        lines = [line for line in said if " multipv " in line][-board.legal_moves.count() :]
        assert [int(re.search(r"multipv (\d+)", line)[1]) for line in lines] == list(
            range(1, board.legal_moves.count() + 1)
        )
        best = re.search(r" pv (\S+)", lines[0])[1]
        assert said[-1].split()[1] == best, "analysis ends with what it showed first"


def test_the_end_of_the_input_ends_thinking(session):
    session.ask("isready", start="readyok")
    session.send("go infinite")
    time.sleep(0.1)
    assert session.close() == (0, "")
    legal(session.until("bestmove"))


def test_mates_are_announced(session, mine):
    """Only proved ones: the mover's, the opponent's, and none where there is an escape."""
    session.send("setoption name Model value mine", "setoption name CPuct value 0.5",
                 "setoption name UCI_AnalyseMode value true",
                 "setoption name MultiPV value 3")  # fmt: skip
    said = session.ask(f"position fen {MATE}", "go nodes 400")
    [line] = [line for line in said if "nodes 400 " in line and "multipv 1 " in line]
    assert "score mate 1 wdl 1000 0 0" in line
    assert line.endswith("pv h5f7")
    fools = "rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2"
    said = session.ask(f"position fen {fools}", "go nodes 600 searchmoves g2g4 a2a3")
    shown = {re.search(r" pv (\S+)", line)[1]: line for line in said if "nodes 600 " in line}
    assert "score mate -1 wdl 0 0 1000" in shown["g2g4"]
    assert "score cp" in shown["a2a3"]


def moves_of(client, settings):
    """Return the moves of many searches at the start."""
    client.configure(settings)
    limit = chess.engine.Limit(nodes=20)
    return {client.play(chess.Board(), limit).move for _ in range(10)}


def nodes_of(client):
    return client.play(
        chess.Board(), chess.engine.Limit(), info=chess.engine.INFO_BASIC
    ).info["nodes"]  # fmt: skip


def test_every_option_has_its_effect(client, mine):
    client.configure({"Model": "mine", "Seed": 2})
    assert len(moves_of(client, {"Temperature": "2"})) > 1
    assert len(moves_of(client, {"Temperature": "0"})) == 1
    assert len(moves_of(client, {"Temperature": "1", "TopP": "0.001"})) == 1
    client.configure({"TopP": "1"})
    client.configure({"Playouts": 37})
    assert nodes_of(client) == 37
    # A bolder search (a low c) concentrates its visits, a timid one spreads them as people do.
    spread = {}
    for c in ("0", "20"):
        client.configure({"CPuct": c})
        infos = client.analyse(chess.Board(), chess.engine.Limit(nodes=200), multipv=500)
        spread[c] = sum(len(info["pv"]) > 1 for info in infos)
    assert spread["0"] < spread["20"]
    # Another model, by name and by path, is another player; a rating tells the shipped one.
    client.configure({"CPuct": "2", "Temperature": "0"})
    values = []
    for options in ({"Model": "chess"}, {"Model": "mine"}, {"WeightsFile": str(mine)},
                    {"Model": "auto"}, {"UCI_LimitStrength": True, "UCI_Elo": 900},
                    {"UCI_Elo": 2300}):  # fmt: skip
        client.configure(options)
        info = client.analyse(AFTER_E4, chess.engine.Limit(nodes=1))
        values.append(info["score"].relative.score())
    assert values[1] == values[2]
    assert values[0] == values[3]
    assert len(set(values)) == 4


def test_human_time_is_taken(client, mine):
    client.configure({"Model": "mine", "HumanTime": True})
    client.ping()
    clock = chess.engine.Limit(white_clock=4.0, black_clock=4.0)
    for _ in range(3):
        begun = time.perf_counter()
        client.play(chess.Board(), clock)
        assert 0.14 < time.perf_counter() - begun < 2.0


@pytest.mark.parametrize("colour", [chess.WHITE, chess.BLACK], ids=["white", "black"])
def test_a_game_against_stockfish(client, colour):
    if STOCKFISH is None:
        pytest.skip("stockfish is not installed")
    client.configure({"Playouts": 10})
    board = chess.Board()
    with chess.engine.SimpleEngine.popen_uci(STOCKFISH, timeout=20) as stockfish:
        stockfish.configure({"Threads": 1, "Hash": 16})
        players = {colour: (client, chess.engine.Limit(white_clock=60, black_clock=60)),
                   not colour: (stockfish, chess.engine.Limit(nodes=2000))}  # fmt: skip
        while not board.is_game_over(claim_draw=True) and board.ply() < 300:
            player, limit = players[board.turn]
            # python-chess raises an error at an illegal move, and at a lost engine.
            board.push(player.play(board, limit, game=colour).move)
    assert board.is_game_over(claim_draw=True)


def test_a_long_game_with_itself(client):
    client.configure({"Playouts": 3, "Temperature": "1.5"})
    board = chess.Board()
    for _ in range(200):
        if not any(board.legal_moves):
            break
        board.push(client.play(board, chess.engine.Limit(), game=1).move)
    assert client.ping() is None
