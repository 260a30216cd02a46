"""Tables under races: what is done while agents think, and while nobody looks."""

import asyncio
import threading
import time

import numpy as np
import pytest

from kedge.errors import InputError
from kedge.interfaces.web.pages.blotto import BlottoPage
from kedge.interfaces.web.pages.thoughts import StopFlag
from kedge.interfaces.web.play import table as table_module
from kedge.interfaces.web.play import tables as tables_module
from kedge.interfaces.web.play.agents.worker_threads import BusyError, WorkerThreads
from kedge.interfaces.web.play.game import seats as seats_module
from kedge.interfaces.web.play.game.opening import new_session
from kedge.interfaces.web.play.game.readers import Reader
from kedge.interfaces.web.play.game.saving import from_json, to_json
from kedge.interfaces.web.play.game.store import SessionStore
from kedge.interfaces.web.play.game.views import game_view
from kedge.interfaces.web.play.tables import Tables, UnknownSessionError
from kedge.interfaces.web.schemas import NewSession, SeatIn
from kedge.specs import Spec

AGENTS = [SeatIn(), SeatIn()]


def play(table, move):
    session = table.session
    table.move(session.deciding()[0], move, len(session.turns))


def test_an_agent_answers_a_move(hall, chess, until):
    async def game():
        table = await hall().open(NewSession(game="chess"))
        play(table, "e4")
        assert table.busy
        chess.go.set()
        await until(lambda: not table.busy)
        assert len(table.session.turns) == 2
        assert table.session.thoughts[-1].done
        assert table.session.trouble is None

    asyncio.run(game())


def test_the_dial_of_a_seat_is_looked_up_once(hall, chess, until, monkeypatch):
    places, plain = [], seats_module.dial
    monkeypatch.setattr(
        seats_module, "dial", lambda game, x, **more: places.append(x) or plain(game, x, **more)
    )

    async def game():
        table = await hall().open(NewSession(game="chess", seats=[SeatIn(human=True), SeatIn()]))
        assert len(places) == 2
        play(table, "e4")
        chess.go.set()
        await until(lambda: not table.busy)
        assert [seat.dial for seat in game_view(table.session).seats] == [0.5, 0.5]
        table.session.record()
        assert len(places) == 2
        table.sit(1, SeatIn(dial=0.2))
        assert places[2:] == [0.2]
        chess.go.set()

    asyncio.run(game())


def test_one_message_has_the_move_and_who_thinks(hall, chess, until):
    async def game():
        table = await hall().open(NewSession(game="chess"))
        reader = table.subscribe(None)
        await reader.next()
        waiting = asyncio.create_task(reader.next())
        await asyncio.sleep(0)
        play(table, "e4")
        session = (await waiting)["session"]
        assert (session.thinking, len(session.turns)) == ([1], 1)
        await until(lambda: chess.asked)
        table.undo(None)
        assert game_view(table.session).thinking == []
        chess.go.set()

    asyncio.run(game())


def test_a_decision_on_a_position_that_is_gone_is_not_played(hall, chess, until):
    """After an undo and another move, the game has as many turns as before."""

    async def game():
        table = await hall().open(NewSession(game="chess"))
        play(table, "e4")
        await until(lambda: chess.asked)
        table.undo(None)
        play(table, "d4")
        await until(lambda: len(chess.asked) == 2)
        assert "3P4" in chess.asked[1]
        chess.go.set()
        await until(lambda: not table.busy)
        assert table.session.written_turns()[0] == "d2d4"
        assert len(table.session.turns) == 2

    asyncio.run(game())


def test_a_dial_turned_while_it_thinks_restarts_the_agent(hall, chess, until):
    async def game():
        table = await hall().open(NewSession(game="chess"))
        play(table, "e4")
        await until(lambda: chess.asked)
        table.sit(1, SeatIn(dial=0.0))
        await until(lambda: len(chess.asked) == 2)
        chess.go.set()
        await until(lambda: not table.busy)
        assert table.session.thoughts[-1].agent.startswith("chess(")

    asyncio.run(game())


def test_a_failure_on_what_is_no_longer_asked_troubles_nobody(hall, chess, until, monkeypatch):
    async def game():
        table = await hall().open(NewSession(game="chess"))
        plain = chess.think

        def fail(question):
            yield from plain(question)
            raise InputError("of old")

        monkeypatch.setattr(chess, "think", fail)
        play(table, "e4")
        await until(lambda: chess.asked)
        monkeypatch.setattr(chess, "think", plain)
        table.sit(1, SeatIn(dial=0.0))
        await until(lambda: len(chess.asked) == 2)
        chess.go.set()
        await until(lambda: not table.busy)
        assert (table.session.trouble, len(table.session.turns)) == (None, 2)

    asyncio.run(game())


