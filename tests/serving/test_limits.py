"""A server with too much to do, or too little time, says so and goes on."""

import json
import math
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pages.serving_client import hypotheses, serving

import realformer_nmt
from realformer_nmt.serving.serve import Limits
from realformer_nmt.serving.served_models import Served
from realformer_nmt.serving.translator import Translator


class Held:
    """A translator that waits for its gate."""

    def __init__(self, model: Translator) -> None:
        self.corpus, self.gate, self.begun = model.corpus, threading.Event(), threading.Event()

    def stream(self, texts: list[str], **_: Any) -> list[Any]:
        self.begun.set()
        assert self.gate.wait(60)
        if texts == ["broken"]:
            raise ZeroDivisionError(math.inf)
        return [[realformer_nmt.serving.decoding.Hypothesis(text, 0.0, [], [], [])] for text in texts]


@pytest.fixture
def gated_translator(model: Translator) -> Iterator[Held]:
    translator = Held(model)
    yield translator
    translator.gate.set()


def test_who_finds_no_room_is_told_when_to_come_back(gated_translator: Held) -> None:
    with (
        serving({"held": Served("held", gated_translator, "fp32", "", None)}, Limits(most_waiting=1)) as client,
        ThreadPoolExecutor(2) as threads,
    ):
        first = threads.submit(client.post, "/translate", {"texts": ["1"]})
        assert gated_translator.begun.wait(60)
        second = threads.submit(client.post, "/translate", {"texts": ["2"]})
        while client.get("/health").json["waiting"] < 1:
            pass
        third = client.post("/translate", {"texts": ["3"]})
        assert (third.status, third.headers["retry-after"]) == (503, "1")
        assert third.json["error"] == "1 requests wait, and no more are taken: ask again later"
        gated_translator.gate.set()
        assert [hypotheses(each.result()) for each in (first, second)] == [[[("1", 0.0)]], [[("2", 0.0)]]]


def test_what_takes_too_long_is_given_up_and_the_next_is_answered(gated_translator: Held) -> None:
    with serving({"held": Served("held", gated_translator, "fp32", "", None)}, Limits(most_seconds=0.2)) as client:
        for text in ("1", "2"):  # at work, and waiting
            late = client.post("/translate", {"texts": [text]})
            assert late.status == 504
            assert late.json["error"].startswith("no answer within 0.2 seconds: send fewer texts")
        assert client.get("/health").json["waiting"] == 0
        gated_translator.gate.set()
        assert hypotheses(client.post("/translate", {"texts": ["3"]})) == [[("3", 0.0)]]


def test_who_leaves_gives_up_the_place(gated_translator: Held) -> None:
    with serving({"held": Served("held", gated_translator, "fp32", "", None)}, Limits(most_waiting=1)) as client:
        body = json.dumps({"texts": ["1"]})
        head = "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        request = f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
        with client.begun(request):
            assert gated_translator.begun.wait(60)
            with client.begun(request):
                while client.get("/health").json["waiting"] < 1:
                    pass
            while client.get("/health").json["waiting"] > 0:  # ends when the server has seen that it is gone
                pass
        gated_translator.gate.set()


def test_an_error_that_nobody_has_foreseen_is_one_too(gated_translator: Held) -> None:
    gated_translator.gate.set()
    with serving({"held": Served("held", gated_translator, "fp32", "", None)}) as client:
        response = client.post("/translate", {"texts": ["broken"]})
        assert (response.status, response.json["error"].split(":")[0]) == (500, "ZeroDivisionError")
        assert response.headers["x-content-type-options"] == "nosniff"
        assert hypotheses(client.post("/translate", {"texts": ["3"]})) == [[("3", 0.0)]]
