"""The mean of the weights of several checkpoints."""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from msgspec import UNSET, to_builtins
from torch import Tensor

from realformer_nmt.checkpoints import origins, selection
from realformer_nmt.checkpoints.average import AverageRequest
from realformer_nmt.checkpoints.average_record import AverageRecord, SourceCheckpoint
from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.checkpoints.files.reading import Checkpoint
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.atomic_files import completed
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.common.stages.provenance import files_by_name, number_of_models
from realformer_nmt.common.stages.stage import AGAIN, Stage


class Signature(NamedTuple):
    """Properties that all checkpoints of an average share; languages and dictionaries are empty where unknown."""

    choices: checkpoint_fields.Options
    tensors: dict[str, tuple[torch.Size, torch.dtype]]
    words: checkpoint_fields.Options


def run(request: AverageRequest) -> int:
    stage = stage_of(request)
    if stage.is_up_to_date(request.fresh, request.output):
        return 0
    paths = select(request)
    origin = stage.new_origin()
    state = average(paths)
    with stage.claimed(request.output), completed(request.output) as file:
        torch.save(state, file)
    names = [path.name for path in paths]
    stage.write(AverageRecord(averaged=names, made_from=origin, outputs=stage.fingerprints(request.output)))
    print(f"{request.output}: the average of {len(paths)}: {', '.join(names)}")
    return 0


def stage_of(request: AverageRequest) -> Stage:
    """Return the stage of a request; checkpoints that were removed after they were averaged may be its inputs."""
    record = request.output.with_name(f"{request.output.name}.json")
    try:
        paths = select(request)
    except UserError:
        if number_of_checkpoints(request) is None or not record.is_file():
            raise
        paths = recorded_paths(request.inputs[0], record)
    names = ("last", "last_updates", "best", "until")
    settings = {**{name: getattr(request, name) for name in names}, **number_of_models(request.inputs)}
    return Stage("average", record, settings, files_by_name(paths))


def recorded_paths(folder: Path, record: Path) -> list[Path]:
    """Return where the checkpoints of a record lay if they were of this folder; none if it cannot be read."""
    try:
        return [folder / name for name in records.read(record, AverageRecord, AGAIN).averaged]
    except UserError:
        return []  # the stage says what is wrong with it


def number_of_checkpoints(request: AverageRequest) -> int | None:
    return next((n for n in (request.last, request.last_updates, request.best) if n is not None), None)


def select(request: AverageRequest) -> list[Path]:
    """Return the checkpoints to average."""
    number = number_of_checkpoints(request)
    if request.until is not None and request.last is None and request.last_updates is None:
        raise UserError("--until goes with --last or --last-updates")
    if number is None:
        if any(path.is_dir() for path in request.inputs):
            raise UserError(
                f"{request.inputs[0]} is a folder: choose from it with --last N, --last-updates N or --best N"
            )
        return selection.check_distinct(request.inputs)
    if len(request.inputs) > 1:
        raise UserError(f"--last, --last-updates and --best take one folder, and {len(request.inputs)} paths are given")
    if request.best is not None:
        return selection.best(request.inputs[0], number)
    kind = selection.UPDATE if request.last is None else selection.EPOCH
    return selection.last(request.inputs[0], number, kind, request.until)


def average(paths: Sequence[Path]) -> Checkpoint:
    """Return the mean of checkpoints, with the settings of the newest.

    Two models are in memory, whatever the number of paths: the sum in fp64, and the one that is being added.
    """
    sums: dict[str, Tensor] = {}
    newest: Checkpoint = {}
    members: list[SourceCheckpoint] = []
    for path in paths:
        state = checkpoint_fields.load(path)
        if not members:
            expected, ties = signature(state), tied(state["model"])
        check_same_model(paths[0], expected, path, signature(state))
        add(sums, state.pop("model"), path)
        state.pop("last_optimizer_state", None)
        state = copy.deepcopy(state)  # meters may be tensors: they shall not keep the memory of what was loaded
        members.append(member(path, state))
        newest = max(newest or state, state, key=age)
    model = {name: mean(sums.pop(name), len(paths), dtype) for name, (_, dtype) in expected.tensors.items()}
    for name, twin in ties.items():
        if torch.equal(model[name], model[twin]):
            model[name] = model[twin]
    return checkpoint(newest, model, members)


def signature(state: Checkpoint) -> Signature:
    tensors = {name: (tensor.shape, tensor.dtype) for name, tensor in state["model"].items()}
    return Signature(checkpoint_fields.choices(state), tensors, checkpoint_fields.words(state))


def check_same_model(first: Path, expected: Signature, path: Path, actual: Signature) -> None:
    """Refuse a checkpoint whose signature is not that of the first one."""
    parts: list[tuple[checkpoint_fields.Options, checkpoint_fields.Options]]
    parts = [(expected.choices, actual.choices), (expected.tensors, actual.tensors)]
    if expected.words and actual.words:
        parts.append((expected.words, actual.words))
    for before, now in parts:
        for name in {**before, **now}:
            there, here = before.get(name, "nothing"), now.get(name, "nothing")
            if there != here:
                raise UserError(
                    f"{path} is of another model than {first}: {name} is {_shown(here)}, there {_shown(there)}; "
                    "average checkpoints of one run"
                )


def _shown(value: object) -> str:
    return f"{tuple(value[0])} {value[1]}" if isinstance(value, tuple) else str(value)


def tied(model: dict[str, Tensor]) -> dict[str, str]:
    """Return the names of tensors that share their memory with an earlier one, each with that one's name."""
    first_names: dict[tuple[object, ...], str] = {}
    ties = {}
    for name, t in model.items():
        if t.numel():
            first = first_names.setdefault((t.data_ptr(), t.shape, t.stride(), t.dtype), name)
            if first != name:
                ties[name] = first
    return ties


def add(sums: dict[str, Tensor], model: dict[str, Tensor], path: Path) -> None:
    """Add a model's tensors to the sums, in fp64 or int64; refuse NaN and infinity."""
    for name, tensor in model.items():
        if not torch.isfinite(tensor).all():
            raise UserError(f"{path}: {name} holds NaN or infinity; leave this checkpoint out")
        wide = torch.float64 if tensor.is_floating_point() else torch.int64
        if name in sums:
            sums[name] += tensor
        else:
            sums[name] = tensor.to(wide, copy=True)


def mean(total: Tensor, number: int, dtype: torch.dtype) -> Tensor:
    """Return the mean; counters and flags are rounded down, as fairseq's script does."""
    rounding = None if total.is_floating_point() else "floor"
    return torch.div(total, number, rounding_mode=rounding).to(dtype)


def age(state: Checkpoint) -> tuple[int, int]:
    return checkpoint_fields.updates(state) or 0, checkpoint_fields.epochs(state) or 0


def member(path: Path, state: Checkpoint) -> SourceCheckpoint:
    return SourceCheckpoint(
        file=path.name,
        sha256=sha256(path),
        epoch=checkpoint_fields.epochs(state),
        updates=checkpoint_fields.updates(state),
        averaged=origins.sources(path, state) or UNSET,
    )


def checkpoint(newest: Checkpoint, model: dict[str, Tensor], members: list[SourceCheckpoint]) -> Checkpoint:
    """Return the average as a checkpoint: the newest one's settings and counters, without its validation."""
    averaged = sorted(members, key=lambda member: (member.updates or 0, member.file))
    extra = {**(newest.get("extra_state") or {}), "val_loss": None, origins.AVERAGED: to_builtins(averaged)}
    extra.pop(origins.EXPORTED, None)
    return {**newest, "model": model, "extra_state": extra}
