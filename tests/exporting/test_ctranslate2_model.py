"""Hypotheses of CTranslate2 itself, beside ours."""

import re
from pathlib import Path

import ctranslate2
import pytest
from tiny_models import exportable
from tiny_models.exportable import LONGEST

from realformer_nmt import subcommands
from realformer_nmt.kernels.precision import supported

CASES = {
    "pre_ln": ("pre_ln_tiny", ("--activation-fn", "gelu")),
    "admin_decayed": ("admin_tiny", ("--residual-scaling", "admin_decayed", "--layernorm-embedding")),
    "deepnorm": ("deepnorm_tiny", ()),
}


def greedy(folder: Path, texts: list[str]) -> list[list[str]]:
    engine = ctranslate2.Translator(str(folder), inter_threads=1, intra_threads=1)
    results = engine.translate_batch([text.split() for text in texts], beam_size=1, max_decoding_length=LONGEST)
    # fairseq leaves <s> out of what it writes
    return [[piece for piece in result.hypotheses[0] if piece != "<s>"] for result in results]


def texts(data: Path) -> list[str]:
    return (data.parent / "test.src").read_text().splitlines()


@pytest.mark.parametrize("case", CASES)
def test_it_writes_what_ours_writes(case: str, tmp_path: Path, toy_corpus: Path) -> None:
    arch, flags = CASES[case]
    checkpoint = exportable.checkpoint(tmp_path / "ours.pt", toy_corpus, arch, *flags, margin=0.2)
    hypotheses = greedy(
        exportable.exported("ctranslate2", checkpoint, toy_corpus, tmp_path / "exported"), texts(toy_corpus)
    )
    assert hypotheses == exportable.greedy(checkpoint, toy_corpus, texts(toy_corpus))
    assert len(set(map(tuple, hypotheses))) > 2


def test_in_int8_it_is_smaller_and_nearly_the_same(
    tmp_path: Path, toy_corpus: Path, caplog: pytest.LogCaptureFixture
) -> None:
    checkpoint = exportable.checkpoint(tmp_path / "ours.pt", toy_corpus, "deepnorm_tiny", margin=0.2)
    folders = {
        name: exportable.exported("ctranslate2", checkpoint, toy_corpus, tmp_path / name, "--precision", name)
        for name in ("fp32", "int8")
    }
    sizes = {name: (folder / "model.bin").stat().st_size for name, folder in folders.items()}
    assert caplog.messages == []  # nothing of how the converter sets itself up
    assert sizes["int8"] < 0.75 * sizes["fp32"]
    exact, rounded = (greedy(folder, texts(toy_corpus)) for folder in folders.values())
    minimum = 30 if "int8" in supported() else 15  # without VNNI its sums of two products saturate
    assert sum(map(list.__eq__, exact, rounded)) > minimum


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--decoder-attention-heads", "2"), "Options --encoder-attention-heads and --decoder-attention-heads must"),
        (("--activation-fn", "tanh"), "Option --activation-fn tanh is not supported"),
    ],
)
def test_what_it_has_no_place_for_is_refused_in_its_words(
    flags: tuple[str, ...], message: str, tmp_path: Path, toy_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = exportable.checkpoint(tmp_path / "ours.pt", toy_corpus, "post_ln_tiny", *flags)
    words = ["--data", str(toy_corpus), "--subwords", "none", "--output", str(tmp_path / "exported")]
    assert subcommands.main(["export", str(checkpoint), "--to", "ctranslate2", *words]) == 1
    assert re.search(rf"ours\.pt: CTranslate2 cannot take it: .*{message}.*\n$", capsys.readouterr().err)
    assert [path.name for path in tmp_path.iterdir()] == ["ours.pt"]
