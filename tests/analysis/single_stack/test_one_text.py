"""Models of one side: what the command records of them, against the same computed from what their layers read."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fairseq import checkpoint_utils
from fixture_types import Once
from programs.program import realformer_nmt
from scipy.spatial.distance import jensenshannon
from scipy.special import softmax
from scipy.stats import entropy
from tiny_models import analysed, saved
from torch.nn.functional import cross_entropy

from realformer_nmt.analysis import claims, depth, loaded_model
from realformer_nmt.analysis.analysis_record import AnalysedModel, AnalysisRecord, SentenceTokens
from realformer_nmt.analysis.figures import depth_figures
from realformer_nmt.analysis.measures.heads import measure
from realformer_nmt.analysis.text_readers import reader
from realformer_nmt.checkpoints import inspection
from realformer_nmt.common.files.records import read as read_record

SIDES = {"etc": "encoder", "lm": "decoder"}
PAD, EOS = 1, 2


@pytest.fixture(scope="module")
def texts(toy_corpus: Path, once: Once) -> Path:
    return once("analysed_texts", analysed.OneText(toy_corpus))


@pytest.fixture(scope="module")
def records(texts: Path) -> dict[str, AnalysedModel]:
    """Analysed models; the language model's is the one that the command records."""
    (of_lm,) = read_record(texts / "lm" / "analysis.json", AnalysisRecord, "").models
    return {"lm": of_lm, "etc": measured(texts, texts / "etc.pt")}


def measured(texts: Path, path: Path) -> AnalysedModel:
    checkpoint = loaded_model.load(path.stem, path, inspection.build_any)
    read = reader(path).read(texts / "data-bin", "valid", 9999)
    heads = measure(checkpoint, read, None).record()
    return AnalysedModel(name=path.stem, arch=None, attention=heads, depth=depth.study(checkpoint, read))


def loaded(texts: Path, name: str) -> tuple[Any, Any]:
    """The model, and the batch of each sample alone, as fairseq-validate has them."""
    (model,), _, task = checkpoint_utils.load_model_ensemble_and_task([str(texts / f"{name}.pt")])
    task.load_dataset("valid")
    batches = task.get_batch_iterator(task.dataset("valid"), max_sentences=1).next_epoch_itr(shuffle=False)
    return model.eval(), list(batches)


def allowed(name: str, length: int) -> np.ndarray:
    row, column = np.indices((length, length))
    near = (abs(row - column) <= 2) | (row == 0) | (column == 0)
    return {"etc": near, "lm": column <= row}[name]


def heads(model: Any, name: str, batches: list[Any]) -> Iterator[list[np.ndarray]]:
    """Yield each sample's attention, H x T x T a layer, by numpy and scipy from the layers' inputs."""
    stack = model.decoder if name == "lm" else model.encoder.sentence_encoder
    read: list[torch.Tensor] = []
    for layer in stack.layers:
        layer.self_attn.register_forward_pre_hook(lambda _module, args: read.append(args[0][0]))
    for batch in batches:
        read.clear()
        with torch.no_grad():
            model(**batch["net_input"])
            probabilities, total = [], np.zeros(())
            for depth, (layer, x) in enumerate(zip(stack.layers, read, strict=True), 1):
                parts = (layer.self_attn.q_proj(x), layer.self_attn.k_proj(x))
                query, key = (part.view(len(x), 4, 16).transpose(0, 1).numpy() for part in parts)
                total = total + query @ key.transpose(0, 2, 1) / 4
                mean = total / depth if name == "lm" else total
                seen = np.where(allowed(name, len(x)), mean, -np.inf)
                probabilities.append(softmax(seen, -1))
        yield probabilities


@pytest.mark.parametrize("name", SIDES)
def test_attention_is_that_of_scipy(name: str, texts: Path, records: dict[str, AnalysedModel]) -> None:
    model, batches = loaded(texts, name)
    entropies, divergences, looks = defaultdict(list), [], defaultdict(list)
    for batch, layers in zip(batches, heads(model, name, batches), strict=True):
        ends = (batch["net_input"]["src_tokens"][0] == EOS).numpy()
        for layer, p in enumerate(layers):
            entropies[layer].append(entropy(p, base=2, axis=-1))
            looks["previous", layer].append(np.trace(p, -1, 1, 2))
            looks["same", layer].append(np.trace(p, 0, 1, 2))
            looks["next", layer].append(np.trace(p, 1, 1, 2))
            looks["end", layer].append(p[:, :, ends].sum((1, 2)))
        divergences.append(jensenshannon(layers[0], layers[1], base=2, axis=-1) ** 2)
    chain = records[name].attention.chains
    assert list(chain) == [SIDES[name]]
    (figures,) = chain.values()
    words = sum(each.shape[1] for each in divergences)
    assert figures.queries == words
    assert np.allclose(figures.divergence.mean[0], np.concatenate(divergences, 1).mean(1), atol=1e-4)
    assert np.mean(figures.divergence.mean) > 0.01
    for layer, values in entropies.items():
        assert np.allclose(figures.entropy.mean[layer], np.concatenate(values, 1).mean(1), atol=1e-4)
    for (place, layer), sums in looks.items():
        assert np.allclose(figures.looks[place][layer], np.sum(sums, 0) / words, atol=1e-4)


