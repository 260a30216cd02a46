"""How a command shows a field: the help and limits, declared beside the field itself."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """Help and limits of a field that a command takes from its user.

    ``games: Annotated[int, Option("How many games.", flags=("--games", "-n"), min=1)] = 100``
    """

    help: str
    flags: tuple[str, ...] = ()
    """Names on the command line. By default there is one: the field's own name."""
    min: float | None = None
    max: float | None = None
    metavar: str | None = None
    default: str | None = None
    """Describes the default in words, where its value does not."""
    is_argument: bool = False
    """Whether the value is given by its position, without a flag."""
    is_general: bool = False
    """Whether many experiments have it. Help lists these after the game's own."""


DEVICE = Option(
    "Where networks run: `cpu`, `openvino` (for CPUs with bfloat16), `cuda`, …", is_general=True
)
DTYPE = Option("Number format on a GPU or with OpenVINO.", is_general=True)
