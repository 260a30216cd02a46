"""Agents for Go, by spec name."""

from kedge.agents.board.specs import model

AGENTS = {"go": model("go")}
