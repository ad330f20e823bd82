"""Batches of the texts of several requests, processed by one thread.

A batch takes one text in turn from each request of equal work, the one that waits longest first, until it is full. So a
short request does not wait for all texts of a long one. The thread never waits for more: texts that arrive while it
works are in the next batches.
"""

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

from realformer_nmt.serving.refusals import busy

CHARACTERS = 8_000  # of a batch, unless one text has more: some 130 sentences of a news text


class Work(Protocol):
    """Processing of texts, as a hashable value: requests of equal works share a batch."""

    def answer(self, texts: Sequence[str]) -> Sequence[Any]:
        """Return an answer for each text."""


@dataclass(eq=False)
class WaitingRequest:
    work: Work
    texts: deque[str]  # that no batch has taken yet
    results: list[Any] = field(default_factory=list)
    answers: Future[Sequence[Any]] = field(default_factory=Future)

    def add(self, results: Sequence[Any]) -> None:
        """Add results of the next texts; the last ones complete the answers, unless they are cancelled."""
        self.results += results
        if not self.texts and self.answers.set_running_or_notify_cancel():
            self.answers.set_result(self.results)

    def fail(self, error: Exception) -> None:
        if self.answers.set_running_or_notify_cancel():
            self.answers.set_exception(error)


Shares = dict[WaitingRequest, list[str]]  # texts of each request that are in a batch


class Batches:
    def __init__(self, most_waiting: int, characters: int = CHARACTERS) -> None:
        self.most_waiting, self.characters = most_waiting, characters
        self._waiting: deque[WaitingRequest] = deque()
        self._ending = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="batches", daemon=True)
        self._thread.start()

    def submit(self, work: Work, texts: Sequence[str]) -> Future[Sequence[Any]]:
        """Add a request to the queue; one that is cancelled before its last turn leaves the queue."""
        with self._changed:
            self._forget_done()
            if self._ending:
                raise busy("the server is ending: ask again when it runs")
            if len(self._waiting) >= self.most_waiting:
                raise busy(f"{len(self._waiting)} requests wait, and no more are taken: ask again later")
            job = WaitingRequest(work, deque(texts))
            self._waiting.append(job)
            self._changed.notify()
        return job.answers

    def waiting(self) -> int:
        with self._changed:
            self._forget_done()
            return len(self._waiting)

    def close(self) -> None:
        """Cancel the waiting requests and end when the current batch is answered."""
        with self._changed:
            self._ending = True
            for job in self._waiting:
                job.answers.cancel()
            self._changed.notify()
        self._thread.join()

    def _forget_done(self) -> None:
        self._waiting = deque(job for job in self._waiting if not job.answers.done())

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._ending)
                if self._ending:
                    return
                batch = self._take()
            if batch:
                answer(batch)

    def _take(self) -> Shares:
        """Take the texts of the next batch from the queue; requests with more texts go to its end."""
        self._forget_done()
        shares = deal([job for job in self._waiting if job.work == self._waiting[0].work], self.characters)
        rest = [job for job in shares if job.texts]
        self._waiting = deque([job for job in self._waiting if job not in shares] + rest)
        return shares


def deal(requests: Sequence[WaitingRequest], characters: int) -> Shares:
    """Take one text of each request in turn until the batch is full."""
    shares: Shares = {}
    turns = deque(requests)
    while turns and characters > 0:
        request = turns.popleft()
        text = request.texts.popleft()
        shares.setdefault(request, []).append(text)
        characters -= len(text)
        if request.texts:
            turns.append(request)
    return shares


def answer(shares: Shares) -> None:
    """Answer the texts of a batch; one that fails is divided in halves, until only the failing request fails."""
    requests = list(shares)
    try:
        answers = iter(requests[0].work.answer([text for texts in shares.values() for text in texts]))
    except Exception as error:
        if len(requests) == 1:
            requests[0].fail(error)
            return
        half = len(requests) // 2
        for part in (requests[:half], requests[half:]):
            answer({request: shares[request] for request in part})
        return
    for request, texts in shares.items():
        request.add([next(answers) for _ in texts])
