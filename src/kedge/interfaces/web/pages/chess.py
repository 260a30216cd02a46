"""Chess on the page."""

import io
import re
from collections.abc import Callable
from typing import Annotated, Any

import chess.pgn
import chess.svg
import numpy as np
from pydantic import Field

from kedge.errors import InputError
from kedge.evaluation.board.game_analysis import GameReport
from kedge.evaluation.chess.review import chess_reviewer
from kedge.evaluation.decision_reports import DecisionsReport
from kedge.games.chess import START_FEN, ChessState
from kedge.interfaces.web.pages.page_game import (
    Decision,
    Document,
    Heading,
    Move,
    PageGame,
    Question,
    Record,
    Turn,
)
from kedge.interfaces.web.pages.searching import decide
from kedge.interfaces.web.schemas import Strict
from kedge.records import ChessGame, pgn_texts
from kedge.records.chess.files import date_of, known_tag, rating_of

_SIDES = ("White", "Black")
_RESULTS = {"White wins": "1-0", "Black wins": "0-1", "Draw": "1/2-1/2"}
_TAG = re.compile(r'^\s*\[\w+\s+"', re.MULTILINE)


class ChessSetup(Strict):
    fen: Annotated[str, Field(max_length=100)] = START_FEN
    clock: Annotated[float, Field(ge=0, le=36_000, description="Seconds a side; 0 for none")] = 0.0
    increment: Annotated[float, Field(ge=0, le=600)] = 0.0


class ChessPage(PageGame):
    name, title = "chess", "chess"
    setup = ChessSetup
    states = ChessState
    files = (".pgn",)
    clocks = True
    reviews = True

    def seats(self, setup: ChessSetup) -> tuple[str, ...]:
        return _SIDES

    def begin(self, setup: ChessSetup) -> ChessState:
        return ChessState.from_fen(setup.fen)

    def deciding(self, state: ChessState) -> list[int]:
        # Repetition or fifty moves are a draw if it is claimed: here they end the game at once, but
        # records go on.
        return [state.board.player()] if state.board.legal_actions() else []

    def check(self, state: ChessState, seat: int, move: Move) -> str:
        if not isinstance(move, str):
            raise InputError("a move of chess is text, such as e2e4 or Nf3")
        return state.uci(state.parse_move(move))

    def take(self, state: ChessState, turn: Turn) -> str:
        action = state.parse_move(str(turn))
        name = state.action_to_string(action)
        state.play_on(action)
        return name

    def position(self, state: ChessState, eyes: int | None) -> dict[str, Any]:
        legal = [] if state.is_terminal() else state.legal_actions()
        board = chess.Board(state.fen())
        return {
            "fen": state.fen(),
            "player": state.current_player(),
            "legal": [[state.uci(action), state.san(action)] for action in legal],
            "last": state.uci(state.history[-1]) if state.history else None,
            "check": chess.square_name(board.king(board.turn) or 0) if board.is_check() else None,
        }

    def outcome(self, state: ChessState) -> str | None:
        if not state.is_terminal():
            return None
        white = state.returns()[0]
        who = "Draw" if white == 0.0 else f"{_SIDES[white < 0.0]} wins"
        return f"{who}: {state.termination()}"

    def resigned(self, state: ChessState, seat: int) -> str:
        return f"{_SIDES[1 - seat]} wins: {_SIDES[seat]} resigns"

    def think(self, question: Question) -> dict[int, Decision]:
        return decide(question)

    def write(self, document: Document) -> str:
        return pgn_texts([_recorded(document)])[0].rstrip("\n") + "\n"

    def read(self, text: str) -> Record:
        game = chess.pgn.read_game(io.StringIO(text), Visitor=_QuietBuilder)
        if game is None or not (game.variations or _TAG.search(text)):
            raise InputError("not a game in PGN: neither tags nor moves in it")
        if game.errors:
            raise InputError(f"not a game in PGN: {game.errors[0]}")
        board = game.board()
        if board.chess960 or type(board) is not chess.Board:
            raise InputError("only standard chess is played here")
        turns: list[Turn] = [move.uci() for move in game.mainline_moves()]
        return Record({"fen": board.fen()}, turns, _heading(game.headers), _outcome(game.headers))

    def review(
        self, document: Document, tell: Callable[[int], None]
    ) -> GameReport | DecisionsReport:
        return chess_reviewer()(_recorded(document), tell)


class _QuietBuilder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """One that keeps errors to itself, where python-chess's also logs them."""

    def handle_error(self, error: Exception) -> None:
        self.game.errors.append(error)


def _heading(tags: chess.pgn.Headers) -> Heading:
    return Heading(
        date=date_of(tags.get("Date")) or date_of(tags.get("UTCDate")),
        event=known_tag(tags.get("Event")),
        names=tuple(known_tag(tags.get(side)) for side in _SIDES),
        ratings=tuple(rating_of(tags.get(f"{side}Elo")) for side in _SIDES),
    )


def _outcome(tags: chess.pgn.Headers) -> str | None:
    """The result, and how it came about, where a record says more than that it was as usual."""
    who = {result: words for words, result in _RESULTS.items()}.get(tags.get("Result", "*"))
    how = known_tag(tags.get("Termination"))
    if who is None or how is None or how.lower() in ("normal", "unterminated"):
        return who
    return how if how.startswith(f"{who}: ") else f"{who}: {how}"


def _recorded(document: Document) -> ChessGame:
    outcome = document.outcome
    white_elo, black_elo = (
        round(rating) if isinstance(rating, int | float) else None for rating in document.ratings
    )
    return ChessGame(
        np.array(document.state.history, np.uint16),
        result="*" if outcome is None else _RESULTS[outcome.partition(":")[0]],
        white=document.names[0],
        black=document.names[1],
        white_elo=white_elo,
        black_elo=black_elo,
        date=document.date,
        termination=outcome,
        fen=None if document.setup.fen == START_FEN else document.setup.fen,
        event=document.event or "kedge",
    )


def piece_svg(name: str) -> str | None:
    """The drawing of a piece, such as wN; None if there is none of that name."""
    colour, letter = name[:1], name[1:]
    if colour not in ("w", "b") or len(letter) != 1 or letter not in "PNBRQK":
        return None
    piece = chess.Piece.from_symbol(letter if colour == "w" else letter.lower())
    return str(chess.svg.piece(piece))
