"""The requests from a training to the scores of its model, whether a grid or `realformer-nmt run` asks for them."""

from dataclasses import replace
from pathlib import Path

from msgspec import UNSET, UnsetType

from realformer_nmt.checkpoints.average import AverageRequest
from realformer_nmt.checkpoints.run_files import AVERAGE, CHECKPOINTS, RECORD, TRANSLATION_FOLDER
from realformer_nmt.comparison.grid.cell import Cell, SomeRequest, of_subset
from realformer_nmt.corpora.corpus_options import CorpusOptions
from realformer_nmt.evaluation.scoring.score import ScoreRequest
from realformer_nmt.evaluation.translating.translate import TranslateRequest
from realformer_nmt.protocols.command import pasted
from realformer_nmt.protocols.protocol import Protocol
from realformer_nmt.protocols.train import TrainRequest


def on_machine(request: SomeRequest, gpus: int | None, user_dir: Path | None = None) -> SomeRequest:
    """Return a request that trains on so many GPUs, and imports a folder; with 0 GPUs it decodes and scores on the CPU,
    too."""
    devices = {"gpus": gpus, "cpu": gpus == 0}
    options = request.as_options()
    changed = {name: value for name, value in devices.items() if name in options}
    return replace(request, user_dir=user_dir, **changed)


def commands(cell: Cell, gpus: int | UnsetType = UNSET) -> list[str]:
    """Return the commands of a cell's stages, ready to paste; with `gpus`, as they are on so many GPUs."""
    requests = [stage.request for stage in cell.stages]
    if gpus is not UNSET:
        requests = [on_machine(each, gpus, each.user_dir) for each in requests]
    return [pasted(each.command()) for each in requests]


def average_request(train: TrainRequest, protocol: Protocol) -> AverageRequest:
    number, which = train.average or protocol.average, protocol.average_of
    return AverageRequest(
        inputs=(train.folder / CHECKPOINTS,),
        output=train.folder / AVERAGE,
        last=number if which == "last" else None,
        best=number if which == "best" else None,
    )


def translate_request(
    folder: Path, subset: str, text: CorpusOptions, protocol: Protocol, validate: bool
) -> TranslateRequest:
    return TranslateRequest(
        checkpoints=(folder / AVERAGE,),
        subset=subset,
        output=of_subset(folder, TRANSLATION_FOLDER, subset),
        validate=validate,
        **text.as_options(),
        **protocol.decoding_options,
    )


def score_request(
    folder: Path, subset: str, reference: Path | None = None, rouge: bool = False, comet: str | None = None
) -> ScoreRequest:
    return ScoreRequest(
        translation=of_subset(folder, TRANSLATION_FOLDER, subset),
        output=of_subset(folder, "run", subset, ".json"),
        reference=reference,
        rouge=rouge,
        comet=comet,
        training=folder / RECORD,
    )
