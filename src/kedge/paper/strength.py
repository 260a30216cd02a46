"""The earlier name of `kedge.paper.board.strength`."""

from kedge.paper.board.strength import *  # noqa: F403
