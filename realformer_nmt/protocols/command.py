"""The parts of fairseq-train's command: flags of the protocol, of the machine and of the data."""

import json
import math
import re
import shlex
from argparse import ArgumentTypeError
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.processes.python_subprocess import program
from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.corpora.subwords.subword_methods import METHODS
from realformer_nmt.model.presets import FAMILIES, PRESETS, find
from realformer_nmt.protocols.protocol import DEPTH, Protocol
from realformer_nmt.tasks import SIDES, Task

AUTO = "auto"
PRECISIONS = ("fp16", "bf16", "fp32", AUTO)
TRAINER = "fairseq_cli.train"
GREEDY = '{"beam": 1, "max_len_a": 1.2, "max_len_b": 10}'


class TrainedCorpus(NamedTuple):
    """Corpus of a data-bin; before it is prepared, what the options say of it."""

    name: str
    subwords: str | None = None
    source: str | None = None  # language
    target: str | None = None


@dataclass(frozen=True)
class Machines:
    """GPUs of each machine, 0 for its CPU, and the number of such machines."""

    gpus: int
    nodes: int = 1
    node_rank: int = 0
    master: str | None = None  # HOST:PORT

    @property
    def ranks(self) -> int:
        return max(1, self.gpus) * self.nodes

    def launcher(self) -> list[str]:
        """Return the start of the command: torchrun where several processes train."""
        if self.ranks == 1:
            return ["fairseq-train"]
        argv = ["torchrun", "--nproc-per-node", str(max(1, self.gpus))]
        if self.nodes == 1:
            return [*argv, "--standalone", "-m", TRAINER]
        if not self.master:
            raise UserError(f"--nodes {self.nodes} need --master HOST:PORT, the first machine and a free port of it")
        host, _, port = self.master.rpartition(":")
        address = ["--master-addr", host, "--master-port", port]
        nodes = ["--nnodes", str(self.nodes), "--node-rank", str(self.node_rank)]
        return [*argv, *nodes, *address, "-m", TRAINER]


def parse_address(text: str) -> str:
    """Return the HOST:PORT of --master; an IPv6 address stands in brackets."""
    if not re.fullmatch(r"([^\s:\[\]]+|\[[\da-fA-F:.]+\]):\d{1,5}", text):
        raise ArgumentTypeError(f"{text!r}: allowed is HOST:PORT, such as node1:29500")
    return text


def layers(written: str, sides: Sequence[str] = SIDES) -> tuple[int, int]:
    """Read 18 or 60-12 as the layers of encoder and decoder; a side that the model lacks has 0."""
    if not DEPTH.fullmatch(written):
        raise UserError(f"--layers {written}: allowed is a number, such as 18, or encoder-decoder, such as 60-12")
    encoder, _, decoder = written.partition("-")
    if decoder and len(sides) == 1:
        raise UserError(f"--layers {written}: this model has one side, the {sides[0]}: give one number, such as 18")
    return int(encoder) if "encoder" in sides else 0, int(decoder or encoder) if "decoder" in sides else 0


def check_family(option: str, arch: str) -> None:
    if arch in FAMILIES:
        return
    if arch not in PRESETS:
        raise UserError(not_allowed(option, arch, FAMILIES) + "; one of your own needs --user-dir")
    family = max((name for name in FAMILIES if arch.startswith(f"{name}_")), key=len)
    depth = "-".join(dict.fromkeys(str(PRESETS[arch][f"{side}_layers"]) for side in ("encoder", "decoder")))
    raise UserError(
        f"{option} {arch} is a family with a size, and here layers and protocol say the size: give the family, "
        f"{family}, and its layers, {depth}; to train {arch} itself, use fairseq-train --user-dir"
    )


def name_of(task: Task, family: str, kind: str | None) -> str:
    """Return the name of a model in fairseq, such as realformer or realformer_etc."""
    kinds = [each for each in task.kinds if each]
    if kind is not None and kind not in kinds:
        raise UserError(not_allowed("kind", kind, kinds or ["none: leave it out"]))
    name = "_".join(filter(None, (family, kind or task.kinds[0])))
    if find(name) is None:
        families = ", ".join(each for each in FAMILIES if find(f"{each}_{kind}"))
        raise UserError(f"there is no {name}: families of kind {kind} are {families}")
    return name


