"""The errors that a command shows as one line instead of a traceback."""


class UserError(Exception):
    """Something the user can mend: the message says what was given, what is allowed and what to do next."""


class OptionError(UserError, ValueError):
    """An option that cannot be, or not with the others; fairseq raises a ValueError for its own."""


def declared(error: BaseException | None) -> UserError | None:
    """The error of ours that ended a program: this one, or one that fairseq met and put its own words over."""
    while error is not None and not isinstance(error, UserError):
        error = error.__cause__ or error.__context__
    return error


def one_line(error: object) -> str:
    return " ".join(str(error).split())
