"""Chess whose agents think until a test lets them go on, and then play the first legal move."""

import threading

from kedge.interfaces.web.pages.chess import ChessPage
from kedge.interfaces.web.pages.thoughts import Decision, Thought


class SlowChess(ChessPage):
    def __init__(self):
        self.go = threading.Event()
        self.asked = []  # the positions

    def think(self, question):
        state, ((seat, (spec, _)),) = question.state, question.agents.items()
        self.asked.append(state.fen())
        question.stop.then(self.go.set)
        yield Decision(seat, None, self._thought(spec, seat, question.turn, done=False))
        assert self.go.wait(10)
        self.go.clear()
        action = state.legal_actions()[0]
        yield Decision(seat, action, self._thought(spec, seat, question.turn, done=True))

    @staticmethod
    def _thought(spec, seat, turn, *, done):
        return Thought(spec, seat, turn, 0.0, 0.0, 0.0, 0.0, [], 0, None, done, {})
