"""An external Go program that speaks the Go Text Protocol."""

from collections.abc import Sequence

from kedge.agents.program import Program
from kedge.errors import InputError

TIMEOUT = 60.0  #: Seconds that an answer may take.


class GtpProgram(Program):
    """A GTP program, sent one command after the other."""

    farewell = "quit\n"

    def __init__(
        self, command: Sequence[str], timeout: float = TIMEOUT, startup: float | None = None
    ) -> None:
        super().__init__(command, timeout, startup)

    def send(self, command: str) -> str:
        """Return the answer to a command; raise an `InputError` if it is refused or late."""
        self.write(command, command)
        answer = self._answer(command)
        text = answer[1:].strip()
        if answer.startswith("?"):
            reason = " ".join(text.split()) or "refused"
            raise InputError(f"{self.name}: {command}: {reason}")
        return text

    def _answer(self, command: str) -> str:
        """Return the lines from the one with = or ? to the next empty one."""
        answer: list[str] = []
        for line in self.lines(command):
            if answer and not line:
                break
            if answer or line.startswith(("=", "?")):
                answer.append(line)
        return "\n".join(answer)
