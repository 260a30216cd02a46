"""Files of Hanabi games, in both formats; what is broken in them; and recorded games."""

import copy
import io
import itertools
import json
import lzma
import os
import pickle
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from damage import damaged
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.errors import InputError
from kedge.games.hanabi import Hanabi, HanabiState, Move
from kedge.records import (
    HanabiGame,
    ReadReport,
    read_hanabi_games,
    replayed_hanabi_games,
    write_hanabi_games,
)
from kedge.records.hanabi.files import live_game, live_notes
from kedge.records.hanabi.games import is_for_testing, part_of
from kedge.records.hanabi.positions import by_the_rules
from kedge.records.splits import CHOOSE, LEARN, TEST

# Nobody shuffled: seat 0 has 1 1 1 2 2 in red, seat 1 the other reds, seat 2 1 1 1 2 2 in yellow.
DECK = [list(card) for card in Hanabi().cards]
GAME: dict[str, Any] = {
    "id": "game 1",
    "source": "a test",
    "license": "none",
    "seats": ["ai:one", "human", "human"],
    "deck": DECK,
    "actions": [
        [0, "play", 0, -1],
        [1, "rank", 2, 1],
        [2, "play", 0, -1],
        [0, "play", 2, -1],
        [1, "color", 0, 0],
        [2, "discard", 4, -1],
    ],
    "score": 3,
    "participant": "Ann",
}
LIVE: dict[str, Any] = {
    "id": 12345,
    "players": ["Alice", "Bob", "Cathy"],
    "deck": [{"suitIndex": color, "rank": rank} for color, rank in DECK],
    "actions": [
        {"type": 0, "target": 0},
        {"type": 3, "target": 2, "value": 1},
        {"type": 0, "target": 10, "value": 0},
        {"type": 0, "target": 3, "value": 0},
        {"type": 2, "target": 0, "value": 0},
        {"type": 1, "target": 16, "value": 0},
    ],
    "options": {"timed": True, "timeBase": 120},
    "notes": [["a good card"], [], []],
    "seed": "p3v0s1",
}


def lines(*objects: object) -> bytes:
    return b"".join(json.dumps(found).encode() + b"\n" for found in objects)


def read(content: bytes, reader: Any = read_hanabi_games) -> tuple[list[HanabiGame], ReadReport]:
    report = ReadReport()
    return list(reader(io.BytesIO(content), report)), report


def changed(game: dict[str, Any], *path: str | int, value: object) -> dict[str, Any]:
    """The game with one thing in it changed."""
    game = copy.deepcopy(game)
    place: Any = game
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return game


# --- Formats ------------------------------------------------------------------------------------


def test_json_lines():
    [game, other], report = read(lines(GAME, GAME))
    assert (report.games, report.positions, report.broken) == (2, 12, [])
    assert game == other
    assert (game.id, game.participant, game.score, game.licence) == ("game 1", "Ann", 3, "none")
    assert (game.humans, game.hand_size, game.colors, game.legal) == ((1, 2), 5, 5, True)
    assert game.actions == (5, 20, 5, 7, 15, 4)
    *_, last = game.states()
    assert (last.score, last.fireworks, last.information) == (3, [2, 1, 0, 0, 0], 7)


def test_hanab_live():
    [game], report = read(lines(LIVE))
    assert report.broken == []
    assert (game.id, game.players) == ("12345", ("Alice", "Bob", "Cathy"))
    assert (game.score, game.participant, game.humans) == (None, None, (0, 1, 2))
    [same], _ = read(lines(GAME))
    assert (game.deck, game.actions) == (same.deck, same.actions)
    spread, _ = read(json.dumps(LIVE, indent=2).encode())
    assert spread == [game]
    written = live_game(game)
    for name in ("id", "players", "deck"):
        assert written[name] == LIVE[name]
    assert written["actions"] == [{"value": 0, **action} for action in LIVE["actions"]]
    assert written["options"] == {"variant": "No Variant"}
    without = {name: value for name, value in LIVE.items() if name not in ("id", "options")}
    [unnamed], _ = read(lines(without))
    assert len(unnamed.id) == 16
    assert replace(unnamed, id="12345") == game


def listed(live: dict[str, Any]) -> dict[str, Any]:
    """The game as hanabi-challenges has it."""
    return {
        "id": int(live["id"]),
        "players": len(live["players"]),
        "deck": [[*card.values()] for card in live["deck"]],
        "actions": [
            [action[name] for name in ("type", "target", "value")]
            for action in live_game(read(lines(live))[0][0])["actions"]
        ],
        "options": {},
        "source": "hanab.live",
        "score": 3,
        "legal": True,
    }


