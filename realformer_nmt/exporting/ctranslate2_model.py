"""A model of CTranslate2, made by its own converter for fairseq out of the plain form."""

import argparse
import os
import tempfile
from pathlib import Path

import torch
from ctranslate2.converters import FairseqConverter

from realformer_nmt.common.errors import UserError, one_line
from realformer_nmt.exporting import plain
from realformer_nmt.exporting.source import Source
from realformer_nmt.exporting.stock import ARCH
from realformer_nmt.fairseq_patches.quiet import quiet

FORMS = {"fp32": None, "int8": "int8"}  # what CTranslate2 calls them


def write(source: Source, folder: Path, precision: str) -> None:
    if os.pathsep in str(folder):
        made = folder.with_suffix("").with_suffix("")  # without .12345678.part
        raise UserError(f"{made} has a colon in its path, at which fairseq cuts it in two: give another --output")
    source.copy_words(folder)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        checkpoint, made = Path(place, "model.pt"), Path(place, "made")
        torch.save(in_a_namespace(source), checkpoint)
        converter = FairseqConverter(
            str(checkpoint),
            str(folder),
            *source.corpus.languages,
            unsafe_deserialization=True,  # of a file that was written the moment before, here
        )
        try:
            with quiet():
                converter.convert(str(made), quantization=FORMS[precision])
        except ValueError as error:  # it lists what it has no place for
            raise UserError(f"{source.path}: CTranslate2 cannot take it: {one_line(error)}") from error
        for file in made.iterdir():
            file.rename(folder / file.name)


def in_a_namespace(source: Source) -> dict[str, object]:
    """As the converter wants options, and as older versions of fairseq have saved them."""
    form = plain.of(source)
    return {"args": argparse.Namespace(task="translation", arch=ARCH, **form.options), "model": form.weights}
