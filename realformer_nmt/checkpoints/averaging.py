"""The mean of the weights of several checkpoints."""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from realformer_nmt.checkpoints import layout, lineage, selection, validation
from realformer_nmt.checkpoints.average import AverageRequest
from realformer_nmt.common.atomic_files import completed
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.finished import Stage
from realformer_nmt.common.provenance import named, several
from realformer_nmt.common.text_lines import sha256


def run(request: AverageRequest) -> int:
    stage = stage_of(request)
    if stage.finished(request.anew, request.output):
        return 0
    paths = select(request)
    made = stage.begin()
    state = average(paths)
    with stage.claimed(request.output), completed(request.output) as file:
        torch.save(state, file)
    stage.write(made, {"averaged": [path.name for path in paths]}, [request.output])
    print(f"{request.output}: the average of {len(paths)}: {', '.join(path.name for path in paths)}")
    return 0


def stage_of(request: AverageRequest) -> Stage:
    """Checkpoints may be removed once they are averaged: what of them is left is compared."""
    record = request.output.with_name(f"{request.output.name}.json")
    try:
        paths = select(request)
    except UserError:
        if not record.is_file():
            raise
        paths = []
    names = ("last", "last_updates", "best", "until")
    settings = {**{name: getattr(request, name) for name in names}, **several(request.inputs)}
    return Stage("average", record, settings, named(paths))


def select(request: AverageRequest) -> list[Path]:
    number = next((n for n in (request.last, request.last_updates, request.best) if n is not None), None)
    if number is None:
        if any(path.is_dir() for path in request.inputs):
            raise UserError(
                f"{request.inputs[0]} is a folder: choose from it with --last N, --last-updates N or --best N"
            )
        if request.until is not None:
            raise UserError("--until goes with --last or --last-updates, not with named checkpoints")
        return selection.named(request.inputs)
    if len(request.inputs) > 1:
        raise UserError(f"--last, --last-updates and --best take one folder, and {len(request.inputs)} paths are given")
    if request.best is not None:
        if request.until is not None:
            raise UserError("--until goes with --last or --last-updates, not with --best")
        return selection.best(request.inputs[0], number)
    kind = selection.UPDATE if request.last is None else selection.EPOCH
    return selection.last(request.inputs[0], number, kind, request.until)


def average(paths: Sequence[Path]) -> dict[str, Any]:
    """Two models are in memory, whatever the number of paths: the sum in fp64, and the one that is being added."""
    first = layout.load(paths[0])
    like, ties = signature(first), tied(first["model"])
    del first
    sums: dict[str, Tensor] = {}
    newest: dict[str, Any] = {}
    members = []
    for path in paths:
        state = layout.load(path)
        refuse_unlike(paths[0], like, path, signature(state))
        add(sums, state.pop("model"), path)
        state.pop("last_optimizer_state", None)
        state = copy.deepcopy(state)  # meters are tensors too, which would keep the file mapped
        members.append(member(path, state))
        newest = max(newest, state, key=age)
    model = {name: mean(sums.pop(name), len(paths), dtype) for name, (_, dtype) in like["tensors"].items()}
    for name, twin in ties.items():
        if torch.equal(model[name], model[twin]):
            model[name] = model[twin]
    return checkpoint(newest, model, members)


def signature(state: dict[str, Any]) -> dict[str, Any]:
    """What checkpoints must share: the choices of their model, name, shape and precision of every tensor, and their
    words, where they know them."""
    tensors = {name: (tuple(tensor.shape), tensor.dtype) for name, tensor in state["model"].items()}
    return {"choices": layout.choices(state), "tensors": tensors, "words": layout.words(state)}


def refuse_unlike(first: Path, like: dict[str, Any], path: Path, found: dict[str, Any]) -> None:
    parts = ("choices", "tensors", *(("words",) if like["words"] and found["words"] else ()))
    for part in parts:
        for name in {**like[part], **found[part]}:
            one, other = like[part].get(name, "nothing"), found[part].get(name, "nothing")
            if one != other:
                raise UserError(
                    f"{path} is of another model than {first}: {name} is {_shown(other)}, there {_shown(one)}; "
                    "average checkpoints of one run"
                )


def _shown(value: Any) -> str:
    return f"{value[0]} {value[1]}" if isinstance(value, tuple) else str(value)


def tied(model: dict[str, Tensor]) -> dict[str, str]:
    """Names of tensors that share their memory with one of an earlier name."""
    seen: dict[tuple[Any, ...], str] = {}
    places = {name: (t.data_ptr(), t.shape, t.stride(), t.dtype) for name, t in model.items() if t.numel()}
    owners = {name: seen.setdefault(place, name) for name, place in places.items()}
    return {name: owner for name, owner in owners.items() if name != owner}


def add(sums: dict[str, Tensor], model: dict[str, Tensor], path: Path) -> None:
    for name, tensor in model.items():
        if not torch.isfinite(tensor).all():
            raise UserError(f"{path}: {name} holds NaN or infinity; leave this checkpoint out")
        wide = torch.float64 if tensor.is_floating_point() else torch.int64
        if name in sums:
            sums[name] += tensor  # added in the precision of the sum
        else:
            sums[name] = tensor.to(wide, copy=True)


def mean(total: Tensor, number: int, dtype: torch.dtype) -> Tensor:
    """Counters and flags are rounded down, as fairseq's script does."""
    rounding = None if total.is_floating_point() else "floor"
    return torch.div(total, number, rounding_mode=rounding).to(dtype)


def age(state: dict[str, Any]) -> tuple[int, int]:
    return layout.updates(state) or 0, layout.epochs(state) or 0


def member(path: Path, state: dict[str, Any]) -> dict[str, Any]:
    file = {"file": path.name, "sha256": sha256(path)}
    found = {"epoch": layout.epochs(state), "updates": layout.updates(state)}
    known = {"stored": validation.stored(state), "meters": validation.meters(state)}
    return {**file, **found, **known, **lineage.made_of(state)}


def checkpoint(newest: dict[str, Any], model: dict[str, Tensor], members: list[dict[str, Any]]) -> dict[str, Any]:
    """The newest one's settings and counters; its optimizer state and validation belong to other weights."""
    members = sorted(members, key=lambda found: (found["updates"] or 0, found["file"]))
    scores = validation.history([(found.pop("stored"), found.pop("meters")) for found in members])
    averaged = [{**found, "validation": score} for found, score in zip(members, scores, strict=True)]
    extra = {**(newest.get("extra_state") or {}), "val_loss": None, lineage.AVERAGED: averaged}
    extra.pop(lineage.EXPORTED, None)
    return {**newest, "model": model, "extra_state": extra}
