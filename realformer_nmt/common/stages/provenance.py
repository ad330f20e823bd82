"""The origin of a result: the settings, the hashes of the input files and the versions of the packages.

A record holds these under `made_from`. Later they are compared with what the same command would use now. If settings
or inputs differ, the result is out of date. Versions are not compared here: a table marks results of other versions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from realformer_nmt.common.files.json_records import as_read
from realformer_nmt.common.files.records import Fingerprint, Origin
from realformer_nmt.common.files.text_lines import sha256_once
from realformer_nmt.common.stages.versions import versions

ABSENT = "nothing"


def fingerprint(path: Path, previous: Fingerprint | None = None) -> Fingerprint:
    """Return the fingerprint of a file; the hash of the previous one is reused if size and time are unchanged."""
    status = path.stat()
    if previous and (previous.bytes, previous.modified) == (status.st_size, status.st_mtime_ns):
        return previous
    digest = sha256_once(path, status.st_size, status.st_mtime_ns)
    return Fingerprint(sha256=digest, bytes=status.st_size, modified=status.st_mtime_ns)


def is_same(path: Path, previous: Fingerprint) -> bool:
    """Tell whether a file has the content that it had."""
    return fingerprint(path, previous).sha256 == previous.sha256


def made_from(settings: Mapping[str, object], inputs: Mapping[str, Path], before: Origin | None = None) -> Origin:
    """Return the origin of a result that is made now.

    `inputs` are files, by the names that messages use; files that do not exist are omitted. `before` is the origin in
    an earlier record, whose hashes are reused.
    """
    earlier = before.inputs if before else {}
    return Origin(
        settings=as_read(settings),
        inputs={name: fingerprint(path, earlier.get(name)) for name, path in inputs.items() if path.is_file()},
        versions=versions(),
    )


def differences(before: Origin, now: Origin) -> list[str]:
    """Return one message for each setting and each input that differs between two origins.

    An input that no longer exists does not count as a difference, nor does one that has only been renamed.
    """
    messages = list(changed_settings(before.settings, now.settings))
    old, new = _hashes(before), _hashes(now)
    no_longer_there = [sha for name, sha in old.items() if new.get(name) != sha]
    for name, sha in new.items():
        unchanged = old.get(name) == sha
        renamed = name not in old and sha in no_longer_there
        if not (unchanged or renamed):
            messages.append(f"{name} is another file")
    return messages


def files_by_name(paths: Iterable[Path]) -> dict[str, Path]:
    """Return files by the names that messages use: the file's name, or its path if two files have the same name."""
    files = list(paths)
    names = [path.name for path in files]
    return {path.name if names.count(path.name) == 1 else str(path): path for path in files}


def number_of_models(paths: Sequence[Path]) -> dict[str, int]:
    """Return the number of models as a setting, if there are several.

    A missing input is not a difference, so without this setting one model fewer would not be noticed.
    """
    return {"models": len(paths)} if len(paths) > 1 else {}


def _hashes(origin: Origin) -> dict[str, str]:
    return {name: file.sha256 for name, file in origin.inputs.items()}


def changed_settings(before: Mapping[str, object], now: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    """Yield a message for each setting that differs; tables are compared entry by entry: model.dropout."""
    for name in {**before, **now}:
        old, new = before.get(name, ABSENT), now.get(name, ABSENT)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from changed_settings(old, new, f"{prefix}{name}.")
        elif old != new and (name != "user_dir" or None in (old, new)):  # its files are compared, wherever it lies
            yield f"{prefix}{name} was {old}, is now {new}"
