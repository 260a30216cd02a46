"""Go on the page's server: play, the count, records, and how agents end games."""

import time
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from fastapi.testclient import TestClient

from kedge.agents import make_agent
from kedge.agents.agent import Analysis
from kedge.errors import InputError
from kedge.interfaces.web.app import make_app
from kedge.interfaces.web.pages import board as board_page
from kedge.interfaces.web.pages import go as go_page
from kedge.interfaces.web.pages.go import GoAction, GoPage, GoSetup
from kedge.interfaces.web.pages.page_game import Outcome, PlayedGame
from kedge.interfaces.web.pages.thoughts import Question, StopFlag
from kedge.interfaces.web.play.game.opening import new_session
from kedge.interfaces.web.play.game.saving import from_json, to_json
from kedge.interfaces.web.schemas import SeatIn

LATE = Path(__file__).parents[3] / "helpers" / "late_game.sgf"
PEOPLE = [{"human": True}, {"human": True}]
WALLS = [f"{column}{row}" for row in range(1, 10) for column in "EF"]


@pytest.fixture(scope="module")
def client():
    with TestClient(make_app(), "http://localhost") as found:
        yield found


@pytest.fixture
def page():
    return GoPage()


class Game:
    """A session, played through the API."""

    def __init__(self, client, **told):
        self.client = client
        answer = client.post("/api/sessions", json={"game": "go", "seats": PEOPLE, **told})
        assert answer.status_code == 201, answer.json()
        self.path = f"/api/sessions/{answer.json()['id']}"

    def look(self):
        return self.client.get(self.path).json()

    def try_move(self, move):
        at = self.look()
        seat = at["deciding"][0] if at["deciding"] else 0
        told = {"seat": seat, "move": move, "turn": len(at["turns"])}
        return self.client.post(f"{self.path}/move", json=told)

    def move(self, *moves):
        for move in moves:
            answer = self.try_move(move)
            assert answer.status_code == 200, answer.json()
        return answer.json()

    def counted(self):
        """Wait for the referee, and return the game."""
        until = time.monotonic() + 10
        while (found := self.look())["position"]["phase"] == "judging":
            assert time.monotonic() < until
            time.sleep(0.01)
        return found


def session(page, setup=None, *turns, seats=PEOPLE):
    people = [SeatIn(**seat) for seat in seats]
    return new_session(page, setup or {}, people, list(turns), np.random.default_rng(0))


def played_game(page, of, outcome=None):
    names, ratings = ["Ann", "Bob"], [None, None]
    return PlayedGame(of.setup, of.state, of.written_turns(), names, ratings, outcome or of.outcome)


def test_a_game_to_its_count(client):
    game = Game(client, setup={"size": 9, "komi": 6.5})
    game.move(*WALLS, "b5", "pass", "pass")
    found = game.counted()
    position = found["position"]
    assert (position["phase"], found["deciding"], position["dead"]) == ("marking", [1], [])
    assert (position["score"], position["territory"][:9]) == (45 - 36 - 6.5, "bbbb..www")
    assert game.move("agree")["deciding"] == [0]
    over = game.move("agree")
    assert over["outcome"] == "Black wins by 2.5"
    assert over["position"]["phase"] == "over"
    assert [turn["name"] for turn in over["turns"]][-4:] == ["pass", "count", "agree", "agree"]
    assert [turn["seats"] for turn in over["turns"]][-3:] == [[], [1], [0]]
    assert "RE[B+2.5]" in client.get(f"{game.path}/record").text
    back = client.post(f"{game.path}/undo").json()
    assert (back["outcome"], back["position"]["phase"], back["deciding"]) == (None, "marking", [0])


def test_groups_are_marked(client):
    game = Game(client, setup={"size": 9, "komi": 6.5})
    game.move(*WALLS, "pass", "B5", "pass", "pass")
    assert game.counted()["position"]["dead"] == []
    marked = game.move("agree", "mark B5")
    assert (marked["position"]["dead"], marked["deciding"]) == (["B5"], [1])
    assert marked["position"]["score"] == 45 - 36 - 6.5
    played = game.move("resume", "C5")
    assert played["position"]["phase"] == "play"
    assert played["position"]["last"] == "C5"