def architecture(task: Task, arch: str, depth: str, kind: str | None = None) -> list[str]:
    check_family("--arch", arch)
    numbers = zip(SIDES, layers(depth, task.sides), strict=True)
    sizes = {f"{side}-layers": number for side, number in numbers if number}
    return ["--arch", name_of(task, arch, kind), *flags(sizes)]


def flags(table: Mapping[str, object]) -> list[str]:
    """Return a table as argv: {"lr": 5e-4, "share-all-embeddings": True} is --lr 0.0005 --share-all-embeddings."""
    argv = []
    for name, value in table.items():
        if value is True:
            argv.append(f"--{name}")
        elif value is not False:
            argv += [f"--{name}", str(value)]
    return argv


def validation(prepared: TrainedCorpus) -> list[str]:
    """Return flags that measure greedy translations' BLEU after each epoch, where subwords can become text again."""
    method = METHODS.get(prepared.subwords or "")
    bleu = method.bleu if method else None
    if bleu is None:
        return []
    argv = ["--eval-bleu", "--eval-bleu-args", GREEDY, "--eval-bleu-remove-bpe", bleu.remove_bpe]
    argv += ["--eval-bleu-detok", bleu.detokeniser]
    if bleu.needs_languages:
        languages = {"source_lang": prepared.source, "target_lang": prepared.target}
        argv += ["--eval-bleu-detok-args", json.dumps(languages)]
    return argv


def checkpoint_flags(protocol: Protocol) -> list[str]:
    """Return flags that keep the checkpoints that `average` reads later."""
    if protocol.average_of == "best":
        return ["--keep-best-checkpoints", str(protocol.average), "--no-epoch-checkpoints"]
    return ["--keep-last-epochs", str(protocol.average)]


def precision_of(machines: Machines, option: str | None) -> str:
    """Return the precision of the training; `auto` is the device's fastest, without the option a CPU trains in fp32."""
    if option and option != AUTO:
        return option
    if machines.gpus:
        return "fp16"
    from realformer_nmt.kernels.precision import supported  # imports torch, too

    return "bf16" if option == AUTO and "bf16" in supported() else "fp32"


def precision(machines: Machines, option: str | None) -> list[str]:
    name = precision_of(machines, option)
    return {"fp16": ["--fp16", "--fp16-scale-window", "256"], "bf16": ["--bf16"], "fp32": []}[name]


def check_precision(machines: Machines, option: str | None) -> None:
    """Refuse to train in fp16 on a CPU; results of such a training may be read on any machine."""
    if option == "fp16" and not machines.gpus:
        raise UserError("--precision fp16 needs a GPU: allowed on a CPU is fp32, bf16 or auto")


def step(protocol: Protocol, machines: Machines, tokens: int | None, max_tokens: int | None) -> list[str]:
    tokens_a_step = tokens or protocol.tokens_a_step
    tokens_per_gpu = max_tokens or min(protocol.max_tokens, math.ceil(tokens_a_step / machines.ranks))
    accumulation = update_freq(tokens_a_step, machines.ranks, tokens_per_gpu)
    return flags({"max-tokens": tokens_per_gpu, "update-freq": accumulation, "required-batch-size-multiple": 8})


def update_freq(tokens: int, gpus: int, max_tokens: int) -> int:
    """Return the accumulation for a step of so many tokens: tokens a step = GPUs x tokens a GPU x update-freq."""
    steps, rest = divmod(tokens, gpus * max_tokens)
    if rest:
        raise UserError(
            f"{tokens:,} tokens a step are not {gpus} GPUs x {max_tokens:,} tokens x a whole number; use other --gpus, "
            f"another --max-tokens, or another --tokens-a-step, such as {max(1, steps) * gpus * max_tokens}"
        )
    return steps


def runnable(argv: Sequence[str]) -> list[str]:
    """Return the command with this Python's torchrun and fairseq-train, whatever PATH and the current folder hold."""
    if argv[0] == "fairseq-train":
        return program(TRAINER, *argv[1:])
    module = argv.index("-m")
    trainer = program(TRAINER, *argv[module + 2 :])
    return program("torch.distributed.run", *argv[1:module], "--no-python", *trainer)


class Substitution(str):
    """Command line whose output the shell puts in its place."""

    __slots__ = ()


def pasted(argv: Sequence[str]) -> str:
    """Return argv quoted for a shell, which runs nothing in it but each Substitution."""
    return " ".join(f'"$({word})"' if isinstance(word, Substitution) else shlex.quote(word) for word in argv)
