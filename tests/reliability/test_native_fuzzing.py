"""A small version of `make sanitise`: no odd call of a kernel reads or writes what is not its own."""

from pathlib import Path

import pytest

from reliability import native_build, native_fuzzing
from reliability.native_odd import KNOWN
from reliability.trainings import FailedError

pytestmark = [  # `make reliability`, since building takes most of a minute
    pytest.mark.product,
    pytest.mark.skipif(native_build.sanitiser() is None, reason="gcc's sanitisers are not installed"),
]
CHECK = "if (a->failed || !t->there || !memcmp(t->size, sizes, dimensions * sizeof *sizes)) return;"


def test_odd_calls_are_refused_and_others_return(tmp_path: Path) -> None:
    calls = len(KNOWN) + 200
    figures = native_fuzzing.attack(tmp_path / "build", calls)
    assert figures["computed"] + figures["refused"] == calls
    assert figures["refused"] > len(KNOWN)
    assert figures["computed"] > 50


def test_a_kernel_that_trusts_its_caller_is_found(tmp_path: Path) -> None:
    """Sizes are no longer compared."""
    sources = tmp_path / "native"
    sources.mkdir()
    for path in native_build.SOURCES.glob("*.[ch]"):
        text = path.read_text(encoding="utf-8")
        assert (CHECK in text) == (path.name == "arguments.c")
        (sources / path.name).write_text(text.replace(CHECK, "return;"), encoding="utf-8")
    module = native_build.build(tmp_path / "build", sources)
    with pytest.raises(FailedError, match=r"call \d+, \w+(.|\n)*heap-buffer-overflow"):
        native_fuzzing.start(module, str(len(KNOWN)), str(native_fuzzing.SEED))
