"""The interface over real HTTP: its answers are the Translator's own."""

from collections import deque
from dataclasses import asdict

import pytest
from pages.serving_client import Client, hypotheses, serving

from realformer_nmt.common.errors import UserError
from realformer_nmt.serving.batching import WaitingRequest, answer, deal
from realformer_nmt.serving.decoding import SearchOptions
from realformer_nmt.serving.handlers import TranslationWork
from realformer_nmt.serving.serve import Limits
from realformer_nmt.serving.served_models import Served
from realformer_nmt.serving.translator import Translator

ODD = ["a\0b", "a\rb", "a\u2028b", "\ufeffa", "\U0001f600", " \t\x0b\x1c ", "", "\u2581 @@ a@@", "<s> </s>"]


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


def test_odd_characters_are_translated_as_in_python(client: Client, model: Translator) -> None:
    response = client.post("/translate", {"texts": ODD})
    assert [each[0][0] for each in hypotheses(response)] == model.translate(ODD)


def test_a_text_that_is_too_long_fails_alone(model: Translator) -> None:
    search = TranslationWork(model, SearchOptions())
    jobs = [WaitingRequest(search, deque(texts)) for texts in (["a b", "c"], ["a " * 1_100], ["d"])]
    answer(deal(jobs, 3_000))
    with pytest.raises(UserError, match="a text of 1101 tokens"):
        jobs[1].answers.result(0)
    translations = [best.text for job in (jobs[0], jobs[2]) for (best,) in job.answers.result(0)]
    assert translations == model.translate(["a b", "c", "d"])


def test_models_limits_and_health(client: Client) -> None:
    listing = client.get("/models").json
    description = {"family": "realformer", "layers": [2, 2], "source": "src", "target": "tgt", "precision": "fp32"}
    assert listing["models"] == [{"name": "tiny", **description}]
    limits = {"most_bytes": 20_000, "most_texts": 61, "most_characters": 3_000, "most_beam": 5}
    assert listing["limits"] == asdict(Limits()) | limits
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


def test_texts_of_several_sentences_are_split_where_it_is_asked_for(client: Client, model: Translator) -> None:
    texts = [" a b. C\nd", " ", "a. B"]
    response = client.post("/translate", {"texts": texts, "split_sentences": True})
    assert response.json["texts"] == model.translate(texts, split_sentences=True)
    assert [each["text"] for each in response.json["translations"]] == ["a b.", "C", "d", "", "a.", "B"]
    assert client.post("/translate", {"texts": texts}).status == 422  # a line break
