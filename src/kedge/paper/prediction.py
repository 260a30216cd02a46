"""The earlier name of `kedge.paper.board.prediction`."""

from kedge.paper.board.prediction import *  # noqa: F403
