"""A translation that cannot be made is refused before anything is done."""

from pathlib import Path

import pytest
import torch
from programs import argv
from tiny_models import saved

from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation.translating import translation_checks
from realformer_nmt.evaluation.translating.translate import TranslateRequest


def test_a_translation_has_room_for_a_token() -> None:
    words = ["a.pt", "--output", "out", "--max-len-b", "0"]
    translation_checks.check_possible(argv.read(TranslateRequest, *words, "--max-len-a", "1"))
    with pytest.raises(UserError, match=r"max_len_a=0\.0, max_len_b=0: allowed is 1 token or more"):
        translation_checks.check_possible(argv.read(TranslateRequest, *words))


def test_a_path_that_fairseq_would_split_is_refused() -> None:
    with pytest.raises(UserError, match=r"runs/10:30/a\.pt: fairseq splits paths at :: rename the folder"):
        translation_checks.check_possible(argv.read(TranslateRequest, "runs/10:30/a.pt", "--output", "out"))


def test_one_model_alone_is_validated() -> None:
    with pytest.raises(UserError, match="--validate is for one model: give one checkpoint"):
        translation_checks.check_possible(argv.read(TranslateRequest, "a.pt", "b.pt", "--output", "out", "--validate"))


def test_jobs_do_not_share_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    words = ["a.pt", "--output", "out", "--jobs", "2"]
    translation_checks.check_possible(argv.read(TranslateRequest, *words, "--cpu"))
    with pytest.raises(UserError, match="--jobs 2 share the cores of a CPU"):
        translation_checks.check_possible(argv.read(TranslateRequest, *words))


def test_a_model_of_fairseqs_own_has_no_other_precision(toy_corpus: Path, tmp_path: Path) -> None:
    sizes = ("--encoder-embed-dim", "8", "--decoder-embed-dim", "8")
    path = saved.save(tmp_path / "stock.pt", saved.state(toy_corpus, *sizes, arch="transformer"))
    words = ["--data", toy_corpus, "--subwords", "none", "--output", tmp_path / "out", "--precision", "bf16"]
    with pytest.raises(UserError, match=r"stock.pt is no model of this package and decodes in fp32 alone"):
        argv.read(TranslateRequest, path, *words).run()


def test_a_line_that_is_too_long_is_named(toy_corpus: Path, tmp_path: Path) -> None:
    path = saved.save(tmp_path / "model.pt", saved.state(toy_corpus, "--max-source-positions", "8"))
    (tmp_path / "text").write_text("a b\n" + "a " * 8)
    words = [path, "--data", toy_corpus, "--subwords", "none", "--input", tmp_path / "text"]
    with pytest.raises(UserError, match="text, line 2 has 9 tokens, and the model has room for 8: split the line"):
        argv.read(TranslateRequest, *words, "--output", tmp_path / "out", "--cpu").run()
