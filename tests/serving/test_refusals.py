"""Requests that the server refuses, each in a sentence."""

import json

import pytest
from pages.serving_client import Client, serving

TEXT = '{"texts": ["a"], '
FIELDS = "model, texts, beam, nbest, lenpen, max_len_a, max_len_b, alignments"
BROKEN = {
    "no JSON": b"{",
    "nothing": b"",
    "no object": b"[]",
    "no UTF-8": b'{"texts": ["\xff"]}',
    "deep": b"[" * 10_000,
    "deep within": b'{"texts": ' + b"[" * 9_000 + b"]" * 9_000 + b"}",
    "half a surrogate": b'{"texts": ["\\ud800"]}',
    "half a surrogate as a key": b'{"texts": ["a"], "\\udc00\\u001b[2J": 1}',
    "half a surrogate as a model": b'{"texts": ["a"], "model": "\\ud800"}',
    "a line break": b'{"texts": ["a\\nb"]}',
    "no texts": b"{}",
    "empty texts": b'{"texts": []}',
    "one text": b'{"texts": "a"}',
    "a number for a text": b'{"texts": [1]}',
    "null for a text": b'{"texts": [null]}',
    "an unknown option": (TEXT + '"max_tokens": 1}').encode(),
    "another model": (TEXT + '"model": "post"}').encode(),
    "beam 0": (TEXT + '"beam": 0}').encode(),
    "beam 6": (TEXT + '"beam": 6}').encode(),
    "beam as a word": (TEXT + '"beam": "4"}').encode(),
    "beam as a fraction": (TEXT + '"beam": 1.5}').encode(),
    "beam as a truth": (TEXT + '"beam": true}').encode(),
    "a huge beam": (TEXT + '"beam": 1' + "0" * 4_000 + "}").encode(),
    "a beam of too many digits": (TEXT + '"beam": 1' + "0" * 9_000 + "}").encode(),
    "beam NaN": (TEXT + '"beam": NaN}').encode(),
    "beam Infinity": (TEXT + '"beam": Infinity}').encode(),
    "more nbest than beam": (TEXT + '"beam": 2, "nbest": 3}').encode(),
    "lenpen NaN": (TEXT + '"lenpen": NaN}').encode(),
    "lenpen Infinity": (TEXT + '"lenpen": -Infinity}').encode(),
    "a huge lenpen": (TEXT + '"lenpen": 1e308}').encode(),
    "a huge whole lenpen": (TEXT + '"lenpen": 1' + "0" * 400 + "}").encode(),
    "lengths without end": (TEXT + '"max_len_a": 1e999}').encode(),
    "a negative length": (TEXT + '"max_len_b": -1}').encode(),
    "too many texts": json.dumps({"texts": ["a"] * 62}).encode(),
    "too many characters": json.dumps({"texts": ["a" * 3_001]}).encode(),
    "too many tokens": json.dumps({"texts": ["a " * 1_100]}).encode(),
}


@pytest.mark.parametrize("path", ["/translate", "/attention"])
@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_answered_is_refused_in_a_sentence(client: Client, name: str, path: str) -> None:
    response = client.post(path, BROKEN[name])
    assert response.status == 422
    (key, message), *more = response.json.items()
    assert (key, more) == ("error", [])
    assert message.isprintable()
    assert len(message) < 700
    assert client.get("/health").json == {"status": "ok", "waiting": 0}


def test_a_refusal_says_what_is_allowed(client: Client) -> None:
    message = client.post("/translate", {"texts": ["a " * 1_100]}).json["error"]
    assert "a text of 1101 tokens" in message
    assert "longer than the model's 1024: split it" in message
    message = client.post("/translate", {"texts": ["a"], "beam": 3, "nbest": 4}).json["error"]
    assert message == "nbest=4 of beam=3: give a beam of 4 or more"
    assert "did you mean tiny?" in client.post("/translate", {"texts": ["a"], "model": "tinny"}).json["error"]


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/translate", b"{", "the body is not JSON: Expecting property name enclosed in double quotes, at character 1"),
        ("/translate", b"", "the body is missing"),
        ("/translate", b"{}", "texts is missing"),
        ("/translate", b'{"texts": ["a"], "beam": "3"}', "beam must be a valid integer"),
        ("/translate", b'{"text": "a"}', f"field text is not one of {FIELDS}; did you mean texts?"),
        (
            "/attention",
            b'{"texts": 1}',
            "field texts is not one of model, text, pieces, chain, layer; did you mean text?",
        ),
    ],
)
def test_a_mistake_is_told_in_a_plain_sentence(client: Client, path: str, body: bytes, message: str) -> None:
    assert client.post(path, body).json["error"] == message


def test_a_body_that_is_no_json_by_its_type_is_refused(client: Client) -> None:
    """A page of another site may send such a body without being asked first."""
    text = {"Content-Type": "text/plain"}
    response = client.ask("POST", "/translate", b'{"texts": ["a"]}', text)
    assert (response.status, response.json["error"]) == (
        422,
        "send JSON, with the header Content-Type: application/json",
    )


def test_a_list_is_refused_by_its_first_mistake() -> None:
    """An error for each of half a million numbers would take seconds and 500 MB."""
    attention = {"text": "a", "chain": "encoder", "layer": 1}
    bodies = {"/translate": {"texts": [1] * 500}, "/attention": {**attention, "pieces": [1] * 500}}
    with serving({}) as client:
        for (path, body), name in zip(bodies.items(), ("texts", "pieces"), strict=True):
            response = client.post(path, body)
            assert (response.status, response.json["error"]) == (422, f"{name}.0 must be a valid string")


@pytest.mark.parametrize(
    "media_type", ["Application/JSON", "application/vnd.api+json", "application/json; charset=utf-8"]
)
def test_every_media_type_of_json_is_read(media_type: str) -> None:
    with serving({}) as client:
        response = client.post("/translate", {"texts": ["a"], "beams": 1}, **{"Content-Type": media_type})
    assert (response.status, response.json["error"]) == (
        422,
        f"field beams is not one of {FIELDS}; did you mean beam?",
    )


@pytest.mark.parametrize("media_type", ["application/jsonl", "application/json5", "text/json"])
def test_a_media_type_that_only_looks_like_json_is_refused(media_type: str) -> None:
    with serving({}) as client:
        response = client.post("/translate", {"texts": ["a"]}, **{"Content-Type": media_type})
    message = "send JSON, with the header Content-Type: application/json"
    assert (response.status, response.json["error"]) == (422, message)


@pytest.mark.parametrize("name", ["no UTF-8", "deep", "a beam of too many digits"])
def test_of_a_body_that_cannot_be_read_the_refusal_says_what_can(name: str) -> None:
    with serving({}) as client:
        response = client.post("/translate", BROKEN[name])
    assert response.status == 422
    assert response.json["error"] == (
        "POST /translate: the body cannot be read: send JSON in UTF-8, without deep nesting and without numbers of "
        "thousands of digits"
    )
