"""Scores of a translation beside published ones, and run.json: the record of the run from training to scores."""

import os
from collections.abc import Container, Sequence
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from realformer_nmt.checkpoints import belongs
from realformer_nmt.checkpoints.average_record import SourceCheckpoint
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common import extras
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.text_lines import read_lines, sha256
from realformer_nmt.common.requests.option_choice import choose
from realformer_nmt.common.stages.provenance import files_by_name
from realformer_nmt.common.stages.stage import AGAIN, Stage
from realformer_nmt.common.stages.versions import commit, versions
from realformer_nmt.corpora.subwords.subword_methods import METHODS
from realformer_nmt.corpora.tokenise import tokeniser
from realformer_nmt.evaluation import model_record
from realformer_nmt.evaluation.comet import model_files
from realformer_nmt.evaluation.metrics import metric_table, metrics
from realformer_nmt.evaluation.metrics.metrics import ScoredTexts
from realformer_nmt.evaluation.run_record import ModelRecord, RecordedFile, RunRecord, Score
from realformer_nmt.evaluation.scoring import published, raw_texts, score_table
from realformer_nmt.evaluation.scoring.published import PublishedFigure
from realformer_nmt.evaluation.scoring.score import ScoreRequest
from realformer_nmt.evaluation.translating import translation_record
from realformer_nmt.evaluation.translating.translation_record import (
    HYPOTHESES,
    RECORD,
    REFERENCE,
    TOKENISED,
    TranslationRecord,
)

PAPERS_METRIC, PAPERS_LINES = "tokenised BLEU newstest2014", 3003
OUR_METRIC = "tokenised_bleu"
OWN_TRAINING = "give --training the train.json of its own training, or leave it out"
TRAINER = "`realformer-nmt train` writes it"


def run(request: ScoreRequest) -> int:
    if request.comet:
        extras.check(model_files.EXTRA)
    stage, translation = stage_of(request), translation_record.read(request.translation)
    if not (request.training or request.fresh):
        check_no_training(stage)
    if stage.is_up_to_date(request.fresh):
        return 0
    training = read_training(request.training) if request.training else None
    files = {"hypotheses": request.translation / HYPOTHESES, "reference": stage.inputs["reference"]}
    origin = stage.new_origin()
    models = unchanged_models(request.translation, translation)
    checked = are_of_training(request, training, models)
    name = request.published or dataset(translation)
    figures = published.figures(name) if name else []
    with metrics.seeded(request.seed):
        scores = score(request, translation, *(read_lines(path) for path in files.values()))
    record = RunRecord(
        corpus=translation.corpus,
        subset=translation.subset or None,
        lines=translation.lines,
        scores=scores,
        published=[replace(figure, comparable_with=comparable(figure, translation, scores)) for figure in figures],
        models=models,
        training=training,
        training_checked=checked,
        translation=translation,
        files={name: locate(path, request.output.parent) for name, path in files.items()},
        seed=request.seed,
        versions=versions(),
        commit=commit(),
        made_from=origin,
    )
    stage.write(with_summary(record, translation))
    print(score_table.table(translation, scores, figures))
    return 0


def read_training(file: Path) -> TrainRecord:
    """Read a train.json; all its fields may be unset, so that without a session it is another record."""
    training = records.read(file, TrainRecord, TRAINER)
    if not training.sessions:
        raise UserError(f"{file} is the record of no training: it has no sessions; {TRAINER}")
    return training


def check_no_training(stage: Stage) -> None:
    """Raise an error if the previous record has a training, whose hours and protocol the new one would lack."""
    if not stage.record.is_file():
        return
    try:
        previous = records.read(stage.record, RunRecord, AGAIN)
    except UserError:
        return  # `finished` says what is wrong with it
    if previous.training not in (None, UNSET, TrainRecord()):
        raise UserError(f"{stage.record} was made with --training: give it again, name another place, or pass --fresh")


def stage_of(request: ScoreRequest) -> Stage:
    translation = translation_record.read(request.translation)
    model = model_files.find(request.comet) if request.comet else None
    settings: dict[str, object] = {"compound_split": False}  # an option of versions before, which records name
    settings |= {"bootstrap": request.bootstrap, "seed": request.seed}
    settings |= {"comet": model.name if model else None} | ({"rouge": True} if request.rouge else {})
    inputs = {name: request.translation / name for name in (RECORD, *translation.files)}
    inputs |= files_by_name(map(Path, translation.checkpoints))
    inputs["reference"] = raw_texts.find(request, translation, raw_texts.REFERENCE)
    if model or request.source:
        inputs["source"] = raw_texts.find(request, translation, raw_texts.SOURCE)
    if model:
        inputs |= model.inputs
    if request.training:
        inputs[request.training.name] = request.training
    return Stage("score", request.output, {**settings, "published": request.published or dataset(translation)}, inputs)


