"""--user-dir: a folder's rows are there before options are read, and what is no package is refused in one line."""

from pathlib import Path

import pytest
from fairseq.utils import import_user_module
from omegaconf import OmegaConf

from realformer_nmt.cli import main
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.user_dir import folder_in, for_fairseq
from realformer_nmt.subcommands import import_user_dir


@pytest.mark.parametrize(
    ("argv", "folder"),
    [
        (["train", "--user-dir", "mine"], Path("mine")),
        (["train", "--user-dir=mine", "--fresh"], Path("mine")),
        (["train", "--", "--user-dir", "theirs"], None),
        (["--user-dir"], None),
        (["train", "--user-d", "mine"], Path("mine")),
        (["train", "--user-dir", "first", "--user-dir=last"], Path("last")),
        (["train", "--updates", "9"], None),
    ],
)
def test_the_folder_stands_before_the_flags_of_fairseq(argv: list[str], folder: Path | None) -> None:
    assert folder_in(argv) == folder


def test_fairseq_imports_the_same_module_once(tmp_path: Path) -> None:
    package = tmp_path / "counting_rows"
    package.mkdir()
    (package / "__init__.py").write_text(f"with open({str(tmp_path / 'count')!r}, 'a') as file: file.write('x')\n")
    import_user_dir("archs", package)
    import_user_dir("archs", package)
    import_user_module(OmegaConf.create({"user_dir": for_fairseq(package)[1]}))
    assert (tmp_path / "count").read_text() == "x"


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("\nimport nowhere_at_all", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("\n1 / 0", "ZeroDivisionError: division by zero"),
        ("\ndef f()", "SyntaxError: "),
    ],
)
def test_a_module_that_fails_is_told_in_one_line_with_its_place(tmp_path: Path, source: str, cause: str) -> None:
    folder = tmp_path / f"rows_{len(source)}"
    folder.mkdir()
    (folder / "__init__.py").write_text(source)
    place = f"{folder / '__init__.py'}, line 2"
    with pytest.raises(UserError, match=f"^--user-dir {folder} cannot be imported: {place}: {cause}"):
        import_user_dir("archs", folder)


def test_a_folder_without_a_package_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["archs", "--user-dir", str(tmp_path)]) == 1
    expected = f"realformer-nmt: --user-dir {tmp_path}: no Python package; give a folder with an __init__.py\n"
    assert capsys.readouterr().err == expected
