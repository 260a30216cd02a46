"""Agents for chess, by spec name."""

from kedge.agents.board.specs import model
from kedge.models.chess.conditioning import ChessPlayers

AGENTS = {"chess": model("chess", ChessPlayers.options)}
