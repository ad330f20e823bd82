"""A real terminal, the other end of a pair, is sent text and nothing that steers it."""

import os
import sys
import unicodedata

import pytest

from realformer_nmt import subcommands as cli
from realformer_nmt.common import terminal
from realformer_nmt.common.errors import UserError

CONTROLS = "".join(map(chr, (*range(32), *range(0x7F, 0xA0))))
TURNED = "\u200e\u200f\u061c" + "".join(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
OTHERS = "\u2028\u2029\ufeff\u200b\u00ad\U000e0041\ud800\ue000"
STEERS = CONTROLS + TURNED + OTHERS


def test_what_is_printable_has_no_letter_that_steers_and_is_told_apart() -> None:
    shown = [terminal.printable(f"a{letter}b") for letter in STEERS]
    assert len(set(shown)) == len(STEERS)
    for text in shown:
        assert not {unicodedata.category(letter) for letter in text} & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert terminal.printable("Übung 日本語 e\u0301 €") == "Übung 日本語 e\u0301 €"
    assert terminal.printable_lines("one\n\x1b[2Jtwo\r\n") == "one\n\\x1b[2Jtwo\\r\n"


def on_screen(text: str) -> str:
    """Return what arrives at a terminal when a command prints the text."""
    reader, writer = os.openpty()
    with (
        pytest.MonkeyPatch.context() as patch,
        os.fdopen(writer, "w", encoding="utf-8", errors="surrogateescape") as file,
    ):
        patch.setattr(sys, "stdout", file)
        terminal.guard_output()
        terminal.guard_output()  # a second time changes nothing
        print(text, flush=True)
        assert sys.stdout.isatty()
        with os.fdopen(reader, "rb", buffering=0) as other:
            lines = text.count("\n") + 1
            arrived = b""
            while arrived.count(b"\n") < lines:
                arrived += other.read(1 << 16)
    return arrived.decode()


def test_a_terminal_gets_text_alone() -> None:
    steering = "".join(letter for letter in STEERS if letter not in "\n\t")
    assert on_screen(f"one\ttwo\nthree{steering}") == f"one\ttwo\r\nthree{terminal.printable(steering)}\r\n"


def test_the_line_of_an_error_steers_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise UserError(f"no URL delivers it:\n  http://host/: {STEERS}")

    monkeypatch.setattr(cli, "_run", fail)
    assert cli.main(["fetch"]) == 1
    stderr = capsys.readouterr().err
    assert set(stderr) & set(STEERS) == {"\n"}
    assert stderr.startswith("realformer-nmt: no URL delivers it: http://host/: \\x00")
