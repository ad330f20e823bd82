"""An imported M2M-100 against transformers, from text to text."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from fairseq import checkpoint_utils, data
from fairseq.data import data_utils
from fairseq.sequence_generator import SequenceGenerator
from programs import commands
from tiny_models import m2m100
from tiny_models.tiny import EOS, PAD
from torch import Tensor
from torch.testing import assert_close
from transformers import M2M100ForConditionalGeneration, M2M100Tokenizer, NllbTokenizer

from realformer_nmt import python_api, subcommands
from realformer_nmt.common.errors import UserError
from realformer_nmt.serving import translator
from realformer_nmt.serving.decoding import SearchOptions

LANGUAGES = {"source_language": "en", "target_language": "fr"}
PAIR = ("--source-language", "en", "--target-language", "fr")
LONGEST = 14


class Imported(NamedTuple):
    folder: Path
    reference: M2M100ForConditionalGeneration
    tokenizer: M2M100Tokenizer
    run: Path


def imported_to(folder: Path, deviation: float) -> Imported:
    model = m2m100.write(folder / "hub", deviation)
    tokenizer = M2M100Tokenizer.from_pretrained(folder / "hub", src_lang="en")
    assert subcommands.main(["import", str(folder / "hub"), "--output", str(folder / "run")]) == 0
    return Imported(folder / "hub", model, tokenizer, folder / "run")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    """Its weights are so large that it writes many different texts."""
    return imported_to(tmp_path_factory.mktemp("m2m100"), 0.6)


def load(run: Path) -> translator.Translator:
    return translator.load(run, cpu=True, **LANGUAGES)


def padded(sentences: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Return sentences padded on the left, as fairseq does, and on the right."""
    longest = max(map(len, sentences))
    source = [[PAD] * (longest - len(sentence)) + sentence for sentence in sentences]
    right = [sentence + [PAD] * (longest - len(sentence)) for sentence in sentences]
    return torch.tensor(source), torch.tensor(right)


def logits(checkpoint: Path, folder: Path, source: Tensor, previous: Tensor) -> Tensor:
    languages = {"data": str(folder), "source_lang": "en", "target_lang": "fr"}
    (model,), _ = checkpoint_utils.load_model_ensemble([str(checkpoint)], languages)
    computed: Tensor = model.eval()(source, source.ne(PAD).sum(1), previous)[0]
    return computed


def test_ragged_batches_have_the_same_log_probabilities(tmp_path: Path) -> None:
    """Also in fairseq's own transformer, which without a version takes the model for one without final norms."""
    _, reference, tokenizer, run = imported_to(tmp_path, 0.25)
    source, right = padded(tokenizer(m2m100.lines(24)).input_ids)
    previous = torch.cat([torch.full((24, 1), EOS), torch.randint(4, 220, (24, 7))], 1)
    expected = reference(input_ids=right, attention_mask=right.ne(PAD), decoder_input_ids=previous).logits
    stock = tmp_path / "exported/model.pt"
    assert subcommands.main(["export", str(run), "--to", "fairseq", *PAIR, "--output", str(stock.parent)]) == 0
    for checkpoint, folder in ((run / "checkpoints/checkpoint_last.pt", run / "data-bin"), (stock, stock.parent)):
        computed = logits(checkpoint, folder, source, previous)
        assert_close(computed, expected, atol=1e-5, rtol=0)
        assert_close(computed.log_softmax(-1), expected.log_softmax(-1), atol=1e-5, rtol=0)
    state = torch.load(stock, weights_only=True)
    state["model"] = {name: weight for name, weight in state["model"].items() if not name.endswith("version")}
    torch.save(state, stock)
    assert (logits(stock, stock.parent, source, previous) - expected).abs().max() > 1


@pytest.mark.parametrize("beam", [1, 4])
def test_hypotheses_are_those_of_transformers(imported: Imported, beam: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """fairseq counts the probability of the forced tag, transformers does not: here it is 1 in both."""
    forced = SequenceGenerator._prefix_tokens

    def certain(*state: Any) -> Any:
        lprobs, *rest = forced(*state)
        return lprobs.masked_fill(lprobs.isfinite(), 0), *rest

    monkeypatch.setattr(SequenceGenerator, "_prefix_tokens", certain)
    loaded = load(imported.run).loaded(SearchOptions())
    tag = imported.tokenizer.get_lang_id("fr")
    generator = SequenceGenerator(loaded.models, loaded.task.target_dictionary, beam, max_len_b=LONGEST, min_len=0)
    source, right = padded(imported.tokenizer(m2m100.lines(380)).input_ids)
    sample = {"net_input": {"src_tokens": source, "src_lengths": source.ne(PAD).sum(1)}}
    beams = generator.generate([], sample, prefix_tokens=torch.full((380, 1), tag))
    options = {"num_beams": beam, "max_new_tokens": LONGEST, "early_stopping": beam > 1, "forced_bos_token_id": tag}
    rows = imported.reference.generate(input_ids=right, attention_mask=right.ne(PAD), **options)
    equal = 0
    for best, row in zip(beams, rows.tolist(), strict=True):
        expected = [number for number in row[1:] if number != PAD]
        if len(expected) < LONGEST:  # where transformers ends a hypothesis, and fairseq lets the model end it
            assert best[0]["tokens"].tolist() == expected
            equal += 1
    assert equal >= 200


def test_text_is_read_and_written_as_by_transformers(imported: Imported) -> None:
    lines = ["Ω abc", "a  b", *m2m100.lines(30)]
    batch = imported.tokenizer(lines, return_tensors="pt", padding=True)
    tag = imported.tokenizer.get_lang_id("fr")
    rows = imported.reference.generate(**batch, num_beams=1, forced_bos_token_id=tag, max_new_tokens=LONGEST)
    written = [[number for number in row if number not in (PAD, EOS, tag)] for row in rows.tolist()]
    texts = load(imported.run).translate([*lines, ""], beam=1, max_len_b=LONGEST)
    named = imported.reference.config.vocab_size - m2m100.FILLERS
    pairs = [(text, row) for text, row in zip(texts, written, strict=False) if max(row, default=0) < named]
    assert [text for text, _ in pairs] == [imported.tokenizer.decode(row) for _, row in pairs]
    assert len({text for text, _ in pairs}) > 10
    assert texts[-1] == ""


def test_every_command_writes_what_the_loaded_run_writes(imported: Imported, tmp_path: Path) -> None:
    """`translate` by fairseq-generate, and the program of ONNX, which begins with the tag too."""
    lines = m2m100.lines(4)
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in [*lines, ""]))
    model = load(imported.run)
    expected = model.translate([*lines, ""])
    argv = ["translate", str(imported.run), *PAIR, "--input", str(tmp_path / "text"), "--output", str(tmp_path / "out")]
    assert subcommands.main(argv) == 0
    assert (tmp_path / "out/hypotheses.txt").read_text().split("\n") == [*expected, ""]
    assert (
        subcommands.main(["export", str(imported.run), *PAIR, "--to", "onnx", "--output", str(tmp_path / "onnx")]) == 0
    )
    source = (tmp_path / "text").read_text()
    done = commands.run([sys.executable, str(tmp_path / "onnx/translate.py")], text=source)
    assert done.stdout.split("\n") == [*expected, ""], done.stderr
    with pytest.raises(UserError, match="begins with a language's tag, which Marian's search does not force"):
        python_api.export(imported.run, to="huggingface", output=tmp_path / "hub", **LANGUAGES)