def test_an_agent_that_fails_is_told_of_and_asked_again(hall, chess, until, monkeypatch):
    async def game():
        table = await hall().open(NewSession(game="chess"))
        plain = chess.think
        monkeypatch.setattr(chess, "think", lambda *_: iter(()))
        play(table, "e4")
        await until(lambda: not table.busy)
        assert "failed" in game_view(table.session).trouble
        monkeypatch.setattr(chess, "think", plain)
        chess.go.set()
        table.changed()
        await until(lambda: not table.busy)
        assert (table.session.trouble, len(table.session.turns)) == (None, 2)

    asyncio.run(game())


def test_a_game_removed_while_an_agent_thinks_stays_removed(hall, chess, until):
    async def game():
        tables = hall()
        table = await tables.open(NewSession(game="chess"))
        reader = table.subscribe(None)
        play(table, "e4")
        await until(lambda: chess.asked)
        tables.remove(table.session.id)
        await until(lambda: table._task is None)
        assert len(tables.hall.store) == 0
        with pytest.raises(UnknownSessionError):
            tables.at(table.session.id)
        while await reader.next() is not None:
            pass

    asyncio.run(game())


def test_a_stopped_agent_that_fails_does_not_save_a_removed_game(hall, chess, until, monkeypatch):
    async def game():
        tables = hall()
        plain = chess.think

        def fail(question):
            yield from plain(question)
            raise InputError("stopped")

        monkeypatch.setattr(chess, "think", fail)
        table = await tables.open(NewSession(game="chess"))
        play(table, "e4")
        await until(lambda: chess.asked)
        tables.remove(table.session.id)
        await until(lambda: table._task is None)
        assert (table.session.trouble, len(tables.hall.store)) == (None, 0)
        with pytest.raises(UnknownSessionError):
            tables.at(table.session.id)

    asyncio.run(game())


def test_a_game_removed_while_the_referee_decides_stays_removed(hall, chess, until, monkeypatch):
    go = threading.Event()
    asked = []

    def referee(state):
        asked.append(state)
        assert go.wait(10)
        return "e4"

    monkeypatch.setattr(chess, "deciding", lambda state: [] if not state.history else [1])
    monkeypatch.setattr(chess, "referee", referee)

    async def game():
        tables = hall()
        table = await tables.open(NewSession(game="chess"))
        await until(lambda: asked)
        tables.remove(table.session.id)
        go.set()
        await until(lambda: table._task is None)
        assert len(tables.hall.store) == 0

    asyncio.run(game())


def test_a_flag_falls_by_itself(hall, chess, until):
    async def game():
        setup = {"clock": 0.05}
        tables = hall()
        table = await tables.open(NewSession(game="chess", setup=setup))
        await until(lambda: table.session.outcome is not None)
        assert str(table.session.outcome) == "Black wins: White runs out of time"
        saved = tables.hall.store.load(table.session.id)
        assert from_json(chess, saved).outcome == table.session.outcome

    asyncio.run(game())


def test_the_loop_loads_no_weights_to_pass_the_clock(hall, chess, until, monkeypatch):
    threads = []

    def timed(spec, setup, left):
        threads.append(threading.current_thread())
        return spec

    monkeypatch.setattr(chess, "timed_spec", timed)

    async def game():
        table = await hall().open(NewSession(game="chess", setup={"clock": 60}))
        play(table, "e4")
        await until(lambda: chess.asked)
        assert threading.main_thread() not in threads
        assert len(threads) == 1

    asyncio.run(game())


def test_the_flag_of_an_agent_falls_too(hall, chess, until):
    async def game():
        table = await hall().open(NewSession(game="chess", setup={"clock": 0.3}))
        play(table, "e4")
        await until(lambda: not table.busy)
        assert str(table.session.outcome) == "White wins: Black runs out of time"
        assert len(table.session.turns) == 1

    asyncio.run(game())


def test_a_game_of_agents_goes_on_only_while_it_is_watched(hall, chess, until, monkeypatch):
    monkeypatch.setattr(table_module, "_WATCHED", 0.01)

    async def game():
        table = await hall().open(NewSession(game="chess", seats=AGENTS))
        await asyncio.sleep(0.05)
        assert chess.asked == []
        reader = table.subscribe(None)
        for turns in (1, 2, 3):
            await until(lambda turns=turns: len(chess.asked) == turns)
            chess.go.set()
        table.unsubscribe(reader)
        chess.go.set()
        await until(lambda: not table.busy)
        assert 3 <= len(table.session.turns) <= 4

    asyncio.run(game())


