"""A data-bin of sentences against fairseq-preprocess's."""

from pathlib import Path

from realformer_nmt.common.files.text_lines import read_lines
from realformer_nmt.data_bins import subsets


def test_binarised_as_fairseq_preprocess_does(toy_corpus: Path, tmp_path: Path) -> None:
    lines = read_lines(toy_corpus.parent / "test.src")
    subsets.binarise(lines, toy_corpus, "test", "src", "tgt", tmp_path)
    for suffix in ("bin", "idx"):
        name = f"test.src-tgt.src.{suffix}"
        assert (tmp_path / name).read_bytes() == (toy_corpus / name).read_bytes()
    assert subsets.count(tmp_path, "test", "src", "tgt") == len(lines) == 61
