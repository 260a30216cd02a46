"""``kedge uci`` as chess programs meet it: a real process, python-chess for a client."""

import io
import queue
import random
import re
import subprocess
import time

import chess
import chess.engine
import pytest
from uci_session import KEDGE, MATE, Session, errors, legal

from kedge.errors import InputError
from kedge.interfaces.protocols.uci import Uci, centipawns, wdl
from kedge.models import store


def test_options(client):
    assert client.id["name"].startswith("kedge")
    for name in ("Model", "WeightsFile", "CPuct", "Playouts", "Temperature", "TopP", "MultiPV",
                 "Seed", "UCI_LimitStrength", "UCI_Elo", "HumanTime", "Ponder",
                 "ValueModel", "Batch", "ReuseTree"):  # fmt: skip
        assert name in client.options
    assert client.options["UCI_Elo"].min == 800
    client.configure({"Model": "mine", "CPuct": "0.5", "Playouts": 20, "HumanTime": False})
    client.ping()


def test_without_any_network_it_says_so_and_plays_on(monkeypatch):
    out = io.StringIO()
    uci = Uci(out)

    def no_network(*_):
        raise InputError("device 'cuda': torch finds no GPU")

    monkeypatch.setattr(uci._engine, "_load", no_network)
    uci.run(["go nodes 1"])
    said = out.getvalue()
    assert "load first" not in said
    assert "no network is loaded; set the option Model to a model of chess; playing any" in said
    assert re.search(r"^bestmove [a-h][1-8]", said, re.MULTILINE)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("setoption name Depth value 3", "unknown option 'Depth'; uci lists the options"),
        ("setoption Depth", "setoption: expected setoption name NAME value VALUE"),
        ("position e2e4", "position: expected position startpos, or position fen FEN"),
        ("setoption name Playouts value -1", "Playouts: 0 to 10000000, not -1"),
    ],
)
def test_wrong_lines(line, said):
    out = io.StringIO()
    Uci(out).run([line])
    assert out.getvalue() == f"info string error: {said}\n"


def test_analysis(client):
    board = chess.Board(MATE)
    infos = client.analyse(board, chess.engine.Limit(nodes=300), multipv=3)
    assert len(infos) == 3
    assert infos[0]["nodes"] == 300
    assert board.san(infos[0]["pv"][0]) == "Qxf7#", "300 playouts see a mate in one"
    assert infos[0]["score"].white() == chess.engine.Mate(1)
    assert infos[0]["wdl"].white() == chess.engine.Wdl(1000, 0, 0)
    assert not infos[1]["score"].is_mate()
    assert {"wdl", "nps", "time", "depth", "seldepth"} <= set(infos[0])
    assert len({info["pv"][0] for info in infos}) == 3


def test_playing(client):
    client.configure({"Temperature": "0", "CPuct": "0.5"})
    board = chess.Board(MATE)
    found = client.play(board, chess.engine.Limit(nodes=200))
    assert board.san(found.move) == "Qxf7#"
    only = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("h5h6")]
    for limit in (chess.engine.Limit(nodes=30), chess.engine.Limit(time=0.1)):
        assert client.play(board, limit, root_moves=only).move in only
    start = time.perf_counter()
    client.play(chess.Board(), chess.engine.Limit(time=0.3))
    assert 0.2 < time.perf_counter() - start < 2.0
    clock = chess.engine.Limit(white_clock=1.0, black_clock=1.0, white_inc=0.1, black_inc=0.1)
    start = time.perf_counter()
    assert client.play(chess.Board(), clock, ponder=True).move in chess.Board().legal_moves
    assert time.perf_counter() - start < 2.0


def test_depth_and_mate_come_to_an_end(session, mine):
    session.send("setoption name Model value mine", "setoption name Playouts value 0")
    for words, nodes in (("depth 2", 100), ("mate 1", 50), ("depth -3", 50)):
        said = session.ask("position startpos", f"go {words}")
        assert f" nodes {nodes} " in said[-2]
        legal(said)


