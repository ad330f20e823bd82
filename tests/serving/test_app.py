"""The interface over real HTTP: its answers are the Translator's own, and whatever is asked, it never breaks."""

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pages.serving_client import Client, hypotheses, serving

from realformer_nmt.common.errors import UserError
from realformer_nmt.serving.batching import WaitingRequest, answer
from realformer_nmt.serving.decoding import SearchOptions
from realformer_nmt.serving.handlers import TranslationWork
from realformer_nmt.serving.limits import Limits
from realformer_nmt.serving.served_models import Served
from realformer_nmt.serving.translator import Translator

LIMITS = Limits(most_bytes=20_000, most_texts=61, most_characters=3_000, most_beam=5)
TEXT = '{"texts": ["a"], '
ODD = {
    "NUL": "a\0b",
    "carriage return": "a\r\nb".replace("\n", ""),
    "line separator": "a\u2028b",
    "next line": "a\x85b",
    "byte order mark": "\ufeffa",
    "right to left": "\u202ea",
    "beyond the BMP": "\U0001f600",
    "not a character": "\uffff\U0010ffff",
    "spaces": " \t\x0b\x1c ",
    "nothing": "",
    "unit of the subwords": "\u2581 @@ a@@",
    "special": "<s> </s> <unk> <pad> <<unk>> madeupword0000",
}
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


LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20)
JSON = st.recursive(LEAF, lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3))
ODDEST = st.text(st.characters(), max_size=20)  # halves of surrogate pairs, too
OPTIONS = dict.fromkeys(("beam", "nbest", "max_len_b"), st.integers(0, 6)) | dict.fromkeys(
    ("max_len_a", "lenpen"), st.floats() | st.integers()
)
SEARCHES = st.fixed_dictionaries(
    {"texts": st.lists(ODDEST, min_size=1, max_size=3)},
    optional={name: kind | JSON for name, kind in OPTIONS.items()},
)
LOOKS = st.fixed_dictionaries(
    {
        "text": ODDEST,
        "pieces": st.lists(ODDEST, max_size=5),
        "chain": st.sampled_from(["encoder", "decoder", "encoder-decoder"]),
        "layer": st.integers(1, 2) | JSON,
    }
)


@pytest.fixture(scope="module")
def served(model: Translator) -> dict[str, Served]:
    return {"tiny": Served("tiny", model, "fp32", "realformer", (2, 2)).ready()}


@pytest.fixture(scope="module")
def client(served: dict[str, Served]) -> Iterator[Client]:
    with serving(served, LIMITS) as http_client:
        yield http_client


def test_hypotheses_are_the_translators(client: Client, model: Translator, texts: list[str]) -> None:
    response = client.post("/translate", {"texts": texts, "model": "tiny", "beam": 3, "nbest": 2, "max_len_b": 12})
    expected = list(model.stream(texts, beam=3, nbest=2, max_len_b=12))
    assert hypotheses(response) == [[(each.text, each.score) for each in nbest] for nbest in expected]
    first = response.json["translations"][0]
    assert (first["source"], first["hypotheses"][0]["pieces"]) == (texts[0].split(), expected[0][0].pieces)


def test_alignments_are_the_translators_where_they_are_asked_for(client: Client, model: Translator) -> None:
    for text in ("b a c d", ""):
        aligned, plain = (
            client.post("/translate", {"texts": [text], "alignments": alignments}).json["translations"][0][
                "hypotheses"
            ][0]
            for alignments in (True, False)
        )
        ((expected,),) = model.stream([text], alignments=True)
        assert [tuple(pair) for pair in aligned["alignment"]] == expected.alignment
        assert [other for _, other in expected.alignment] == [*range(len(expected.pieces))]
        score = pytest.approx(plain["score"], abs=1e-5)  # attention is computed another way where it is looked at
        assert {**aligned, "alignment": None} == {**plain, "score": score}


def test_clients_at_once_get_each_their_own(client: Client, model: Translator, texts: list[str]) -> None:
    with ThreadPoolExecutor(16) as threads:
        responses = list(threads.map(lambda text: client.post("/translate", {"texts": [text], "beam": 4}), texts))
    assert [hypotheses(each)[0][0][0] for each in responses] == model.translate(texts, beam=4)


@pytest.mark.parametrize("name", ODD)
def test_odd_characters_are_translated_as_in_python(client: Client, model: Translator, name: str) -> None:
    response = client.post("/translate", {"texts": [ODD[name], "a b"]})
    assert [each[0][0] for each in hypotheses(response)] == model.translate([ODD[name], "a b"])


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


@settings(max_examples=40, deadline=None)
@given(search=SEARCHES, look=LOOKS)
def test_nothing_that_is_json_breaks_it(client: Client, search: dict[str, Any], look: dict[str, Any]) -> None:
    for path, body in (("/translate", search), ("/attention", look)):
        response = client.post(path, body)
        assert response.status in (200, 422)
        assert (response.status == 422) == ("error" in response.json)


