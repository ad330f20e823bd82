"""`realformer-nmt train`: run fairseq-train by a protocol on this machine, and resume an interrupted training."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.checkpoints.model_in_run import parse_checkpoint
from realformer_nmt.checkpoints.run_files import CURVES
from realformer_nmt.common.numbers import SEED, whole
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.requests.request import Request
from realformer_nmt.common.stages.stage import StageRequest
from realformer_nmt.corpora.subwords.subword_methods import LEARNT
from realformer_nmt.model.presets import FAMILIES
from realformer_nmt.protocols import command
from realformer_nmt.protocols.protocol import shipped
from realformer_nmt.protocols.trackers import TrackerOptions

BATCH = "the machine and the batch"


@dataclass(frozen=True, kw_only=True)
class ModelOptions(TrackerOptions, StageRequest):
    """Base of TrainRequest: the model, its data and its protocol."""

    data: Path = option("the data-bin that `realformer-nmt prepare` has made")
    folder: Path = option("where checkpoints/, train.log and train.json are written")
    arch: str = option(", ".join(FAMILIES), metavar="FAMILY")
    kind: str | None = option("of a masked model: bert, or etc, for long texts (default: the protocol's)", None)
    layers: str = option("layers of encoder and decoder: 18, or 60-12", metavar="N|N-M")
    begin_with: Path | None = option(
        "begin with the weights of this run's folder or checkpoint, trained on data like these (`prepare --like`)",
        None,
        flag="--from",
        parse=parse_checkpoint,
        metavar="RUN",
    )
    carry_embeddings: Path | None = option(
        "with --from, for data of another vocabulary: take over the embeddings of the subwords that both have; "
        "DATA-BIN has RUN's dictionaries",
        None,
        metavar="DATA-BIN",
    )
    protocol: str = option(f"{', '.join(shipped())}, or your own FILE.toml", "realformer")
    without: tuple[str, ...] = option(
        "do not use this setting of the protocol, such as share-all-embeddings (repeatable)",
        (),
        metavar="SETTING",
        repeated=True,
    )
    corpus: str | None = option(
        "use the protocol's settings for it (default: as in prepare.json)", None, metavar="NAME"
    )
    subwords: str | None = option("how the data-bin was split (default: as in prepare.json)", None, choices=LEARNT)


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(Request):
    """Base of requests that train: the machines, the batch, the length, the seed and the precision."""

    gpus: int | None = option(
        "GPUs of each machine (default: all); 0: the CPU", None, metavar="N", group=BATCH, range=whole(0)
    )
    nodes: int = option("machines; run the same command on each", 1, metavar="N", group=BATCH, range=whole(1))
    node_rank: int = option("number of this machine, from 0", 0, metavar="N", group=BATCH, range=whole(0))
    master: str | None = option(
        "the machine of rank 0, and a port that is free there",
        None,
        metavar="HOST:PORT",
        group=BATCH,
        parse=command.parse_address,
    )
    max_tokens: int | None = option(
        "tokens that one GPU takes at once (default: the protocol's, or its share of a step)",
        None,
        metavar="N",
        group=BATCH,
        range=whole(1),
    )
    tokens_a_step: int | None = option("default: the protocol's", None, metavar="N", group=BATCH, range=whole(1))
    epochs: int | None = option("default: the protocol's", None, metavar="N", either="length", range=whole(1))
    updates: int | None = option("default: the protocol's", None, metavar="N", either="length", range=whole(1))
    average: int | None = option(
        "checkpoints to keep and average later (default: the protocol's)", None, metavar="N", range=whole(1)
    )
    seed: int | None = option("default: the protocol's", None, metavar="N", range=SEED)
    precision: str | None = option(
        "default: fp16 on GPUs, fp32 on a CPU; auto: the same, but bf16 on a CPU that has the instructions",
        None,
        choices=command.PRECISIONS,
        synonyms={"--bf16": "bf16"},
    )


@dataclass(frozen=True, kw_only=True)
class TrainRequest(TrainingOptions, ModelOptions):
    """Train with fairseq-train in FOLDER/checkpoints, by a protocol whose tokens a step are kept on any number of GPUs.
    After an interruption the same command resumes; it does nothing once all is trained."""

    subcommand: ClassVar[str] = "train"
    implementation: ClassVar[str] = "realformer_nmt.protocols.running.training"
    examples: ClassVar[str] = """examples:
  realformer-nmt train --data data/data-bin --arch realformer --layers 18 --folder run
  realformer-nmt train --data data/data-bin --arch realformer --layers 60-12 --folder run --gpus 8 --dry-run
  realformer-nmt train --data data/data-bin --arch admin --layers 2 --protocol small --folder try -- --dropout 0.3
"""

    curves: bool = option(f"write learning curves to FOLDER/{CURVES}", False)
    fresh: bool = option("move the run in FOLDER aside, and train again", False)
    dry_run: bool = option("print fairseq-train's command, ready to paste", False)
    flags: tuple[str, ...] = argument(
        "flags of fairseq-train; they override the protocol's", (), metavar="-- FLAG", last=True
    )


REQUEST = TrainRequest
