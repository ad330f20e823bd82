"""fairseq-train's whole command, of what `train` is asked for."""

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora import manifest
from realformer_nmt.corpora.preparation import read_report
from realformer_nmt.protocols import command, tasks, trackers, updates
from realformer_nmt.protocols.command import Machines
from realformer_nmt.protocols.protocol import Protocol, load


def fairseq_train(args: argparse.Namespace) -> list[str]:
    """The whole command."""
    prepared = preparation(args)
    machines = find_machines(args)
    words = compose(args, load_protocol(args, prepared), machines, prepared)
    return [*machines.launcher(), *words, *ending(args, words, machines)]


def preparation(args: argparse.Namespace) -> dict[str, Any]:
    """What `realformer-nmt prepare` noted beside the data-bin, or will note there as far as the options tell."""
    note = args.data.absolute().parent / "prepare.json"
    if not note.is_file():
        known = args.subwords and args.corpus in manifest.shipped()
        languages = {side: getattr(manifest.load(args.corpus), side) for side in ("source", "target")} if known else {}
        return {"corpus": args.corpus or "", "subwords": args.subwords if known else None, **languages}
    report = read_report(note)
    prepared = {**vars(report), "corpus": args.corpus or Path(report.corpus).name.removesuffix(".toml")}
    if args.subwords not in (None, report.subwords):
        raise UserError(f"--subwords {args.subwords}, but {note} says {report.subwords}: leave the option out")
    return prepared


def load_protocol(args: argparse.Namespace, prepared: dict[str, Any]) -> Protocol:
    protocol = load(args.protocol, prepared["corpus"], args.layers)
    if args.epochs or args.updates:
        protocol = replace(protocol, epochs=args.epochs, updates=args.updates)
    seed = {} if args.seed is None else {"seed": args.seed}
    return replace(protocol, average=args.average or protocol.average, train={**protocol.train, **seed})


def find_machines(args: argparse.Namespace) -> Machines:
    gpus = torch.cuda.device_count() if args.gpus is None else args.gpus
    if gpus < 0 or args.nodes < 1 or not 0 <= args.node_rank < args.nodes:
        given = f"--gpus {gpus} --nodes {args.nodes} --node-rank {args.node_rank}"
        raise UserError(f"{given}: allowed are 0 or more GPUs, 1 or more machines, ranks from 0 to their number less 1")
    return Machines(gpus, args.nodes, args.node_rank, args.master)


def compose(args: argparse.Namespace, protocol: Protocol, machines: Machines, prepared: dict[str, Any]) -> list[str]:
    """fairseq-train's flags but for the end of the schedule."""
    demand_name_alone(protocol, args.flags)
    task = tasks.TASKS[protocol.task]
    length = {"max-epoch": protocol.epochs} if protocol.epochs else {"max-update": protocol.updates}
    return [
        *(str(args.data.absolute()), "--user-dir", command.USER_DIR, "--save-dir"),
        str(args.folder.absolute() / "checkpoints"),
        *(["--task", protocol.task] if protocol.task != tasks.TRANSLATION else []),
        *command.architecture(task, args.arch, args.layers, args.kind or protocol.kind),
        *command.flags(protocol.train),
        *command.step(protocol, machines, args.tokens_a_step, args.max_tokens),
        *command.flags(length),
        *("--update-epoch-batch-itr", "1"),  # without it a resumed run makes other batches
        *command.keeping(protocol),
        *(command.validation(prepared) if task.translates else []),
        *command.precision(machines, args.precision),
        *command.distribution(machines),
        *(["--finetune-from-model", str(args.begin_with.absolute())] if args.begin_with else []),
        *(["--carry-embeddings", str(args.carry_embeddings.absolute())] if args.carry_embeddings else []),
        *command.logging(args.folder.absolute(), args.curves),
        *trackers.flags(args),
        *args.flags,
    ]


def demand_name_alone(protocol: Protocol, flags: Sequence[str]) -> None:
    """What stands in a run's name has no second place that overrides it."""
    given = {f"--{name}" for name in protocol.train} | {word.partition("=")[0] for word in flags}
    if "--task" in given:
        raise UserError("--task is what the protocol says: name a --protocol of that task (docs/text_models.md)")
    if "--arch" in given or any(word.startswith("-a") for word in flags):
        raise UserError("--arch is the family before the `--`, and the size comes from --layers: give it there alone")
    if found := sorted(given & {"--encoder-layers", "--decoder-layers"}):
        raise UserError(f"{found[0]} is what --layers says, such as --layers 60-12: give it there alone")


def ending(args: argparse.Namespace, words: list[str], machines: Machines, total: int | None = None) -> list[str]:
    """The last update of a linear schedule, as a command to be run where it cannot be counted yet."""
    cfg = updates.parse(words)
    if getattr(cfg.lr_scheduler, "_name", None) != "linear" or cfg.lr_scheduler.total_num_update:
        return []
    if total is None and args.data.is_dir():
        total = updates.length(cfg, machines.ranks).updates
    if total is None and cfg.optimization.max_update:
        return []  # where the schedule ends without being told
    if total is None and not tasks.of(cfg).translates:
        raise UserError(
            f"{args.data} is not there, so that updates cannot be counted: make it first, or pass --updates"
        )
    if total is None:
        counted = ["realformer-nmt", "updates", str(args.data.absolute())]
        counted += ["--max-tokens", str(cfg.dataset.max_tokens), "--update-freq", str(cfg.optimization.update_freq[0])]
        counted += ["--gpus", str(machines.ranks), "--epochs", str(cfg.optimization.max_epoch)]
        return ["--total-num-update", command.Substitution(shlex.join(counted))]
    if total <= cfg.lr_scheduler.warmup_updates:
        raise UserError(
            f"{total} updates end within the warm-up of {cfg.lr_scheduler.warmup_updates}: train longer, pass "
            "a smaller --tokens-a-step, or a shorter warm-up: -- --warmup-updates N"
        )
    return ["--total-num-update", str(total)]