def test_games_with_lists_for_objects():
    [game], _ = read(lines(LIVE))
    record = listed(LIVE)
    [same], report = read(lines(record))
    assert report.broken == []
    assert (same.players, same.score) == (("player 0", "player 1", "player 2"), 3)
    assert (same.deck, same.actions, same.humans) == (game.deck, game.actions, (0, 1, 2))
    # A game that the players end counts 0 there.
    ended = {**record, "actions": [*record["actions"], [4, 0, 4]], "score": 0}
    [kept], report = read(lines(ended), replayed_hanabi_games)
    assert (kept.abandoned, report.broken) == ((0, 4), [])
    assert not read(lines({**record, "score": 0}), replayed_hanabi_games)[0]
    for number, reason in [(6, "hanabi: players: 2 to 5, not 6"), (-1, "2 to 5, not 0")]:
        _, report = read(lines({**record, "players": number}))
        assert reason in report.broken[0].reason
    _, report = read(lines({**record, "deck": [[1, 1, 1], *record["deck"][1:]]}))
    assert report.broken[0].reason == "card 0 of the deck is not a card"


def test_people_with_people(shared):
    report = ReadReport()
    path = shared("data/hanab_live/hanablive_99.jsonl.xz")
    games = list(replayed_hanabi_games(path, report))
    assert Counter(len(game.players) for game in games) == {2: 20, 3: 17, 4: 19, 5: 19}
    assert len(report.broken) == 24  # options that change the rules, or six players
    assert {game.humans for game in games} == {tuple(range(count)) for count in (2, 3, 4, 5)}


@pytest.mark.parametrize(
    ("options", "hand_size", "colors"),
    [
        ({}, 5, 5),
        ({"variant": "4 Suits", "oneExtraCard": True}, 6, 4),
        ({"variant": "3 Suits", "oneLessCard": True}, 4, 3),
    ],
)
def test_other_hands_and_colours(options, hand_size, colors):
    deck = [card for card in LIVE["deck"] if card["suitIndex"] < colors]
    actions = [{"type": 0, "target": 0, "value": 0}, {"type": 5, "target": -1, "value": 10}]
    [game], report = read(lines({**LIVE, "deck": deck, "options": options, "actions": actions}))
    assert report.broken == []
    assert (game.hand_size, game.colors, game.abandoned) == (hand_size, colors, (-1, 10))
    assert game.rules.num_players == 3
    written = live_game(game)
    assert written["actions"] == actions
    assert written["options"] == {"variant": "No Variant", **options}
    assert read(lines(written))[0] == [game]


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_what_is_written_comes_back(suffix, tmp_path):
    games, _ = read(lines(GAME, LIVE, {**GAME, "legal": False, "slips": [0, 3]}))
    games.append(replace(games[1], abandoned=(1, 4)))
    path = tmp_path / f"games.jsonl{suffix}"
    assert write_hanabi_games(games, path) == 4
    assert list(read_hanabi_games(path)) == games
    assert list(replayed_hanabi_games(path)) == games


def test_notes_stand_on_the_cards_that_moves_are_about():
    [game], _ = read(lines(LIVE))
    comments = [f"move {ply}" for ply in range(1, 7)]
    alice, bob, cathy = live_notes(game, comments)
    assert {len(alice), len(bob), len(cathy)} == {len(game.deck)}
    assert {card: note for card, note in enumerate(alice) if note} == {0: "move 1", 3: "move 4"}
    told = [card for card in range(10, 15) if game.deck[card].rank == 1]
    red = [card for card in (1, 2, 4, 15, 17) if game.deck[card].colour == 0]
    assert {card: note for card, note in enumerate(bob) if note} == {
        told[0]: "move 2",
        red[0]: "move 5",
    }
    assert {card: note for card, note in enumerate(cathy) if note} == {10: "move 3", 16: "move 6"}
    noted = {**live_game(game), "notes": [alice, bob, cathy]}
    assert read(lines(noted))[0] == [game]
    red = Hanabi().actions[Move("color", 1, 0)]
    hints = HanabiGame("hints", ("Ann", "Bob"), tuple(Hanabi().cards), (red, red, red), 5)
    ann, bob = live_notes(hints, [*"abc"])
    assert (ann[5], bob[0]) == ("a | c", "b")


