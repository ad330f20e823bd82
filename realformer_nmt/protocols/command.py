"""fairseq-train's command: the protocol's flags, what the machine decides, what must be so, and the user's own."""

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from realformer_nmt.common.choices import unknown
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.programs import program
from realformer_nmt.model.presets import FAMILIES, PRESETS, find
from realformer_nmt.protocols import run_files
from realformer_nmt.protocols.batch import update_freq
from realformer_nmt.protocols.protocol import Protocol
from realformer_nmt.protocols.tasks import SIDES, Task

AUTO = "auto"
PRECISIONS = ("fp16", "bf16", "fp32", AUTO)
TRAINER = "fairseq_cli.train"
DETOKENISERS = {"sentencepiece": "space", "moses_bpe": "moses"}
PIECES = {"sentencepiece": "sentencepiece", "moses_bpe": "@@ "}
GREEDY = '{"beam": 1, "max_len_a": 1.2, "max_len_b": 10}'
USER_DIR = str(Path(__file__).resolve().parents[1])


@dataclass(frozen=True)
class Machines:
    """Devices of one machine, 0 GPUs standing for its CPU, and how many such machines."""

    gpus: int
    nodes: int = 1
    node_rank: int = 0
    master: str | None = None  # HOST:PORT

    @property
    def ranks(self) -> int:
        return max(1, self.gpus) * self.nodes

    def launcher(self) -> list[str]:
        """The first words: torchrun where several processes train."""
        if self.ranks == 1:
            return ["fairseq-train"]
        words = ["torchrun", "--nproc-per-node", str(max(1, self.gpus))]
        if self.nodes == 1:
            return [*words, "--standalone", "-m", TRAINER]
        if not self.master:
            raise UserError(f"--nodes {self.nodes} need --master HOST:PORT, the first machine and a free port of it")
        host, _, port = self.master.rpartition(":")
        where = ["--master-addr", host, "--master-port", port]
        nodes = ["--nnodes", str(self.nodes), "--node-rank", str(self.node_rank)]
        return [*words, *nodes, *where, "-m", TRAINER]


def layers(written: str, sides: Sequence[str] = SIDES) -> tuple[int, int]:
    """18 or 60-12: encoder, decoder; 0 of a side that a model has not."""
    if not re.fullmatch(r"[1-9]\d{0,8}(-[1-9]\d{0,8})?", written):
        raise UserError(f"--layers {written}: allowed is a number, such as 18, or encoder-decoder, such as 60-12")
    encoder, _, decoder = written.partition("-")
    if decoder and len(sides) == 1:
        raise UserError(f"--layers {written}: this model has one side, the {sides[0]}: give one number, such as 18")
    found = int(encoder) * ("encoder" in sides), int(decoder or encoder) * ("decoder" in sides)
    from realformer_nmt.model.config import MAX_LAYERS  # here: the commands' --help does not wait for torch

    if max(found) > MAX_LAYERS:
        raise UserError(f"--layers {written}: {max(found)} is more than {MAX_LAYERS}, the deepest ever trained")
    return found


def demand_family(option: str, arch: str) -> None:
    if arch in FAMILIES:
        return
    if arch not in PRESETS:
        raise UserError(unknown(option, arch, FAMILIES) + "; --layers and the protocol say its size")
    family = max((name for name in FAMILIES if arch.startswith(f"{name}_")), key=len)
    depth = "-".join(dict.fromkeys(str(PRESETS[arch][f"{side}_layers"]) for side in ("encoder", "decoder")))
    raise UserError(
        f"{option} {arch} is a family with a size, and here layers and protocol say the size: give the family, "
        f"{family}, and its layers, {depth}; to train {arch} itself, use fairseq-train --user-dir"
    )


def name_of(task: Task, family: str, kind: str | None) -> str:
    """Of a model as fairseq knows it: realformer, realformer_etc."""
    if kind is not None and kind not in filter(None, task.kinds):
        raise UserError(unknown("kind", kind, [*filter(None, task.kinds)] or ["none: leave it out"]))
    name = "_".join(filter(None, (family, kind or task.kinds[0])))
    if find(name) is None:
        others = ", ".join(other for other in FAMILIES if find(f"{other}_{kind}"))
        raise UserError(f"there is no {name}: families of kind {kind} are {others}")
    return name