@pytest.mark.parametrize("name", SIDES)
def test_losses_and_gradients(name: str, texts: Path, records: dict[str, AnalysedModel], tmp_path: Path) -> None:
    """The loss is that of fairseq-validate, which masks the same words; gradients are autograd's."""
    output = tmp_path / "evaluation.json"
    options = ("--data", texts / "data-bin", "--subset", "valid", "--cpu", "--output", output)
    done = realformer_nmt("evaluate", texts / f"{name}.pt", *options)
    assert done.returncode == 0, done.stderr
    figures = records[name].depth.checkpoint
    assert figures.loss == pytest.approx(json.loads(output.read_text())["measures"]["loss"], rel=1e-5)
    model, batches = loaded(texts, name)
    targets = torch.cat([batch["target"][0] for batch in batches])
    logits = torch.cat([model(**batch["net_input"])[0][0] for batch in batches])
    stack = model.decoder if name == "lm" else model.encoder.sentence_encoder
    for layer, norm in zip(stack.layers, figures.gradients[SIDES[name]].norm, strict=True):
        mean = cross_entropy(logits, targets, ignore_index=PAD)
        gradients = torch.autograd.grad(mean, list(layer.parameters()), retain_graph=True, allow_unused=True)
        squares = [float(each.square().sum()) for each in gradients if each is not None]
        assert norm == pytest.approx(sum(squares) ** 0.5, rel=1e-3)


def test_what_is_drawn(texts: Path, records: dict[str, AnalysedModel]) -> None:
    drawn = {file.stem for file in (texts / "lm").glob("*.svg")}
    assert {"entropy_decoder", "divergence_decoder", "looks_decoder", "gradients", "left_out", "cka"} <= drawn
    assert not [name for name in drawn if "encoder" in name]
    assert records["lm"].sentence == SentenceTokens(source=["</s>", "a", "b", "c"], target=[])
    assert records["lm"].arch == "realformer_lm_tiny"
    beside = depth_figures.drawings({name: model.depth for name, model in records.items()})
    assert [axes.get_title(loc="left") for axes in beside["gradients"].figure.axes[:2]] == ["encoder", "decoder"]


def test_the_papers_claims_are_asked_of_the_side_there_is(records: dict[str, AnalysedModel]) -> None:
    summary = claims.summary(records["lm"])
    assert (summary.family, summary.layers) == ("realformer_lm_tiny", 2)
    entropies = records["lm"].attention.chains["decoder"].entropy.mean
    assert summary.entropy == {"decoder": pytest.approx(np.mean(entropies))}
    assert summary.cosine.keys() == summary.last_branch.keys() == {"decoder"}


def test_a_sentence_is_read_unmasked(texts: Path) -> None:
    path = texts / "etc.pt"
    checkpoint, text_reader = loaded_model.load("etc", path, inspection.build_any), reader(path)
    read = text_reader.read(texts / "data-bin", "valid", 1)
    attended = text_reader.sentence(checkpoint.model, read, "a b c d").chains
    assert list(attended) == ["encoder"]
    assert attended["encoder"].queries == attended["encoder"].keys == ["<s>", "a", "b", "c", "d", "</s>"]
    assert [np.array_equal(layer[0] > 0, allowed("etc", 6)) for layer in attended["encoder"].layers] == [True, True]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lm.pt", "--alignment", "{texts}/lm.pt"], "does not translate: leave it out"),
        (["lm.pt", "--subset", "dev"], "data-bin: Dataset not found: dev"),
        (["lm.pt", "--sentence", "a a a a a a a a a a a a a a a a"], "has 17 tokens, and the model has room for 16"),
        (["short.pt"], "short.pt has settings of its task that do not fit"),
        (["of_speech.pt"], "is of --task speech_to_text: allowed are language_modeling, masked_lm, sentence_"),
    ],
)
def test_errors_are_one_line(words: list[str], message: str, texts: Path, tmp_path: Path) -> None:
    state = torch.load(texts / "etc.pt", weights_only=False)
    state["cfg"]["task"]["_name"] = "speech_to_text"
    saved.save(tmp_path / "of_speech.pt", state)
    state["cfg"]["task"] |= {"_name": "masked_lm", "tokens_per_sample": -5}
    saved.save(tmp_path / "short.pt", state)
    (tmp_path / "lm.pt").symlink_to(texts / "lm.pt")
    first, *rest = (word.format(texts=texts) for word in words)
    done = realformer_nmt("analyse", tmp_path / first, *rest, "--output", tmp_path / "out", "--cpu", "--sentences", 2)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
