"""Errors that are not bugs: bad input, and failed tasks."""

from collections.abc import Mapping


class InputError(ValueError):
    """Bad input from the user; the message is one line that says what is wrong and where.

    The command line prints it without a traceback and exits with 2.
    """


class LeftOutWarning(UserWarning):
    """Something is left out: a game of another package, or the end of a record."""


class ExperimentError(RuntimeError):
    """Tasks of an experiment failed; the results of the others are kept.

    ``failures`` maps the key of each failed task to its traceback (or the reason, without one).
    """

    def __init__(self, message: str, failures: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.failures: dict[str, str] = dict(failures or {})


def needs(extra: str) -> str:
    """Return the end of an error about a missing package: the extra that has it, and the command.

    kedge is on no package index, so that the command is the README's, in the clone.

    >>> needs("train")
    "kedge[train] has it; in kedge's folder run .venv/bin/pip install '.[train]'"
    """
    return f"kedge[{extra}] has it; in kedge's folder run .venv/bin/pip install '.[{extra}]'"
