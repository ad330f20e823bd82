"""Export to CTranslate2, by its own converter for fairseq from the plain form."""

import argparse
import tempfile
from pathlib import Path

import torch
from ctranslate2.converters import FairseqConverter

from realformer_nmt.common.errors import UserError, one_line
from realformer_nmt.exporting import as_stock_transformer
from realformer_nmt.exporting.fairseq_checkpoint import ARCH
from realformer_nmt.exporting.loaded_run import LoadedRun
from realformer_nmt.fairseq_patches.messages.quiet import quiet
from realformer_nmt.tasks import TRANSLATION

FORMS = {"fp32": None, "int8": "int8"}  # CTranslate2's names of quantisation


def write(source: LoadedRun, folder: Path, precision: str) -> None:
    source.copy_words(folder)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        checkpoint, converted = Path(temporary, "model.pt"), Path(temporary, "converted")
        form = as_stock_transformer.of(source)
        options = argparse.Namespace(task=TRANSLATION, arch=ARCH, **form.options)  # where older fairseqs have them
        with checkpoint.open("wb") as stream:  # of a path torch hides the system's error, such as a full disk
            torch.save({"args": options, "model": form.weights}, stream)
        converter = FairseqConverter(
            str(checkpoint),
            str(folder),
            *source.corpus.languages,
            unsafe_deserialization=True,  # the file was written here just before
        )
        try:
            with quiet():
                converter.convert(str(converted), quantization=FORMS[precision])
        except ValueError as error:  # it lists the unsupported options
            raise UserError(f"{source.path}: CTranslate2 cannot take it: {one_line(error)}") from error
        for file in converted.iterdir():
            file.rename(folder / file.name)
