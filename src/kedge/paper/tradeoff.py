"""The earlier name of `kedge.paper.board.tradeoff`."""

from kedge.paper.board.tradeoff import *  # noqa: F403