def test_a_game_on_one_tree(session, mine):
    session.send("setoption name Model value mine", "setoption name ReuseTree value true",
                 "setoption name Batch value 4", "setoption name ValueModel value chess",
                 "setoption name CPuct value 0.3",
                 "setoption name Temperature value 0")  # fmt: skip
    said = session.ask("isready", start="readyok")
    assert said[-2] == "info string plays mine; chess values positions"
    board = chess.Board()
    first = []
    for _ in range(6):
        moves = " ".join(move.uci() for move in board.move_stack)
        said = session.ask(f"position startpos moves {moves}", "go nodes 200")
        assert not errors(said)
        infos = [line.split() for line in said if line.startswith("info depth")]
        nodes = [int(info[info.index("nodes") + 1]) for info in infos]
        assert nodes[-1] == 200
        first.append(nodes[0])
        board.push_uci(legal(said, board))
    assert first[0] == 1
    assert min(first[1:]) > 1, "it goes on from what it knows"


def test_a_seed_repeats_the_moves(client):
    def moves():
        client.configure({"Seed": 0})  # python-chess sends only what changes
        client.configure({"Seed": 7})
        return [client.play(chess.Board(), chess.engine.Limit(nodes=1)).move for _ in range(8)]

    first = moves()
    assert len(set(first)) > 1
    assert moves() == first


@pytest.mark.parametrize("lines", [1, 2])
def test_the_last_line_shown_is_of_the_move_that_is_played(session, mine, lines):
    session.send("setoption name Model value mine", "setoption name Temperature value 50",
                 f"setoption name MultiPV value {lines}", "setoption name Seed value 3",
                 f"position fen {MATE}")  # fmt: skip
    played = set()
    for nodes in (1, 2, 100, 100, 100, 100, 100, 100):
        said = session.ask(f"go nodes {nodes} searchmoves h5f7 a2a3")
        last = [line.split() for line in said if " pv " in line][-lines:]
        moves = [info[info.index("pv") + 1] for info in last]
        assert [info[info.index("multipv") + 1] for info in last] == ["1", "2"][:lines]
        assert len(set(moves)) == lines
        assert moves[0] == legal(said, chess.Board(MATE))
        played.add(moves[0])
        for move, info in zip(moves, last, strict=True):
            assert nodes < 100 or ("mate" in info) == (move == "h5f7"), "the score is its own"
    assert len(played) == 2


def test_analysis_answers_with_the_best_move(session, mine):
    session.send("setoption name Model value mine", "setoption name Temperature value 5",
                 "setoption name UCI_AnalyseMode value true")  # fmt: skip
    for _ in range(3):
        said = session.ask("position startpos", "go nodes 30")
        assert f" pv {said[-1].split()[1]}" in said[-2]
    assert len({session.ask("go nodes 30")[-1] for _ in range(4)}) == 1


def test_stop_is_obeyed_at_once(session, mine):
    session.ask("isready", start="readyok")
    for fen in (chess.STARTING_FEN, MATE):  # where playouts that end the game need no network
        session.send(f"position fen {fen}", "go infinite")
        time.sleep(0.4)
        start = time.perf_counter()
        session.ask("isready", start="readyok")
        assert time.perf_counter() - start < 1.0  # 0.05 s when nothing else runs
        start = time.perf_counter()
        said = session.ask("stop")
        assert time.perf_counter() - start < 1.0
        legal(said, chess.Board(fen))


def test_a_whole_game_is_legal(client):
    board = chess.Board()
    client.configure({"Playouts": 8})
    limits = (chess.engine.Limit(nodes=4), chess.engine.Limit(time=0.02), chess.engine.Limit())
    for ply in range(60):
        if board.is_game_over():
            break
        board.push(client.play(board, limits[ply % 2]).move)  # python-chess refuses illegal ones
    assert board.ply() == 60 or board.is_game_over()


