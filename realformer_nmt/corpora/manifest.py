"""Manifests: descriptions of corpora in TOML, shipped with the package or written by the user.

`base = "wmt14_en_de"` inherits another manifest: tables are merged key by key, everything else is replaced.
"""

import sys
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from realformer_nmt.common import safe_names
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.option import SPEC, spec_of
from realformer_nmt.common.option_choice import unknown
from realformer_nmt.corpora.manifest_schema import Archive, Corpus, Member, Packing

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).with_name("manifests")
SCALARS = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}
Table = dict[str, object]


class ManifestError(Exception):
    """A key with a wrong value; `load` adds the file's name."""

    def __init__(self, key: str, wrong: str) -> None:
        super().__init__(f"{key}: {wrong}" if key else wrong)


def shipped() -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in FOLDER.glob("*.toml")))


def load(name_or_path: str | Path) -> Corpus:
    """Return the corpus of a shipped manifest, by its name, or of a file, by a path that ends with .toml."""
    file = locate(str(name_or_path))
    try:
        table, inherited = read(file)
        return build_corpus(file.stem, table, inherited)
    except ManifestError as error:
        raise UserError(f"{file}: {error}") from error


def locate(name_or_path: str) -> Path:
    if name_or_path.endswith(".toml"):
        return Path(name_or_path)
    if name_or_path not in shipped():
        raise UserError(f"{unknown('corpus', name_or_path, shipped())}; your own is named by its file, FILE.toml")
    return FOLDER / f"{name_or_path}.toml"


def read(file: Path, above: tuple[Path, ...] = ()) -> tuple[Table, frozenset[str]]:
    """Return the merged table, and the names of the archives that only the base describes."""
    if file.resolve() in above:
        raise ManifestError("base", f"{file} is its own base")
    table = read_toml(file, f"shipped are {', '.join(shipped())}")
    base = table.pop("base", None)
    if base is None:
        return table, frozenset()
    base_name = constructed("base", safe_names.plain, build(str, base, "base"))
    base_table, _ = read(file.parent / locate(base_name), (*above, file.resolve()))
    archives, base_archives = (build(dict, each.get("archives", {}), "archives") for each in (table, base_table))
    return merge(base_table, table), frozenset(base_archives) - frozenset(archives)


def read_toml(file: Path, hint: str) -> dict[str, Any]:
    try:
        table: dict[str, Any] = tomllib.loads(file.read_bytes().decode())
        check_visible(table)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}; {hint}") from error
    except RecursionError as error:
        raise UserError(f"{file}: it is nested too deeply; {hint}") from error
    except ValueError as error:  # no TOML, or no UTF-8
        raise UserError(f"{file}: {error}; {hint}") from error
    return table


def check_visible(value: object) -> None:
    """Raise unless all strings of a table are printable, so that none controls a terminal or the text direction."""
    if isinstance(value, str) and not value.replace("\n", "").replace("\t", "").isprintable():
        raise ValueError(f"{value!r} holds characters that cannot be seen: leave them out")
    if isinstance(value, dict):
        value = [*value, *value.values()]
    for item in value if isinstance(value, list) else ():
        check_visible(item)


def merge(base: Table, table: Table) -> Table:
    """Return the table with the keys of the base that it does not have, in inner tables too."""
    merged = {**base, **table}
    for key, inner in base.items():
        value = table.get(key)
        if isinstance(inner, dict) and isinstance(value, dict):
            merged[key] = merge(inner, value)
    return merged


def build_corpus(name: str, table: Table, inherited: frozenset[str]) -> Corpus:
    """Build a corpus with the archives that its parts name; raise if no part names an archive that is not inherited."""
    packings = build(dict, table.get("archives", {}), "archives")
    archives = {}
    for archive, files in packings.items():
        key = f"archives.{archive}"
        archives[archive] = constructed(key, Archive, archive, build(tuple[Packing, ...], files, key))
    corpus: Corpus = build_table(Corpus, table, "", {"name": name, "archives": tuple(archives.values())})
    named = {side.archive for part in corpus.parts for side in (part.source, part.target)}
    for key in sorted(named - set(archives)):
        raise ManifestError("train, valid, test", unknown("archive", key, archives))
    for key in sorted(set(archives) - named - inherited):
        raise ManifestError(f"archives.{key}", "no part of train, valid or test names it")
    return replace(corpus, archives=tuple(archive for archive in corpus.archives if archive.name in named))


def build(kind: Any, value: Any, key: str) -> Any:
    """Convert a value to a field's type: tables become dataclasses, strings become members."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):  # X | None: an absent key is None, a present one an X
        return build(inner[0], value, key)
    if origin is Literal:
        return one_of(inner, value, key)
    if origin is tuple:
        return tuple(build(inner[0], item, f"{key}[{number}]") for number, item in enumerate(build(list, value, key)))
    if kind is Member:
        return constructed(key, Member.parse, build(str, value, key))
    if is_dataclass(kind):
        return build_table(kind, build(dict, value, key), key, {})
    allowed = (int, float) if kind is float else (kind,)  # ratio = 9 is a number too
    if type(value) not in allowed:
        name = {**SCALARS, list: "a list", dict: "a table"}[kind]
        raise ManifestError(key, f"allowed is {name}, given was {value!r}")
    return value


def build_table(kind: Any, table: Table, key: str, values: Mapping[str, object]) -> Any:
    """Build a dataclass from a table and from `values`, which are fields that the table may not have as keys."""
    hints = get_type_hints(kind)
    allowed = {field.name: field for field in fields(kind) if field.name not in values}
    prefix = f"{key}." if key else ""
    for name in table:
        if name not in allowed and name not in values:
            raise ManifestError(key, unknown("key", name, allowed))
    for name, field in allowed.items():
        if name not in table and field.default is MISSING:
            raise ManifestError(f"{prefix}{name}", "is missing")
    built = {}
    for name in [name for name in allowed if name in table]:
        value, inner = table[name], f"{prefix}{name}"
        choices = spec_of(allowed[name]).choices if SPEC in allowed[name].metadata else None  # as a request's `option`
        built[name] = build(hints[name], value, inner) if choices is None else one_of(tuple(choices), value, inner)
    return constructed(key, kind, **built, **values)


def one_of(choices: tuple[Any, ...], value: Any, key: str) -> Any:
    if value not in choices:
        raise ManifestError(key, unknown("", str(value), choices).lstrip())
    return value


def constructed(key: str, make: Any, *arguments: object, **named: object) -> Any:
    """Return make(...), with its ValueError as a ManifestError of this key."""
    try:
        return make(*arguments, **named)
    except ValueError as error:
        raise ManifestError(key, str(error)) from error
