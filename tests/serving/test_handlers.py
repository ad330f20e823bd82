"""The attention of a sentence, against what the model itself gives back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from pages.serving_client import Client, serving
from tiny_models import saved

import realformer_nmt
from realformer_nmt.analysis import loaded_model
from realformer_nmt.checkpoints import inspection
from realformer_nmt.kernels.precision import supported
from realformer_nmt.serving.handlers import AttentionWork
from realformer_nmt.serving.served_models import Served
from realformer_nmt.serving.translator import Translator

ASKED = {"text": "a c b", "pieces": ["b", "c", "a"]}


@pytest.fixture(scope="module")
def client(run: Path, toy_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The model in every precision, and one of fairseq's own."""
    sizes = ("--encoder-embed-dim", "8", "--decoder-embed-dim", "8")
    stock = saved.state(toy_corpus, *sizes, arch="transformer")
    paths = {precision: (run / "checkpoint5.pt", precision) for precision in supported()}
    paths["stock"] = saved.save(tmp_path_factory.mktemp("stock") / "stock.pt", stock), "fp32"
    options = {"data": toy_corpus, "subwords": "none", "cpu": True}
    models = {
        name: Served(name, realformer_nmt.load(path, **options), precision, "", None)
        for name, (path, precision) in paths.items()
    }
    with serving(models) as http_client:
        yield http_client


def weights(client: Client, chain: str, layer: int = 2, model: str = "fp32") -> tuple[dict[str, Any], torch.Tensor]:
    response = client.post("/attention", {**ASKED, "model": model, "chain": chain, "layer": layer})
    assert response.status == 200, response.body
    return response.json, torch.tensor(response.json["weights"])


@pytest.mark.parametrize("precision", supported())
def test_the_last_layers_mean_is_what_the_model_gives_back(client: Client, run: Path, precision: str) -> None:
    """The model was loaded apart, and never made ready for decoding."""
    checkpoint = run / "checkpoint5.pt"
    model = loaded_model.load("own", checkpoint, inspection.build).model
    words = realformer_nmt.load(checkpoint, data=run.parent / "toy_corpus" / "data-bin", subwords="none", cpu=True)
    dictionary = words.loaded(realformer_nmt.serving.decoding.SearchOptions()).task.source_dictionary
    tokens = [[dictionary.index(word) for word in text] for text in (["a", "c", "b", "</s>"], ["</s>", "b", "c", "a"])]
    with torch.no_grad():
        _, extra = model(torch.tensor(tokens[:1]), None, torch.tensor(tokens[1:]))
    attention, heads = weights(client, "encoder-decoder", model=precision)
    assert (attention["queries"], attention["keys"]) == (["b", "c", "a", "</s>"], ["a", "c", "b", "</s>"])
    assert (heads.shape, attention["layers"]) == ((4, 4, 4), 2)
    assert torch.allclose(heads.mean(0), extra["attn"][0][0], atol=1e-4 if precision == "fp32" else 0.05)


@pytest.mark.parametrize("chain", ["encoder", "decoder", "encoder-decoder"])
def test_every_row_is_a_distribution_and_the_decoder_does_not_look_ahead(client: Client, chain: str) -> None:
    for layer in (1, 2):
        attention, heads = weights(client, chain, layer)
        assert heads.shape[1:] == (len(attention["queries"]), len(attention["keys"]))
        assert torch.allclose(heads.sum(-1), torch.ones(heads.shape[:-1]), atol=1e-3)
        ahead = float(heads.triu(1).abs().max())
        assert (ahead == 0) == (chain == "decoder")


def test_an_answer_that_waits_for_others_has_one_layer_alone(model: Translator) -> None:
    """All layers of 256 short requests with a thousand pieces would fill the memory."""
    work = AttentionWork(Served("tiny", model, "fp32", "", None), ("b",), "encoder", 2)
    assert [torch.tensor(answer.weights).shape for answer in work.answer(["a c", "b"])] == [(4, 3, 3), (4, 2, 2)]


def test_translate_gives_the_pieces_that_attention_takes(client: Client) -> None:
    for text in ("a c b", "a never-seen b"):
        best = client.post("/translate", {"texts": [text], "model": "fp32"}).json["translations"][0]
        request = {"text": text, "pieces": best["hypotheses"][0]["pieces"], "model": "fp32"}
        attention = client.post("/attention", {**request, "chain": "encoder-decoder", "layer": 1}).json
        assert attention["keys"] == [*best["source"], "</s>"]
        assert attention["queries"] == [*request["pieces"], "</s>"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"chain": "encodr"}, "chain encodr is not one of encoder, decoder, encoder-decoder; did you mean encoder?"),
        ({"layer": 3}, "layer=3: fp32 has layers 1 to 2"),
        ({"pieces": ["a"] * 1_024}, "a translation of 1025 tokens: the model has room for 1024"),
        ({"text": "a " * 1_000, "chain": "encoder"}, "4008004 weights: allowed are 250000 or less"),
        ({"model": "stock"}, "this model is not of this package: its attention cannot be shown"),
    ],
)
def test_what_cannot_be_shown_is_refused(client: Client, changed: dict[str, Any], message: str) -> None:
    request = {**ASKED, "chain": "encoder-decoder", "layer": 1, "model": "fp32", **changed}
    response = client.post("/attention", request)
    assert response.status == 422
    assert message in response.json["error"]
