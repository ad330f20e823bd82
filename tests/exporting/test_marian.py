"""The exported folder under transformers itself."""

import runpy
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from fairseq.sequence_generator import SequenceGenerator
from tiny_models import exportable
from tiny_models.tiny import EOS, PAD, PREVIOUS, dictionary
from torch.testing import assert_close

from realformer_nmt import subcommands
from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.subwords.sentencepiece_subwords import learn
from realformer_nmt.corpora.subwords.subwords import TrainingTexts
from realformer_nmt.exporting import marian
from realformer_nmt.serving import translator

SOURCE = torch.tensor([[7, 5, 2, 1, 1, 1], [4, 5, 6, 7, 8, 2], [9, 4, 4, 6, 2, 1]])
OPTIONS: dict[str, dict[str, Any]] = {
    "own tables": {"activation_fn": "gelu_accurate"},
    "shared": {"share_all_embeddings": True, "encoder_layers": 3},
    "output shared": {"share_decoder_input_output_embed": True, "no_scale_embedding": True},
    "learned positions": {"encoder_learned_pos": True, "max_source_positions": 20, "decoder_attention_heads": 4},
    "no positions": {"no_token_positional_embeddings": True, "decoder_ffn_embed_dim": 6},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "exported").mkdir()
    return tmp_path / "exported"


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_folded_model_computes_what_it_did(options: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    """test_folding.py folds every scaling."""
    source = exportable.source(("post", "admin", "dot", "none"), tmp_path, **options)
    marian.write(source, folder, "fp32")
    model = transformers.MarianMTModel.from_pretrained(folder)
    words = PREVIOUS.ne(PAD)
    logits = model(input_ids=SOURCE, attention_mask=SOURCE.ne(PAD), decoder_input_ids=PREVIOUS).logits[words]
    assert_close(logits, source.model(SOURCE, None, PREVIOUS)[0][words], atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"residual_topology": "pre"}, "has encoder_normalize_before True, and Marian's models have False"),
        ({"layernorm_embedding": True}, "has layernorm_embedding True, and Marian's models have False"),
        ({"activation_fn": "linear"}, "has activation_fn linear, and Marian's models have relu or gelu"),
        ({"decoder_embed_dim": 4}, "has decoder_embed_dim 4, and Marian's models have 8; --to onnx takes every model"),
    ],
)
def test_what_marian_has_no_place_for_is_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    topology = options.pop("residual_topology", "post")
    source = exportable.source((topology, "none", "dot", "none"), tmp_path, **options)
    with pytest.raises(UserError, match=message):
        marian.write(source, tmp_path, "fp32")


def test_a_translation_ends_where_the_models_positions_do(folder: Path, tmp_path: Path) -> None:
    """A model that never ends by itself writes as much as it does under fairseq."""
    source = exportable.source(("post", "none", "dot", "none"), tmp_path, max_target_positions=9)
    source.model.decoder.output_projection.weight.data[EOS] = 0  # less probable than the best word
    marian.write(source, folder, "fp32")
    generator = SequenceGenerator([source.model], dictionary(), beam_size=1)
    inputs = {"src_tokens": SOURCE, "src_lengths": SOURCE.ne(PAD).sum(1)}
    expected = [beams[0]["tokens"].tolist() for beams in generator.generate([], {"net_input": inputs})]
    model = transformers.MarianMTModel.from_pretrained(folder)
    greedy, default = (
        model.generate(input_ids=SOURCE, attention_mask=SOURCE.ne(PAD), **beams) for beams in ({"num_beams": 1}, {})
    )
    assert [row[1:] for row in greedy.tolist()] == expected
    assert {len(tokens) for tokens in expected} == {default[:, 1:].size(1)} == {9}


def test_the_program_on_a_card_without_a_tokenizer_runs(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    marian.write(exportable.source(("post", "none", "dot", "none"), tmp_path), folder, "fp32")
    program = (folder / "README.md").read_text().partition("```python\n")[2].partition("```")[0]
    (tmp_path / "program.py").write_text(program.replace("FOLDER", str(folder)))
    runpy.run_path(str(tmp_path / "program.py"))
    model = transformers.MarianMTModel.from_pretrained(folder)
    assert capsys.readouterr().out == f"{model.generate(input_ids=torch.tensor([[7, 5, EOS]]))}\n"


def test_text_is_translated_as_by_ours_without_a_network(
    tmp_path: Path, toy_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = toy_corpus.parent
    subwords, data = tmp_path / "subwords", tmp_path / "data-bin"
    subwords.mkdir()
    data.mkdir()
    learn(TrainingTexts(text / "valid.src", text / "valid.tgt", 203, True), subwords, 280, 1)
    for language in ("src", "tgt"):
        (data / f"dict.{language}.txt").write_bytes((subwords / "dictionary.txt").read_bytes())
    (data / "train.src-tgt.src.idx").touch()  # its name tells the languages
    checkpoint = exportable.checkpoint(tmp_path / "ours.pt", data, "deepnorm_tiny", margin=0.4)
    corpus = ("--data", str(data), "--subwords", "sentencepiece", "--subwords-folder", str(subwords))
    folder = tmp_path / "exported"
    assert subcommands.main(["export", str(checkpoint), "--to", "huggingface", *corpus, "--output", str(folder)]) == 0
    lines = (text / "test.src").read_text().splitlines()[:12]
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("it asks the network"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    reference = transformers.MarianMTModel.from_pretrained(folder)
    rows = reference.generate(**tokenizer(lines, return_tensors="pt", padding=True), num_beams=3)
    texts = tokenizer.batch_decode(rows, skip_special_tokens=True)
    model = translator.load(checkpoint, data=data, subwords="sentencepiece", subwords_folder=subwords, cpu=True)
    translations = [each.replace("\n", " ") for each in texts]  # the subword <0x0A> ends no line here
    assert translations == model.translate(lines, beam=3)
