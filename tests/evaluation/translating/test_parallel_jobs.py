"""Several processes give what one gives, keep what they have when they are killed, and end with what started them."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from programs.program import REPOSITORY
from tiny_models.tiny_run import Training

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.records import Fingerprint, Origin
from realformer_nmt.common.files.text_lines import read_lines
from realformer_nmt.data_bins import subsets
from realformer_nmt.evaluation.translating import parallel_jobs
from realformer_nmt.evaluation.translating.generation import generate

FILE = "answer.txt"
WORK = """
import os, time
def work(job, folder):
    folder.joinpath("answer.txt").write_text(f"H-{job}\\n")
    if job:  # says its number, and does not end by itself
        folder.parents[1].joinpath("pid").write_text(str(os.getpid()))
        time.sleep(600)
"""
PARENT = """
import sys
from pathlib import Path
from realformer_nmt.common.files.records import Origin
from realformer_nmt.evaluation.translating import parallel_jobs as jobs
from jobs_work import work
if __name__ == "__main__":
    with jobs.shares(Path(sys.argv[1]), Origin(), 2, False) as folder:
        jobs.fill(work, 2, folder, 2, "answer.txt", on_gpu=sys.argv[2] == "fresh")
"""
ORIGIN = Origin()


def answer(job: int, folder: Path) -> None:
    (folder / FILE).write_text(f"H-{job}\n")


def failing(number: int, words: str) -> parallel_jobs.Work:
    def work(job: int, folder: Path) -> None:
        answer(job, folder)
        if job == number:
            sys.exit(words)

    return work


def answers(folders: Sequence[Path]) -> list[str]:
    return [(folder / FILE).read_text() for folder in folders]


@pytest.mark.parametrize(
    ("number", "way"),
    [(signal.SIGINT, "forked"), (signal.SIGKILL, "fresh")],
)
def test_a_killed_run_leaves_no_process_and_keeps_what_is_whole(number: int, way: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{REPOSITORY}:{tmp_path}", "OMP_NUM_THREADS": "1"}
    program = tmp_path / "parent.py"
    program.write_text(PARENT)
    (tmp_path / "jobs_work.py").write_text(WORK)
    command = [sys.executable, str(program), str(tmp_path), way]
    shares = tmp_path / parallel_jobs.SHARES
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # ignored where the tests run in background
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, preexec_fn=heard) as parent:
        try:
            wait_for(
                lambda: (shares / "0").is_dir() and (shares / "pid").is_file() and (shares / "pid").read_text() != "",
                parent,
            )
        finally:
            parent.send_signal(number)
    child = (shares / "pid").read_text()
    wait_for(lambda: not living(child))
    first = (shares / "0" / FILE).stat()
    with parallel_jobs.shares(tmp_path, ORIGIN, 2, fresh=False) as folder:
        assert answers(parallel_jobs.fill(answer, 2, folder, 2, FILE)) == ["H-0\n", "H-1\n"]
        assert os.path.samestat((folder / "0" / FILE).stat(), first)
        assert sorted(entry.name for entry in folder.iterdir() if entry.is_dir()) == ["0", "1"]
    assert not shares.exists()


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


def test_a_job_that_fails_does_not_take_the_others_along(tmp_path: Path) -> None:
    with parallel_jobs.shares(tmp_path, ORIGIN, 3, fresh=False) as folder, pytest.raises(UserError) as raised:
        parallel_jobs.fill(failing(1, "no memory"), 3, folder, 3, FILE)
    assert str(raised.value).startswith("fairseq-generate ended with status 1: no memory; what the other jobs")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("origin", "number", "fresh", "share_names"),
    [
        (ORIGIN, 2, False, ["0"]),
        (ORIGIN, 3, False, []),
        (ORIGIN, 2, True, []),
        (Origin(settings={"beam": 5}), 2, False, []),
        (Origin(inputs={"text": Fingerprint(sha256="another")}), 2, False, []),
        (Origin(versions={"torch": "another"}), 2, False, []),
    ],
)
def test_shares_of_another_work_are_not_taken_over(
    origin: Origin, number: int, fresh: bool, share_names: list[str], tmp_path: Path
) -> None:
    with contextlib.suppress(InterruptedError), parallel_jobs.shares(tmp_path, ORIGIN, 2, fresh=False) as folder:
        for name in ("0", "unfinished-x"):
            (folder / name).mkdir()
        raise InterruptedError
    with parallel_jobs.shares(tmp_path, origin, number, fresh) as folder:
        assert [entry.name for entry in folder.iterdir() if entry.is_dir()] == share_names


@pytest.mark.parametrize("damage", [b"", b"H-1\n"], ids=["cut off", "another's"])
def test_a_share_that_was_changed_is_translated_again(damage: bytes, tmp_path: Path) -> None:
    with contextlib.suppress(UserError), parallel_jobs.shares(tmp_path, ORIGIN, 3, fresh=False) as folder:
        parallel_jobs.fill(failing(2, "no disk"), 3, folder, 3, FILE)
    changed, unchanged = (tmp_path / parallel_jobs.SHARES / name / FILE for name in "01")
    changed.write_bytes(damage)
    before = unchanged.stat()
    with parallel_jobs.shares(tmp_path, ORIGIN, 3, fresh=False) as folder:
        assert answers(parallel_jobs.fill(answer, 3, folder, 3, FILE)) == ["H-0\n", "H-1\n", "H-2\n"]
        assert os.path.samestat(unchanged.stat(), before)


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        parallel_jobs.shares(tmp_path, ORIGIN, 2, fresh=False),
        pytest.raises(UserError, match="another process translates into it"),
        parallel_jobs.shares(tmp_path, ORIGIN, 2, fresh=False),
    ):
        pass


notes: list[str] = []


def write_threads(_job: int, folder: Path) -> None:
    (folder / FILE).write_text(f"{torch.get_num_threads()}{''.join(notes)}")


def test_each_of_several_jobs_has_its_share_of_the_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One that has threads is no fork, and does not know what this process knows."""
    monkeypatch.setattr(sys.modules[__name__], "notes", [" forked"])
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(7))

    def threads(number: int) -> set[str]:
        (tmp_path / str(number)).mkdir()
        return set(answers(parallel_jobs.fill(write_threads, number, tmp_path / str(number), 1, FILE)))

    assert torch.get_num_threads() == 1
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [threads(number) for number in (1, 2, 7)] == [{"1 forked"}, {"3"}, {"1 forked"}]
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert threads(3) == {"1 forked"}


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
    once: Callable[..., Path], fairseq: Any, user_dir: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    """Five sentences in two batches: the third job has none. To the last digit of every score."""
    checkpoint = once("tiny_run", Training(fairseq, user_dir, toy_corpus)) / "checkpoint5.pt"
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
