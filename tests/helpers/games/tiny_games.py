"""Small games in plain Python, with OpenSpiel's verbs and nothing else."""

from kedge.catalogue import GameEntry


class Nim:
    """One heap; players take one to three in turn, and who takes the last wins."""

    num_players = 2

    def __init__(self, heap=7, player=0):
        self.heap, self.player = heap, player

    def current_player(self):
        return -4 if self.is_terminal() else self.player

    def legal_actions(self):
        return list(range(1, min(3, self.heap) + 1))

    def apply_action(self, action):
        self.heap -= action
        self.player = 1 - self.player

    def is_terminal(self):
        return self.heap == 0

    def returns(self):
        if not self.is_terminal():
            return [0.0, 0.0]
        return [1.0, -1.0] if self.player == 1 else [-1.0, 1.0]

    def clone(self):
        return Nim(self.heap, self.player)

    def action_to_string(self, action):
        return f"take {action}"


ENTRY = GameEntry("nim", "Nim", game="tiny_games:NimGame", state="tiny_games:Nim")


class NimGame:
    """The rules of Nim, as the catalogue has them."""

    name = "nim"

    def initial_state(self):
        return Nim()
