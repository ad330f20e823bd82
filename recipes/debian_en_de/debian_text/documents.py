"""Documents of packages: descriptions, catalogues and pages in two languages, and the order in which they are read."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from debian_text.alignment import Pair, align
from debian_text.catalogues import catalogue_pairs
from debian_text.descriptions import description_pairs
from debian_text.manual_pages import read_manual_page
from debian_text.markup import read_page
from debian_text.packages import read_files, read_rows

CATALOGUE = re.compile(r"/de(_DE)?/(.*/)?[^/]*\.mo$")
Key = Callable[[str], tuple[int, list[str], str]]


class Collection(NamedTuple):
    """A row of documents.tsv: a folder of English documents, and one of their translations."""

    name: str
    english_package: str
    english_folder: str
    german_package: str
    german_folder: str
    ending: str

    def read_pairs(self, packages: Mapping[str, Path], key: Key) -> Iterator[Pair]:
        """Yield the pairs of the documents that both folders have; what ends in .en.html ends in .de.html there."""
        read = read_manual_page if self.ending == ".gz" else read_page
        english = files_below(packages[self.english_package], self.english_folder, self.ending)
        german_ending = self.ending.replace(".en.", ".de.")
        german = files_below(packages[self.german_package], self.german_folder, german_ending)
        documents = {f"{self.name}/{path}{self.ending}": path for path in english.keys() & german.keys()}
        for document in sorted(documents, key=key):
            path = documents[document]
            yield from (Pair(document, *pair) for pair in align(read(english[path]), read(german[path])))


def files_below(package: Path, folder: str, ending: str) -> dict[str, bytes]:
    """Return the files by their paths in the folder, without the ending."""
    files = read_files(package, re.compile(f"^{re.escape(folder)}/.*{re.escape(ending)}$"))
    return {path[len(folder) + 1 : -len(ending)]: content for path, content in files.items()}


def reading_key(first: list[str]) -> Key:
    """Return the key that sorts documents: first those that are listed or whose folders are, the others by name."""
    ranks = {name: rank for rank, name in enumerate(first)}

    def key(document: str) -> tuple[int, list[str], str]:
        folder = document.rpartition("/")[0]
        return ranks.get(document, ranks.get(folder, len(ranks))), folder.split("/"), document

    return key


def read_pairs(packages: Mapping[str, Path], tables: Path) -> Iterator[Pair]:
    """Yield all pairs: of the descriptions, the packages' catalogues and the collections."""
    key = reading_key((tables / "order.txt").read_text().split())
    languages = (packages[f"Translation-{language}"].read_text(encoding="utf-8") for language in ("en", "de"))
    yield from description_pairs(*languages)
    for name in sorted(name for name, file in packages.items() if file.suffix == ".deb"):
        files = read_files(packages[name], CATALOGUE)
        documents = {f"mo/{name}/{Path(path).name}": content for path, content in files.items()}
        for document in sorted(documents, key=key):
            yield from (Pair(document, *pair) for pair in catalogue_pairs(documents[document]))
    for row in read_rows(tables / "documents.tsv"):
        yield from Collection(**row).read_pairs(packages, key)