def test_what_hanab_live_does_not_play(tmp_path):
    [game], _ = read(lines(GAME))
    for other in (replace(game, hand_size=3), replace(game, colors=2)):
        with pytest.raises(InputError, match=r"hanab\.live has no games of"):
            write_hanabi_games([other], tmp_path / "games.jsonl")
    assert not list(tmp_path.iterdir())


# --- What is broken -----------------------------------------------------------------------------

DEEP: Any = json.loads("[" * 900 + "]" * 900)


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        ([], "not a JSON object"),
        ({}, '"seats" is missing'),
        (changed(GAME, "id", value=None), '"id" is missing'),
        (changed(GAME, "id", value=7), '"id" is not text'),
        (changed(GAME, "seats", value=[1, 2]), '"seats" has an entry that is not text'),
        (changed(GAME, "seats", value=["human"]), "hanabi: players: 2 to 5, not 1"),
        (changed(GAME, "num_players", value=2), '"num_players" and "seats" differ'),
        (changed(GAME, "hand_size", value=9), "hanabi: hand_size: 1 to 8, not 9"),
        (changed(GAME, "hand_size", value=True), '"hand_size" is not a whole number'),
        (changed(GAME, "variant", value="Rainbow (6 Suits)"), "variant 'Rainbow (6 Suits)' is"),
        (changed(GAME, "variant", value=DEEP), "variant a non-text value is not supported"),
        (changed(GAME, "deck", value=DECK[:49]), "the deck has 49 cards, expected 50"),
        (changed(GAME, "deck", 3, value=[0, 6]), "card 3 of the deck is not a card"),
        (changed(GAME, "deck", 3, value=[False, 1]), "card 3 of the deck is not a card"),
        (changed(GAME, "deck", 3, value=DEEP), "card 3 of the deck is not a card"),
        (changed(GAME, "deck", 3, value=[0, 5]), "the deck has too many of (0, 5)"),
        (changed(GAME, "actions", value={}), '"actions" is not a list'),
        (changed(GAME, "actions", 0, value=[0, "play"]), "move 1: not of the form [seat, kind"),
        (changed(GAME, "actions", 1, 0, value=0), "move 2: expected seat 1 to move"),
        (changed(GAME, "actions", 0, 1, value=DEEP), "move 1: unknown kind of move, slot or value"),
        (changed(GAME, "actions", 0, 2, value=5), "move 1: no card in slot 5"),
        (changed(GAME, "actions", 0, 2, value=0.0), "move 1: unknown kind of move, slot or value"),
        (changed(GAME, "actions", 1, 2, value=1), "move 2: hint to oneself"),
        (changed(GAME, "actions", 1, 2, value=3), "move 2: hint to seat 3; seats are 0 to 2"),
        (changed(GAME, "actions", 1, 3, value=6), "move 2: hint of unknown rank 6"),
        (changed(GAME, "legal", value="no"), '"legal" is not true or false'),
        ({**GAME, "slips": [6]}, '"slips" has an entry that is not the number of a move'),
        ({**GAME, "slips": [True]}, '"slips" has an entry that is not the number of a move'),
        ({**GAME, "slips": 1}, '"slips" is not a list'),
        (changed(GAME, "score", value="3"), '"score" is not a whole number'),
        (changed(LIVE, "players", value=["A"] * 6), "hanabi: players: 2 to 5, not 6"),
        (changed(LIVE, "options", value=[]), '"options" is not a JSON object'),
        (changed(LIVE, "options", value={"deckPlays": True}), "option deckPlays is not supported"),
        (changed(LIVE, "options", value={"variant": "6 Suits"}), "variant '6 Suits' is not"),
        ({**GAME, "bomb": "half"}, "\"bomb\" must be zero or stack, not 'half'"),
        (changed(LIVE, "deck", 0, value=[0, 1]), "card 0 of the deck is not a card"),
        (changed(LIVE, "actions", 0, value=7), "move 1: not a JSON object"),
        (changed(LIVE, "actions", 0, "target", value=5), "move 1: card 5 of the deck is not in"),
        (changed(LIVE, "actions", 0, "type", value=4), "move 1: unknown type or target of move"),
        (changed(LIVE, "actions", 1, "target", value=1), "move 2: hint to oneself"),
        (
            changed(LIVE, "actions", 5, value={"type": 4}),
            'the last move ends the game without a valid "target"',
        ),
        (changed(LIVE, "id", value="x"), '"id" is not a whole number'),
    ],
)
def test_broken_games_are_told_and_left_out(game, reason):
    games, report = read(lines(GAME, game, LIVE))
    assert len(games) == 2
    [broken] = report.broken
    assert (broken.number, broken.where) == (2, "stream, line 2")
    assert broken.reason.startswith(reason)
    assert report.noise == ("deck" not in game)


