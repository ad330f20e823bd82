"""Batches of the texts of several requests, processed by one thread.

A batch is the request that waits longest, with all requests that may share its batch. The thread never waits for more:
requests that arrive while it works are the next batch.
"""

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple, Protocol

from realformer_nmt.serving.http_errors import busy

TOGETHER = 128  # texts of a batch, unless one request has more


class Work(Protocol):
    """Processing of texts, as a hashable value: requests of equal works share a batch."""

    def answer(self, texts: Sequence[str]) -> Sequence[Any]:
        """Return an answer for each text."""


class WaitingRequest(NamedTuple):
    work: Work
    texts: Sequence[str]
    answers: Future[Sequence[Any]]


class Batches:
    def __init__(self, most_waiting: int, together: int = TOGETHER) -> None:
        self.most_waiting, self.together = most_waiting, together
        self._waiting: deque[WaitingRequest] = deque()
        self._ending = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="batches", daemon=True)
        self._thread.start()

    def submit(self, work: Work, texts: Sequence[str]) -> Future[Sequence[Any]]:
        """Add a request to the queue; one that is cancelled before its turn leaves the queue."""
        with self._changed:
            self._forget_cancelled()
            if self._ending:
                raise busy("the server is ending: ask again when it runs")
            if len(self._waiting) >= self.most_waiting:
                raise busy(f"{len(self._waiting)} requests wait, and no more are taken: ask again later")
            job = WaitingRequest(work, texts, Future())
            self._waiting.append(job)
            self._changed.notify()
        return job.answers

    def waiting(self) -> int:
        with self._changed:
            self._forget_cancelled()
            return len(self._waiting)

    def close(self) -> None:
        """Cancel the waiting requests and end when the current batch is answered."""
        with self._changed:
            self._ending = True
            for job in self._waiting:
                job.answers.cancel()
            self._changed.notify()
        self._thread.join()

    def _forget_cancelled(self) -> None:
        self._waiting = deque(job for job in self._waiting if not job.answers.cancelled())

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._ending)
                if self._ending:
                    return
                batch = self._take()
            if batch:
                answer(batch)

    def _take(self) -> list[WaitingRequest]:
        """Remove and return the job that waits longest, and those of equal work that fit."""
        batch: list[WaitingRequest] = []
        waiting: deque[WaitingRequest] = deque()
        texts = 0
        for job in self._waiting:
            if job.work != self._waiting[0].work or (batch and texts + len(job.texts) > self.together):
                waiting.append(job)
            elif job.answers.set_running_or_notify_cancel():
                batch.append(job)
                texts += len(job.texts)
        self._waiting = waiting
        return batch


def answer(jobs: Sequence[WaitingRequest]) -> None:
    """Answer the jobs of a batch; one that fails is divided in halves, until only the failing job fails."""
    try:
        answers = iter(jobs[0].work.answer([text for job in jobs for text in job.texts]))
    except Exception as error:
        if len(jobs) == 1:
            jobs[0].answers.set_exception(error)
            return
        answer(jobs[: len(jobs) // 2])
        answer(jobs[len(jobs) // 2 :])
        return
    for job in jobs:
        job.answers.set_result([next(answers) for _ in job.texts])
