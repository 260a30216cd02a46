"""What can go wrong and is not a bug: bad input, and tasks that fail."""

from collections.abc import Mapping


class InputError(ValueError):
    """Something the user gave is wrong; the message is one line that says what and where.

    The command line prints it without a traceback and exits with 2.
    """


class ExperimentError(RuntimeError):
    """Tasks of an experiment failed; those that finished are kept.

    ``failures`` maps the key of each failed task to its traceback (or the reason, if it has none).
    """

    def __init__(self, message: str, failures: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.failures: dict[str, str] = dict(failures or {})
