"""Requests that the server refuses, each in a sentence."""

import json

import pytest
from pages.serving_client import Client, serving

TEXT = '{"texts": ["a"], '
UNREADABLE = (
    "POST /translate: the body cannot be read: send JSON in UTF-8, without deep nesting and without numbers of "
    "thousands of digits"
)
BROKEN = {
    "no JSON": (b"{", "the body is not JSON: Expecting property name enclosed in double quotes, at character 1"),
    "nothing": (b"", "the body is missing"),
    "no UTF-8": (b'{"texts": ["\xff"]}', UNREADABLE),
    "too many digits": ((TEXT + '"beam": 1' + "0" * 9_000 + "}").encode(), UNREADABLE),
    "half a surrogate as a key": (b'{"texts": ["a"], "\\udc00\\u001b[2J": 1}', "the body must be a valid string"),
    "empty texts": (b'{"texts": []}', "texts must have at least 1 item"),
    "a number for a text": (b'{"texts": [1]}', "texts.0 must be a valid string"),
    "an unknown field": (b'{"text": "a"}', "texts is missing; text is no field of such a request: /openapi.json lists"),
    "another model": ((TEXT + '"model": "tinny"}').encode(), "model tinny is not one of tiny; did you mean tiny?"),
    "lenpen NaN": ((TEXT + '"lenpen": NaN}').encode(), "lenpen must be "),
    "more nbest than beam": ((TEXT + '"beam": 2, "nbest": 3}').encode(), "nbest=3 of beam=2: give a beam of 3 or more"),
    "too many texts": (json.dumps({"texts": ["a"] * 62}).encode(), "62 texts: allowed are 61 in a request"),
    "too many characters": (json.dumps({"texts": ["a" * 3_001]}).encode(), "a text of 3001 characters: allowed"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_answered_is_refused_in_a_sentence(client: Client, name: str) -> None:
    body, message = BROKEN[name]
    response = client.post("/translate", body)
    assert (response.status, [*response.json]) == (422, ["error"])
    assert message in response.json["error"]
    assert response.json["error"].isprintable()
    assert len(response.json["error"]) < 700
    assert client.get("/health").json == {"status": "ok", "waiting": 0}


@pytest.mark.parametrize("media_type", ["text/plain", "application/jsonl"])
def test_a_body_that_is_no_json_by_its_type_is_refused(client: Client, media_type: str) -> None:
    """A page of another site may send text/plain without being asked first."""
    response = client.post("/translate", {"texts": ["a"]}, **{"Content-Type": media_type})
    message = "send JSON, with the header Content-Type: application/json"
    assert (response.status, response.json["error"]) == (422, message)


def test_a_list_is_refused_by_its_first_mistake() -> None:
    """An error for each of half a million numbers would take seconds and 500 MB."""
    attention = {"text": "a", "chain": "encoder", "layer": 1}
    bodies = {"/translate": {"texts": [1] * 500}, "/attention": {**attention, "pieces": [1] * 500}}
    with serving({}) as client:
        for (path, body), name in zip(bodies.items(), ("texts", "pieces"), strict=True):
            response = client.post(path, body)
            assert (response.status, response.json["error"]) == (422, f"{name}.0 must be a valid string")
