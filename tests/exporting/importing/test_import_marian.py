"""Runs that were imported from Marian folders, beside transformers and CTranslate2."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ctranslate2
import pytest
import torch
from ctranslate2.converters import TransformersConverter
from fairseq.sequence_generator import SequenceGenerator
from fixture_types import Once
from sentencepiece import SentencePieceProcessor
from tiny_models import tiny_marian
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoTokenizer, MarianMTModel

from realformer_nmt import subcommands
from realformer_nmt.analysis import loaded_model
from realformer_nmt.checkpoints import inspection
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.corpora.preparing import encode_subwords
from realformer_nmt.corpora.read_segments import Block
from realformer_nmt.corpora.subwords.subword_methods import METHODS
from realformer_nmt.data_bins.datasets import dictionary
from realformer_nmt.exporting.importing.hub_folder import LICENCE
from realformer_nmt.kernels import precision
from realformer_nmt.serving import translator

PAIR = "sentencepiece_pair"
PAD, END = 1, 2  # fairseq's
LONGEST = 20  # hypothesis of a search
CASES: dict[str, dict[str, Any]] = {
    "shared": {},
    "pickled": {"activation_function": "relu", "decoder_layers": 1, "scale_embedding": False},
    "halved": {"activation_function": "gelu_new"},
    "untied": {"tie_word_embeddings": False, "encoder_layers": 3},
    "separate": {"share_encoder_decoder_embeddings": False},
}


@pytest.fixture(scope="module")
def hub(once: Once) -> Callable[..., Path]:
    def build(case: str) -> Path:
        return once(f"marian_{case}", lambda folder: fill(folder, case, CASES[case]))

    return build


def fill(folder: Path, case: str, options: dict[str, Any]) -> None:
    words = tiny_marian.write_words(folder, tiny_marian.TAGS, case == "separate")
    sizes = {"decoder_vocab_size": len(words[1])} if case == "separate" else {}
    model = tiny_marian.model(len(words[0]), **sizes, **options)
    if case == "halved":
        model.half()
    model.save_pretrained(folder)
    if case == "pickled":
        (folder / "model.safetensors").unlink()
        torch.save(model.state_dict(), folder / "pytorch_model.bin")


def imported(folder: Path, run: Path, *options: str) -> Path:
    assert subcommands.main(["import", str(folder), "--output", str(run), *options]) == 0
    return run


def of_transformers(folder: Path) -> MarianMTModel:
    """A folder's model without <pad> among the words to write, as Marian has it."""
    model = MarianMTModel.from_pretrained(folder, dtype=torch.float32).eval()
    model.final_logits_bias[:, model.config.pad_token_id] = -1000
    return model


class Both:
    """A folder's model in transformers, and the same imported, with the numbers of words in each."""

    def __init__(self, folder: Path, run: Path) -> None:
        self.hub = of_transformers(folder)
        self.run = loaded_model.load("run", run / "checkpoints" / "checkpoint_last.pt", inspection.build).model
        files = ["vocab.json", "target_vocab.json" if (folder / "target_vocab.json").exists() else "vocab.json"]
        self.hub_words = [json.loads((folder / name).read_text()) for name in files]
        self.words = [dictionary(run / "data-bin" / f"dict.{language}.txt") for language in ("en", "de")]

    def draw(self, side: int, number: int, seed: int) -> list[list[str]]:
        """Sentences of 0 to 9 words, whose end symbol is left out."""
        chance = torch.Generator().manual_seed(seed)
        words = [word for word in self.hub_words[side] if word not in ("</s>", "<pad>")]
        lengths = torch.randint(0, 10, (number,), generator=chance).tolist()
        return [[words[i] for i in torch.randint(len(words), (n,), generator=chance)] for n in lengths]

    def ids(self, side: int, sentences: list[list[str]]) -> tuple[Tensor, Tensor]:
        """Numbers of transformers, padded on the right, and of fairseq, padded on the left in the source."""
        hub_words, run_words = self.hub_words[side], self.words[side]
        rows = [torch.tensor([*(hub_words[word] for word in each), 0]) for each in sentences]
        numbers = [torch.tensor([*(run_words.index(word) for word in each), END]) for each in sentences]
        padded = pad_sequence(numbers if side else [row.flip(0) for row in numbers], True, PAD)
        return pad_sequence(rows, True, hub_words["<pad>"]), padded if side else padded.flip(1)

    def log_probabilities(self) -> tuple[Tensor, Tensor]:
        """Teacher-forced logits, then log-probabilities, of the words that both have: tokens x 2V."""
        (hub_ids, run_ids), (read, written) = self.ids(0, self.draw(0, 24, 1)), self.ids(1, self.draw(1, 24, 2))
        start, real = self.hub_words[1]["<pad>"], written.ne(PAD)
        feed = torch.cat([torch.full((24, 1), start), read[:, :-1]], 1)
        previous = torch.cat([torch.full((24, 1), END), written[:, :-1]], 1)
        with torch.no_grad():
            expected = self.hub(input_ids=hub_ids, attention_mask=hub_ids.ne(start), decoder_input_ids=feed).logits[
                real
            ]
            logits = self.run(run_ids, None, previous)[0][real]
        words = [word for word in self.hub_words[1] if word != "<pad>"]
        columns, numbers = ([self.words[1].index(word) for word in words], [self.hub_words[1][word] for word in words])
        pairs = ((logits, columns), (expected, numbers))
        results = [torch.cat([each[:, at], each.log_softmax(1)[:, at]], 1) for each, at in pairs]
        return results[0], results[1]