def are_of_training(request: ScoreRequest, training: TrainRecord | None, models: Sequence[ModelRecord]) -> bool | None:
    """Tell whether hashes show that all models are of the training, if one is named; refuse those of another."""
    if request.training is None or training is None:
        return None
    sources = [SourceCheckpoint(file=each.checkpoint, sha256=each.sha256, averaged=each.averaged) for each in models]
    belongs.check(request.translation, sources, request.training, training, OWN_TRAINING)
    return not belongs.unlisted(sources, training)


def unchanged_models(folder: Path, translation: TranslationRecord) -> list[ModelRecord]:
    """Describe the models of a translation; refuse texts or checkpoints that have changed since it was made."""
    for name, recorded in translation.files.items():
        if not (folder / name).is_file() or sha256(folder / name) != recorded:
            raise UserError(f"{folder / name} is not what {RECORD} describes: translate again")
    models = [model_record.describe(Path(path)) for path in translation.checkpoints]
    for model, translated in zip(models, translation.checkpoint_sha256, strict=True):
        if model.sha256 != translated:
            raise UserError(f"{model.checkpoint} has changed since the translation: translate again")
    return models


def score(
    request: ScoreRequest, translation: TranslationRecord, hypotheses: list[str], reference: list[str]
) -> dict[str, Score]:
    source: list[str] = []
    if request.comet or request.source:
        source = read_lines(raw_texts.find(request, translation, raw_texts.SOURCE))
        metrics.check_source(source, hypotheses)
    scores = metrics.scores(texts(request, translation, hypotheses, reference), request.bootstrap)
    if request.comet:
        from realformer_nmt.evaluation.comet import scorer  # which imports transformers

        comet = scorer.CometScorer(model_files.find(request.comet), request.cpu)
        scores["comet"] = scorer.score(comet, source, hypotheses, reference, request.bootstrap)
    return scores


def texts(
    request: ScoreRequest, translation: TranslationRecord, hypotheses: list[str], reference: list[str]
) -> dict[str, ScoredTexts]:
    """Return hypotheses and reference in every form that can be scored."""
    raw = ScoredTexts("raw text", hypotheses, reference)
    forms = {metric_table.RAW: raw} | ({metric_table.SUMMARY: raw} if request.rouge else {})
    if TOKENISED in translation.files and REFERENCE in translation.files:
        tokenised = read_lines(request.translation / TOKENISED)
        tokenised_reference = read_lines(request.translation / REFERENCE)
        forms |= tokenised_texts(translation.hyphens, tokenised, tokenised_reference)
    if choose(f"{request.translation / RECORD}: subwords", translation.subwords, METHODS).retokenised:
        tokenise = tokeniser(translation.languages[1], aggressive_hyphens=True)
        forms[metric_table.RETOKENISED] = ScoredTexts(
            "raw text tokenised for scoring, Moses -a", list(map(tokenise, hypotheses)), list(map(tokenise, reference))
        )
    return forms


def tokenised_texts(hyphens: str | None, hypotheses: list[str], reference: list[str]) -> dict[str, ScoredTexts]:
    """Return the words, and with compounds split if all are whole: splitting others would inflate the score."""
    names = {"aggressive": "Moses -a, as the model wrote it", "plain": "Moses, as the model wrote it"}
    words = ScoredTexts(names.get(hyphens or "", "words of the data-bin"), hypotheses, reference)
    if hyphens != "plain" or any("@-@" in line for line in (*hypotheses, *reference)):
        return {metric_table.WORDS: words}
    split = ScoredTexts(
        f"{words.name}, compounds split", metrics.split_compounds(hypotheses), metrics.split_compounds(reference)
    )
    return {metric_table.WORDS: words, metric_table.SPLIT: split}


def dataset(translation: TranslationRecord) -> str | None:
    """Return the name of the translated test set in the table of published figures, if its manifest has one."""
    return translation.published if translation.subset == "test" else None


def comparable(figure: PublishedFigure, translation: TranslationRecord, scores: Container[str]) -> str | None:
    """Return the name of our score with the same metric on the same lines, if there is one."""
    same = translation.hyphens == "aggressive" and translation.lines == PAPERS_LINES
    return OUR_METRIC if same and figure.metric == PAPERS_METRIC and OUR_METRIC in scores else None


def locate(path: Path, folder: Path) -> RecordedFile:
    """Return a file's hash and its path relative to run.json's folder, so that both can be moved together."""
    return RecordedFile(path=os.path.relpath(path.resolve(), folder.resolve()), sha256=sha256(path))


def with_summary(record: RunRecord, translation: TranslationRecord) -> RunRecord:
    """Return the record with the fields by which a report sorts runs."""
    model, training = record.models[0], record.training or TrainRecord()
    return replace(
        record,
        arch=model.arch,
        parameters=model.parameters,
        validation=translation.validation or None,
        protocol=training.protocol or None,
        averaged=[member.file for member in model.averaged],
        decoding=translation.decoding,
        training_seed=model.seed,
        wall_clock_hours=model.wall_clock_hours if training.wall_clock_hours is UNSET else training.wall_clock_hours,
        gpu_hours=training.gpu_hours,
    )
