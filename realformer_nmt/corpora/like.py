"""Text that is prepared as other text was: in the same languages, by the same steps, subwords and dictionaries."""

import argparse
import filecmp
import shutil
from pathlib import Path
from typing import NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.preparation import Report, read_report
from realformer_nmt.corpora.subwords import METHODS
from realformer_nmt.data_bins.note import NAME, demand_prepared, verify

SAID = ("corpus", "source", "target", "subwords", "vocabulary")  # what the folder says


class Like(NamedTuple):
    folder: Path
    report: Report

    def subwords(self) -> dict[str, Path]:
        return {name: self.folder / "subwords" / name for name in METHODS[self.report.subwords].files}

    def dictionaries(self) -> list[Path]:
        """One for both languages, where it is joined."""
        sides = (self.report.source, self.report.target)
        source, target = (self.folder / "data-bin" / f"dict.{side}.txt" for side in sides)
        return [source] if filecmp.cmp(source, target, shallow=False) else [source, target]

    def inputs(self) -> dict[str, Path]:
        files = [*self.subwords().values(), *self.dictionaries()]
        return {f"--like {file.parent.name}/{file.name}": file for file in files}

    def copy_subwords(self, folder: Path) -> None:
        for name, file in self.subwords().items():
            shutil.copyfile(file, folder / name)


def read(args: argparse.Namespace) -> Like:
    for name in SAID:
        if getattr(args, name) is not None:
            option = "CORPUS" if name == "corpus" else f"--{name}"
            raise UserError(f"{option} {getattr(args, name)} and --like {args.like}: the folder says it; leave it out")
    report = read_report(args.like / NAME)
    verify(args.like, by_hash=False)
    like = Like(args.like, report)
    for file in like.inputs().values():
        demand_prepared(file)
    return like


def filled(args: argparse.Namespace, like: Like) -> argparse.Namespace:
    """The options with what the folder says."""
    said = {name: getattr(like.report, name) for name in SAID if name != "corpus"}
    return argparse.Namespace(**{**vars(args), **said})
