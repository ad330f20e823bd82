"""Which training a checkpoint is of: hashes lead from it, over what it averages, to those that train.json lists."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from realformer_nmt.checkpoints import layout
from realformer_nmt.checkpoints.run_records import LISTED, listed
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.json_records import expected
from realformer_nmt.common.provenance import MADE_FROM, Record

AVERAGED, EXPORTED = "averaged", "exported_from"  # in extra_state: the checkpoints that this one was made of
SETTINGS = {"model": None, "criterion": None, "optimizer": None, "optimization": ("lr",), "common": ("seed",)}
HINT = "`realformer-nmt train` writes it"


def check_training(path: Path, sha256: str, file: Path, training: Mapping[str, Any]) -> bool:
    """Whether hashes show that a checkpoint is of the training that `file` records; a UserError where it is of another.

    A record that lists no checkpoint, or not all of them, shows neither: then nothing may contradict it.
    """
    with expected(file, HINT):
        known = listed(training)
        if sha256 in known:
            return True
        state = layout.without_weights(path)
        own = {"file": path.name, "sha256": sha256, "updates": layout.updates(state), **made_of(state)}
        strangers = list(unlisted(own, known))
        reason = strangers and (contradiction(state, training) or absence(strangers, known, training))
    if reason:
        raise UserError(
            f"{path} is of another training{origin(state)} than {file}: {reason}; "
            "give --training the train.json of its own training, or leave it out"
        )
    return not strangers


def made_of(state: Mapping[str, Any]) -> Record:
    """The entry `averaged` of an average or of an export, which member checkpoints have as well."""
    extra = layout.table(state.get("extra_state"))
    members = [extra[EXPORTED]] if EXPORTED in extra else extra.get(AVERAGED)
    return {AVERAGED: members} if members else {}


def unlisted(member: Mapping[str, Any], known: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    """The checkpoints that one was made of, however often averaged, which a training does not list."""
    if member["sha256"] in known:
        return
    if not member.get(AVERAGED):
        yield member
    for inner in member.get(AVERAGED, ()):
        yield from unlisted(inner, known)


def contradiction(state: dict[str, Any], training: Mapping[str, Any]) -> str | None:
    """The first setting in which a checkpoint differs from the record of a training."""
    settings = training.get(MADE_FROM, {}).get("settings", {})
    for group, names in SETTINGS.items():
        for name, value in layout.table(layout.table(state.get("cfg")).get(group)).items():
            there = settings.get(group if name == "_name" else name, value)
            if (names is None or name in names) and value is not None and there != value:
                return f"{group if name == '_name' else name} {value}, there {there}"
    return None


def absence(strangers: list[Mapping[str, Any]], known: Mapping[str, str], training: Mapping[str, Any]) -> str | None:
    """Why checkpoints that are not listed are not the training's, once it is complete: it lists all that it wrote; the
    record of an older version those that it ended with, and so its last."""
    names = [f"{member['file']}" for member in strangers]
    if not known or training.get("complete") is not True:
        return None
    if LISTED not in training:
        last = training.get("updates")
        names = [
            f"{member['file']}"
            for member in strangers
            if f"{member['file']}".startswith("checkpoint") and last and (member.get("updates") or 0) >= last
        ]
    return f"{', '.join(names)} is none of the {len(set(known.values()))} checkpoints listed there" if names else None


def origin(state: dict[str, Any]) -> str:
    """Where the training saved a checkpoint, in words, if the checkpoint knows it."""
    folder = layout.setting(state, "checkpoint", "save_dir")
    return f" ({folder})" if isinstance(folder, str) else ""
