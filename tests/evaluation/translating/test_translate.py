"""Every line, in order, whatever their number; and text that comes back from subwords as it was."""

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import options
from programs import argv, commands
from programs.program import REPOSITORY, realformer_nmt
from texts import translation_records
from tiny_models import saved

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.text_lines import read_lines, sha256
from realformer_nmt.common.stages.stage import Stage
from realformer_nmt.corpora import text_pipeline
from realformer_nmt.data_bins import subsets
from realformer_nmt.evaluation.metrics.metric_table import tokenised_bleu
from realformer_nmt.evaluation.translating import translate, translation, translation_record
from realformer_nmt.evaluation.translating.generation import Generated
from realformer_nmt.evaluation.translating.translate import TranslateRequest
from realformer_nmt.kernels.precision import FORMS, supported

ROUNDED = [name for name in supported() if name != translate.EXACT]
DECODING = ["--cpu", "--beam", "2", "--max-len-a", "1", "--max-len-b", "2"]
Translate = Callable[..., list[str]]


@pytest.fixture(scope="module")
def sentences(toy_corpus: Path) -> list[str]:
    """1,001 lines: sentence 3 stands at line 500 too, and line 700 is empty."""
    lines = read_lines(toy_corpus.parent / "train.src")[:1001]
    lines[500], lines[700] = lines[3], ""
    return lines