def test_a_game_of_agents_that_ends_between_two_turns_asks_nobody(hall, chess, until, monkeypatch):
    monkeypatch.setattr(table_module, "_WATCHED", 0.05)

    async def game():
        table = await hall().open(NewSession(game="chess", seats=AGENTS, turns=["e4"]))
        table.subscribe(None)
        await asyncio.sleep(0)
        table.sit(1, SeatIn(human=True))
        await until(lambda: not table._task)
        assert chess.asked == []

    asyncio.run(game())


def test_advice_comes_again_after_it_was_switched_off_and_on(hall, chess, until):
    async def game():
        table = await hall().open(NewSession(game="chess"))
        reader = table.subscribe(None)
        table.adviser.advise(reader, on=True)
        await until(lambda: chess.asked)
        table.adviser.advise(reader, on=False)
        table.adviser.advise(reader, on=True)
        await until(lambda: len(chess.asked) == 2)
        chess.go.set()
        await until(lambda: table.adviser._task is None)
        kinds = [(await reader.next())["type"] for _ in range(2)]
        assert kinds == ["session", "advice"]

    asyncio.run(game())


def test_a_later_reader_gets_the_advice_that_others_have(hall, chess):
    async def game():
        table = await hall().open(NewSession(game="chess"))
        kinds = []
        async with asyncio.timeout(10):
            for _ in range(2):
                reader = table.subscribe(None)
                table.adviser.advise(reader, on=True)
                kinds.append([(await reader.next())["type"] for _ in range(2)])
        chess.go.set()
        assert kinds == [["session", "advice"]] * 2

    asyncio.run(game())


def test_advice_is_for_the_position_that_there_is(hall, chess, until):
    async def game():
        people = [SeatIn(human=True), SeatIn(human=True)]
        table = await hall().open(NewSession(game="chess", seats=people))
        table.adviser.advise(table.subscribe(None), on=True)
        await until(lambda: chess.asked)
        play(table, "e4")
        await until(lambda: len(chess.asked) == 2)
        assert " b " in chess.asked[1]
        chess.go.set()

    asyncio.run(game())


def test_a_slow_reader_finds_the_newest_of_each_kind():
    async def read():
        reader = Reader(None)
        for turn in range(10_000):
            reader.queue("session", turn=turn)
            reader.queue("thought", turn=turn)
        reader.close()
        found = [await reader.next() for _ in range(3)]
        assert found == [
            {"type": "session", "turn": 9999},
            {"type": "thought", "turn": 9999},
            None,
        ]

    asyncio.run(read())


def test_games_go_on_where_another_server_left_them(hall, chess, until, tmp_path):
    async def game():
        table = await hall(tmp_path / "games.sqlite").open(NewSession(game="chess"))
        play(table, "e4")
        await until(lambda: chess.asked)  # and then no more is heard of this server
        again = hall(tmp_path / "games.sqlite").at(table.session.id)
        assert again.session.written_turns() == ["e2e4"]
        await until(lambda: len(chess.asked) == 2)
        table.close()
        await until(lambda: not table.busy)  # its agent takes the first permission to go on
        chess.go.set()
        await until(lambda: not again.busy)
        assert len(again.session.turns) == 2

    asyncio.run(game())


def test_no_clock_runs_while_no_server_does(hall, until, tmp_path):
    async def game():
        setup = {"clock": 60.0}
        tables = hall(tmp_path / "games.sqlite")
        table = await tables.open(NewSession(game="chess", setup=setup))
        document = to_json(table.session)
        document["clock"]["since"] = time.time() - 3600.0
        tables.hall.store.save(table.session.id, document)
        again = hall(tmp_path / "games.sqlite").at(table.session.id)
        assert again.session.clock.now()[0] > 50.0
        assert again.session.clock.past == table.session.clock.past == {0: [60.0, 60.0]}

    asyncio.run(game())


@pytest.mark.parametrize(
    "change",
    [
        {"turns": ["e2e5"]},
        {"turns": 3},
        {"seats": [{"human": 7}]},
        {"setup": {"planets": 9}},
        {"clock": {"hands": 2}},
        {"pending": None},
        {"game": "draughts"},
    ],
)
def test_a_document_of_another_version_is_a_game_that_is_gone(hall, change):
    async def game():
        tables = hall()
        table = await tables.open(NewSession(game="chess"))
        tables.hall.store.save("x", to_json(table.session) | change)
        tables.hall.store.save("y", {})
        for id in "xy":
            with pytest.raises(UnknownSessionError):
                tables.at(id)

    asyncio.run(game())


