"""Runs fairseq's commands one after the other, each in a fork of one process, so that fairseq is imported once.

Standard input: a JSON list of [arguments, log]; what a command says goes to the log, with its exit status as last line,
or `status -14` after two minutes.
"""

import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path

COMMANDS = ("train", "generate", "validate", "interactive", "eval_lm", "preprocess")
PROGRAMS = {f"fairseq-{name.replace('_', '-')}": import_module(f"fairseq_cli.{name}") for name in COMMANDS}
LIMIT = 120  # seconds


def run(arguments: list[str], log: str) -> None:
    """In the child: never returns."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(output, stream.fileno())
    sys.argv = arguments
    status = 0
    signal.alarm(LIMIT)
    try:
        PROGRAMS[Path(arguments[0]).name].cli_main()
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os.write(output, f"\nstatus {status}\n".encode())
    os._exit(status)


if __name__ == "__main__":  # and not in a rank that one of them spawns
    for job in json.load(sys.stdin):
        child = os.fork()
        if child == 0:
            run(*job)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if ended < 0:
            with Path(job[1]).open("a") as told:
                told.write(f"\nstatus {ended}\n")
