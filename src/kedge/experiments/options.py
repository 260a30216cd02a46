"""Options that several experiments share."""

from kedge.options import Option

GAMES = Option("How many games.", flags=("--games", "-n"), min=1, max=10**6)
PLAYED_SEED = Option("The same seed plays the same games.", min=0, is_general=True)
DRAWN_SEED = Option("Seed of the agent's random draws.", min=0, is_general=True)
RECORD = Option("Write the games to this file; `.gz`, `.bz2`, `.xz` or `.zst` compresses it.")


def agent_option(title: str) -> Option:
    """Return the option for the agent of a prediction."""
    return Option(f"Agent that predicts; it must play {title}.", flags=("--agent", "-a"))


def data_option(files: str) -> Option:
    """Return the argument for recorded games; `files` says in which kinds of files."""
    return Option(f"{files}, plain or compressed.", is_argument=True)


def chunk_option(default: str, least: int = 1) -> Option:
    """Return the option for the number of games in a task."""
    return Option("Games in one task.", min=least, default=default, is_general=True)
