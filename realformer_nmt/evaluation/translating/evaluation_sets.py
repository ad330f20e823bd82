"""Test sets by name, which sacreBLEU downloads once to its cache, ~/.sacrebleu or $SACREBLEU, or in a file.

A file is TSV or JSON lines, as WMT has them since 2025, and is unpacked beside itself: FILE.en-de.en and FILE.en-de.de
have a line per row. Breaks within a text become spaces, for commands and metrics here count lines.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sacrebleu.dataset import DATASETS
from sacrebleu.utils import get_reference_files, get_source_file

from realformer_nmt.common.errors import UserError, one_line
from realformer_nmt.common.files.text_lines import read_lines, without_mark, write_lines
from realformer_nmt.common.requests.option_choice import not_allowed

Row = Mapping[str, object]
SOURCES = ("src_text", "src", "source")
REFERENCES = ("ref_text", "ref", "reference", "tgt_text", "tgt", "target")
DOCUMENTS = ("doc_id", "docid", "document")
PAIR = re.compile(r"([a-z]+)-([a-z]+)[\w-]*_#_")  # how WMT's document ids begin: en-de_DE_#_news_#_...


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
    return Path(name).suffix in READERS


def find(name: str, languages: tuple[str, str]) -> TestSetFiles:
    if is_file_name(name):
        return unpack(Path(name), languages)
    pair = "-".join(languages)
    if name not in DATASETS:
        files = [f"FILE{ending}" for ending in READERS]
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


def tsv(lines: Sequence[str]) -> Iterator[Row]:
    """Yield the rows below a line of names; quotes are text, and an empty line is no row."""
    names = columns(lines[0]) if lines else []
    for number, line in enumerate(lines[1:], 2):
        values = columns(line)
        if values == [""]:
            continue
        if len(values) != len(names):
            raise UserError(f"line {number} has {len(values)} columns, and line 1 has {len(names)}: they must agree")
        yield dict(zip(names, values, strict=True))


def columns(line: str) -> list[str]:
    return line.removesuffix("\r").split("\t")


def json_lines(lines: Sequence[str]) -> Iterator[Row]:
    """Yield the object of each line; an empty line is no row."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise UserError(f"line {number} is not a JSON object: write one object in each line")
        yield row


READERS: Mapping[str, Callable[[Sequence[str]], Iterator[Row]]] = {".tsv": tsv, ".jsonl": json_lines}


def unpack(file: Path, languages: tuple[str, str]) -> TestSetFiles:
    """Write source and reference of a language pair beside a file; return their paths.

    If the file is gone, texts that were unpacked earlier are used.
    """
    pair = "-".join(languages)
    files = TestSetFiles(*(file.with_name(f"{file.name}.{pair}.{language}") for language in languages))
    if file.exists() or not all(path.is_file() for path in files):
        write_once(dict(zip(files, read_pair(file, languages), strict=True)), file)
    return files


def read_pair(file: Path, languages: tuple[str, str]) -> tuple[list[str], list[str]]:
    """Return source and reference of a language pair."""
    try:
        all_rows = list(READERS[file.suffix](without_mark(read_lines(file))))
        rows = [row for row in all_rows if is_of_pair(row, languages)]
        if not rows:
            raise UserError(f"none of its {len(all_rows)} rows is of {'-'.join(languages)}: give a file that has some")
        return column(rows, (*SOURCES, languages[0])), column(rows, (*REFERENCES, languages[1]))
    except UserError as error:
        raise UserError(f"--test-set {file}: {error}") from error


def is_of_pair(row: Row, languages: tuple[str, str]) -> bool:
    """Tell whether a row is of the pair, by its languages or its document id; a row that says neither is."""
    sides = zip((row.get("src_lang"), row.get("tgt_lang")), languages, strict=True)
    agreeing = [is_language(str(name), language) for name, language in sides if name]
    if len(agreeing) == 2 or not all(agreeing):
        return all(agreeing)
    document = text(row, DOCUMENTS) or ""
    match = PAIR.match(document)
    return match is None or match.groups() == languages or document.startswith(f"{'-'.join(languages)}_#_")


def is_language(name: str, language: str) -> bool:
    """Tell whether a name is that of the language, or has it before a region or a script: de_DE, zh-Hans."""
    return language in (name, re.split("[_-]", name)[0])


def column(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    """Return the text of each row under the first of the names that it has."""
    texts = [text(row, names) for row in rows]
    if None in texts:
        raise UserError(f"row {texts.index(None) + 1} of the pair has none of {', '.join(names)}")
    return [" ".join((each or "").split()) for each in texts]


def text(row: Row, names: Sequence[str]) -> str | None:
    """Return a row's text, or whole number; of several translations the first reference: refA of WMT's tgt_text."""
    value = next((row[name] for name in names if row.get(name) is not None), None)
    if isinstance(value, dict):
        references = (value[name] for name in sorted(value) if name.startswith("ref"))
        value = next((reference for reference in references if reference is not None), None)
    return str(value) if type(value) in (str, int) else None


def write_once(texts: Mapping[Path, list[str]], file: Path) -> None:
    """Write texts beside their file; if one of them is there and would change, raise an error and write none."""
    for path, lines in texts.items():
        if path.exists() and read_lines(path) != lines:
            raise UserError(f"{path} is there, and is another text than that of {file}: remove it")
    for path, lines in texts.items():
        if not path.exists():
            write_lines(path, lines)