@pytest.mark.parametrize("case", CASES)
def test_logits_and_log_probabilities_are_those_of_transformers(
    case: str, hub: Callable[..., Path], tmp_path: Path
) -> None:
    both = Both(hub(case), imported(hub(case), tmp_path / "run"))
    actual, expected = both.log_probabilities()
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=0)
    assert expected.std() > 1


@pytest.mark.parametrize("beam", [1, 4])
def test_two_hundred_hypotheses_are_those_of_transformers(beam: int, hub: Callable[..., Path], tmp_path: Path) -> None:
    both = Both(hub("shared"), imported(hub("shared"), tmp_path / "run"))
    hub_ids, run_ids = both.ids(0, both.draw(0, 280, 3))
    pad = both.hub_words[0]["<pad>"]
    search = {"num_beams": beam, "early_stopping": beam > 1, "min_new_tokens": 1, "max_new_tokens": LONGEST}
    rows = both.hub.generate(input_ids=hub_ids, attention_mask=hub_ids.ne(pad), **search)
    names = {number: word for word, number in both.hub_words[1].items()}
    expected = [[names[number] for number in row[1:] if number != pad] for row in rows.tolist()]
    generator = SequenceGenerator([both.run], both.words[1], beam_size=beam, max_len_b=LONGEST - 2)
    lengths = run_ids.ne(PAD).sum(1)
    beams = generator.generate([], {"net_input": {"src_tokens": run_ids, "src_lengths": lengths}})
    actual = [[both.words[1][number] for number in best[0]["tokens"].tolist()] for best in beams]
    # At the limit the end costs nothing in transformers, and its own probability in fairseq
    ended = [pair for pair in zip(actual, expected, strict=True) if len(pair[1]) < LONGEST - 1][:200]
    assert [one for one, _ in ended] == [other for _, other in ended]
    assert len(ended) == 200
    assert len({tuple(one) for one, _ in ended}) > 20


def test_text_is_translated_as_by_transformers_and_after_an_export(hub: Callable[..., Path], tmp_path: Path) -> None:
    """The third witness is CTranslate2, by its own converter; the fourth, what is exported again."""
    folder, run = hub("shared"), imported(hub("shared"), tmp_path / "run")
    lines = [*tiny_marian.lines(30, 6), ">>fra<< " + tiny_marian.lines(1, 8)[0], ">>deu<<Un bekannt \u4e2d", "  b  a "]
    model, tokenizer = translator.load(run, cpu=True), AutoTokenizer.from_pretrained(folder)
    subwords = [tokenizer.tokenize(line) for line in lines]
    assert model.corpus.pieces("".join(f"{line}\n" for line in lines).encode()) == [" ".join(each) for each in subwords]
    assert any(each[0] == ">>fra<<" for each in subwords)

    greedy = {"num_beams": 1, "max_new_tokens": LONGEST}
    hypotheses = [each[0] for each in model.stream(lines, beam=1, max_len_b=LONGEST - 2)]
    ended = [number for number, each in enumerate(hypotheses) if len(each.pieces) < LONGEST - 2]
    assert len({hypotheses[number].text for number in ended}) > 5
    assert model.translate([""]) == [""]
    exported = tmp_path / "exported"
    assert subcommands.main(["export", str(run), "--to", "huggingface", "--output", str(exported)]) == 0
    assert "license: cc-by-4.0\n" in (exported / "README.md").read_text()
    for each in (folder, exported):
        tokenizer, reference = AutoTokenizer.from_pretrained(each), of_transformers(each)
        rows = reference.generate(**tokenizer(lines, return_tensors="pt", padding=True), min_new_tokens=1, **greedy)
        texts = tokenizer.batch_decode(rows, skip_special_tokens=True)
        assert [texts[number] for number in ended] == [hypotheses[number].text for number in ended]

    TransformersConverter(str(folder)).convert(str(tmp_path / "ct2"))
    engine = ctranslate2.Translator(str(tmp_path / "ct2"), inter_threads=1, intra_threads=1)
    source = [[*each, "</s>"] for each in subwords]
    results = engine.translate_batch(source, beam_size=1, max_decoding_length=LONGEST, min_decoding_length=1)
    assert [results[n].hypotheses[0] for n in ended] == [hypotheses[n].pieces for n in ended]


