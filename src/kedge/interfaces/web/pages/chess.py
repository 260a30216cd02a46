"""Chess on the page."""

import io
import re
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import chess.pgn
import chess.svg
import numpy as np
from pydantic import BaseModel, Field

from kedge.agents.board.networks import with_inputs
from kedge.agents.chess.engine import time_inputs
from kedge.errors import InputError
from kedge.evaluation.board.game_analysis import GameReport
from kedge.games.chess import START_FEN, ChessState
from kedge.interfaces.web.assets import STATIC
from kedge.interfaces.web.pages.board import BoardPage
from kedge.interfaces.web.pages.page_game import (
    Heading,
    Outcome,
    PlayedGame,
    Record,
    Turn,
)
from kedge.models.chess.conditioning import KNOTS
from kedge.records import ChessGame, pgn_texts
from kedge.records.chess.files import date_of, known_tag, rating_of
from kedge.specs import Spec

_SIDES = ("White", "Black")
_PIECES = [colour + letter for colour in "wb" for letter in "PNBRQK"]
_RESULTS = {"White": "1-0", "Black": "0-1", None: "1/2-1/2"}  # by winner
_TAG = re.compile(r'^\s*\[\w+\s+"', re.MULTILINE)


class ChessSetup(BaseModel, extra="forbid"):
    fen: Annotated[str, Field(max_length=100)] = START_FEN
    clock: Annotated[
        float, Field(ge=0, le=36_000, description="Seconds per side; 0 for no clock")
    ] = 0.0
    increment: Annotated[float, Field(ge=0, le=600)] = 0.0


def _piece(name: str) -> bytes:
    """Return the SVG drawing of a piece such as wN."""
    letter = name[1] if name.startswith("w") else name[1].lower()
    return str(chess.svg.piece(chess.Piece.from_symbol(letter))).encode()


_DRAWINGS = {f"{piece}.svg": partial(_piece, piece) for piece in _PIECES}


class ChessPage(BoardPage):
    name, emblem = "chess", "♞"
    about = "With or without a clock, at any rating."
    script = STATIC / "js" / "boards" / "chess.js"
    style = STATIC / "css" / "chess.css"
    assets = _DRAWINGS
    setup = ChessSetup
    sides = _SIDES
    files = (".pgn",)
    clocks = True

    def begin(self, setup: ChessSetup) -> ChessState:
        return ChessState.from_fen(setup.fen)

    def deciding(self, state: ChessState) -> list[int]:
        # Repetition or fifty moves are a draw if it is claimed: here they end the game at once, but
        # records go on.
        return [state.board.player()] if state.board.has_moves else []

    def timed_spec(self, spec: Spec, setup: ChessSetup, left: float) -> Spec:
        return with_inputs(spec, time_inputs(left, setup.clock, setup.increment))

    def position(self, state: ChessState, eyes: int | None) -> dict[str, Any]:
        return {
            "fen": state.fen(),
            "player": state.board.player(),  # also when the game is over
            "legal": [state.uci(action) for action in state.legal_actions()],
            "last": state.uci(state.history[-1]) if state.history else None,
            "in_check": state.board.in_check,
        }

    def write(self, game: PlayedGame) -> str:
        return pgn_texts([self.recorded(game)])[0].rstrip("\n") + "\n"

    def read(self, text: str) -> Record:
        game = chess.pgn.read_game(io.StringIO(text), Visitor=_QuietBuilder)
        if game is None or not (game.variations or _TAG.search(text)):
            raise InputError("not a game in PGN: no tags and no moves")
        if game.errors:
            raise InputError(f"not a game in PGN: {game.errors[0]}")
        board = game.board()
        if board.chess960 or type(board) is not chess.Board:
            raise InputError("only standard chess is supported")
        turns: list[Turn] = [move.uci() for move in game.mainline_moves()]
        return Record({"fen": board.fen()}, turns, _heading(game.headers), _outcome(game.headers))

    def recorded(self, game: PlayedGame) -> ChessGame:
        outcome = game.outcome
        white_elo, black_elo = (
            round(rating) if isinstance(rating, int | float) else None for rating in game.ratings
        )
        return ChessGame(
            np.array(game.state.history, np.uint16),
            result="*" if outcome is None else _RESULTS[outcome.winner],
            white=game.names[0],
            black=game.names[1],
            white_elo=white_elo,
            black_elo=black_elo,
            date=game.date,
            termination=None if outcome is None else outcome.ending,
            fen=None if game.setup.fen == START_FEN else game.setup.fen,
            event=game.event or "kedge",
        )

    def review_details(self, report: GameReport) -> dict[str, Any]:
        """The probability of each move for people of each rating, if that was estimated."""
        if report.likelihoods is None:
            return {}
        return {"knots": KNOTS, "likely": np.exp(report.likelihoods).round(5)}


class _QuietBuilder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """A builder that collects errors; python-chess also logs them."""

    def handle_error(self, error: Exception) -> None:
        self.game.errors.append(error)


def _heading(tags: chess.pgn.Headers) -> Heading:
    return Heading(
        date=date_of(tags.get("Date")) or date_of(tags.get("UTCDate")),
        event=known_tag(tags.get("Event")),
        names=tuple(known_tag(tags.get(side)) for side in _SIDES),
        ratings=tuple(rating_of(tags.get(f"{side}Elo")) for side in _SIDES),
    )


def _outcome(tags: chess.pgn.Headers) -> Outcome | None:
    """The result, and how the game ended if the record says more than "normal"."""
    winners = {result: winner for winner, result in _RESULTS.items()}
    result = tags.get("Result", "*")
    if result not in winners:
        return None
    outcome, how = Outcome(winners[result]), known_tag(tags.get("Termination"))
    # kedge has written the result into this tag too.
    how = (how or "").removeprefix(str(outcome)).removeprefix(": ")
    return outcome if how.lower() in ("", "normal", "unterminated") else replace(outcome, how=how)
