"""What is exported: a model, and the words that it reads and writes."""

import argparse
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from realformer_nmt.analysis import subject
from realformer_nmt.checkpoints import layout, run
from realformer_nmt.common import sealed
from realformer_nmt.common.choices import choose
from realformer_nmt.common.provenance import MADE_FROM, made_from
from realformer_nmt.corpora import preparation
from realformer_nmt.corpora.preparation import HYPHENS, Preparation
from realformer_nmt.corpora.subwords import METHODS
from realformer_nmt.corpora.surface import SURFACES
from realformer_nmt.data_bins.datasets import dictionary
from realformer_nmt.evaluation.translate import demand_same_languages
from realformer_nmt.model.model import TranslationModel
from realformer_nmt.serving.translator import trained_in

RECORD = "export.json"


class Source(NamedTuple):
    path: Path  # of the checkpoint
    model: TranslationModel  # in evaluation mode
    options: Mapping[str, Any]  # of the model
    updates: int
    corpus: Preparation

    @property
    def dictionaries(self) -> tuple[Path, Path]:
        source, target = (self.corpus.data / f"dict.{language}.txt" for language in self.corpus.languages)
        return source, target

    @property
    def subwords(self) -> list[Path]:
        """The files with which text becomes pieces."""
        folder, method = self.corpus.folder, METHODS.get(self.corpus.subwords)
        return [] if folder is None or method is None else [folder / name for name in method.files]

    def copy_words(self, folder: Path) -> None:
        for file in (*self.dictionaries, *self.subwords):
            shutil.copyfile(file, folder / file.name)

    def record(self, settings: Mapping[str, str], folder: Path) -> None:
        inputs = {file.name: file for file in (self.path, *self.dictionaries, *self.subwords)}
        sealed.write(folder / RECORD, {MADE_FROM: made_from(settings, inputs)})


def load(args: argparse.Namespace) -> Source:
    path = run.checkpoint(args.model)
    if args.prepared is None and args.data is None:
        args.prepared = trained_in(path)
    for flag, table in (("subwords", SURFACES), ("hyphens", dict.fromkeys(HYPHENS))):
        if getattr(args, flag) is not None:
            choose(f"--{flag}", getattr(args, flag), table)
    corpus = preparation.read_arguments(args)
    demand_same_languages(path, layout.without_weights(path), corpus)
    found = subject.load(path.name, path)
    source = Source(path, found.model, found.options, found.updates or 0, corpus)
    words, others = (len(dictionary(file)) for file in source.dictionaries)
    subject.demand_dictionary(found, corpus.data, (words, others))
    return source
