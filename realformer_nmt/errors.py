"""The error that a command shows as one line instead of a traceback."""


class UserError(Exception):
    """Something the user can mend: the message says what was given, what is allowed and what to do next."""
