"""Messages in plain words for errors that fairseq, torch or the system raise."""

import errno
import os
import re
import sys
import traceback
from pathlib import Path

from realformer_nmt.common import user_dir
from realformer_nmt.common.errors import declared, one_line

TRACE = "Traceback (most recent call last):"
LONGEST = 400  # characters of a foreign message
CORRECT = "correct that file, and run this again"
MEMORY = "there is not enough memory: pass a smaller --max-tokens with a larger --update-freq, or a smaller model"
TOO_LARGE = "asks for a model larger than this machine's memory: its sizes are wrong, or it needs a larger machine"
ELSEWHERE = "another rank ended, stopped or lost the network; read its last lines, then start the same command again"
SILENT = (
    "another rank did not answer for {0} seconds: it is stopped, gone or far slower; start the same command again, or "
    "wait longer with REALFORMER_NMT_PATIENCE=SECONDS"
)
SAYINGS = (  # a pattern of "Kind: message", and what to say instead; {0} is the pattern's first group
    (r"MemoryError|OutOfMemoryError|DefaultCPUAllocator|out of memory|bad_alloc|Storage size calculation", MEMORY),
    (
        r"DataLoader worker .*(?:killed by signal|exited unexpectedly)",
        "a process that reads the data was killed, perhaps for its memory: pass --num-workers 0, or leave more memory",
    ),
    (r"Timed out waiting (\d+)000ms", SILENT),
    (r"Connection (?:closed by peer|reset)|[Gg]loo.*onnect|NCCL (?:error|communicator)", ELSEWHERE),
    (r"EADDRINUSE|[Aa]ddress already in use", "the port at which the ranks meet is taken: pass another"),
    (
        r"Expected to have finished reduction in the prior iteration",
        "the model has weights that this task does not use: on several ranks pass --find-unused-parameters",
    ),
    (r"UnicodeEncodeError", "the terminal cannot show a character: set PYTHONIOENCODING=utf-8, or a UTF-8 locale"),
    (r"UnicodeDecodeError", "a file is not UTF-8: convert it, for example by iconv -f latin1 -t utf-8"),
    (r"Minimum loss scale reached", "the loss is not a number any more: lower --lr, or train with --bf16 or in fp32"),
    (r"(gradients are Nan/Inf)", "{0}: the training diverged: lower --lr, train with a longer warm-up, or in fp32"),
    (r"RecursionError", "an input file is nested too deeply: give a flatter one"),
    (r"Symlink loop from '(.*)'", "{0} is a link to itself: give an existing file or folder"),
    (r"PosixPath\('(.*)'\) has an empty name", "{0} is a folder, and a file is needed: give the name of one"),
    (r"FileNotFoundError: (\S+)$", "{0}: no such file or folder; give an existing one"),
    (
        r"InterpolationKeyError: Interpolation key 'task\.(\w+)' not found.*full_key: model\.",
        "this --arch takes {0} from its --task, and this one has none: pass an --arch for the task, or the task of "
        "the --arch, which for a language model is language_modeling",
    ),
    (r"KeyError: None$", "an option that chooses one of several is missing: pass --task translation"),
    (
        r"Size of sample #(\d+) is invalid \(=(.+?)\) since max_positions=(.+?), skip",
        "sample {0}, counted from 0, has {1} tokens, and the model has room for {2}: cut the lines of the text, "
        "or train a model with more positions",
    ),
)
NUMPY = re.compile(r"np\.\w+\((-?\d+)\)")  # a number as numpy 2 writes it
SPOKEN = (  # errors whose messages are written for users
    *("AssertionError", "ValueError", "Exception", "ImportError", "OSError", "FileNotFoundError"),
    "FloatingPointError",
)


def message_of(error: BaseException) -> str:
    """Return one line for any error: what was wrong, and what to do."""
    return foreseen_message(error) or fallback_message(error)


def foreseen_message(error: BaseException) -> str | None:
    """Return one line for an error that this package foresees, and None for any other."""
    user_error = declared(error)
    kind, message = innermost(user_error or error)
    if user_error is not None or kind.startswith("realformer_nmt."):
        return one_line(message)
    if isinstance(error, OSError) and error.errno:
        return of_system(error)
    for pattern, saying in SAYINGS:
        if match := re.search(pattern, NUMPY.sub(r"\1", f"{kind}: {message}"), re.DOTALL):
            return one_line(saying.format(*match.groups()))
    return of_user_dir(error, f"{kind}: {message}")


def is_of_memory(error: BaseException) -> bool:
    return foreseen_message(error) == MEMORY


def innermost(error: BaseException) -> tuple[str, str]:
    """Return the kind and the message of an error.

    Where the message is the traceback of another process, they are those of the error that ended that process.
    """
    message = str(error)
    if TRACE not in message:
        return type(error).__name__, message
    lines = message.rpartition(TRACE)[2].strip("\n").splitlines()
    last = max((number for number, line in enumerate(lines) if line.startswith(" ")), default=-1)
    kind, _, message = "\n".join(lines[last + 1 :]).partition(": ")
    return kind, message


def of_system(error: OSError) -> str:
    if error.errno == errno.EPIPE:
        return "the program that read the output has ended; write the output to a file, or read all of it"
    if error.errno == errno.ENOMEM:
        return MEMORY
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes | os.PathLike) else "the system"
    return one_line(f"{name or 'an empty file name'}: {error.strerror}; fix that and run this again")


def of_user_dir(error: BaseException, message: str) -> str | None:
    """Return the message for an error in a file of the user's own --user-dir, and None for any other error."""
    folder = user_dir.folder_in(sys.argv)
    if folder is None or folder.resolve() == user_dir.PACKAGE:
        return None
    place = place_in(folder, error)
    return one_line(f"{place}: {message}; {CORRECT}") if place else None


def place_in(folder: Path, error: BaseException) -> str | None:
    """Return the file in a folder, and its line, from which an error came; None if it came from no file there."""
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):  # whose file was read, but not run
        places.append((error.filename or "", error.lineno))
    inside = [f"{file}, line {line}" for file, line in places if folder.absolute() in Path(file).parents]
    return inside[-1] if inside else None


def fallback_message(error: BaseException) -> str:
    """Return one line for any other error: its message if it is written for users, else what failed and where."""
    kind, message = (one_line(text)[:LONGEST] for text in innermost(error))
    if kind in SPOKEN and " " in message:
        return f"{message}; correct the options or files, and run this again"
    frames = traceback.extract_tb(error.__traceback__)
    place = ""
    if frames:
        file = Path(frames[-1].filename)
        place = f" in {file.parent.name}/{file.name}, line {frames[-1].lineno}"
        message = message or one_line(frames[-1].line or "")
    return (
        f"failed with {kind}: {message}{place}; unsupported combination of options or files: check them, or report this"
    )
