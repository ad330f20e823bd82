"""fairseq's checkpoints of M2M-100's form: imported, and decoded by the task that trained them."""

import argparse
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import checkpoint_utils, data
from tiny_models import m2m100
from tiny_models.tiny import PAD
from transformers import M2M100ForConditionalGeneration

from realformer_nmt import python_api
from realformer_nmt.common.errors import UserError

LANGUAGES = ["en", "fr", "ast"]  # tags follow the dictionary in this order
LONGEST = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three files that an import needs; fillers are in the model alone."""
    folder = tmp_path_factory.mktemp("fairseq")
    model = m2m100.write(folder / "hub")
    words = m2m100.subwords(folder)
    (folder / "sentencepiece.bpe.model").rename(folder / "spm.model")
    (folder / "model_dict.txt").write_text("".join(f"{word} 1\n" for word in words))
    torch.save(m2m100.fairseq_state(model, LANGUAGES, "cfg"), folder / "model.pt")
    return folder


def copied(folder: Path, to: Path, state: dict[str, Any]) -> Path:
    to.mkdir()
    for name in ("spm.model", "model_dict.txt"):
        (to / name).write_bytes((folder / name).read_bytes())
    torch.save(state, to / "model.pt")
    return to


@pytest.mark.parametrize("form", ["args", "cfg"])
def test_both_forms_become_the_weights_and_words_of_transformers(form: str, folder: Path, tmp_path: Path) -> None:
    reference = M2M100ForConditionalGeneration.from_pretrained(folder / "hub")
    source = copied(folder, tmp_path / "source", m2m100.fairseq_state(reference, LANGUAGES, form))
    if form == "cfg":
        (source / "langs.txt").write_text("en fr en\nast\n")  # fairseq's dictionary takes a language once
    run = python_api.import_model(source, output=tmp_path / "run")
    weights = torch.load(run / "checkpoints/checkpoint_last.pt", weights_only=False)["model"]
    expected = reference.state_dict()
    assert torch.equal(weights["encoder.embed_tokens.weight"], expected["model.shared.weight"])
    layers = [name for name in weights if ".layer" in name]
    assert len(layers) == 2 * 16 + 3 * 26 + 4
    assert all(torch.equal(weights[name], expected[f"model.{name}"]) for name in layers)
    words = data.Dictionary.load(str(run / "data-bin/dict.ast.txt"))
    assert words.symbols[120:125] == [words[120], "__en__", "__fr__", "__ast__", "madeupword124"]
    assert len(words) == len(expected["model.shared.weight"])


def test_fairseqs_own_task_decodes_a_checkpoint_through_the_safe_reader(folder: Path, tmp_path: Path) -> None:
    reference = M2M100ForConditionalGeneration.from_pretrained(folder / "hub")
    words = python_api.import_model(folder, output=tmp_path / "run") / "data-bin/dict.mul.txt"
    state = {**m2m100.fairseq_state(reference, LANGUAGES, "args"), "task_state": {}}
    torch.save(state, tmp_path / "model.pt")
    pair = {"data": str(words.parent), "source_lang": "en", "target_lang": "fr", "fixed_dictionary": str(words)}
    models, _, task = checkpoint_utils.load_model_ensemble_and_task([str(tmp_path / "model.pt")], pair)
    source = torch.tensor([[121, 5, 6, 7, 2], [121, 30, 31, 32, 2]])  # 121: __en__
    sample = {"net_input": {"src_tokens": source, "src_lengths": source.ne(PAD).sum(1)}}
    generation = argparse.Namespace(beam=1, max_len_b=LONGEST, keep_inference_langtok=True)
    beams = task.inference_step(task.build_generator(models, generation), models, sample)
    rows = reference.generate(input_ids=source, num_beams=1, forced_bos_token_id=122, max_new_tokens=LONGEST)
    expected = [[number for number in row[1:] if number != PAD] for row in rows.tolist()]
    assert [beam[0]["tokens"][:LONGEST].tolist() for beam in beams] == expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"moe_freq": 2}, "has moe_freq 2: models with False are imported"),
        ({"encoder_langtok": "tgt"}, "has encoder_langtok tgt: models with src are imported"),
        ({"langs": None, "lang_pairs": None}, "lists no languages; write them to langs.txt"),
        ({"langs": ["en", "../fr"]}, "'../fr' names no language"),
        ({"langs": [f"l{number}" for number in range(120)]}, "its vocabulary names row 240 of"),
    ],
    ids=str,
)
def test_a_checkpoint_of_another_kind_is_refused(
    folder: Path, changes: dict[str, object], message: str, tmp_path: Path
) -> None:
    reference = M2M100ForConditionalGeneration.from_pretrained(folder / "hub")
    state = m2m100.fairseq_state(reference, LANGUAGES, "args")
    vars(state["args"]).update(changes)
    source = copied(folder, tmp_path / "source", state)
    with pytest.raises(UserError, match=message):
        python_api.import_model(source, output=tmp_path / "run")