def test_cuts_and_damage():
    content = lines(GAME)[:-100] + b"\n" + lines(GAME)
    games, report = read(content)
    assert (len(games), report.kinds) == (1, {"not JSON, or cut short": 1})
    whole = lzma.compress(b"".join(lines({**GAME, "id": os.urandom(99).hex()}) for _ in range(200)))
    games, report = read(whole[: len(whole) // 2])
    assert 0 < len(games) < 200
    assert report.broken[-1].reason.startswith("compressed file ends early")


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_damaged_bytes(data):
    content = lines(GAME, LIVE)
    raw = damaged(data, content)
    try:
        games, report = read(raw, replayed_hanabi_games)
    except InputError:  # it begins as a compressed file does, and is none
        assert raw[:1] != content[:1]
        return
    assert len(games) == report.games
    assert sum(report.kinds.values()) == report.broken_games == len(report.broken)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
PLACES = [
    *((GAME, name) for name in (*GAME, "legal", "slips", "variant", "hand_size", "num_players")),
    *((GAME, "actions", i) for i in range(6)),
    *((GAME, "actions", i, j) for i in (0, 1) for j in range(4)),
    *((GAME, "deck", i) for i in (0, 49)),
    *((LIVE, name) for name in (*LIVE, "kedge")),
    *((LIVE, "actions", i) for i in range(6)),
    *((LIVE, "actions", i, name) for i in (0, 1, 5) for name in ("type", "target", "value")),
    *((LIVE, "options", name) for name in ("variant", "oneExtraCard", "emptyClues")),
    (LIVE, "deck", 0, "rank"),
]


@given(st.sampled_from(PLACES), JSON | st.integers(-1, 9))
@settings(max_examples=200, deadline=None)
def test_any_json_in_any_place(place, value):
    game, *path = place
    games, report = read(lines(changed(game, *path, value=value)), replayed_hanabi_games)
    assert report.games + report.broken_games == 1
    for one in games:
        assert read(lines(live_game(one)))[0] == [one]


# --- By the rules -------------------------------------------------------------------------------

DISCARD = [0, "discard", 0, -1]  # with all information tokens


def test_no_action_is_none():
    """The native core takes −1 as no move; a record must not have it."""
    [game], _ = read(lines(GAME))
    with pytest.raises(ValueError, match="move 2"):
        by_the_rules(replace(game, actions=(game.actions[0], -1), score=None))


def test_replayed():
    wrong = [
        changed(GAME, "actions", 0, value=DISCARD),
        changed(GAME, "actions", 1, value=[1, "rank", 2, 5]),
        changed(GAME, "score", value=4),
    ]
    games, report = read(lines(*wrong, GAME), replayed_hanabi_games)
    assert (len(games), report.games, report.positions) == (1, 1, 6)
    assert [one.number for one in report.broken] == [1, 2, 3]
    assert report.broken[0].reason.startswith("move 1: discard card 1: all information tokens")
    assert report.broken[1].reason.startswith("move 2: tell player 2 5s: ")
    assert report.broken[2].reason == "the score is 3, but the record says 4"


def test_positions_of_the_replay():
    [game], _ = read(lines(GAME))
    [plain] = replayed_hanabi_games(io.BytesIO(lines(GAME)))
    [whole] = replayed_hanabi_games(io.BytesIO(lines(GAME)), keep_positions=True)
    assert game == plain == whole
    assert plain.positions is None
    states = [game.rules.initial_state(game.deck)]
    for action in game.actions:
        states.append(states[-1].clone())
        states[-1].apply_action(action)
    for replayed in (plain, whole, pickle.loads(pickle.dumps(whole))):
        positions = replayed.replayed()
        for ply, (one, state) in enumerate(zip(replayed.states(), states, strict=True)):
            assert positions.hands()[ply].tolist() == state.games.hands()[0].tolist()
            assert positions.last_moves()[ply].tolist() == state.games.last_moves()[0].tolist()
            assert (one.history, str(one)) == (state.history, str(state))
        assert len(positions) == len(states)
    odd = replace(game, actions=(*game.actions[:3], -1), legal=False)
    assert len(by_the_rules(odd, keep_positions=True).positions) == 4


def test_states_of_a_replayed_game_apply_no_rule_again(monkeypatch):
    [game] = replayed_hanabi_games(io.BytesIO(lines(GAME)), keep_positions=True)
    monkeypatch.setattr(HanabiState, "apply_action", None)
    assert len(list(game.states())) == len(game) + 1


@pytest.mark.parametrize("move", [DISCARD, [0, "rank", 0, 1]])
def test_games_with_moves_that_their_server_allowed(move):
    moves = [*GAME["actions"][:3], move, *GAME["actions"][4:]]
    if move is DISCARD:
        moves[1] = [1, "play", 4, -1]
    odd = {**GAME, "actions": moves, "legal": False, "score": 12}
    [game], report = read(lines(odd), replayed_hanabi_games)
    assert (game.legal, len(game), game.score) == (False, 3, 12)
    assert (report.positions, report.broken) == (3, [])
    assert read(lines(live_game(game)), replayed_hanabi_games)[0] == [game]


# One red card is built, and three are played in vain.
BOMB = [[0, "play", 0, -1], [1, "play", 0, -1], [2, "play", 4, -1], [0, "play", 0, -1]]


@pytest.mark.parametrize(("score", "games"), [(0, 1), (1, 1), (2, 0)])
def test_bombs_are_scored_in_two_ways(score, games):
    bombed = {**GAME, "actions": BOMB, "score": score}
    assert len(read(lines(bombed), replayed_hanabi_games)[0]) == games


@pytest.mark.parametrize(
    ("about", "bomb", "score"),
    [
        ({}, "zero", 0),
        ({"source": "yawgmoth/HanabiData@a42e1b3"}, "stack", 1),
        ({"source": "FLAIROx/JaxMARL"}, "zero", 0),
        ({"source": "yawgmoth/HanabiData", "bomb": "zero"}, "zero", 0),
    ],
)
def test_what_bombs_are_worth_where_a_game_was_played(about, bomb, score):
    [game], _ = read(lines({**GAME, "actions": BOMB, **about}))
    *_, last = game.states()
    assert (game.bomb, last.score) == (bomb, score)


def test_moves_after_the_end():
    late = {**GAME, "actions": [*BOMB, [1, "play", 0, -1]]}
    games, report = read(lines(late), replayed_hanabi_games)
    assert (games, [one.reason for one in report.broken]) == ([], ["move 5: the game is over"])


def test_people_learn_choose_or_test():
    [game], _ = read(lines(GAME))
    people = Counter(part_of(replace(game, participant=f"person {i}")) for i in range(2000))
    assert 340 < people[TEST] < 460
    assert 260 < people[CHOOSE] < 380  # one in five of the others
    alone = Counter(part_of(replace(game, participant=None, id=f"game {i}")) for i in range(4000))
    assert 150 < alone[TEST] < 250
    assert 140 < alone[CHOOSE] < 240
    assert len({part_of(replace(game, id=f"game {i}")) for i in range(100)}) == 1
    assert is_for_testing(game) == (part_of(game) == TEST)


# --- Programs and people ------------------------------------------------------------------------


def test_games_of_people(shared):
    report = ReadReport()
    path = shared("data/hanabi/human_ai_2p.jsonl.xz")
    games = list(replayed_hanabi_games(path, report))
    assert (len(games), report.broken) == (1910, [])
    assert Counter(game.legal for game in games) == {True: 1471, False: 439}
    assert {game.humans for game in games} == {(1,)}
    parts = (LEARN, CHOOSE, TEST)
    people = {part: {game.participant for game in games if part_of(game) == part} for part in parts}
    assert [len(people[part]) for part in parts] == [122, 32, 36]
    most = Counter(game.participant for game in games).most_common(2)
    assert {name for name, _ in most} <= people[LEARN]  # they have more than half of the games
    for game in games[::100]:
        assert read(lines(live_game(game)))[0] == [game]


@pytest.mark.parametrize("name", ["jaxmarl", "smartbot"])
def test_games_of_programs(name, shared):
    report = ReadReport()
    path = shared(f"data/hanabi/{name}_selfplay_2p.jsonl.xz")
    games = list(itertools.islice(replayed_hanabi_games(path, report), 300))
    assert (len(games), report.broken) == (300, [])
    assert {game.humans for game in games} == {()}
