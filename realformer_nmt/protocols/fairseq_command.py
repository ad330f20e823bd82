"""The flags of fairseq-train for a request of `realformer-nmt train`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from realformer_nmt import tasks
from realformer_nmt.checkpoints import run_files
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.common.user_dir import for_fairseq
from realformer_nmt.corpora import manifest
from realformer_nmt.corpora.preparing import prepare_record
from realformer_nmt.protocols import command, trackers
from realformer_nmt.protocols.command import Machines, TrainedCorpus
from realformer_nmt.protocols.protocol import Protocol, load
from realformer_nmt.protocols.train import TrainRequest

INSTEAD = {  # what sets a flag, which would make a run's record or the place of its files wrong
    "--task": "name a --protocol of that task (in a clone: docs/text_models.md)",
    "--arch": "give the family before the `--`, and its size by --layers",
    "--save-dir": "give --folder, in which the next commands look for checkpoints/",
    "--encoder-layers": "give --layers, such as --layers 60-12",
    "--decoder-layers": "give --layers, such as --layers 60-12",
    "--bf16": "give --precision bf16",
    "--fp16": "give --precision fp16",
    "--memory-efficient-bf16": "give --precision bf16",
    "--memory-efficient-fp16": "give --precision fp16",
    "--amp": "give --precision fp16 or bf16",
    "--cpu": "give --gpus 0",
    "--distributed-world-size": "give --gpus N",
}


def preparation(request: TrainRequest) -> TrainedCorpus:
    """Return what `prepare` recorded beside the data-bin; before there is one, what the options say of it."""
    record = request.data.absolute().parent / "prepare.json"
    if not record.is_file():
        if request.corpus is None or request.subwords is None or request.corpus not in manifest.shipped():
            return TrainedCorpus(request.corpus or "")
        corpus = manifest.load(request.corpus)  # as `prepare` will prepare it
        return TrainedCorpus(request.corpus, request.subwords, corpus.source, corpus.target)
    report = prepare_record.read(record)
    if request.subwords not in (None, report.subwords):
        raise UserError(f"--subwords {request.subwords}, but {record} says {report.subwords}: leave the option out")
    name = request.corpus or Path(report.corpus).name.removesuffix(".toml")
    return TrainedCorpus(name, report.subwords, report.source, report.target)


def load_protocol(request: TrainRequest, prepared: TrainedCorpus) -> Protocol:
    protocol = load(request.protocol, prepared.name, request.layers)
    if request.epochs or request.updates:
        protocol = replace(protocol, epochs=request.epochs, updates=request.updates)
    for name in request.without:
        if name not in protocol.train:
            raise UserError(not_allowed("--without", name, protocol.train))
    train = {name: value for name, value in protocol.train.items() if name not in request.without}
    seed = {} if request.seed is None else {"seed": request.seed}
    return replace(protocol, average=request.average or protocol.average, train={**train, **seed})


def find_machines(request: TrainRequest) -> Machines:
    gpus = torch.cuda.device_count() if request.gpus is None else request.gpus
    if request.node_rank >= request.nodes:
        raise UserError(
            f"--node-rank {request.node_rank} of --nodes {request.nodes}: allowed is 0 to {request.nodes - 1}"
        )
    return Machines(gpus, request.nodes, request.node_rank, request.master)


def compose(request: TrainRequest, protocol: Protocol, machines: Machines, prepared: TrainedCorpus) -> list[str]:
    """Return fairseq-train's flags without the end of the schedule, the user's own last."""
    check_name_alone(protocol, request.flags)
    task = tasks.TASKS[protocol.task]
    length = {"max-epoch": protocol.epochs} if protocol.epochs else {"max-update": protocol.updates}
    folder = request.folder.absolute()
    save_dir = ["--save-dir", str(folder / run_files.CHECKPOINTS)]
    argv = [str(request.data.absolute()), *for_fairseq(request.user_dir), *save_dir]
    if protocol.task != tasks.TRANSLATION:
        argv += ["--task", protocol.task]
    argv += command.architecture(task, request.arch, request.layers, request.kind or protocol.kind)
    argv += command.flags(protocol.train)
    argv += command.step(protocol, machines, request.tokens_a_step, request.max_tokens)
    argv += command.flags(length)
    argv += ["--update-epoch-batch-itr", "1"]  # without it a resumed run makes other batches
    argv += command.checkpoint_flags(protocol)
    if task.translates:
        argv += command.validation(prepared)
    argv += command.precision(machines, request.precision)
    if not machines.gpus:
        argv.append("--cpu")
    argv += ["--distributed-world-size", str(machines.ranks)]  # fairseq's default is all GPUs of the machine
    if request.begin_with:
        argv += ["--finetune-from-model", str(request.begin_with.absolute())]
    if request.carry_embeddings:
        argv += ["--carry-embeddings", str(request.carry_embeddings.absolute())]
    log_format, log = ("json", run_files.CURVES) if request.curves else ("simple", run_files.LOG)
    argv += ["--log-format", log_format, "--log-interval", "100", "--log-file", str(folder / log)]
    argv += trackers.flags(request, request.folder)
    return [*argv, *request.flags]


def check_name_alone(protocol: Protocol, flags: Sequence[str]) -> None:
    """Refuse flags that options of `realformer-nmt train` set and record."""
    names = {f"--{name}" for name in protocol.train} | {word.partition("=")[0] for word in flags}
    if any(word.startswith("-a") for word in flags):  # fairseq's short form
        names.add("--arch")
    for name, advice in INSTEAD.items():
        if name in names:
            raise UserError(f"{name} would not be recorded: {advice} instead")
