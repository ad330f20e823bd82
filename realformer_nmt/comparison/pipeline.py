"""The recipe of `realformer-nmt run`: the requests of one training, as of a grid's cell, one after the other."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from realformer_nmt import subcommands
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.request import Request
from realformer_nmt.common.stages import outputs
from realformer_nmt.common.stages.stage import StageRequest
from realformer_nmt.comparison.grid.cell import of_subset
from realformer_nmt.comparison.grid.cell_requests import (
    average_request,
    on_machine,
    score_request,
    translate_request,
)
from realformer_nmt.comparison.run import DATA, STAGES, RunRequest
from realformer_nmt.corpora import manifest
from realformer_nmt.corpora.corpus_options import CorpusOptions
from realformer_nmt.corpora.preparing.prepare_request import PrepareRequest, cores
from realformer_nmt.data_bins.file_checks import NAME as NOTE
from realformer_nmt.protocols import trackers
from realformer_nmt.protocols.command import check_precision, pasted
from realformer_nmt.protocols.protocol import Protocol, corpora
from realformer_nmt.protocols.show import ProtocolRequest, protocol_of
from realformer_nmt.protocols.train import TrainingOptions, TrainRequest


def run(request: RunRequest) -> int:
    """Run the stages, or print their commands. What is typed for a stage is checked as the stage begins, and what is
    typed for the training before the corpus is prepared."""
    outputs.check_folder(data(request))
    stages = requests(request)
    if not request.dry_run and not (data(request) / NOTE).is_file():
        for train in (stage for stage in stages if isinstance(stage, TrainRequest)):
            check_training(train)
    for each in stages:
        stage = each if request.dry_run else with_needed_fresh(each)
        print(pasted(stage.command()), flush=True)
        if not request.dry_run:
            start(stage)
        elif isinstance(stage, TrainRequest):
            subcommands.register(stage.subcommand)
            import_module(stage.implementation).print_command(stage, "# ")
    return 0


def check_training(train: TrainRequest) -> None:
    """Refuse what a training refuses whatever its corpus is, which may take hours to prepare."""
    subcommands.register(train.subcommand)
    training = import_module(train.implementation)
    trackers.check_requested(train)
    training.check_gpus(train)
    planned = training.PlannedTraining(train)
    check_precision(planned.machines, train.precision)
    _ = planned.options  # read by fairseq's parser


def with_needed_fresh(stage: Request) -> Request:
    """Return a stage's request, with --fresh only where what is there was made from other settings or files."""
    if not isinstance(stage, StageRequest) or not stage.as_options()["fresh"]:
        return stage
    subcommands.register(stage.subcommand)
    status = stage.stage().status()
    needed = status.record is None or bool(status.differences)
    return with_fresh(stage, needed)


def with_fresh(stage: StageRequest, fresh: bool) -> StageRequest:
    return type(stage)(**{**stage.as_options(), "fresh": fresh})


def start(stage: Request) -> None:
    """Run a stage in this process; a file that an earlier stage made is checked as if it were typed."""
    if stage.subcommand != STAGES[0]:
        subcommands.register(stage.subcommand)
    type(stage).of(**stage.as_options()).run()


def requests(request: RunRequest) -> list[Request]:
    """Return the requests of the stages that run, in their order."""
    every: list[Request] = [prepare_request(request)]
    if request.stage != STAGES[0]:
        every += model_requests(request)
    return [each for each in every if request.stage in (None, each.subcommand)]


def model_requests(request: RunRequest) -> Iterator[StageRequest]:
    """Yield the requests from the training to the scores."""
    protocol = protocol_for(request)
    train = train_request(request, protocol)
    stages: list[StageRequest] = [train, average_request(train, protocol)]
    text = CorpusOptions(prepared=data(request))
    for subset in request.subset or ("test",):
        stages.append(translate_request(train.folder, subset, text, protocol, validate=True))
        stages.append(score_request(train.folder, subset))
    for stage in stages:
        yield with_fresh(on_machine(stage, request.gpus, request.user_dir), request.fresh)


def prepare_request(request: RunRequest) -> PrepareRequest:
    return PrepareRequest(
        corpus=request.manifest or request.corpus,
        folder=data(request),
        archives=request.archives,
        subwords=request.subwords,
        vocabulary=request.vocabulary,
        workers=request.workers or cores(),
        user_dir=request.user_dir,
    )


def train_request(request: RunRequest, protocol: Protocol) -> TrainRequest:
    return TrainRequest(
        data=data(request) / "data-bin",
        folder=run_folder(request, protocol),
        arch=request.arch,
        layers=request.layers,
        protocol=request.protocol,
        corpus=known_corpus(request),
        subwords=request.subwords,
        tensorboard=request.tensorboard,
        flags=request.flags,
        **request.as_options(TrainingOptions),
    )


def known_corpus(request: RunRequest) -> str:
    """Return the name by which a protocol knows CORPUS; beside --corpus it must be one that a protocol may know."""
    names = {*manifest.shipped(), *corpora(request.protocol)}
    corpus, *prepared = (Path(each).name.removesuffix(".toml") for each in (request.corpus, request.manifest) if each)
    if prepared and corpus not in {*names, *prepared}:
        raise UserError(
            f"CORPUS {request.corpus} and --corpus {request.manifest}: beside --corpus, CORPUS is one of "
            f"{', '.join(sorted(names))}, whose settings the protocol may have; or give {request.manifest} as CORPUS"
        )
    return corpus


def protocol_for(request: RunRequest) -> Protocol:
    named = ProtocolRequest(protocol=request.protocol, corpus=request.corpus, layers=request.layers)
    return protocol_of(named, "CORPUS")


def data(request: RunRequest) -> Path:
    return (request.folder or Path()) / DATA


def run_folder(request: RunRequest, protocol: Protocol) -> Path:
    """Return the folder of a run, which is named by what was asked for."""
    seed = protocol.seed if request.seed is None else request.seed
    file = Path(request.protocol).name.removesuffix(".toml")
    return data(request).with_name(request.name or f"{request.arch}-{request.layers}-{file}-s{seed}")


def scores(request: RunRequest) -> Path:
    """Return the record of the last stage, where all of them run, or that of `prepare` alone."""
    if request.stage == STAGES[0]:
        return data(request) / NOTE
    return of_subset(run_folder(request, protocol_for(request)), "run", (request.subset or ("test",))[-1], ".json")