def test_pairs_prepared_like_the_run_begin_with_tags(imported: Imported, tmp_path: Path) -> None:
    """The target of an empty pair, too, as fairseq-generate takes the forced word from there."""
    texts = [tmp_path / f"text.{language}" for language in ("en", "fr")]
    for text in texts:
        text.write_text("".join(f"{line}\n" for line in m2m100.lines(12)))
    empty = tmp_path / "empty"
    empty.write_text("a b\n\n")
    pairs = {"train": [texts], "test": [[empty, empty]], "held_out": 5}
    options = {"like": imported.run, "folder": tmp_path / "data", "workers": 1, "quiet": True}
    python_api.prepare(source="en", target="fr", **pairs, **options)
    tests = [
        data_utils.load_indexed_dataset(str(tmp_path / f"data/data-bin/test.en-fr.{language}"))
        for language in ("en", "fr")
    ]
    tag = [imported.tokenizer.get_lang_id(language) for language in ("en", "fr")]
    assert [[side[0][0].item() for side in tests], tests[0][1].tolist(), tests[1][1].tolist()] == [
        tag,
        [EOS],
        [tag[1], EOS],
    ]


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ((None, None), "is for a model of 100 languages: pass --source-language and --target-language"),
        (("en", "xx"), "--target-language xx is not one of"),
        (("en", "mul"), "--target-language mul is not one of"),
        (("en", "en"), "--source-language en and --target-language en: give two different languages"),
    ],
)
def test_a_pair_of_the_models_languages_is_needed(
    imported: Imported, pair: tuple[str | None, str | None], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        translator.load(imported.run, source_language=pair[0], target_language=pair[1])


def test_every_row_has_the_word_of_transformers(imported: Imported) -> None:
    words = data.Dictionary.load(str(imported.run / "data-bin/dict.fr.txt"))
    rows = imported.reference.config.vocab_size
    assert len(words) == rows
    named = rows - m2m100.FILLERS
    assert words.symbols[:named] == imported.tokenizer.convert_ids_to_tokens(range(named))
    assert len(list((imported.run / "data-bin").glob("dict.*.txt"))) == 101  # the languages, and the file of all


def test_nllbs_rows_are_those_of_its_tokenizer(imported: Imported, tmp_path: Path) -> None:
    """Its subwords are sentencepiece's, a row further on; <mask> and what follows are words of no text."""
    folder = Path(shutil.copytree(imported.folder, tmp_path / "nllb"))
    (folder / "vocab.json").unlink()
    tokens = {0: "<s>", 121: "ace_Arab", 122: "eng_Latn", 123: "zho_Hant", 124: "<mask>"}
    added = [{"id": number, "content": content, "special": True} for number, content in tokens.items()]
    (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": added}))
    assert subcommands.main(["import", str(folder), "--output", str(tmp_path / "run")]) == 0
    words = data.Dictionary.load(str(tmp_path / "run/data-bin/dict.eng_Latn.txt"))
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()
    reference = NllbTokenizer.from_pretrained(folder)
    assert words.symbols[4:121] == reference.convert_ids_to_tokens(range(4, 121))
    assert words.symbols[121:125] == ["__ace_Arab__", "__eng_Latn__", "__zho_Hant__", "madeupword124"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "nllb-moe"}, "model_type nllb-moe is not one of marian, fairseq, m2m_100"),
        ({"activation_function": "gelu"}, "activation_function is gelu; models with relu are taken"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings is False; models with True are taken"),
        ({"vocab_size": 200}, "its vocabulary names row 220 of 200"),
    ],
)
def test_what_is_not_as_in_fairseq_is_refused(
    imported: Imported, config: dict[str, object], message: str, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(imported.folder, tmp_path / "hub"))
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**settings, **config}))
    with pytest.raises(UserError, match=message):
        python_api.import_model(folder, output=tmp_path / "run")
