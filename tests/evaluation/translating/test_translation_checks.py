"""A translation that cannot be made is refused before anything is done."""

from pathlib import Path

import pytest
import torch
from programs import argv
from tiny_models import saved

from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation.translating import translation_checks
from realformer_nmt.evaluation.translating.translate import TranslateRequest


@pytest.mark.parametrize(
    ("words", "mended", "message"),
    [
        (
            "a.pt --max-len-b 0",
            "a.pt --max-len-b 0 --max-len-a 1",
            r"max_len_a=0\.0, max_len_b=0: allowed is 1 token or",
        ),
        ("10:30/a.pt", "1030/a.pt", r"10:30/a\.pt: fairseq splits paths at :: rename the folder"),
        ("a.pt b.pt --validate", "a.pt --validate", "--validate is for one model: give one checkpoint"),
        ("a.pt --jobs 2", "a.pt --jobs 2 --cpu", "--jobs 2 share the cores of a CPU"),
    ],
)
def test_what_is_not_possible_is_named(words: str, mended: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    translation_checks.check_possible(argv.read(TranslateRequest, *mended.split(), "--output", "out"))
    with pytest.raises(UserError, match=message):
        translation_checks.check_possible(argv.read(TranslateRequest, *words.split(), "--output", "out"))


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
