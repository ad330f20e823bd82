"""The errors that a command shows as one line instead of a traceback."""


class UserError(Exception):
    """An error that the user can fix: the message says what was given, what is allowed and what to do next."""


class OptionError(UserError, ValueError):
    """An invalid option or combination of options; a ValueError, as fairseq raises for its options."""


class UsageError(OptionError):
    """Wrong usage of a command, whose exit status is 2."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem}; --help lists the options")


def declared(error: BaseException | None) -> UserError | None:
    """Return the first UserError of a chain of causes: fairseq may have raised another error on top of it."""
    while error is not None and not isinstance(error, UserError):
        error = error.__cause__ or error.__context__
    return error


def one_line(error: object) -> str:
    return " ".join(str(error).split())
