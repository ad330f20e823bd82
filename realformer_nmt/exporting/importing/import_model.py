"""`realformer-nmt import`: take over a model of Hugging Face as the folder of a run."""

from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.atomic_files import check_free
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.requests.option_choice import choose
from realformer_nmt.common.requests.request import Request
from realformer_nmt.data_bins.languages import MANY, check_languages

if TYPE_CHECKING:
    from realformer_nmt.exporting.importing.hub_folder import TokenizerConfig


class ModelFamily(NamedTuple):
    """Row of the table of families."""

    what: str
    module: str  # beside this one, with read(folder)
    many: bool = False  # whether its models know many languages, of which every command takes a pair


FAIRSEQ = "fairseq"  # whose folders have no config.json
FAMILIES = {  # by model_type in config.json
    "marian": ModelFamily("Marian, such as OPUS-MT", "import_marian"),
    FAIRSEQ: ModelFamily("M2M-100 or NLLB-200 of fairseq", "import_multilingual", many=True),
    "m2m_100": ModelFamily("M2M-100 or NLLB-200", "import_m2m100", many=True),
}


@dataclass(frozen=True, kw_only=True)
class ImportRequest(Request):
    """Take over a model of Hugging Face, from a folder on this machine: RUN is what translate, score, export, serve,
    average and train --from take."""

    subcommand: ClassVar[str] = "import"
    implementation: ClassVar[str] = __name__
    examples: ClassVar[str] = """examples:
  realformer-nmt import opus-mt-en-de --output run
  realformer-nmt translate run --input text.en --output -
"""

    model: Path = argument(
        f"a folder with config.json; {', '.join(family.what for family in FAMILIES.values())}", metavar="FOLDER"
    )
    output: Path = option("a folder that is not there yet", metavar="RUN")
    source: str | None = option("language of the source (default: as in tokenizer_config.json)", None)
    target: str | None = option("language of the target (default: as in tokenizer_config.json)", None)


REQUEST = ImportRequest


def run(request: ImportRequest) -> int:
    check_free(request.output)
    from realformer_nmt.exporting.importing import imported_run  # here: --help needs none of it
    from realformer_nmt.exporting.importing.hub_folder import CONFIG, HubFolder, ModelType

    folder = HubFolder(request.model)
    model_type = folder.read(CONFIG, ModelType).model_type if (request.model / CONFIG).is_file() else FAIRSEQ
    family = choose(f"{request.model / CONFIG}: model_type", model_type, FAMILIES)
    if family.many and (request.source or request.target):
        raise UserError(
            f"{request.model} is read as {family.what}: leave out --source and --target, and name the pair later"
        )
    pair = (MANY, MANY) if family.many else languages(request, folder.tokenizer())
    model = resolve_name(f"{__package__}.{family.module}:read")(folder)
    imported_run.write(model, folder, pair, request.output)
    print(f"{request.output}: {request.model}, {family.what}, {model.knows(pair)}")
    return 0


def languages(request: ImportRequest, named: "TokenizerConfig") -> tuple[str, str]:
    """Return the languages of the options, or else those of tokenizer_config.json."""
    source, target = request.source or named.source_lang, request.target or named.target_lang
    check_languages(f"{request.model}: --source and --target are needed", (source, target))
    if source == target:
        raise UserError(f"{request.model} is from {source} to {target}: give two names by --source and --target")
    return str(source), str(target)