def architecture(task: Task, arch: str, depth: str, kind: str | None = None) -> list[str]:
    demand_family("--arch", arch)
    numbers = zip(SIDES, layers(depth, task.sides), strict=True)
    deep = {f"{side}-layers": number for side, number in numbers if number}
    return ["--arch", name_of(task, arch, kind), *flags(deep)]


def flags(table: dict[str, Any]) -> list[str]:
    """{"lr": 5e-4, "share-all-embeddings": True} -> --lr 0.0005 --share-all-embeddings."""
    words = []
    for name, value in table.items():
        if value is not False:
            words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return words


def validation(prepared: dict[str, Any]) -> list[str]:
    """BLEU of greedy translations after each epoch, where it is known how to make text of pieces."""
    subwords = prepared.get("subwords")
    if subwords not in DETOKENISERS:
        return []
    words = ["--eval-bleu", "--eval-bleu-args", GREEDY, "--eval-bleu-remove-bpe", PIECES[subwords]]
    words += ["--eval-bleu-detok", DETOKENISERS[subwords]]
    if subwords == "moses_bpe":
        words += ["--eval-bleu-detok-args", json.dumps({f"{s}_lang": prepared[s] for s in ("source", "target")})]
    return words


def keeping(protocol: Protocol) -> list[str]:
    """The checkpoints that `average` will want."""
    if protocol.average_of == "best":
        return ["--keep-best-checkpoints", str(protocol.average), "--no-epoch-checkpoints"]
    return ["--keep-last-epochs", str(protocol.average)]


def precision_of(machines: Machines, asked: str | None) -> str:
    """What is trained in; `auto` is the fastest that the device has, where fp32 is what a CPU does by itself."""
    if asked and asked != AUTO:
        return asked
    if machines.gpus:
        return "fp16"
    from realformer_nmt.kernels.precision import supported  # here, for the same reason

    return "bf16" if asked == AUTO and "bf16" in supported() else "fp32"


def precision(machines: Machines, asked: str | None) -> list[str]:
    chosen = precision_of(machines, asked)
    if chosen == "fp16" and not machines.gpus:
        raise UserError("--precision fp16 needs a GPU: allowed on a CPU is fp32, bf16 or auto")
    return {"fp16": ["--fp16", "--fp16-scale-window", "256"], "bf16": ["--bf16"], "fp32": []}[chosen]


def step(protocol: Protocol, machines: Machines, tokens: int | None, max_tokens: int | None) -> list[str]:
    share = max_tokens or protocol.max_tokens
    accumulated = update_freq(tokens or protocol.tokens_a_step, machines.ranks, share)
    return ["--max-tokens", str(share), "--update-freq", str(accumulated), "--required-batch-size-multiple", "8"]


def distribution(machines: Machines) -> list[str]:
    words = [] if machines.gpus else ["--cpu"]
    return words + (["--distributed-world-size", str(machines.ranks)] if machines.ranks > 1 else [])


def logging(folder: Path, curves: bool) -> list[str]:
    form, file = ("json", run_files.CURVES) if curves else ("simple", run_files.LOG)
    return ["--log-format", form, "--log-interval", "100", "--log-file", str(folder / file)]


def runnable(words: Sequence[str]) -> list[str]:
    """With this very Python's torchrun and fairseq-train, whatever PATH and the current folder hold."""
    if words[0] == "fairseq-train":
        return program(TRAINER, *words[1:])
    module = words.index("-m")
    trainer = program(TRAINER, *words[module + 2 :])
    return program("torch.distributed.run", *words[1:module], "--no-python", *trainer)


class Substitution(str):
    """The words of a command, whose output the shell puts in its place."""

    __slots__ = ()


def pasted(words: Sequence[str]) -> str:
    """For a shell; nothing in a word is anything to it, unless it is ours and a command."""
    return " ".join(f'"$({word})"' if isinstance(word, Substitution) else shlex.quote(word) for word in words)