def test_a_full_disk_ends_no_game(hall, chess, until):
    async def game():
        tables = hall()
        table = await tables.open(NewSession(game="chess"))
        tables.hall.store._file.execute("PRAGMA max_page_count=1")
        tables.hall.store._file.execute("PRAGMA query_only=ON")
        play(table, "e4")
        assert "cannot save games" in game_view(table.session).trouble
        chess.go.set()
        await until(lambda: not table.busy)
        assert len(table.session.turns) == 2

    asyncio.run(game())


def test_tables_in_memory_are_bounded(hall, monkeypatch):
    monkeypatch.setattr(tables_module, "_LIVE", 3)

    async def game():
        tables = hall()
        first = await tables.open(NewSession(game="chess"))
        for _ in range(5):
            await tables.open(NewSession(game="chess"))
        assert len(tables._tables) == 3
        assert tables.at(first.session.id) is not first
        for table in list(tables._tables.values()):
            table.subscribe(None)
        with pytest.raises(BusyError):
            await tables.open(NewSession(game="chess"))

    asyncio.run(game())


def test_readers_are_bounded(hall, monkeypatch):
    monkeypatch.setattr(table_module, "_READERS", 2)

    async def game():
        table = await hall().open(NewSession(game="chess"))
        readers = [table.subscribe(None) for _ in range(2)]
        with pytest.raises(BusyError):
            table.subscribe(None)
        table.unsubscribe(readers[0])
        table.subscribe(None)

    asyncio.run(game())


def test_questions_stand_in_line_and_no_more_than_fit():
    async def think():
        threads = WorkerThreads(threads=1, queue=1)
        first = asyncio.create_task(threads.run(lambda: time.sleep(0.05) or 1))
        second = asyncio.create_task(threads.run(lambda: 2))
        await asyncio.sleep(0.01)
        with pytest.raises(BusyError):
            await threads.run(lambda: 3)
        assert await asyncio.gather(first, second) == [1, 2]
        with pytest.raises(ZeroDivisionError):
            await threads.run(lambda: 1 / 0)
        assert await threads.run(lambda: 4) == 4

    asyncio.run(think())


def test_a_question_stopped_in_the_queue_is_dropped(hall, chess):
    async def ask():
        tables, stop = hall(), StopFlag()
        stop.stop()
        session = new_session(chess, {}, None, [], np.random.default_rng(0))
        assert [
            each async for each in tables.hall.agents.think(session, {0: Spec("chess")}, stop)
        ] == []
        assert chess.asked == []

    asyncio.run(ask())


def test_a_decision_that_cannot_be_taken_changes_nothing(hall, chess, monkeypatch):
    async def game():
        table = await hall().open(NewSession(game="chess"))
        before = to_json(table.session)

        def refuse(*_):
            raise InputError("no")

        monkeypatch.setattr(chess, "join", refuse)
        with pytest.raises(InputError):
            table.session.move(0, "e4", 0)
        assert to_json(table.session) == before

    asyncio.run(game())


def test_everyone_who_decides_is_advised():
    async def game():
        tables = Tables({"blotto": BlottoPage()}, SessionStore(None), seed=0)
        people = [SeatIn(human=True, dial=0.0)] * 2
        table = await tables.open(NewSession(game="blotto", seats=people))
        reader = table.subscribe(None)
        table.adviser.advise(reader, on=True)
        advised = set()
        async with asyncio.timeout(10):
            while advised != {0, 1}:
                message = await reader.next()
                if message["type"] == "advice":
                    advised.add(message["thought"].seat)
        tables.close()

    asyncio.run(game())


def test_a_turn_leaves_the_position_alone_that_agents_look_at(chess):
    session = new_session(chess, {}, None, ["e4"], np.random.default_rng(0))
    before, fen = session.state, session.state.fen()
    session.decide(1, before.parse_move("e5"))
    assert before.fen() == fen != session.state.fen()


def test_undo_and_earlier_positions_read_and_name_no_move_again(chess, monkeypatch):
    session = new_session(chess, {}, None, ["e4", "e5", "Nf3", "Nc6"], np.random.default_rng(0))
    fen = session.state_at(2).fen()
    monkeypatch.setattr(chess, "parse", None)
    monkeypatch.setattr(chess, "turn_name", None)
    session.undo()
    assert (session.state.fen(), session.written_turns()) == (fen, ["e4", "e5"])