def test_a_refusal_says_what_is_allowed(client: Client) -> None:
    message = client.post("/translate", {"texts": ["a " * 1_100]}).json["error"]
    assert "a text of 1101 tokens" in message
    assert "longer than the model's 1024: split it" in message
    message = client.post("/translate", {"texts": ["a"], "beam": 3, "nbest": 4}).json["error"]
    assert message == "nbest=4 of beam=3: give a beam of 4 or more"
    assert "did you mean tiny?" in client.post("/translate", {"texts": ["a"], "model": "tinny"}).json["error"]
    assert client.post("/translate", {"texts": ["a"], "beam": "3"}).json["error"].startswith("beam: ")


def test_a_text_that_is_too_long_fails_alone(model: Translator) -> None:
    search = TranslationWork(model, SearchOptions())
    jobs = [WaitingRequest(search, texts, Future()) for texts in (["a b", "c"], ["a " * 1_100], ["d"])]
    answer(jobs)
    with pytest.raises(UserError, match="a text of 1101 tokens"):
        jobs[1].answers.result(0)
    translations = [best.text for job in (jobs[0], jobs[2]) for (best,) in job.answers.result(0)]
    assert translations == model.translate(["a b", "c", "d"])


def test_models_limits_and_health(client: Client) -> None:
    listing = client.get("/models").json
    description = {"family": "realformer", "layers": [2, 2], "source": "src", "target": "tgt", "precision": "fp32"}
    assert listing["models"] == [{"name": "tiny", **description}]
    assert listing["limits"]["most_characters"] == 3_000
    assert client.get("/health").json["status"] == "ok"


def test_openapi_describes_what_there_is_and_no_page_of_fastapis_is_there(client: Client) -> None:
    described = client.get("/openapi.json").json
    assert {path: list(ways) for path, ways in described["paths"].items()} == {
        "/health": ["get"],
        "/models": ["get"],
        "/translate": ["post"],
        "/attention": ["post"],
    }
    answers = described["paths"]["/translate"]["post"]["responses"]
    assert answers.keys() == {"200", "408", "413", "421", "422", "503", "504"}
    assert answers["422"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Error"}
    for path in ("/docs", "/redoc", "/nothing"):
        response = client.get(path)
        assert response.status == 404
        assert response.json["error"].startswith(f"GET {path}: Not Found")
    assert client.get("/translate").status == 405


def test_a_body_that_is_no_json_by_its_type_is_refused(client: Client) -> None:
    """A page of another site may send such a body without being asked first."""
    text = {"Content-Type": "text/plain"}
    response = client.ask("POST", "/translate", b'{"texts": ["a"]}', text)
    assert (response.status, response.json["error"]) == (
        422,
        "send JSON, with the header Content-Type: application/json",
    )


def test_of_several_models_one_has_to_be_named(served: dict[str, Served], model: Translator) -> None:
    two = {name: served["tiny"]._replace(name=name) for name in ("one", "two")}
    with serving(two) as client:
        refused = client.post("/translate", {"texts": ["a"]})
        assert (refused.status, "set model to one of one, two" in refused.json["error"]) == (422, True)
        response = client.post("/translate", {"texts": ["a"], "model": "two"})
        assert (response.json["model"], hypotheses(response)[0][0][0]) == ("two", model.translate(["a"])[0])


def test_without_a_beam_the_limit_of_the_server_is_kept(
    served: dict[str, Served], model: Translator, texts: list[str]
) -> None:
    with serving(served, Limits(most_beam=2)) as client:
        response = client.post("/translate", {"texts": texts})
        assert [each[0][0] for each in hypotheses(response)] == model.translate(texts, beam=2)
        refused = client.post("/translate", {"texts": texts, "beam": 5})
        assert (refused.status, refused.json["error"]) == (422, "beam=5: allowed is 2 or less")


def test_a_list_is_refused_by_its_first_mistake() -> None:
    """An error for each of half a million numbers would take seconds and 500 MB."""
    attention = {"text": "a", "chain": "encoder", "layer": 1}
    bodies = {"/translate": {"texts": [1] * 500}, "/attention": {**attention, "pieces": [1] * 500}}
    with serving({}) as client:
        for (path, body), name in zip(bodies.items(), ("texts", "pieces"), strict=True):
            response = client.post(path, body)
            assert (response.status, response.json["error"]) == (422, f"{name}.0: Input should be a valid string")


@pytest.mark.parametrize(
    "media_type", ["Application/JSON", "application/vnd.api+json", "application/json; charset=utf-8"]
)
def test_every_media_type_of_json_is_read(media_type: str) -> None:
    with serving({}) as client:
        response = client.post("/translate", {"texts": ["a"], "beams": 1}, **{"Content-Type": media_type})
    assert (response.status, response.json["error"]) == (422, "beams: Extra inputs are not permitted")


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