def test_what_is_not_a_move(client):
    game = Game(client, setup={"size": 9})
    game.move("E5")
    for move, why in (
        ("E5", "E5 is not a legal move: occupied"),
        ("Z9", "'Z9' is not a point of a 9×9 board"),
        ("", "is not a point"),
        (["E4"], "a move in Go is text, such as D4 or pass"),
        ("agree", "is not a point"),
    ):
        answer = game.try_move(move)
        assert (answer.status_code, why in answer.json()["detail"]) == (400, True), answer.json()
    game.move("pass", "pass")
    game.counted()
    for move in ("D4", "mark", "mark D4 E5", "agree now"):
        assert "write mark D4, agree or resume" in game.try_move(move).json()["detail"]
    assert "a pass is not a point" in game.try_move("mark pass").json()["detail"]


def test_a_position_says_what_is_drawn(page):
    ko = ["C3", "D3", "B2", "E2", "C1", "D1", "D2", "C2"]
    position = page.position(session(page, {"size": 9}, *ko).state, None)
    assert (position["captured"], position["forbidden"]) == ([0, 1], ["D2"])
    assert (position["player"], position["last"]) == (0, "C2")
    assert position["stones"].count("b") == position["stones"].count("w") - 1 == 3
    assert position["territory"] is None


def test_agents_play_on_small_boards(client):
    asked = {"game": "go", "setup": {"size": 9}, "turns": ["E5"], "agent": "go"}
    told = client.post("/api/policy", json=asked).json()
    points = {f"{x}{y}" for x in "ABCDEFGHJ" for y in range(1, 10)}
    assert {row["move"] for row in told["rows"]} < points - {"E5"} | {"pass"}
    assert sum(row["policy"] for row in told["rows"]) > 0.9
    small, full = (
        client.post("/api/sessions", json={"game": "go", "setup": {"size": size}}).json()["seats"]
        for size in (13, 19)
    )
    assert not small[1]["likeness"], "nothing was measured there"
    assert full[1]["likeness"]
    assert not full[0]["likeness"], "nothing is measured of people"


def test_a_seat_of_a_rank_has_no_figures_of_another_model(client):
    seats = [{"human": True}, {"dial": 0.2, "settings": {"rank": "3d"}}]
    _, seat = client.post("/api/sessions", json={"game": "go", "seats": seats}).json()["seats"]
    assert seat["agent"].startswith('puct(go-large(rank="3d"), ')
    assert (seat["likeness"], seat["strength"]) == ([], [])


def test_a_handicap(page):
    found = session(page, {"size": 9, "handicap": 2, "komi": 0.5})
    assert found.deciding() == [1]
    assert page.position(found.state, None)["stones"].count("b") == 2
    with pytest.raises(InputError, match="handicap: from 2 to 9 stones on 9×9, not 1"):
        session(page, {"size": 9, "handicap": 1})


def test_the_clock_stands_while_stones_are_marked(page):
    found = session(page, {"size": 9, "clock": 60.0}, "E5", "pass")
    assert found.clock.running == 0
    found.move(0, "pass", 2)
    assert (found.clock.running, found.awaits_referee()) == (None, True)
    found.hear_referee(page.referee(found.state))
    assert (found.clock.running, found.deciding()) == (None, [1])
    found.move(1, "resume", 4)
    assert (found.clock.running, found.deciding()) == (1, [1])


def test_a_count_outlives_its_server(page):
    found = session(page, {"size": 9}, *WALLS, "pass", "pass", "dead", "agree", "mark E1")
    again = from_json(page, to_json(found))
    assert page.position(again.state, None) == page.position(found.state, None)
    assert again.deciding() == found.deciding() == [1]


def test_the_referee_finds_dead_stones(page):
    """White's wall leaves two black stones inside it no room."""
    turns = [*WALLS, "H5", "G4", "H6", "G6", "pass", "G3", "pass", "G7", "pass", "G8", "C5", "G2"]
    state = session(page, {"size": 9}, *turns, "pass", "pass").state
    assert page.text(state, page.referee(state)) == "dead H6 H5"
    early = session(page, {"size": 9}, "E5", "E6", "pass", "pass").state
    assert page.text(early, page.referee(early)) == "dead", "an open board tells nothing"


# Records


def test_records_come_back(page):
    setup = {"size": 13, "handicap": 3, "komi": 0.5, "rules": "japanese"}
    found = session(page, setup, "C3", "G7", "pass", "K11")
    text = page.write(played_game(page, found))
    assert "HA[3]AB[" in text
    assert "RU[Japanese]" in text
    assert "PB[Ann]" in text
    record = page.read(text)
    assert record.turns == found.written_turns()
    again = session(page, record.setup, *record.turns)
    assert page.position(again.state, None) == page.position(found.state, None)
    assert page.write(played_game(page, again)) == text


