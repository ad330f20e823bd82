"""Run `realformer-nmt train`: check all that can be checked before, then train."""

import dataclasses
import sys
from collections.abc import Iterable

import torch
from msgspec.structs import replace

from realformer_nmt import tasks
from realformer_nmt.checkpoints.run_files import RECORD
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.common.stages.stage import Stage
from realformer_nmt.corpora import manifest
from realformer_nmt.fairseq_patches.checkpoints.resume_checks import check_same_model
from realformer_nmt.fairseq_patches.options.option_ranges import check_training
from realformer_nmt.model.config import TranslationConfig, validate
from realformer_nmt.model.models.model import read_options
from realformer_nmt.protocols import command, fairseq_command, protocol_notice, settings, trackers
from realformer_nmt.protocols.protocol import corpora
from realformer_nmt.protocols.running import expected_checkpoints, length_check, run_folder
from realformer_nmt.protocols.running.carried_subwords import carried_counts
from realformer_nmt.protocols.running.planned_training import PlannedTraining
from realformer_nmt.protocols.running.training_run import Training
from realformer_nmt.protocols.train import TrainRequest


def run(request: TrainRequest) -> int:
    check_corpus(request)
    check_beginning(request)
    if request.dry_run:
        print_command(request)
        return 0
    run_folder.check_folder(request.folder)
    planned = PlannedTraining(request)
    cfg, machines = planned.cfg, planned.machines
    trackers.check_installed(cfg)
    if tasks.task_of(cfg).translates:  # a model of another task is built below, where its batches are counted
        validate(read_options(TranslationConfig, cfg.model))
    stage = stage_of_planned(planned)
    if stage.is_up_to_date(request.fresh):
        return 0
    check_gpus(request)
    command.check_precision(machines, request.precision)
    check_training(cfg)
    announce(planned)
    if not machines.gpus:
        print("training on the CPU: no GPU is used", file=sys.stderr)
    check_outcome(planned)
    record = replace(summary(planned), carry_embeddings=carried_counts(stage, cfg, request.fresh))
    return Training(stage, record, machines, request.fresh).run(planned.command())


def check_corpus(request: TrainRequest) -> None:
    """Refuse a --corpus that is neither the prepared one nor one that a protocol may have settings for."""
    prepared = fairseq_command.preparation(dataclasses.replace(request, corpus=None)).name
    names = sorted({*manifest.shipped(), *corpora(request.protocol), prepared} - {""})
    if request.corpus not in (None, *names):
        raise UserError(not_allowed("--corpus", str(request.corpus), names))


def print_command(request: TrainRequest, prefix: str = "") -> None:
    planned = PlannedTraining(request)
    command.check_precision(planned.machines, request.precision)
    argv = planned.command()
    # fairseq makes no folder for its log
    print(prefix + command.pasted(["mkdir", "-p", str(request.folder.absolute())]))
    print(prefix + command.pasted(argv))
    announce(planned)


def check_gpus(request: TrainRequest) -> None:
    present = torch.cuda.device_count()
    if (request.gpus or 0) > present:
        number = present or "no GPU that torch can use"
        raise UserError(f"--gpus {request.gpus}, but this machine has {number}: pass --gpus {present}, or --dry-run")


def check_beginning(request: TrainRequest) -> None:
    if request.carry_embeddings and not request.begin_with:
        raise UserError(f"--carry-embeddings {request.carry_embeddings} needs --from RUN, whose embeddings they are")
    if request.begin_with and request.folder.resolve() in request.begin_with.resolve().parents:
        raise UserError(
            f"--from {request.begin_with} lies in --folder {request.folder}: train on in a folder of its own"
        )


def announce(planned: PlannedTraining) -> None:
    request = planned.request
    print(protocol_notice.line(planned.protocol, request.arch, planned.prepared.name, request.layers), file=sys.stderr)


def stage_of(request: TrainRequest) -> Stage:
    return stage_of_planned(PlannedTraining(request))


def stage_of_planned(planned: PlannedTraining) -> Stage:
    """Return the stage of a training; it does not last: its checkpoints may be removed once averaged."""
    request, cfg = planned.request, planned.cfg
    options = settings.settings(cfg, planned.machines.ranks, request.precision or "as the device allows")
    return Stage("train", request.folder / RECORD, options, settings.inputs(cfg), lasting=False)


def check_planned(planned: PlannedTraining, measured: Iterable[str] = ()) -> None:
    """Check a training that is not started yet, and that the model to begin with fits."""
    command.check_precision(planned.machines, planned.request.precision)
    check_outcome(planned, measured)
    if planned.request.begin_with:
        check_same_model(planned.request.begin_with.absolute(), planned)


def check_outcome(planned: PlannedTraining, measured: Iterable[str] = ()) -> None:
    """Check that a training outlasts its warm-up, leaves what is averaged, and finds no `measured` text too long."""
    planned.check_warm_up()
    expected_checkpoints.check(planned.protocol, planned.cfg, planned.length)
    length_check.check(planned.cfg, planned.task, measured)


def summary(planned: PlannedTraining) -> TrainRecord:
    """Return the record of a training that begins; flags after the `--` may have changed its step and its length."""
    request, protocol, machines, length = planned.request, planned.protocol, planned.machines, planned.length
    return TrainRecord(
        protocol=protocol.name,
        arch=request.arch,
        layers=list(command.layers(request.layers, tasks.TASKS[protocol.task].sides)),
        tokens_a_step=planned.tokens_a_step,
        epochs=planned.cfg.optimization.max_epoch or None,
        flags=list(request.flags),
        average=protocol.averaging,
        decoding=protocol.decoding,
        settings=protocol.train,
        updates=length.updates,
        updates_an_epoch=length.an_epoch,
        gpus=machines.gpus * machines.nodes,
        machines=machines.nodes,
        device=torch.cuda.get_device_name(0) if machines.gpus else "CPU",
        precision=command.precision_of(machines, request.precision),
    )
