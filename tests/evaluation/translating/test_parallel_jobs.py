"""Several processes give what one gives, and end with what started them."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from programs.program import REPOSITORY

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.text_lines import read_lines
from realformer_nmt.data_bins import subsets
from realformer_nmt.evaluation.translating import parallel_jobs
from realformer_nmt.evaluation.translating.generation import generate

FILE = "answer.txt"
WORK = """
import os, time
def work(job, folder):
    folder.parent.joinpath("pid").write_text(str(os.getpid()))
    time.sleep(600)
"""
PARENT = """
import sys
from pathlib import Path
from realformer_nmt.evaluation.translating import parallel_jobs
from jobs_work import work
if __name__ == "__main__":
    parallel_jobs.fill(work, 1, Path(sys.argv[1]), 2, "answer.txt", on_gpu=sys.argv[2] == "fresh")
"""


def answer(job: int, folder: Path) -> None:
    (folder / FILE).write_text(f"H-{job}\n")


def fail_second(job: int, folder: Path) -> None:
    answer(job, folder)
    if job == 1:
        sys.exit("no memory")
    if job == 2:
        time.sleep(600)


@pytest.mark.parametrize(("number", "way"), [(signal.SIGINT, "forked"), (signal.SIGKILL, "fresh")])
def test_a_killed_run_leaves_no_process(number: int, way: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{REPOSITORY}:{tmp_path}", "OMP_NUM_THREADS": "1"}
    program, pid = tmp_path / "parent.py", tmp_path / "pid"
    program.write_text(PARENT)
    (tmp_path / "jobs_work.py").write_text(WORK)
    command = [sys.executable, str(program), str(tmp_path), way]
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # ignored where the tests run in background
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, preexec_fn=heard) as parent:
        try:
            wait_for(lambda: pid.is_file() and pid.read_text() != "", parent)
        finally:
            parent.send_signal(number)
    wait_for(lambda: not living(pid.read_text()))


def wait_for(reached: Callable[[], bool], process: subprocess.Popen[bytes] | None = None) -> None:
    deadline = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < deadline
        assert process is None or process.poll() is None
        time.sleep(0.01)


def living(process: str) -> bool:
    """Return whether a process runs; one that has ended may still wait for someone to ask how."""
    with contextlib.suppress(OSError):
        return Path("/proc", process, "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def test_a_job_that_fails_ends_the_others(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^fairseq-generate ended with status 1: no memory$"):
        parallel_jobs.fill(fail_second, 3, tmp_path, 3, FILE)


def refuse() -> None:
    print("nobody reads this")
    print("first", file=sys.stderr)
    sys.exit("refused")


def be_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(
    ("work", "on_gpu", "status", "last_lines"),
    [
        (refuse, False, 1, ["first", "refused"]),
        (refuse, True, 1, ["first", "refused"]),
        (be_killed, False, -signal.SIGKILL, []),
    ],
)
def test_what_it_says_and_how_it_ends_is_known(
    work: Callable[[], object], on_gpu: bool, status: int, last_lines: list[str], tmp_path: Path
) -> None:
    process = parallel_jobs.begin(work, tmp_path / "log", 1, on_gpu)
    process.join(timeout=60)
    assert process.exitcode == status
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[len(lines) - len(last_lines) :] == last_lines


def test_each_of_several_jobs_has_its_share_of_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(7))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [parallel_jobs._threads(jobs) for jobs in (1, 2, 7, 9)] == [torch.get_num_threads(), 3, 1, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert parallel_jobs._threads(3) == torch.get_num_threads()


def test_sentences_are_counted_as_they_come(tmp_path: Path) -> None:
    files = [tmp_path / "one", tmp_path / "two"]
    with contextlib.ExitStack() as stack:
        counted = parallel_jobs._translated(files, stack)
        counts = [next(counted)]
        for text in ("S-0\ta\nH-0\t-1\tb\n", "H-1\t-1\tH-2\n"):
            with files[0].open("a") as file:
                file.write(text)
            counts.append(next(counted))
        files[1].write_text("H-2\nH-3\n")
        assert [*counts, next(counted), next(counted)] == [0, 1, 1, 2, 0]


def test_three_jobs_say_what_one_fairseq_generate_says(
    run: Path, fairseq: Any, user_dir: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    """Five sentences in two batches: the third job has none. To the last digit of every score."""
    checkpoint = run / "checkpoint5.pt"
    subsets.binarise(read_lines(toy_corpus.parent / "train.src")[:5], toy_corpus, "few", "src", "tgt", tmp_path)
    words = ["--path", checkpoint, "--cpu", "--beam", 2, "--nbest", 2, "--max-len-b", 9, "--batch-size", 3]
    words += ["--source-lang", "src", "--target-lang", "tgt"]
    (tmp_path / "shares").mkdir()
    translations = generate(tmp_path, "few", 5, list(map(str, words)), tmp_path / "shares", jobs=3)
    stock = fairseq("generate", tmp_path, "--user-dir", user_dir, "--gen-subset", "few", *words)
    assert stock.returncode == 0, stock.stderr
    files = [tmp_path / "shares" / str(job) / "generate-few.txt" for job in range(3)]
    shares = [said(read_lines(file)) for file in files]
    assert list(map(len, shares)) == [3 * 7, 2 * 7, 0]
    assert sorted(line for share in shares for line in share) == sorted(said(stock.stdout.split("\n")))
    assert len(translations.hypotheses) == 5


def said(lines: list[str]) -> list[str]:
    """Return each sentence's source, both forms of its two hypotheses, and the scores of their words."""
    return [line for line in lines if line[:2] in ("S-", "H-", "D-", "P-")]