@pytest.mark.parametrize(
    ("outcome", "words", "result"),
    [
        (Outcome("Black", margin=3.5), "Black wins by 3.5", "B+3.5"),
        (Outcome("White", margin=12), "White wins by 12", "W+12"),
        (Outcome(), "Draw", "0"),
        (Outcome("White", loser="Black", how="resigns"), "White wins: Black resigns", "W+R"),
        (
            Outcome("Black", loser="White", how="runs out of time"),
            "Black wins: White runs out of time",
            "B+T",
        ),
        (Outcome("Black", loser="White", how="forfeits"), "Black wins: White forfeits", "B+F"),
        (Outcome("White"), "White wins", "W+"),
        (Outcome(result="No result"), "No result", "Void"),
    ],
)
def test_results(page, outcome, words, result):
    assert str(outcome) == words
    text = page.write(played_game(page, session(page), outcome))
    assert f"RE[{result}]" in text
    assert page.read(text).outcome == outcome
    saved = to_json(session(page))
    for ended in (asdict(outcome), words):  # earlier versions saved the words
        assert from_json(page, saved | {"ended": ended}).outcome == outcome


def test_a_finished_game_is_looked_through(client):
    text = "(;SZ[19]DT[1996-05-06]EV[Final]PB[Cho]BR[9p]PW[Kato]RE[W+R];B[pd];W[dd];B[pq])"
    told = {"game": "go", "record": text, "seats": [{"human": True}, {"dial": 0.0}]}
    found = client.post("/api/sessions/read", json=told).json()
    assert found["outcome"] == "White wins: Black resigns"
    assert [(seat["player"], seat["rating"]) for seat in found["seats"]] == [
        ("Cho", "9p"),
        ("Kato", None),
    ]
    record = client.get(f"/api/sessions/{found['id']}/record").text
    for kept in ("DT[1996-05-06]", "EV[Final]", "PB[Cho]", "BR[9p]", "PW[Kato]", "RE[W+R]"):
        assert kept in record


@pytest.mark.parametrize(("result", "people"), [("", [True, False]), ("RE[B+5.5]", [True, True])])
def test_a_record_of_a_small_board(client, result, people):
    seats = [{"human": True}, {"dial": 0.5}]
    told = {"game": "go", "record": f"(;SZ[9]{result};B[ee];W[ec])", "seats": seats}
    answer = client.post("/api/sessions/read", json=told)
    assert answer.status_code == 201, answer.text
    assert [seat["human"] for seat in answer.json()["seats"]] == people
    assert answer.json()["reviews"]


def test_the_day_of_a_game(client):
    found = client.get(f"{Game(client).path}/record").text
    assert f"DT[{time.strftime('%Y-%m-%d')}]" in found


def test_passes_that_were_taken_back_are_not_in_the_record(page):
    found = session(page, {"size": 9}, "E5", "pass", "pass", "dead", "resume", "E6")
    assert page.write(played_game(page, found)).endswith(";B[ee];W[ed])\n")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("chess", "not a game of Go in SGF: no game found"),
        ("(;GM[2]SZ[19];B[dd])", "not Go: game type"),
        ("(;SZ[9];B[dd];B[ee])", "move 2: Black moves twice in a row"),
    ],
)
def test_records_that_are_not_read(page, text, why):
    with pytest.raises(InputError, match=why):
        page.read(text)


def test_a_record_that_went_on_after_two_passes(client):
    record = "(;SZ[9]PB[Cho]PW[Kato]RE[B+R];B[ee];W[];B[];W[cc];B[gg])"
    found = client.post("/api/sessions/read", json={"game": "go", "record": record}).json()
    names = [turn["name"] for turn in found["turns"]]
    assert names == ["E5", "pass", "pass", "count", "resume", "C7", "G3"]
    assert found["outcome"] == "Black wins: White resigns"