@pytest.fixture(scope="module")
def of_1001(run: Path, toy_corpus: Path, sentences: list[str], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("translate")
    (folder / "text").write_text("\n".join(sentences))  # the last line has no line feed
    return translated(run, toy_corpus, folder, "--input", folder / "text")


def translated(run: Path, data: Path, folder: Path, *arguments: object) -> list[str]:
    fixed = [run / "checkpoint5.pt", "--data", data, "--subwords", "none", "--output", folder / "out", *DECODING]
    with commands.starting_forks():
        assert argv.read(TranslateRequest, *fixed, *arguments).run() == 0
    return read_lines(folder / "out" / translation_record.HYPOTHESES)


def test_1001_lines_of_raw_text(of_1001: list[str], sentences: list[str]) -> None:
    assert len(of_1001) == 1001
    assert of_1001[500] == of_1001[3] != of_1001[4]
    assert [number for number, line in enumerate(of_1001) if not line] == [700]
    reversed_letters = sum(
        line.split()[:1] == source.split()[-1:] for line, source in zip(of_1001, sentences, strict=True)
    )
    assert reversed_letters > 400  # it was trained a little: the first letter is that of its own source's end


def test_a_byte_order_mark_is_no_word(toy_corpus: Path, tmp_path: Path) -> None:
    """Nothing is left to translate, so no model is needed."""
    (tmp_path / "text").write_bytes(b"\xef\xbb\xbf\n")
    request = TranslateRequest(checkpoints=(), output=tmp_path, data=toy_corpus, subwords="none")
    corpus = text_pipeline.requested(request)
    assert translation.translate_text(request, corpus, tmp_path, tmp_path / "text").hypotheses == [""]


def test_text_from_standard_input_and_packed(
    run: Path, toy_corpus: Path, sentences: list[str], of_1001: list[str], tmp_path: Path
) -> None:
    text = "".join(f"{line}\n" for line in sentences[698:703]).encode()
    arguments = [run / "checkpoint5.pt", "--data", toy_corpus, "--subwords", "none", *DECODING]
    words = [sys.executable, "-m", "realformer_nmt.cli", "translate", *arguments, "--input", "-", "--output", "-"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "LC_ALL": "C", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*map(str, words)], input=text, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().split("\n") == [*of_1001[698:703], ""]
    (tmp_path / "text.gz").write_bytes(gzip.compress(text))
    assert translated(run, toy_corpus, tmp_path, "--input", tmp_path / "text.gz") == of_1001[698:703]


def test_lines_of_several_sentences_stay_lines(run: Path, toy_corpus: Path, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("a b.\nC d\nb a")
    alone = translated(run, toy_corpus, tmp_path, "--input", text)
    text.write_text(" a b.  C d\n\nb a")
    lines = [f" {alone[0]}  {alone[1]}", "", alone[2]]
    assert translated(run, toy_corpus, tmp_path, "--input", text, "--split-sentences", "--fresh") == lines
    record = translation_record.read(tmp_path / "out")
    assert (record.lines, record.split_sentences, read_lines(tmp_path / "out" / translation_record.TOKENISED)) == (
        3,
        True,
        lines,
    )
    with pytest.raises(UserError, match="split_sentences was True, is now nothing"):
        translated(run, toy_corpus, tmp_path, "--input", text)


def test_another_text_on_standard_input_is_another_input(
    toy_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed = [saved.save(tmp_path / "a.pt", saved.state(toy_corpus)), "--data", toy_corpus, "--subwords", "none"]
    request = argv.read(TranslateRequest, *fixed, "--input", "-", "--output", tmp_path / "out")

    def copied(request: TranslateRequest, *_: object) -> Generated:
        lines = read_lines(request.input or Path())
        return Generated(lines, None, lines)

    monkeypatch.setattr(translation, "translate", copied)
    for text in ("a b\n", "a b\n", "b a\n"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        with pytest.raises(UserError, match="input is another file") if text == "b a\n" else nullcontext():
            request.run()
    assert read_lines(tmp_path / "out" / translation_record.HYPOTHESES) == ["a b"]


@pytest.mark.parametrize("number", [1, 9])
def test_every_line_of_a_subset(
    number: int, run: Path, toy_corpus: Path, sentences: list[str], of_1001: list[str], tmp_path: Path
) -> None:
    """A sentence has one translation, alone or among a thousand."""
    places = [700, *range(499, 507), 3][-number:] if number == 9 else list(range(499, 499 + number))
    subsets.binarise([sentences[place] for place in places], toy_corpus, "few", "src", "tgt", tmp_path)
    assert translated(run, tmp_path, tmp_path, "--subset", "few") == [of_1001[place] for place in places]


def test_the_command_gives_what_fairseq_generate_says(
    run: Path, toy_corpus: Path, fairseq: Any, user_dir: Path, tmp_path: Path
) -> None:
    """An ensemble, on a subset whose size is no multiple of 8."""
    ensemble = [run / "checkpoint4.pt", run / "checkpoint5.pt"]
    corpus = ["--data", toy_corpus, "--subwords", "none"]
    done = realformer_nmt("translate", *ensemble, *corpus, *DECODING, "--output", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    flags = [toy_corpus, "--user-dir", user_dir, "--path", ":".join(map(str, ensemble)), *DECODING]
    stock = fairseq("generate", *flags, "--required-batch-size-multiple", 1)
    assert stock.returncode == 0, stock.stderr
    for kind, file, field in [("H", translation_record.HYPOTHESES, 2), ("T", translation_record.REFERENCE, 1)]:
        lines = [line.split("\t") for line in stock.stdout.splitlines() if line.startswith(f"{kind}-")]
        lines.sort(key=lambda line: int(line[0][2:]))
        assert read_lines(tmp_path / "out" / file) == [line[field] for line in lines]
    words = [
        read_lines(tmp_path / "out" / name) for name in (translation_record.TOKENISED, translation_record.REFERENCE)
    ]
    printed = re.search(r"BLEU4 = ([\d.]+)", stock.stdout)
    assert printed is not None
    assert f"{tokenised_bleu().corpus_score(words[0], [words[1]]).score:.2f}" == printed[1] != "0.00"
    record = json.loads((tmp_path / "out" / translation_record.RECORD).read_text())
    assert (record["lines"], record["decoding"]["beam"], "validation" in record) == (61, 2, False)
    assert record["checkpoints"] == list(map(str, ensemble))
    assert record["checkpoint_sha256"] == [hashlib.sha256(path.read_bytes()).hexdigest() for path in ensemble]
    assert record["files"][translation_record.HYPOTHESES] == sha256(tmp_path / "out" / translation_record.HYPOTHESES)


def test_settings_of_zero_reach_fairseq(toy_corpus: Path) -> None:
    """0 == False in Python; fairseq's own parser reads the arguments here."""
    words = ["a.pt", "--data", toy_corpus, "--subwords", "none", "--output", "out", "--lenpen", 0, "--max-len-b", 0]
    request = argv.read(TranslateRequest, *words)
    arguments = translation.arguments(request, text_pipeline.requested(request))
    parser = options.get_generation_parser(default_task="translation")
    parsed = options.parse_args_and_arch(parser, input_args=[str(toy_corpus), *arguments])
    assert (parsed.lenpen, parsed.max_len_a, parsed.max_len_b) == (0, 0, 0)
    assert (parsed.fp16, parsed.max_tokens) == (False, None)


def test_a_failure_leaves_the_record_of_before_and_says_fairseqs_last_line(
    run: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    state = torch.load(run / "checkpoint5.pt", weights_only=False)
    del state["model"]["decoder.layers.0.fc1.bias"]
    torch.save(state, tmp_path / "checkpoint5.pt")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / translation_record.RECORD).write_text(json.dumps({"written_by": "realformer-nmt translate"}))
    with pytest.raises(UserError, match=r"fairseq-generate ended with status 1: (?!fairseq-generate).*fc1\.bias"):
        translated(tmp_path, toy_corpus, tmp_path, "--fresh")
    assert [file.name for file in (tmp_path / "out").iterdir()] == [translation_record.RECORD]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], r"load .*checkpoint5\.pt: it is no"),
        (["--subset", "tset"], "holds no subset tset in src: there are test, train, valid"),
        (["--input", "absent"], "absent: no such file"),
        (["--validate", "--input", "text"], "--validate goes with a subset"),
        (["--split-sentences"], "--split-sentences goes with --input or --test-set"),
        (["--subwords", "moses_bpe", "--hyphens", "plain", "--input", "text"], "pass --subwords-folder"),
        (["--subwords", "moses_bpe", "--hyphens", "plain", "--subwords-folder", ".", "--input", "text"], r"bpe\.codes"),
        (["--hyphens", "plain"], "is not tokenised by Moses: leave --hyphens out"),
        (["--subwords", "moses_bpe"], "say how, with --hyphens aggressive or plain"),
        (["--data", "."], "holds no binarised pair of languages"),
        (["--prepared", "."], "prepare.json says the same as --data"),
    ],
)
def test_a_record_stays_where_nothing_can_be_translated(
    toy_corpus: Path, tmp_path: Path, options: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("a b\n")
    model = saved.save(tmp_path / "checkpoint5.pt", saved.state(toy_corpus))
    if not options:
        model.write_bytes(b"no checkpoint")
    (tmp_path / "out").mkdir()
    record = tmp_path / "out" / translation_record.RECORD
    record.write_text(json.dumps({"written_by": "realformer-nmt translate"}))
    before = record.read_bytes()
    with pytest.raises((UserError, FileNotFoundError), match=message):
        translated(tmp_path, toy_corpus, tmp_path, *options, "--fresh")
    assert list((tmp_path / "out").iterdir()) == [record]
    assert record.read_bytes() == before


def test_a_library_that_turns_subwords_into_text_is_missed_before_the_work(
    run: Path, toy_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "subword_nmt.apply_bpe", None)
    monkeypatch.delitem(sys.modules, "realformer_nmt.corpora.subwords.moses_bpe", raising=False)
    monkeypatch.setattr(translation, "translate", lambda *_: pytest.fail("it translated first"))
    with pytest.raises(ModuleNotFoundError, match=r"subword_nmt"):
        translated(run, toy_corpus, tmp_path, "--subwords", "moses_bpe", "--hyphens", "plain")
    assert not (tmp_path / "out").exists()


def test_a_translation_of_several_models_is_not_that_of_one_of_them(
    run: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    models = [run / "checkpoint4.pt", run / "checkpoint5.pt"]

    def request(*checkpoints: Path) -> TranslateRequest:
        words = [*checkpoints, "--data", toy_corpus, "--subwords", "none", "--output", tmp_path, *DECODING]
        return argv.read(TranslateRequest, *words)

    stage = request(*models).stage()
    stage.write(translation_records.record(made_from=stage.new_origin()))
    assert stage.status().done
    for model in models:
        with pytest.raises(UserError, match="models was 2, is now nothing"):
            request(model).run()
    with pytest.raises(UserError, match=r"checkpoint5\.pt is given twice"):
        request(*models, models[1]).run()
    with pytest.raises(UserError, match=r"other/dict\.src\.txt has the same name as another input"):
        translation.stage_of(request(tmp_path / "other" / "dict.src.txt"))


def test_a_test_set_is_the_same_by_every_path_to_it(
    toy_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stage(path: str) -> Stage:
        words = ["average.pt", "--data", toy_corpus, "--subwords", "none", "--output", tmp_path / "out"]
        return argv.read(TranslateRequest, *words, "--test-set", path).stage()

    monkeypatch.chdir(tmp_path)
    for name, target in [("set.tsv", "B"), ("other.tsv", "B"), ("folder/set.tsv", "C")]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"src\tref\n{target}\tA\n")
    before = stage("set.tsv")
    before.write(translation_records.record(made_from=before.new_origin()))
    for path in ("set.tsv", "./set.tsv", "folder/../set.tsv", str(tmp_path / "set.tsv")):
        assert stage(path).status().done
    assert stage("other.tsv").status().differences == ("test_set was set.tsv, is now other.tsv",)
    assert stage("folder/set.tsv").status().differences == ("input is another file",)


def test_a_translation_of_one_job_is_that_of_any_number(run: Path, tmp_path: Path, toy_corpus: Path) -> None:
    """Jobs are no setting that a record compares."""
    fixed = [run / "checkpoint5.pt", "--data", toy_corpus, "--subwords", "none", "--output", tmp_path]
    one, two = (argv.read(TranslateRequest, *fixed, "--jobs", number).stage() for number in "12")
    assert (one.settings, one.inputs) == (two.settings, two.inputs)


def test_the_precisions_on_offer_are_those_there_are() -> None:
    assert set(translate.PRECISIONS) == FORMS.keys()
    assert translate.EXACT in supported()


@pytest.mark.parametrize("precision", ROUNDED)
def test_a_precision_is_noted_and_nearly_the_exact_one(
    run: Path, toy_corpus: Path, sentences: list[str], of_1001: list[str], tmp_path: Path, precision: str
) -> None:
    (tmp_path / "text").write_text("\n".join(sentences[:100]))
    translations = translated(run, toy_corpus, tmp_path, "--input", tmp_path / "text", "--precision", precision)
    assert sum(one == other for one, other in zip(translations, of_1001, strict=False)) >= 80
    record = json.loads((tmp_path / "out" / translation_record.RECORD).read_text())
    assert record["decoding"]["precision"] == precision
    assert record["made_from"]["settings"]["precision"] == precision
