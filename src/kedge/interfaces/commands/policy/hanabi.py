"""``kedge policy hanabi``: what an agent would do at a table, and what it thinks it holds."""

import sys
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.errors import InputError
from kedge.interfaces.commands.hanabi_options import BOMB_HELP, BombRule
from kedge.interfaces.commands.policy.decision import Seed, bar, print_rest
from kedge.interfaces.options import Json, unfolded
from kedge.interfaces.output import print_json, svg_file, write_picture
from kedge.words import counted

if TYPE_CHECKING:
    from rich.console import Console

    from kedge.agents.agent import Row
    from kedge.agents.hanabi.players import HanabiAnalysis
    from kedge.games.hanabi import HanabiState

_LIKELY = 5  # cards that the table has of each slot
_BAR = 8  # cells: the answers need the room


@dataclass(frozen=True)
class PositionOptions:
    """A position of a recorded game."""

    file: Annotated[
        str,
        typer.Argument(
            metavar="GAMES.jsonl",
            help="Games as JSON lines or exports of hanab.live. `-` is standard input.",
            show_default=False,
        ),
    ]
    number: Annotated[
        int, typer.Option("--game", min=1, metavar="I", help="Which game of the file.")
    ] = 1
    turn: Annotated[
        int,
        typer.Option(
            "--turn", min=0, metavar="T", help="Show the game after T moves, before turn T + 1."
        ),
    ] = 0
    bomb: Annotated[
        BombRule | None,
        typer.Option(help=f"{BOMB_HELP} [default: as the record says]", show_default=False),
    ] = None

    def state(self) -> "HanabiState":
        """Return the position, in which someone is to move."""
        from kedge.records import ReadReport, numbered_game, replayed_hanabi_games

        file, read = self.file, ReadReport()
        games = replayed_hanabi_games(sys.stdin.buffer if file == "-" else file, read)
        game = numbered_game(games, read, Path(file), self.number)
        which = f"{file}: game {self.number}"
        if self.turn > len(game):
            raise InputError(f"{which} has {counted(len(game), 'move')}, no turn {self.turn}")
        state = replace(game, bomb=self.bomb or game.bomb).rules.initial_state(game.deck)
        for action in game.actions[: self.turn]:
            state.apply_action(action)
        if state.is_terminal():
            moves = counted(self.turn, "move")
            raise InputError(f"{which} is over after {moves}; give an earlier --turn")
        return state


