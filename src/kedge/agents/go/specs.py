"""Agents for Go, by spec name."""

from kedge.agents.board.specs import model
from kedge.models.go.conditioning import GoPlayers

AGENTS = {"go": model("go", GoPlayers.options)}
