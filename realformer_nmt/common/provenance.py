"""What a record was made from: its settings, the hashes of its inputs, the versions; and how that differs from now.

A record holds it under `made_from`. Versions are noted and compared apart: another version is another environment,
which a table marks; other settings or inputs are another result, which nothing may pass off as this one.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from realformer_nmt.common.text_lines import sha256
from realformer_nmt.common.versions import versions

MADE_FROM = "made_from"
ABSENT = "nothing"
Record = dict[str, Any]


def fingerprint(path: Path, known: Mapping[str, Any] | None = None) -> Record:
    """Hash, size and time of a file; a known hash is taken over where size and time are those of the file."""
    found = path.stat()
    state = {"bytes": found.st_size, "modified": found.st_mtime_ns}
    fresh = known is None or {name: known.get(name) for name in state} != state
    return {"sha256": sha256(path) if fresh or known is None else known["sha256"], **state}


def made_from(
    settings: Mapping[str, Any], inputs: Mapping[str, Path], known: Mapping[str, Any] | None = None
) -> Record:
    """`inputs` are files by the names that a message calls them, those left out that are gone; `known` is an earlier
    record's `made_from`."""
    before = (known or {}).get("inputs", {})
    return {
        "settings": json.loads(json.dumps(settings)),  # as a record gives them back
        "inputs": {name: fingerprint(path, before.get(name)) for name, path in inputs.items() if path.is_file()},
        "versions": versions(),
    }


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """In words, one a setting or input; none where what was made is what would be made now. An input that is gone is
    none: its hash is still known. Nor is one that bears another name now."""
    changed = list(_changed(before.get("settings", {}), now["settings"]))
    was, is_now = ({name: file["sha256"] for name, file in made.get("inputs", {}).items()} for made in (before, now))
    renamed = [file for name, file in was.items() if file != is_now.get(name)]
    kept = [name for name, file in is_now.items() if file == was.get(name) or (name not in was and file in renamed)]
    return changed + [f"{name} is another file" for name in is_now if name not in kept]


def named(paths: Iterable[Path]) -> dict[str, Path]:
    """Files by what a message calls them: their name, or their whole path where two are of one name."""
    given = list(paths)
    names = [path.name for path in given]
    return {path.name if names.count(path.name) == 1 else str(path): path for path in given}


def several(paths: Sequence[Path]) -> dict[str, int]:
    """A setting of a command that takes one model or more: fewer than before are no input that is gone."""
    return {"models": len(paths)} if len(paths) > 1 else {}


def _changed(before: Mapping[str, Any], now: Mapping[str, Any], within: str = "") -> Iterator[str]:
    for name in {**before, **now}:
        was, is_now = before.get(name, ABSENT), now.get(name, ABSENT)
        if isinstance(was, Mapping) and isinstance(is_now, Mapping):
            yield from _changed(was, is_now, f"{within}{name}.")
        elif was != is_now:
            yield f"{within}{name} was {was}, is now {is_now}"
