"""The object of Python against fairseq-generate on the same text: hypotheses, scores, alignments."""

import itertools
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from programs import commands
from programs.runs import load_state

import realformer_nmt
from realformer_nmt.common.errors import UserError
from realformer_nmt.kernels.precision import supported
from realformer_nmt.serving import translator
from realformer_nmt.serving.decoding import Hypothesis, SearchOptions
from realformer_nmt.serving.translator import Translator

LINE = re.compile(r"([HA])-(\d+)\t(.*)")


def generated(data: Path, user_dir: Path, paths: list[Path], *flags: str) -> dict[str, list[list[str]]]:
    """Return the lines of fairseq-generate by their kind, for each sentence."""
    task = [data, "--user-dir", user_dir, "--path", ":".join(map(str, paths)), "--cpu", "--beam", "3", "--nbest", "2"]
    done = commands.run(commands.fairseq("generate", *task, "--num-workers", "0", *flags))
    assert done.returncode == 0, done.stderr
    lines_by_kind: dict[str, list[list[str]]] = {kind: [[] for _ in range(61)] for kind in "HA"}
    for match in map(LINE.fullmatch, done.stdout.splitlines()):
        if match:
            lines_by_kind[match[1]][int(match[2])].append(match[3])
    return lines_by_kind


def texts_and_scores(nbest_lists: list[list[Hypothesis]]) -> list[list[tuple[str, float]]]:
    return [[(hypothesis.text, hypothesis.score) for hypothesis in hypotheses] for hypotheses in nbest_lists]


def expected(lines: list[list[str]]) -> list[list[tuple[str, Any]]]:
    """Text and score of each hypothesis, as fairseq-generate prints them."""
    parted = [[line.split("\t") for line in hypotheses] for hypotheses in lines]
    return [[(text, pytest.approx(float(score), abs=1e-4)) for score, text in hypotheses] for hypotheses in parted]


def test_hypotheses_scores_and_alignments_are_fairseqs(
    model: Translator, run: Path, texts: list[str], toy_corpus: Path, user_dir: Path
) -> None:
    lines = generated(toy_corpus, user_dir, [run / "checkpoint5.pt"], "--print-alignment")
    nbest_lists = list(model.stream(texts, beam=3, nbest=2, alignments=True))
    assert texts_and_scores(nbest_lists) == expected(lines["H"])
    for hypotheses, alignments in zip(nbest_lists, lines["A"], strict=True):
        pairs = [" ".join(f"{one}-{other}" for one, other in hypothesis.alignment) for hypothesis in hypotheses]
        assert pairs == alignments
    assert nbest_lists[0][0].source == texts[0].split()
    assert model.translate(texts, beam=3) == [hypotheses[0].text for hypotheses in nbest_lists]


@pytest.mark.parametrize("precision", supported())
def test_an_ensemble_in_every_precision(
    precision: str, run: Path, texts: list[str], toy_corpus: Path, user_dir: Path, tmp_path: Path
) -> None:
    """Each checkpoint says that its model decodes in int8, which counts nowhere."""
    paths = [tmp_path / "checkpoint4.pt", tmp_path / "checkpoint5.pt"]
    for path in paths:
        content = load_state(run / path.name)
        content["cfg"]["model"]["decoding_precision"] = "int8"
        torch.save(content, path)
    overrides = f"{{'decoding_precision': '{precision}'}}"
    lines = generated(toy_corpus, user_dir, paths, "--model-overrides", overrides)["H"]
    model = realformer_nmt.load(*paths, data=toy_corpus, subwords="none", cpu=True)
    assert texts_and_scores(list(model.stream(texts, beam=3, nbest=2, precision=precision))) == expected(lines)


@pytest.mark.parametrize("precision", supported())
def test_threads_get_what_one_gets(precision: str, run: Path, texts: list[str], toy_corpus: Path) -> None:
    """Single sentences and all of them at once, from a model that nobody has used."""
    model, used = (
        realformer_nmt.load(run / "checkpoint5.pt", data=toy_corpus, subwords="none", cpu=True) for _ in range(2)
    )
    alone = used.translate(texts, precision=precision)
    with ThreadPoolExecutor(4) as threads:
        together = [threads.submit(model.translate, some, precision=precision) for some in ([texts[0]], texts) * 4]
    assert [answer.result() for answer in together] == [alone[:1], alone] * 4


