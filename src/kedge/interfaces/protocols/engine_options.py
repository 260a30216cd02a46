"""Options of an engine that a program may set, in any protocol."""

from dataclasses import dataclass
from typing import Any, Literal

from kedge.errors import InputError

EMPTY = "<empty>"
Kind = Literal["string", "number", "spin", "check"]


@dataclass(frozen=True)
class EngineOption:
    """An option; `read` parses the text that a program sends."""

    name: str
    kind: Kind
    default: Any
    low: float = 0
    high: float = 0

    def read(self, text: str) -> Any:
        if self.kind == "string":
            return None if text in ("", "auto", EMPTY) else text
        if self.kind == "check":
            if text.lower() not in ("true", "false"):
                raise InputError(f"{self.name}: true or false, not {text[:40]!r}")
            return text.lower() == "true"
        try:
            number = float(text) if self.kind == "number" else int(text)
        except ValueError:
            raise InputError(f"{self.name}: {text[:40]!r} is not a number") from None
        if not self.low <= number <= self.high:
            raise InputError(f"{self.name}: {self.low} to {self.high}, not {text[:40]}")
        return number
