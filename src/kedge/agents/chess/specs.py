"""Agents for chess, by spec name."""

from kedge.agents.board.specs import rated_model

AGENTS = {"chess": rated_model("chess")}
