"""``kedge policy``: what an agent would play in a position, and why."""

import typer

from kedge.interfaces.commands.groups import GameGroup


class _Policies(GameGroup):
    part, line = "policy", "Show an agent's moves in a position of {title}."


policy_app = typer.Typer(
    cls=_Policies,
    no_args_is_help=True,
    help="Show what an agent would play in a position, and why.",
)
