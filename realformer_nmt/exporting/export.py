"""`realformer-nmt export`: write a trained model in the format of another program."""

from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import ClassVar, NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.atomic_files import check_free, completed_folder
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.corpora.corpus_options import CorpusOptions

EXACT = "fp32"


class Target(NamedTuple):
    what: str
    module: str  # beside this one, with write(source, folder, precision)
    precisions: tuple[str, ...] = (EXACT,)


TARGETS = {
    "fairseq": Target("a checkpoint of fairseq's own transformer", "fairseq_checkpoint"),
    "ctranslate2": Target("a model of CTranslate2", "ctranslate2_model", (EXACT, "int8")),
    "onnx": Target(
        "graphs of ONNX, and a program that translates by them without torch", "onnx_graphs", (EXACT, "int8")
    ),
    "huggingface": Target("a Marian model of transformers, with its tokenizer and a model card", "marian"),
}


@dataclass(frozen=True, kw_only=True)
class ExportRequest(CorpusOptions):
    """Fill a folder with a model, its dictionaries and subwords: all of it, or nothing. The corpus is the one that the
    model was trained on, unless the options say another."""

    subcommand: ClassVar[str] = "export"
    implementation: ClassVar[str] = __name__
    examples: ClassVar[str] = """examples:
  realformer-nmt export runs/cells/admin-18-s1 --to fairseq --output plain
  realformer-nmt export run/average.pt --prepared data --to fairseq --output plain
  realformer-nmt export runs/cells/admin-18-s1 --to ctranslate2 --precision int8 --output quick
  realformer-nmt export runs/cells/realformer-18-s1 --to onnx --output graphs
"""

    model: Path = argument("a run's folder, or a checkpoint (.pt) of this package", metavar="RUN_OR_CHECKPOINT")
    to: str = option("; ".join(f"{name}: {target.what}" for name, target in TARGETS.items()), choices=TARGETS)
    output: Path = option("a folder that is not there yet", metavar="FOLDER")
    precision: str = option("of the weights: fp32 (default), or int8 where there is one", EXACT)


REQUEST = ExportRequest


def run(request: ExportRequest) -> int:
    target = TARGETS[request.to]
    if request.precision not in target.precisions:
        allowed = ", ".join(target.precisions)
        raise UserError(f"--precision {request.precision} is not one of --to {request.to}'s: {allowed}")
    check_free(request.output)
    from realformer_nmt.exporting import loaded_run  # here: --help needs none of it

    write = resolve_name(f"{__package__}.{target.module}:write")  # a library that it lacks is named before the work
    loaded = loaded_run.load(request.model, request)
    with completed_folder(request.output) as folder:
        write(loaded, folder, request.precision)
        loaded.record({"to": request.to, "precision": request.precision}, folder)
    print(f"{request.output}: {loaded.path} as {target.what}")
    return 0
