"""Batches that requests share, their order, and the end of requests that fail, wait too long or come too late."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field

import pytest

from realformer_nmt.serving.batching import Batches
from realformer_nmt.serving.refusals import RefusalError


@dataclass(frozen=True)
class Work:
    """Doubles every text, once the gate is open; equal by its name."""

    name: str
    seen: list[tuple[str, ...]] = field(compare=False)
    gate: threading.Event = field(compare=False)
    begun: threading.Event = field(compare=False, default_factory=threading.Event)

    def answer(self, texts: Sequence[str]) -> list[str]:
        self.begun.set()
        assert self.gate.wait(60)
        self.seen.append(tuple(texts))
        if "bad" in texts:
            raise ValueError("bad")
        return [text * 2 for text in texts]


class Stage:
    """Batches whose thread is held by a first job until `go`."""

    def __init__(self, most_waiting: int, characters: int) -> None:
        self.batches = Batches(most_waiting, characters)
        self.seen: list[tuple[str, ...]] = []
        self.gate = threading.Event()
        first = self.work("first")
        self.first = self.batches.submit(first, ["0"])
        assert first.begun.wait(60)

    def work(self, name: str) -> Work:
        return Work(name, self.seen, self.gate)

    def submit(self, name: str, *texts: str) -> "Future[Sequence[str]]":
        return self.batches.submit(self.work(name), texts)

    def go(self) -> None:
        self.gate.set()


@pytest.fixture
def stage() -> Iterator[Stage]:
    new_stage = Stage(most_waiting=8, characters=4)
    yield new_stage
    new_stage.go()
    new_stage.batches.close()


def test_what_waits_shares_a_batch_and_each_gets_its_own(stage: Stage) -> None:
    jobs = [stage.submit("a", "1"), stage.submit("a", "2", "3"), stage.submit("a", "4")]
    stage.go()
    assert [job.result() for job in jobs] == [["11"], ["22", "33"], ["44"]]
    assert stage.seen == [("0",), ("1", "2", "3", "4")]


def test_other_work_waits_for_its_own_turn_by_age(stage: Stage) -> None:
    jobs = [stage.submit(name, text) for name, text in (("a", "1"), ("b", "2"), ("c", "3"), ("b", "4"), ("a", "5"))]
    stage.go()
    assert [job.result() for job in jobs] == [["11"], ["22"], ["33"], ["44"], ["55"]]
    assert stage.seen[1:] == [("1", "5"), ("2", "4"), ("3",)]


def test_a_batch_takes_one_text_of_each_request_in_turn_until_it_is_full(stage: Stage) -> None:
    jobs = [stage.submit("a", *texts) for texts in ("12345", "678", "9")]
    other = stage.submit("b", "0")
    stage.go()
    assert [len(job.result()) for job in (*jobs, other)] == [5, 3, 1, 1]
    assert ["".join(texts) for texts in stage.seen[1:]] == ["1269", "0", "3478", "5"]


def test_what_fails_fails_alone(stage: Stage) -> None:
    jobs = [stage.submit("a", text) for text in ("1", "2", "bad", "3")]
    stage.go()
    assert [jobs[place].result() for place in (0, 1, 3)] == [["11"], ["22"], ["33"]]
    with pytest.raises(ValueError, match="bad"):
        jobs[2].result()
    assert stage.submit("a", "4").result() == ["44"]


def test_a_request_that_has_failed_is_not_continued(stage: Stage) -> None:
    job = stage.submit("a", "bad", "1", "2", "3")
    stage.go()
    with pytest.raises(ValueError, match="bad"):
        job.result()
    assert stage.submit("a", "4").result() == ["44"]
    assert stage.seen[1:] == [("bad", "1"), ("4",)]


def test_one_more_than_may_wait_is_refused_until_one_is_cancelled(stage: Stage) -> None:
    jobs = [stage.submit("a", str(number)) for number in range(8)]
    with pytest.raises(RefusalError, match="8 requests wait") as refused:
        stage.submit("a", "late")
    assert (refused.value.status_code, refused.value.headers) == (503, {"Retry-After": "1"})
    assert stage.batches.waiting() == 8
    assert jobs[3].cancel()
    late = stage.submit("a", "late")
    stage.go()
    assert late.result() == ["latelate"]
    assert "3" not in [text for texts in stage.seen for text in texts]


def test_at_the_end_what_is_worked_on_is_answered_and_what_waits_is_not(stage: Stage) -> None:
    waiting = stage.submit("a", "1")
    ending = threading.Thread(target=stage.batches.close)
    ending.start()
    with pytest.raises(CancelledError):
        waiting.result(60)
    with pytest.raises(RefusalError, match="is ending"):
        stage.submit("a", "2")
    stage.go()
    ending.join(timeout=60)
    assert stage.first.result(0) == ["00"]
    assert stage.seen == [("0",)]