@unfolded
def hanabi_policy(
    position: PositionOptions,
    agent: Annotated[
        str,
        typer.Option("--agent", "-a", metavar="SPEC", help="Who plays: a model or a search."),
    ] = "sparta(hanabi, lambda=1, rollouts=1000)",
    seed: Seed = 0,
    svg: Annotated[
        Path | None,
        typer.Option(
            callback=svg_file, help="Draw the table as the player to move sees it to a file."
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many moves the table shows.")] = 10,
    as_json: Json = False,
) -> None:
    """Show the moves that an agent would play, beside how often people play them.

    A search also shows each move's value in points, and the player's beliefs about its own cards.

    **Examples**

    - `kedge policy hanabi games.jsonl --turn 12 --agent hanabi`
    - `kedge policy hanabi games.jsonl --game 3 --turn 20 -a "sparta(hanabi, lambda=2)"`
    - `kedge policy hanabi export.json --turn 9 --svg table.svg --json`
    """
    import numpy as np

    from kedge.agents import make_player
    from kedge.agents.hanabi.players import HanabiAgent
    from kedge.agents.hanabi.search import SpartaAgent
    from kedge.interfaces.progress import waiting
    from kedge.specs import parse

    spec = parse(agent)
    player, state = make_player(spec, "hanabi"), position.state()
    if isinstance(player, HanabiAgent):
        player.check(state.game)
    rng = np.random.default_rng(seed)
    with waiting("searching", quiet=as_json):
        analysis = player.explain(state, rng)
    cards = _cards(state, analysis)
    if svg is not None:
        write_picture(svg, state.to_svg())
    if as_json:
        turn = {"game": position.number, "turn": position.turn, "player": state.current_player()}
        thought = {"value": analysis.value, "moves": _json_rows(state, analysis), "cards": cards}
        print_json({"agent": str(spec), **turn, **thought})
    else:
        is_search = isinstance(player, SpartaAgent)
        _print(str(spec), state, analysis, cards, top, svg, is_search=is_search)


def _json_rows(state: "HanabiState", analysis: "HanabiAnalysis") -> list[dict[str, Any]]:
    """One row per legal move, best first."""
    return [
        {
            "move": state.action_to_string(row.action),
            "anchor": row.anchor,
            "policy": row.policy,
            "q": row.q,
            "visits": row.visits,
            "answer": _answer(state, analysis, row),
        }
        for row in analysis.rows()
    ]


def _answer(state: "HanabiState", analysis: "HanabiAnalysis", row: "Row") -> dict[str, Any] | None:
    """The partner's likeliest answer to a move, if the analysis has one."""
    answer = analysis.answers and analysis.answers[row.index]
    if not answer:
        return None
    partner = (state.current_player() + 1) % state.num_players
    return {"move": state.action_to_string(answer[0], partner), "probability": answer[1]}


def _cards(state: "HanabiState", analysis: "HanabiAnalysis") -> list[dict[str, Any]] | None:
    """Hints and beliefs about each card in hand, the oldest first."""
    if analysis.cards is None:
        return None
    hints = state.known[state.current_player()]
    return [
        {
            "told": str(known),
            "beliefs": {
                str(state.game.card(int(number))): float(slot[number])
                for number in (-slot).argsort(kind="stable")
                if slot[number] > 0.0
            },
        }
        for known, slot in zip(
            hints, analysis.cards, strict=False
        )  # late in a game slots are empty
    ]


def _print(
    agent: str,
    state: "HanabiState",
    analysis: "HanabiAnalysis",
    cards: list[dict[str, Any]] | None,
    top: int,
    svg: Path | None,
    *,
    is_search: bool,
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console, rows = Console(), analysis.rows()
    console.print(Text(agent, style="bold"), soft_wrap=True)
    console.print(Text(f"\n{state}\n", style="dim"), soft_wrap=True)
    searched = any(row.q is not None for row in rows)
    table = Table(box=None, pad_edge=False)
    answers = [_answer(state, analysis, row) for row in rows[:top]]
    answered = any(answers)
    headings = ("move", "anchor", "policy", *(["q"] if searched else []), "")
    for heading in (*headings, *(["likely answer"] if answered else [])):
        is_number = heading in ("anchor", "policy", "q")
        table.add_column(heading, justify="right" if is_number else "left", no_wrap=True)
    most = max(max(row.policy, row.anchor) for row in rows[:top])
    for row, answer in zip(rows, answers, strict=False):  # the first `top`
        q = "-" if row.q is None else f"{row.q:.2f}"
        table.add_row(
            state.action_to_string(row.action),
            f"{row.anchor:.1%}",
            f"{row.policy:.1%}",
            *([q] if searched else []),
            bar(row, most, _BAR),
            *([_answer_text(answer)] if answered else []),
        )
    console.print(table)
    print_rest(console, rows, top)
    if searched and all(row.q == 0.0 for row in rows):
        console.print("\nevery move loses the last life; --bomb stack counts the cards played")
    if cards is not None:
        _print_cards(console, cards)
    elif is_search:
        console.print("\nno hand explains the others' moves, so the agent plays as its anchor")
    if not isnan(analysis.value):
        console.print(f"\n[bold]value[/bold] {analysis.value:.2f} points", highlight=False)
    if svg is not None:
        typer.echo(str(svg))


def _print_cards(console: "Console", cards: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("card", "told", "believed"):
        table.add_column(heading)
    for slot, card in enumerate(cards, 1):
        likely = list(card["beliefs"].items())
        shown = [f"{name} {share:.0%}" for name, share in likely[:_LIKELY]]
        table.add_row(str(slot), card["told"], "  ".join(shown + ["…"] * (len(likely) > _LIKELY)))
    console.print()
    console.print(table)


def _answer_text(answer: dict[str, Any] | None) -> str:
    return "-" if answer is None else f"{answer['move']} ({answer['probability']:.0%})"
