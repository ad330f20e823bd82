"""A corpus is data: a TOML manifest, shipped with the package or the user's own.

`base = "wmt14_en_de"` takes over another manifest: tables are merged key by key, everything else is replaced.
"""

import sys
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from realformer_nmt.common import safe_names
from realformer_nmt.common.choices import unknown
from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.corpus import Archive, Corpus, Member, Packing

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).with_name("manifests")
SCALARS = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}
Table = dict[str, Any]


class ManifestError(Exception):
    """What is wrong with which key; `load` adds the file."""

    def __init__(self, key: str, wrong: str) -> None:
        super().__init__(f"{key}: {wrong}" if key else wrong)


def shipped() -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in FOLDER.glob("*.toml")))


def load(name_or_path: str | Path) -> Corpus:
    """The corpus of a shipped manifest, by its name, or of a file, by a path that ends with .toml."""
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
    """The merged table, and the names of the archives that only the base describes."""
    if file.resolve() in above:
        raise ManifestError("base", f"{file} is its own base")
    table = read_toml(file, f"shipped are {', '.join(shipped())}")
    base = table.pop("base", None)
    if base is None:
        return table, frozenset()
    beside = constructed("base", safe_names.plain, build(str, base, "base"))
    below, _ = read(file.parent / locate(beside), (*above, file.resolve()))
    own = build(dict, table.get("archives", {}), "archives")
    return merge(below, table), frozenset(below.get("archives", {})) - frozenset(own)


def read_toml(file: Path, hint: str) -> Table:
    try:
        return visible(tomllib.loads(file.read_bytes().decode()))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}; {hint}") from error
    except RecursionError as error:
        raise UserError(f"{file}: it is nested too deeply; {hint}") from error
    except ValueError as error:  # no TOML, or no UTF-8
        raise UserError(f"{file}: {error}; {hint}") from error


def visible(value: Any) -> Any:
    """All strings of a table are text: none steers a terminal, or the direction of what is read."""
    if isinstance(value, str) and not value.replace("\n", "").replace("\t", "").isprintable():
        raise ValueError(f"{value!r} holds characters that cannot be seen: leave them out")
    for item in (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ():
        visible(item)
    return value


def merge(base: Table, own: Table) -> Table:
    tables = {key for key in base if isinstance(base[key], dict) and isinstance(own.get(key), dict)}
    return {**base, **own, **{key: merge(base[key], own[key]) for key in tables}}


def build_corpus(name: str, table: Table, inherited: frozenset[str]) -> Corpus:
    """A corpus holds the archives that its parts name; one of the manifest's own that no part names is a mistake."""
    described = build(dict, table.get("archives", {}), "archives")
    archives = {key: build_archive(key, described[key], f"archives.{key}") for key in described}
    corpus = build_table(Corpus, table, "", {"name": name, "archives": tuple(archives.values())})
    named = {side.archive for part in corpus.parts for side in (part.source, part.target)}
    for key in sorted(named - set(archives)):
        raise ManifestError("train, valid, test", unknown("archive", key, archives))
    for key in sorted(set(archives) - named - inherited):
        raise ManifestError(f"archives.{key}", "no part of train, valid or test names it")
    return replace(corpus, archives=tuple(archive for archive in corpus.archives if archive.name in named))


def build_archive(name: str, packings: Any, key: str) -> Archive:
    archive: Archive = constructed(key, Archive, name, build(tuple[Packing, ...], packings, key))
    return archive


def build(kind: Any, value: Any, key: str) -> Any:
    """`value` as a field's type wants it; tables become dataclasses, strings become members."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):  # X | None: an absent key is None, a present one an X
        return build(inner[0], value, key)
    if origin is Literal:
        if value not in inner:
            raise ManifestError(key, unknown("", str(value), inner).lstrip())
        return value
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


def build_table(kind: Any, table: Table, key: str, given: Mapping[str, object]) -> Any:
    """A dataclass from the table's keys, but for the fields that are given."""
    hints = get_type_hints(kind)
    wanted = {field.name: field for field in fields(kind) if field.name not in given}
    prefix = f"{key}." if key else ""
    for name in table:
        if name not in wanted and name not in given:
            raise ManifestError(key, unknown("key", name, wanted))
    for name, field in wanted.items():
        if name not in table and field.default is MISSING:
            raise ManifestError(f"{prefix}{name}", "is missing")
    built = {name: build(hints[name], table[name], f"{prefix}{name}") for name in wanted if name in table}
    return constructed(key, kind, **built, **given)


def constructed(key: str, make: Any, *arguments: object, **named: object) -> Any:
    try:
        return make(*arguments, **named)
    except ValueError as error:
        raise ManifestError(key, str(error)) from error
