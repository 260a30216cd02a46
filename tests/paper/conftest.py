"""Human games for the tables: made up, few, and of every kind that a report tells apart."""

from dataclasses import replace

import fake_katago
import numpy as np
import pytest
from hanabi_players import people

from kedge.agents import make_player
from kedge.evaluation.diplomacy.tournaments import play_tournament, recorded
from kedge.games.chess import ChessState
from kedge.games.diplomacy import POWERS, Diplomacy
from kedge.games.go import GoState
from kedge.records import ChessGame, write_diplomacy_games, write_hanabi_games, write_pgn
from kedge.records.go.games import GoGame
from kedge.records.go.sgf import write_sgf


def random_game(rng, plies, **tags):
    state, actions = ChessState(), []
    while len(actions) < plies and not state.is_terminal():
        actions.append(int(rng.choice(state.legal_actions())))
        state.apply_action(actions[-1])
    told = {"result": "1-0", "rated": True, "time_control": "600+0", "time_class": "rapid", **tags}
    return ChessGame(np.array(actions, np.uint16), **told)


@pytest.fixture(scope="session")
def human_games(tmp_path_factory):
    """A PGN file: eight games a bucket, of two time controls; and some that no table may use."""
    rng = np.random.default_rng(7)
    games = []
    for bucket in (1400, 1500):
        for number in range(8):
            control, speed = (("600+0", "rapid"), ("180+2", "blitz"))[number % 2]
            games.append(
                random_game(
                    rng, 14 + number, white_elo=bucket + 10, black_elo=bucket + 90, white="anna",
                    black=f"b{number}", time_control=control, time_class=speed,
                )
            )  # fmt: skip
    told = {"white_elo": 1510, "black_elo": 1590}
    games.append(random_game(rng, 20, time_control="60+0", time_class="bullet", **told))
    games.append(random_game(rng, 9, **told))  # no more than its opening
    games.append(random_game(rng, 20, white_elo=1510, black_elo=1690))
    path = tmp_path_factory.mktemp("games") / "games.pgn"
    write_pgn(games, path)
    return path


@pytest.fixture(scope="session")
def go_games(tmp_path_factory):
    """An SGF file: five games of the paper's test years, 8 to 12 moves long, and one before."""
    rng = np.random.default_rng(7)
    games = []
    for number in range(6):
        state = GoState(superko="simple")
        for _ in range(8 + number % 5):
            state.apply_action(int(rng.choice(state.legal_actions()[:-1])))
        date = "2014-12-31" if number == 5 else f"201{5 + number % 2}-03-0{number + 1}"
        games.append(GoGame(np.array(state.history, np.int16), komi=6.5, date=date))
    path = tmp_path_factory.mktemp("games") / "games.sgf"
    path.write_text("".join(write_sgf(game) for game in games))
    return path


@pytest.fixture(scope="session")
def diplomacy_games(tmp_path_factory):
    """Games of two years, of people with ratings; the last of people that nobody knows."""
    players = [make_player("uniform-orders", "diplomacy")]
    rules = Diplomacy(last_year=1902)
    played = play_tournament(players, [(0,) * len(POWERS)] * 3, rules, np.random.default_rng(7))
    ratings = (1150.0, 990.0, 1010.0, None, 1170.0, 1190.0, 950.0)
    games = [
        replace(
            recorded(game, ["anna"], f"game-{number}"), human_powers=None, tier="AAB"[number],
            ratings=ratings if number < 2 else None,
        )
        for number, game in enumerate(played)
    ]  # fmt: skip
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    write_diplomacy_games(games, path)
    return path


@pytest.fixture(scope="session")
def hanabi_games(tmp_path_factory):
    """Games of people with a program, whose scores nobody checks."""
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    games = [people(1, score=score, legal=False)[0] for score in (5, 12, 21, 25)]
    write_hanabi_games(games, path)
    return path


@pytest.fixture(scope="session")
def katago(tmp_path_factory):
    """The fields that name a program like KataGo and two of its networks."""
    folder = tmp_path_factory.mktemp("katago")
    networks = [folder / "g170-b6c96-s1-d2.bin.gz", folder / "mine.bin.gz"]
    for network in networks:
        network.touch()
    program = fake_katago.write(folder / "katago")
    return {"katago": str(program), "networks": tuple(map(str, networks))}