def test_a_record_is_gone_on_with(client):
    told = {"game": "go", "record": LATE.read_text(), "seats": PEOPLE}
    found = client.post("/api/sessions/read", json=told).json()
    assert len(found["turns"]) > 150
    assert found["deciding"]
    broken = {**told, "record": "(;SZ[9];B[dd];W[dd])"}
    answer = client.post("/api/sessions/read", json=broken)
    assert "turn 2: D6 is not a legal move" in answer.json()["detail"]
    other = {**told, "record": "(;SZ[7];B[dd])"}
    assert "board size 7" in client.post("/api/sessions/read", json=other).json()["detail"]


# Agents


def thinking(page, state, spec):
    (seat,), rng = page.deciding(state), np.random.default_rng(0)
    agents = {seat: (spec, make_agent(spec))}
    *_, decision = page.think(Question(state, agents, 0, rng, StopFlag()))
    assert decision.seat == seat
    return decision


def test_an_agent_moves_and_says_why(page, go_model):
    state = page.begin(GoSetup())
    decision = thinking(page, state, f"puct({go_model}, playouts=8)")
    move = page.text(state, decision.action)
    assert page.parse(state, 0, move) == decision.action
    assert move != "pass"
    why = decision.thought
    assert (why.playouts, why.more) == (8, {})
    assert why.rows[0].line[0] == why.rows[0].move
    assert why.others == 362 - len(why.rows)


def test_agents_agree_to_a_count(page, go_model):
    state = session(page, None, "pass", "pass", "dead").state
    decision = thinking(page, state, go_model)
    assert (decision.action, decision.thought) == (GoAction("agree"), None)


def told(value, monkeypatch):
    """Let searches find all moves equally good, and the position worth `value`."""

    def analyses(agent, state, seat, stop):
        actions = len(state.legal_actions())
        anchor = np.full(actions, 1 / actions)
        yield Analysis(anchor, anchor, anchor * np.nan, value)

    monkeypatch.setattr(board_page, "analyses", analyses)


def test_an_agent_resigns_what_is_lost(page, go_model, monkeypatch):
    told(-0.99, monkeypatch)
    found = session(page, None, seats=[{"human": True}, {}])
    for _ in range(5):
        state = found.state.game.state
        found.move(0, state.gtp(state.legal_actions()[0]), len(found.turns))
        found.decide(1, thinking(page, found.state.clone(), go_model).action)
    assert str(found.outcome) == "Black wins: White resigns"
    found.undo()
    assert (found.outcome, found.deciding()) == (None, [0])


def test_an_agent_passes_when_nothing_is_left(page, go_model, monkeypatch):
    told(0.0, monkeypatch)
    pairs = (("J", "K"), ("H", "L"), ("F", "N"), ("D", "P"))
    walls = [f"{column}{row}" for pair in pairs for row in range(1, 20) for column in pair]
    done = thinking(page, session(page, None, *walls).state, go_model)
    passed = GoAction("play", (19 * 19,))
    assert (done.action, done.thought.more) == (passed, {"ends": "pass"})
    assert thinking(page, session(page).state, go_model).action != passed


def test_an_agent_like_people_of_a_rank(client):
    (about,) = (game for game in client.get("/api/games").json() if game["game"] == "go")
    assert (about["people"]["name"], about["people"]["usual"]) == ("rank", None)
    assert about["people"]["choices"][3] == "3d"
    seats = [{"human": True}, {"dial": 0, "settings": {"rank": "3d"}}]
    white = Game(client, seats=seats).look()["seats"][1]
    assert (white["agent"], white["numbers"]["rank"]) == (
        'go-large(rank="3d", temperature=1)',
        "3d",
    )
    wrong = {"game": "go", "seats": [{"settings": {"rank": "40k"}}]}
    answer = client.post("/api/sessions", json=wrong)
    assert (answer.status_code, answer.json()["detail"][:9]) == (400, "rank: one")


def test_reviews_are_for_the_rank_of_the_agent(page, monkeypatch):
    asked = []

    def reviewer(rank=None):
        asked.append(rank)
        return lambda game, report_progress: game

    review = SimpleNamespace(reviewer=reviewer)
    monkeypatch.setattr(go_page, "review_of", lambda name: review)
    seats = [{"human": True}, {"settings": {"rank": "3d"}}]
    ranked = session(page, None, seats=seats).played()
    record = page.review(ranked, lambda done: None)
    assert (record.black_rank, record.white_rank) == (None, "3d")
    page.review(session(page).played(), lambda done: None)
    of_others = replace(ranked, names=("Ann", "Bob"), ratings=("5d", "5d"))
    page.review(of_others, lambda done: None)
    assert asked == ["3d", None, None]
