"""Nim as another package would add it: rules, an agent, a page and a board in JavaScript."""

from collections import deque

import numpy as np
from pydantic import Field

from kedge import catalogue
from kedge.agents import AGENTS
from kedge.agents.agent import Analysis, BasePlayer
from kedge.catalogue import GameEntry
from kedge.interfaces.web.pages.board import BoardPage
from kedge.interfaces.web.schemas import Strict

BOARD = """
import { html } from "/static/vendor/preact-htm.js";
import { Side } from "/static/js/side.js";
import { words } from "./words.js";

export const setup = { heap: 7 };
export const anchor = "chance";
export const resigns = true;
export const number = (ply) => `${ply + 1}.`;

export function Setup({ setup, onChange }) {
  return html`
    <label><span>Matches</span>
      <input type="number" min="1" max="20" value=${setup.heap}
        onChange=${(event) => onChange({ heap: Number(event.target.value) })} /></label>`;
}

export function Board({ session, onPlay, mine }) {
  const { heap, legal } = session.position;
  return html`
    <div class="board nim-board">
      <${Side} session=${session} seat=${1} />
      <p class="heap" role="img" aria-label=${words(heap)}>${"|".repeat(heap)}</p>
      <p class="actions">${legal.map((move) => html`
        <button key=${move} type="button" disabled=${!mine.length}
          onClick=${() => onPlay(move)}>${move}</button>`)}</p>
      <${Side} session=${session} seat=${0} />
    </div>`;
}
"""
WORDS = 'export const words = (heap) => (heap === 1 ? "1 match" : `${heap} matches`);\n'
# The second rule is for a board's own class: the page must not use the game's name.
STYLE = """.nim-board .heap { font-size: 3rem; letter-spacing: 0.4em; text-align: center; }
.nim { display: none; }
"""
ENTRY = GameEntry(
    "nim", "Nim", game="tiny_nim:Nim", state="tiny_nim:NimState", page="tiny_nim:NimPage"
)


class Nim:
    """Take one to three matches; the last match wins."""

    name, num_players = "nim", 2

    def __init__(self, heap=7):
        self.heap = heap

    def initial_state(self):
        return NimState(self.heap)


class NimState:
    def __init__(self, heap, player=0):
        self.heap, self.player = heap, player

    def current_player(self):
        return self.player

    def legal_actions(self):
        return list(range(1, min(3, self.heap) + 1))

    def action_to_string(self, action):
        return f"take {action}"

    def apply_action(self, action):
        assert action in self.legal_actions()
        self.heap, self.player = self.heap - action, 1 - self.player

    def is_terminal(self):
        return self.heap == 0

    def returns(self):
        return (
            [0.0, 0.0] if self.heap else [1.0 - 2.0 * (self.player == 0), 1.0 - 2.0 * self.player]
        )

    def clone(self):
        return NimState(self.heap, self.player)


class NimAgent(BasePlayer):
    """Plays perfectly. Its actions come in descending order; `slow` analyses never end."""

    states = NimState

    def __init__(self, slow=0):
        self.slow = slow

    def analyse(self, state, player):
        actions = np.array(state.legal_actions()[::-1])
        anchor = np.full(len(actions), 1.0 / len(actions))
        best = state.heap % 4
        policy = np.eye(len(actions))[list(actions).index(best)] if best in actions else anchor
        yield Analysis(anchor, anchor, np.zeros(len(actions)), 0.0, actions=actions)
        while self.slow:
            yield Analysis(anchor, policy, np.zeros(len(actions)), 0.0, actions=actions)
        # Without actions, an analysis is in the order of the state's legal actions.
        yield Analysis(anchor, policy[::-1], np.zeros(len(actions)), 0.0)

    def analyse_many(self, questions, rng):
        return [deque(self.analyse(state, state.player), maxlen=1)[0] for state in questions]


class NimSetup(Strict):
    heap: int = Field(7, ge=1, le=20)


class NimPage(BoardPage):
    name, emblem = "nim", "|"
    about = "Take one to three matches; the last match wins."
    setup = NimSetup
    agents = ("nim-expert", "nim-expert(slow=1)")

    def position(self, state, eyes):
        legal = [state.action_to_string(action) for action in state.legal_actions()]
        return {"heap": state.heap, "legal": legal}


def offer(patch, folder, board=BOARD):
    """Put Nim into the catalogue, with its files in `folder`, until `patch` is undone."""
    for name, text in (("nim.js", board), ("words.js", WORDS), ("nim.css", STYLE)):
        (folder / name).write_text(text)
    patch.setattr(catalogue, "_installed", lambda: ([ENTRY], {}))
    patch.setitem(AGENTS._makers, "nim-expert", NimAgent)
    patch.setattr(NimPage, "script", folder / "nim.js", raising=False)
    patch.setattr(NimPage, "style", folder / "nim.css")
    patch.setattr(NimPage, "assets", {"words.js": (folder / "words.js").read_bytes})
