"""Lines of text files, packed ones too."""

import gzip
from pathlib import Path

import pytest

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.text_lines import read_lines


def test_a_packed_text_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress(b"a b c\n" * 1000)
    for name, content in {
        "cut": whole[:-9],
        "text": b"a b c\n",
        "flipped": whole[:30] + b"\xff\xff" + whole[32:],
    }.items():
        (tmp_path / f"{name}.gz").write_bytes(content)
        with pytest.raises(UserError, match=rf"{name}\.gz: incomplete or damaged gzip file"):
            read_lines(tmp_path / f"{name}.gz")
