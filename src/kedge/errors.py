"""The one error that a user can cause: bad input."""


class InputError(ValueError):
    """Something the user gave is wrong; the message is one line that says what and where.

    The command line prints it without a traceback and exits with 2.
    """
