"""Options that commands on Hanabi share."""

from typing import Annotated, Literal

import typer

BombRule = Literal["zero", "stack"]
BOMB_HELP = "Score of a game whose last life is lost: 0, or the cards in the stacks."
Bomb = Annotated[BombRule, typer.Option(help=BOMB_HELP)]
