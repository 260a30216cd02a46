"""Errors that are not bugs: bad input, and failed tasks."""

from collections.abc import Mapping


class InputError(ValueError):
    """Bad input from the user; the message is one line that says what is wrong and where.

    The command line prints it without a traceback and exits with 2.
    """


class ExperimentError(RuntimeError):
    """Tasks of an experiment failed; the results of the others are kept.

    ``failures`` maps the key of each failed task to its traceback (or the reason, without one).
    """

    def __init__(self, message: str, failures: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.failures: dict[str, str] = dict(failures or {})
