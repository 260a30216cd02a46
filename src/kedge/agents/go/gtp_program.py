"""Another program that plays Go, talked to over the Go Text Protocol."""

from collections.abc import Sequence

from kedge.agents.program import Program
from kedge.errors import InputError

TIMEOUT = 60.0  #: Seconds that an answer may take.


class GtpProgram(Program):
    """A program that answers commands, one after the other."""

    farewell = "quit\n"

    def __init__(
        self, command: Sequence[str], timeout: float = TIMEOUT, startup: float | None = None
    ) -> None:
        super().__init__(command, timeout, startup)

    def send(self, command: str) -> str:
        """The answer to a command; an `InputError` if it is refused, late, or never comes."""
        self.write(command, command)
        answer = self._answer(command)
        text = answer[1:].strip()
        if answer.startswith("?"):
            reason = " ".join(text.split()) or "refused"
            raise InputError(f"{self.name}: {command}: {reason}")
        return text

    def _answer(self, command: str) -> str:
        """From the line with = or ? to the next empty one."""
        found: list[str] = []
        for line in self.lines(command):
            if found and not line:
                break
            if found or line.startswith(("=", "?")):
                found.append(line)
        return "\n".join(found)