def test_as_tournament_programs_speak(session, mine):
    """cutechess-cli and fastchess: options, then for each game ucinewgame, isready, go by clock."""
    said = session.ask("uci", start="uciok")
    assert said[0].startswith("id name kedge")
    session.send("setoption name Hash value 64", "setoption name Threads value 1",
                 "setoption name Move Overhead value 10", "setoption name UCI_Chess960 value false",
                 "setoption name Ponder value true")  # fmt: skip
    board = chess.Board()
    for _ in range(2):
        board.reset()
        session.ask("ucinewgame", "isready", start="readyok")
        for ply in range(6):
            moves = " ".join(move.uci() for move in board.move_stack)
            position = f"position startpos moves {moves}" if ply else "position startpos"
            said = session.ask(position, "go wtime 1000 btime 1000 winc 100 binc 100")
            assert not errors(said)
            board.push_uci(legal(said, board))
    session.send("quit")
    assert session.process.wait(10) == 0
    assert session.process.stderr.read() == b""


def test_pondering(session, mine):
    session.ask("isready", start="readyok")
    session.send("position startpos moves e2e4 e7e5", "go ponder wtime 60000 btime 60000")
    with pytest.raises(queue.Empty):
        session.until("bestmove", timeout=0.4)
    legal(
        session.ask("ponderhit"),
        chess.Board("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"),
    )
    session.send("position startpos", "go ponder nodes 10")
    legal(session.ask("stop"))


def test_impossible_sequences(session, mine):
    session.send("stop", "ponderhit", "", "   ", "xyzzy", "debug on", "register later")
    said = session.ask("position startpos moves e2e4 e2e4 e7e5", "go nodes 5")
    assert "move 2" in errors(said)[0]
    assert errors(said)[1].endswith("; playing no move")
    assert said[-1] == "bestmove 0000", "a move from another position would be a wrong one"
    session.send("go infinite")
    with pytest.raises(queue.Empty):
        session.until("bestmove", timeout=0.2)
    assert session.ask("stop")[-1] == "bestmove 0000"
    legal(session.ask("position startpos", "go nodes 5"))
    assert session.ask("position fen 8/8 w", "go nodes 5")[-1] == "bestmove 0000"
    legal(session.ask("ucinewgame", "go nodes 5"))
    for bad in ("position", "position fen", "position fen 8/8 w", "position nowhere",
                "setoption", "setoption name", "setoption name Nonsense value 1",
                "setoption name CPuct value much", "setoption name CPuct value -1",
                "setoption name CPuct value nan", "setoption name Playouts value 1e3",
                "setoption name Playouts", "setoption name HumanTime value perhaps",
                "setoption name TopP value 0", "setoption name UCI_Elo value 3000"):  # fmt: skip
        said = session.ask(bad, "isready", start="readyok")
        assert len(errors(said)) == 1, bad
    said = session.ask("position startpos", "go nodes many searchmoves e2e5 infinity movetime")
    assert len(errors(said)) >= 3
    legal(said)
    # A search that nobody stopped says its move before the next is begun.
    session.send("go infinite", "go infinite", "position startpos", "go nodes 3")
    for _ in range(3):
        legal(session.until("bestmove"))
    for over in ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"):
        assert session.ask(f"position fen {over}", "go nodes 5")[-1] == "bestmove (none)"
    # A draw that nobody claimed is played on.
    drawn = "8/8/8/4k3/8/4K3/4P3/8 w - - 120 100"
    legal(session.ask(f"position fen {drawn}", "go nodes 5"), chess.Board(drawn))
    assert session.ask("d", start="8/8")[-1] == drawn
    assert session.close() == (0, "")


def test_without_a_model(session):
    """The shipped one plays, and every move says why."""
    said = session.ask("setoption name Model value maia-1900", "isready", start="readyok")
    assert len(errors(said)) == 1
    assert "kedge models pull" in errors(said)[0]
    assert errors(said)[0].endswith("; the engine now plays chess")
    said = session.ask("go nodes 10")
    assert len(errors(said)) == 1
    assert any(" nodes 10 " in line for line in said)
    legal(said)
    said = session.ask("go searchmoves a2a3")
    assert legal(said) == "a2a3"
    session.send("go infinite")
    with pytest.raises(queue.Empty):
        session.until("bestmove", timeout=0.2)
    legal(session.ask("stop"))
    assert session.close() == (0, "")


