"""``kedge policy``: what an agent would play in a position, and why."""

from kedge.interfaces.commands.groups import GameGroup, group


class _Policies(GameGroup):
    part, line = "policy", "Show an agent's moves in a position of {title}."


policy_app = group(_Policies, "Show what an agent would play in a position, and why.")
