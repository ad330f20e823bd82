"""Names from files, against what the system itself makes of them."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from realformer_nmt.common.files import safe_names

HOSTILE = [
    *("", ".", "..", "../x", "../../x", "/etc/passwd", "//x", "a/../../x", "a/..", "./a", "a/./b", "a//b", "a/"),
    *("a\\..\\x", "C:\\x", "\\\\host\\x", "C:/x", "~/x", "$HOME/x", "a\0b", "a\nb", "a\x1b[31m", "\u202eab"),
    *("--folder=/x", "a/-rf", ".bashrc", "a/.ssh/x", "a" * 201, "ä" * 101, "a\ud800", "\u200b"),
    *(" a", "\u00a0", "*", "?", "|x", ";x", "<x", ">x", '"', "`x`", "..\u2215x", "\uff0e\uff0e"),
]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_hostile_name_passes(name: str) -> None:
    for kind in (safe_names.plain, safe_names.inside):
        with pytest.raises(ValueError, match="allowed is"):
            kind(name)


@pytest.mark.parametrize(
    "path", ["", "a\0b", "a\nb", "a\x1b[31m", "--folder=/x.toml", "a/--folder", "\u202eab", "a\ud800"]
)
def test_not_even_a_path_of_anywhere_steers_or_reads_as_an_option(path: str) -> None:
    with pytest.raises(ValueError, match="allowed is"):
        safe_names.anywhere(path)


@pytest.mark.parametrize("name", ["europarl-v7.de-en.tgz", "a", "_x", "9", "Übung.de", "日本語.txt", "a..b", "x+y"])
def test_names_as_people_give_them_pass(name: str) -> None:
    assert {name} == {safe_names.plain(name), safe_names.inside(name)}
    assert safe_names.anywhere(f"../other/{name}") == f"../other/{name}"


@pytest.mark.parametrize(
    "path", ["de-en/train.tags.de-en.de", "My corpus (1)/a, b's.en", "हिन्दी/पाठ.txt", "a&b/c[1]=d~.x"]
)
def test_members_as_people_name_them_pass(path: str) -> None:
    assert safe_names.inside(path) == path


@given(st.text(max_size=30) | st.lists(st.sampled_from([*HOSTILE, "a", "/"])).map("".join))
@example("a/../b")
def test_what_passes_is_made_where_it_should_be(name: str) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(os.path.realpath(temporary), "folder")
        for kind, depth in ((safe_names.plain, 1), (safe_names.inside, None)):
            try:
                path = folder / kind(name)
            except ValueError:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            assert path.is_file()
            assert Path(os.path.realpath(path)).is_relative_to(folder)
            assert depth is None or [path.name for path in folder.iterdir()] == [name]
            assert not path.name.startswith((".", "-"))
            assert list(Path(temporary).iterdir()) == [Path(temporary, "folder")]