@pytest.mark.skipif("int8" not in precision.supported(), reason="the processor has no products in int8")
def test_it_decodes_in_int8(hub: Callable[..., Path], tmp_path: Path) -> None:
    model = translator.load(imported(hub("shared"), tmp_path / "run"), cpu=True)
    line = tiny_marian.lines(1, 6)
    exact, rounded = (next(model.stream(line, precision=each))[0].score for each in (precision.EXACT, "int8"))
    assert rounded != exact
    assert rounded == pytest.approx(exact, rel=0.1)


def test_it_is_trained_on_by_the_commands_of_its_card(
    hub: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a learning rate of zero its weights stay as they were."""
    monkeypatch.chdir(tmp_path)
    imported(hub("shared"), Path("RUN"))
    for text in ("new.en", "new.de"):
        Path(text).write_text("".join(f"{line}\n" for line in tiny_marian.lines(120, 5)))
    card = Path("RUN/README.md").read_text().split("```")[1].replace("\\\n", "")
    prepare, train = (line.split()[1:] for line in card.splitlines() if " --from " in line or " --like " in line)
    assert subcommands.main([*prepare, "--quiet", "--workers", "1"]) == 0
    still = ["--lr", "0", "--warmup-updates", "1"]
    assert subcommands.main([*train, "--updates", "2", "--gpus", "0", "--", *still]) == 0
    runs = [torch.load(f"{run}/checkpoints/checkpoint_last.pt", weights_only=False) for run in ("RUN", "tuned")]
    torch.testing.assert_close(runs[1]["model"], runs[0]["model"], rtol=0, atol=0)


def test_the_target_is_split_by_its_own_model(hub: Callable[..., Path], tmp_path: Path) -> None:
    subwords = imported(hub("shared"), tmp_path / "run") / "subwords"
    line = tiny_marian.lines(1, 3)[0]
    block = Block(f">>fra<< {line}\n".encode(), f"{line}\n".encode(), 1, 0, 0)
    encoded = encode_subwords.encode_block(block, METHODS[PAIR], subwords, ("en", "de"), None)
    models = [SentencePieceProcessor(model_file=str(subwords / f"{side}.spm")) for side in ("source", "target")]
    source, target = (" ".join(model.encode(line, out_type=str)) + "\n" for model in models)
    assert (encoded.source.decode(), encoded.target.decode()) == (f">>fra<< {source}", target)
    assert source != target


REFUSED: dict[str, tuple[dict[str, object], str]] = {
    "family": ({"model_type": "t5"}, "model_type t5 is not one of marian"),
    "activation": ({"activation_function": "mish"}, "activation_function mish is not one of silu, relu"),
    "end": ({"eos_token_id": 5}, "and </s> as eos_token_id in config.json, 5"),
    "start": ({"decoder_start_token_id": 9999}, "decoder_start_token_id is 9999; allowed is the number of a subword"),
    "size": ({"encoder_ffn_dim": 32}, r"its encoder.layers.0.fc1.weight is \(64, 32\), the model's \(32, 32\)"),
    "layers": ({"decoder_layers": 3}, "lacks the weights decoder.layers.2.final_layer_norm.weight"),
    "type": ({"d_model": "32"}, "config.json has an unexpected format: Expected `int`"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_another_model_is_refused_by_name(
    case: str, hub: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, message = REFUSED[case]
    folder = Path(shutil.copytree(hub("shared"), tmp_path / "folder"))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **change}))
    assert subcommands.main(["import", str(folder), "--output", str(tmp_path / "run")]) == 1
    assert re.search(message, capsys.readouterr().err)
    assert not (tmp_path / "run").exists()


def test_the_card_has_the_source_and_its_licence(hub: Callable[..., Path], tmp_path: Path) -> None:
    run = imported(hub("shared"), tmp_path / "run", "--source", "eng")
    assert all(re.search(LICENCE, f"---\nlicense:{word}\n---\n") for word in (" mit", ' "mit"', "\n- mit"))
    assert "license: cc-by-4.0\n" in (run / "README.md").read_text()
    record = json.loads((run / "import.json").read_text())["made_from"]
    assert record["settings"] == {"model": "marian_shared", "licence": "cc-by-4.0"}
    assert record["inputs"]["model.safetensors"]["sha256"] == sha256(hub("shared") / "model.safetensors")
    assert (run / "data-bin" / "dict.eng.txt").is_file()
