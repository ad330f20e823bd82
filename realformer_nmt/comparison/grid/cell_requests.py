"""The requests from a training to the scores of its model, whether a grid or `realformer-nmt run` asks for them."""

from dataclasses import replace
from pathlib import Path

from realformer_nmt.checkpoints.average import AverageRequest
from realformer_nmt.checkpoints.run_files import AVERAGE, CHECKPOINTS, RECORD, TRANSLATION_FOLDER
from realformer_nmt.common.stages.stage_request import StageRequest
from realformer_nmt.comparison.grid.cell import Cell, of_subset
from realformer_nmt.corpora.corpus_options import CorpusOptions
from realformer_nmt.evaluation.scoring.score import ScoreRequest
from realformer_nmt.evaluation.translating.translate import TranslateRequest
from realformer_nmt.protocols.protocol import Protocol
from realformer_nmt.protocols.train import TrainRequest


def with_gpus(cell: Cell, gpus: int) -> Cell:
    """Return a cell whose stages all run on so many GPUs, or on the CPU."""
    stages = (replace(stage, request=request_with_gpus(stage.request, gpus)) for stage in cell.stages)
    return replace(cell, stages=tuple(stages))


def request_with_gpus(request: StageRequest, gpus: int | None) -> StageRequest:
    """Return a request that trains on so many GPUs; with 0 it decodes and scores on the CPU, too."""
    options = request.as_options()
    changed = {name: value for name, value in {"gpus": gpus, "cpu": gpus == 0}.items() if name in options}
    return type(request)(**{**options, **changed})


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
