"""The training that the words of `realformer-nmt train` ask for."""

import argparse
import sys
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import torch
from fairseq import tasks as fairseq_tasks

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.finished import Stage
from realformer_nmt.fairseq_patches.option_ranges import check_training
from realformer_nmt.fairseq_patches.quiet import quiet
from realformer_nmt.fairseq_patches.resume_checks import demand_same_model
from realformer_nmt.model.config import TranslationConfig, validate
from realformer_nmt.model.model import read_options
from realformer_nmt.protocols import (
    command,
    composition,
    lengths,
    origin,
    run_folder,
    settings,
    states,
    tasks,
    trackers,
    updates,
)
from realformer_nmt.protocols.carried_pieces import counted
from realformer_nmt.protocols.command import Machines
from realformer_nmt.protocols.protocol import Protocol
from realformer_nmt.protocols.run_files import RECORD
from realformer_nmt.protocols.session import Training


def run(args: argparse.Namespace) -> int:
    if args.dry_run:
        words = composition.fairseq_train(args)
        print(command.pasted(["mkdir", "-p", str(args.folder.absolute())]))  # fairseq makes no folder for its log
        print(command.pasted(words))
        prepared = composition.preparation(args)
        announce(args, composition.load_protocol(args, prepared), prepared)
        return 0
    demand_beginning(args)
    run_folder.check_folder(args.folder)
    prepared = composition.preparation(args)
    protocol = composition.load_protocol(args, prepared)
    machines = composition.find_machines(args)
    words = composition.compose(args, protocol, machines, prepared)
    cfg = updates.parse(words)
    trackers.demand_installed(cfg)
    if tasks.of(cfg).translates:  # others are built to count their batches
        validate(read_options(TranslationConfig, cfg.model))
    stage = of_options(args, cfg, machines)
    if stage.finished(args.anew):
        return 0
    present = torch.cuda.device_count()
    if machines.gpus > present:
        raise UserError(f"--gpus {machines.gpus}, but this machine has {present}: pass --gpus {present}, or --dry-run")
    check_training(cfg)
    announce(args, protocol, prepared)
    if not machines.gpus:
        print("training on the CPU: no GPU is used", file=sys.stderr)
    length = updates.length(cfg, machines.ranks)
    states.demand(protocol, cfg, length)
    lengths.demand(cfg)
    content = {**summary(args, protocol, machines, length), **counted(stage, cfg, args.anew), "words": words}
    training = Training(stage, content, machines, args.anew)
    return training.run([*machines.launcher(), *words, *composition.ending(args, words, machines, length.updates)])


def demand_beginning(args: argparse.Namespace) -> None:
    if args.carry_embeddings and not args.begin_with:
        raise UserError(f"--carry-embeddings {args.carry_embeddings} needs --from RUN, whose embeddings they are")
    if args.begin_with and args.folder.resolve() in args.begin_with.resolve().parents:
        raise UserError(f"--from {args.begin_with} lies in --folder {args.folder}: train on in a folder of its own")


def announce(args: argparse.Namespace, protocol: Protocol, prepared: dict[str, Any]) -> None:
    print(origin.line(protocol, args.arch, prepared["corpus"], args.layers), file=sys.stderr)


def asked(args: argparse.Namespace) -> Stage:
    """The same words of this version took the same effect: fairseq reads them only once."""
    prepared, machines = composition.preparation(args), composition.find_machines(args)
    words = composition.compose(args, composition.load_protocol(args, prepared), machines, prepared)
    known = settings.known(args.folder / RECORD, words)
    if known is None:
        return of_options(args, updates.parse(words), machines)
    return Stage("train", args.folder / RECORD, known, settings.files(str(args.data), known), lasting=False)


def of_options(args: argparse.Namespace, cfg: Any, machines: Machines) -> Stage:
    """The checkpoints may be removed once they are averaged."""
    made = settings.settings(cfg, machines.ranks, args.precision or "as the device allows")
    return Stage("train", args.folder / RECORD, made, settings.inputs(cfg), lasting=False)


def demand_states(args: argparse.Namespace, measured: Iterable[str] = ()) -> None:
    """That what is to be averaged will be there, that subsets can be measured, and that what the training begins with
    fits, asked before anything is trained."""
    prepared, machines = composition.preparation(args), composition.find_machines(args)
    protocol = composition.load_protocol(args, prepared)
    cfg = updates.parse(composition.compose(args, protocol, machines, prepared))
    states.demand(protocol, cfg, updates.length(cfg, machines.ranks))
    lengths.demand(cfg, measured)
    if args.begin_with:
        with quiet():
            task = fairseq_tasks.setup_task(cfg.task)
        demand_same_model(args.begin_with.absolute(), SimpleNamespace(cfg=cfg, task=task))


def summary(args: argparse.Namespace, protocol: Protocol, machines: Machines, length: updates.Length) -> dict[str, Any]:
    tokens = args.tokens_a_step or protocol.tokens_a_step
    return {
        "protocol": protocol.name,
        "arch": args.arch,
        "layers": list(command.layers(args.layers, tasks.TASKS[protocol.task].sides)),
        "tokens_a_step": tokens,
        "epochs": protocol.epochs,
        "flags": args.flags,
        "average": protocol.averaging,
        "decoding": protocol.decoding,
        "settings": protocol.train,
        "updates": length.updates,
        "updates_an_epoch": length.an_epoch,
        "gpus": machines.gpus * machines.nodes,
        "machines": machines.nodes,
        "device": torch.cuda.get_device_name(0) if machines.gpus else "CPU",
        "precision": command.precision_of(machines, args.precision),
    }
