"""A stage in its own process and session, forked from a server that has imported what all stages need.

The import of fairseq takes seconds, and a small cell has four stages. The server ends with its parent, and the stages
end with it.
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from realformer_nmt.common.files.atomic_files import open_no_link
from realformer_nmt.common.processes.parent_death_signal import die_with_parent
from realformer_nmt.common.processes.unrepeated_script import unrepeated_script
from realformer_nmt.subcommands import main

PRELOADED = (  # what the stages of a cell import; multiprocessing passes over a module that is missing
    "realformer_nmt.protocols.running.training",
    "realformer_nmt.checkpoints.averaging",
    "realformer_nmt.evaluation.translating.translation",
    "realformer_nmt.evaluation.scoring.scoring",
    "realformer_nmt.evaluation.rows.evaluation_run",
)
PATIENCE = 30.0  # seconds that a stage has to end after SIGTERM


class Process:
    """Process of `realformer-nmt ARGV`, whose stdout and stderr are appended to a file."""

    def __init__(self, argv: Sequence[str], output: Path, environment: Mapping[str, str]) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(list(PRELOADED))
        self._process = context.Process(target=_run, args=(tuple(argv), str(output), dict(environment)))
        with unrepeated_script():
            self._process.start()

    def poll(self) -> int | None:
        return self._process.exitcode

    def end(self) -> None:
        """End the process with all that it has started."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._process.exitcode is None and self._process.pid:
                try:
                    os.killpg(self._process.pid, number)
                except ProcessLookupError:  # the process has no session yet
                    self._process.kill()
                self._process.join(PATIENCE)


def _run(argv: Sequence[str], output: str, environment: Mapping[str, str]) -> None:
    import torch  # preloaded

    die_with_parent()
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    with open(output, "ab", opener=open_no_link) as log, Path(os.devnull).open("rb") as nothing:
        for stream, descriptor in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(stream.fileno(), descriptor)
    os.environ.clear()
    os.environ.update(environment)
    if (threads := environment.get("OMP_NUM_THREADS", "")).isdecimal() and int(threads):
        torch.set_num_threads(int(threads))  # the server has read its own variable
    sys.exit(main(argv))
