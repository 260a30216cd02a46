"""Human games for the chess tables: made up, few, and of every kind that a report tells apart."""

import numpy as np
import pytest

from kedge.games.chess import ChessState
from kedge.records import ChessGame, write_pgn


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
