"""Test sets by name, which sacreBLEU downloads once to its cache, ~/.sacrebleu or $SACREBLEU, or in a file."""

from pathlib import Path
from typing import NamedTuple

from sacrebleu.dataset import DATASETS
from sacrebleu.utils import get_reference_files, get_source_file

from realformer_nmt.common.errors import UserError, one_line
from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.evaluation.translating import evaluation_set_files


class TestSetFiles(NamedTuple):
    source: Path
    reference: Path  # the first of those that sacreBLEU takes by default


def lasting(name: str) -> str:
    """Return a name as a record keeps it, a file's with its folder."""
    return str(Path(name).resolve()) if is_file_name(name) else name


def setting(name: str) -> str:
    """Return a name as a setting, a file's without its folder: its text is compared by hash."""
    return Path(name).name if is_file_name(name) else name


def is_file_name(name: str) -> bool:
    return Path(name).suffix in evaluation_set_files.READERS


def find(name: str, languages: tuple[str, str]) -> TestSetFiles:
    if is_file_name(name):
        return TestSetFiles(*evaluation_set_files.unpack(Path(name), languages))
    pair = "-".join(languages)
    if name not in DATASETS:
        files = [f"FILE{ending}" for ending in evaluation_set_files.READERS]
        raise UserError(not_allowed("--test-set", name, [*files, *sorted(DATASETS)]))
    if pair not in DATASETS[name].langpairs:
        pairs = ", ".join(sorted(DATASETS[name].langpairs))
        raise UserError(f"--test-set {name} has no {pair}; it has {pairs}")
    try:
        source, references = get_source_file(name, pair), get_reference_files(name, pair)
    except (Exception, SystemExit) as error:  # sacreBLEU exits on a corrupt file
        raise UserError(
            f"--test-set {name}: sacreBLEU cannot download it ({one_line(error)}): connect to the internet, or "
            f"copy ~/.sacrebleu/{name} from a computer that has it"
        ) from error
    return TestSetFiles(Path(source), Path(references[0]))