@pytest.mark.parametrize("precision", supported())
def test_in_inference_mode_it_loads_and_translates_as_elsewhere(
    precision: str, model: Translator, run: Path, texts: list[str], toy_corpus: Path
) -> None:
    with torch.inference_mode():
        loaded = realformer_nmt.load(run / "checkpoint5.pt", data=toy_corpus, subwords="none", cpu=True)
        translations = loaded.translate(texts, precision=precision)
    assert translations == loaded.translate(texts, precision=precision) == model.translate(texts, precision=precision)
    (decoder,) = (each.decoder for each in loaded.loaded(SearchOptions(precision=precision)).models)
    assert not any(weight.is_inference() for weight in decoder.parameters())  # these would decode in torch's own form


def test_alignments_take_no_memory_of_their_own(model: Translator) -> None:
    (plain,), (aligning,) = (
        model.loaded(SearchOptions(precision=supported()[-1], alignments=alignments)).models
        for alignments in (False, True)
    )
    assert plain is not aligning
    assert [id(tensor) for tensor in plain.parameters()] == [id(tensor) for tensor in aligning.parameters()]
    assert [id(tensor) for tensor in plain.buffers()] == [id(tensor) for tensor in aligning.buffers()]
    assert (plain.decoder.need_attn, aligning.decoder.need_attn) == (None, True)


def test_what_has_no_end_is_answered_as_it_comes(
    model: Translator, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translator, "AHEAD", 4)
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        for text in itertools.cycle([*texts[:2], ""]):
            read += 1
            yield text

    answers = [hypotheses[0] for hypotheses in itertools.islice(model.stream(endless()), 6)]
    assert read == 8
    assert answers[:3] == answers[3:]
    assert (answers[2].text, answers[2].pieces) == ("", [])
    assert model.translate([]) == []


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a b\nc d", {}, "is not a line of text"),
        ("a b c", {"max_tokens": 3}, "a text of 4 tokens, 'a b c', is longer than max_tokens, 3: split it"),
        ("a", {"beam": 2.5}, "beam=2.5: give a value of the kind of its default, 5"),
        ("a " * 1100, {}, "a text of 1101 tokens, 'a a a .*is longer than the model's 1024: split it"),
        ("a", {"nbest": 3, "beam": 2}, "nbest=3 of beam=2: give a beam of 3 or more"),
        ("a", {"beam": 1001}, "beam 1001: allowed is 1 to 1,000"),
    ],
)
def test_what_cannot_be_translated_is_refused(
    model: Translator, text: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        model.translate([text], **options)


def test_an_extra_that_the_subwords_need_is_named(
    model: Translator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "subword_nmt.apply_bpe", None)
    monkeypatch.delitem(sys.modules, "realformer_nmt.corpora.subwords.moses_bpe", raising=False)
    corpus = replace(model.corpus, subwords="moses_bpe", folder=tmp_path)
    with pytest.raises(UserError, match=r"^translate needs subword_nmt: pip install 'realformer-nmt\[recipes\]'$"):
        Translator(model.checkpoints, corpus, model.device).translate(["a b"])


def test_each_sentence_of_a_text_is_translated_alone(model: Translator) -> None:
    alone = model.translate(["a b.", "C d!", "b"])
    assert model.translate(["  a b. C d!\n\nb ", "", "b"], split_sentences=True) == [
        "  {} {}\n\n{} ".format(*alone),
        "",
        alone[2],
    ]
    with pytest.raises(UserError, match=r"'a\. B' is one text: give a list of them"):
        model.translate("a. B", split_sentences=True)


def test_where_there_is_no_model_or_no_preparation_it_says_so(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no model"):
        realformer_nmt.load(tmp_path)
    with pytest.raises(UserError, match="a data-bin that `prepare` has not made: pass --data DATA-BIN and --subwords"):
        realformer_nmt.load(run / "checkpoint5.pt")
