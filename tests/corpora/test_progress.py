import io
import re
from pathlib import Path

import pytest
from archive_server import ArchiveServer
from single_archive import packing

from realformer_nmt.corpora.download import download


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "quiet", "shown"), [(Terminal, False, True), (Terminal, True, False), (io.StringIO, False, False)]
)
def test_a_bar_with_speed_and_time_left_is_for_terminals(
    server: ArchiveServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stream: type[io.StringIO],
    quiet: bool,
    shown: bool,
) -> None:
    error = stream()
    monkeypatch.setattr("sys.stderr", error)
    download(packing(server), tmp_path, quiet=quiet)
    assert bool(re.search(r"a\.tgz: 100%.*2\.50M/2\.50M \[\d\d:\d\d<\d\d:\d\d, .*B/s\]", error.getvalue())) == shown
    assert bool(error.getvalue()) == shown