def test_a_mistyped_model_leaves_the_last_one(session, mine):
    session.ask("setoption name Model value mine", "isready", start="readyok")
    said = session.ask("setoption name Model value mien", "isready", start="readyok")
    assert errors(said)[0].endswith("; the engine now plays mine")
    said = session.ask("position startpos", "go nodes 10")
    assert any(" nodes 10 " in line for line in said)
    said = session.ask("setoption name Model value chess", "isready", start="readyok")
    assert said[0] == "info string plays chess"


def test_corrupt_and_missing_weights(session, mine, tmp_path):
    content = bytearray(mine.read_bytes())
    content[len(content) // 2] ^= 0xFF
    (tmp_path / "my bad net.pb.gz").write_bytes(content)
    for bad in (tmp_path / "my bad net.pb.gz", tmp_path / "none.pb.gz", tmp_path):
        said = session.ask(f"setoption name WeightsFile value {bad}", "isready", start="readyok")
        assert len(errors(said)) == 1
        assert str(bad) in errors(said)[0]
        legal(session.ask("go nodes 3"))
    for good in (f"WeightsFile value {mine}", "Model value mine", "WeightsFile value <empty>"):
        said = session.ask(f"setoption name {good}", "isready", "go nodes 3")
        assert not errors(said)
        legal(said)


def test_garbage_never_kills_it(session, mine):
    rng = random.Random(0)
    words = ["uci", "isready", "go", "stop", "position", "startpos", "fen", "moves", "e2e4", "e7e5",
             "e1g1", "0000", "nodes", "5", "movetime", "20", "wtime", "-5", "btime", "9" * 30,
             "infinite", "ponder", "searchmoves", "setoption", "name", "value", "Playouts", "CPuct",
             "Model", "Temperature", "TopP", "MultiPV", "Seed", "true", "1", "0.5", "mine",
             "ucinewgame", "go nodes 5", "isready", "position startpos", "ponderhit",
             "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1", "depth", "mate", "movestogo", "0", "d",
             "\u265e", "quit?", "(", "\x00", "\x1b[2J", "'", '"', "%s", "{}"]  # fmt: skip
    for _ in range(400):
        line = " ".join(rng.choices(words, k=rng.randint(1, 7))).encode()
        if rng.random() < 0.2:
            line = rng.randbytes(rng.randint(1, 40)).replace(b"\n", b"")
        session.send(line)
    session.send("x" * 1_000_000, "stop", "setoption name Model value mine")
    fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 77"
    said = session.ask(f"position fen {fen}", "d", start=fen)
    assert sum(line.startswith("bestmove") for line in said) > 5
    legal(session.ask("go nodes 2"), chess.Board(fen))
    assert session.close() == (0, "")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [(["--device", "nowhere"], b"nowhere|torch"), (["--dtype", "bfloat16"], b"float32")],
)
def test_a_device_that_cannot_be_had(bad, reason):
    found = subprocess.run([KEDGE, "uci", *bad], input=b"", capture_output=True, timeout=60)
    assert (found.returncode, found.stdout) == (2, b"")
    assert re.fullmatch(b"kedge: .*(" + reason + b").*\n", found.stderr)


def test_openvino():
    pytest.importorskip("openvino")
    session = Session("uci", "--device", "openvino", "--dtype", "bfloat16")
    legal(session.ask("go nodes 4"))
    assert session.close() == (0, "")


def test_ratings(session, shared):
    for rating in (1500, 1900):
        store.add(f"maia-{rating}", shared(f"weights/maia/maia-{rating}.pb.gz"))
    said = session.ask("isready", start="readyok")
    assert "info string plays chess" in said
    said = session.ask("setoption name UCI_LimitStrength value true",
                       "setoption name UCI_Elo value 1600", "isready", start="readyok")  # fmt: skip
    assert "info string plays maia-1500 and maia-1900, 25% of the latter" in said
    said = session.ask("setoption name Temperature value 0", f"position fen {MATE}", "go nodes 50")
    assert said[-1].split()[1] == "h5f7"


def test_scores():
    assert [centipawns(value) for value in (0.0, 1.0, -1.0, 2.0)] == [0, 12800, -12800, 12800]
    assert centipawns(0.5) == 111
    assert wdl(0.0) == (333, 333, 334)
    assert wdl(1.0) == (1000, 0, 0)
    assert wdl(-1.0) == (0, 0, 1000)
