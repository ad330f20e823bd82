"""Manifests: descriptions of corpora in TOML, shipped with the package or written by the user.

`base = "wmt14_en_de"` inherits another manifest: tables are merged key by key, everything else is replaced.
"""

from dataclasses import replace
from pathlib import Path

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import safe_names
from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.common.requests.toml_tables import (
    Table,
    TableError,
    build,
    build_table,
    constructed,
    locate,
    merge,
    read_toml,
)
from realformer_nmt.corpora.manifest_schema import Archive, Corpus, Packing

FOLDER = Path(__file__).with_name("manifests")


def shipped() -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in FOLDER.glob("*.toml")))


def load(name_or_path: str | Path) -> Corpus:
    """Return the corpus of a shipped manifest, by its name, or of a file, by a path that ends with .toml."""
    file = locate("corpus", str(name_or_path), FOLDER, shipped())
    try:
        table, inherited = read(file)
        return build_corpus(file.stem, table, inherited)
    except TableError as error:
        raise UserError(f"{file}: {error}") from error


def read(file: Path, above: tuple[Path, ...] = ()) -> tuple[Table, frozenset[str]]:
    """Return the merged table, and the names of the archives that only the base describes."""
    if file.resolve() in above:
        raise TableError("base", f"{file} is its own base")
    table = read_toml(file, f"shipped are {', '.join(shipped())}")
    base = table.pop("base", None)
    if base is None:
        return table, frozenset()
    base_name = constructed("base", safe_names.plain, build(str, base, "base"))
    base_table, _ = read(file.parent / locate("corpus", base_name, FOLDER, shipped()), (*above, file.resolve()))
    archives, base_archives = (build(dict, each.get("archives", {}), "archives") for each in (table, base_table))
    return merge(base_table, table), frozenset(base_archives) - frozenset(archives)


def build_corpus(name: str, table: Table, inherited: frozenset[str]) -> Corpus:
    """Build a corpus with the archives that its parts name; raise if no part names an archive that is not inherited."""
    packings = build(dict, table.get("archives", {}), "archives")
    archives = {}
    for archive, files in packings.items():
        key = f"archives.{archive}"
        archives[archive] = constructed(key, Archive, archive, build(tuple[Packing, ...], files, key))
    rest = {key: value for key, value in table.items() if key != "archives"}
    corpus: Corpus = build_table(Corpus, rest, "", {"name": name, "archives": tuple(archives.values())})
    named = {side.archive for part in corpus.parts for side in (part.source, part.target)}
    for key in sorted(named - set(archives)):
        raise TableError("train, valid, test", not_allowed("archive", key, archives))
    for key in sorted(set(archives) - named - inherited):
        raise TableError(f"archives.{key}", "no part of train, valid or test names it")
    return replace(corpus, archives=tuple(archive for archive in corpus.archives if archive.name in named))
