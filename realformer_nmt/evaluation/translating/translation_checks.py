"""Checks of what is to be translated, before a file is changed."""

import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from realformer_nmt.checkpoints import selection
from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.checkpoints.files.reading import Checkpoint
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.numbers import check_length_limit
from realformer_nmt.corpora.text_pipeline import TextPipeline
from realformer_nmt.evaluation.translating.translate import TranslateRequest
from realformer_nmt.kernels.precision import EXACT
from realformer_nmt.tasks import TRANSLATION, task_named


def check_possible(request: TranslateRequest) -> None:
    selection.check_distinct(request.checkpoints)
    for path in filter(lambda path: os.pathsep in str(path), request.checkpoints):
        raise UserError(f"{path}: fairseq splits paths at {os.pathsep}: rename the folder")
    check_length_limit(request.max_len_a, request.max_len_b)
    if request.validate and len(request.checkpoints) > 1:
        raise UserError("--validate is for one model: give one checkpoint, or leave the option out")
    if request.validate and (request.input or request.test_set):
        raise UserError("--validate goes with a subset of the data-bin, not with --input or --test-set")
    if request.split_sentences and not (request.input or request.test_set):
        raise UserError("--split-sentences goes with --input or --test-set: a subset of the data-bin is split already")
    if request.jobs > 1 and not request.cpu and torch.cuda.is_available():
        raise UserError(
            f"--jobs {request.jobs} share the cores of a CPU, and here a GPU decodes: pass --cpu too, or one job"
        )


def check_lengths(checkpoints: Sequence[Path], text: Path, subwords: Iterable[tuple[int, str]]) -> None:
    """Raise an error for the first line of a text, with its number, for which a model has no room."""
    models = [checkpoint_fields.options(checkpoint_fields.without_weights(path)) for path in checkpoints]
    limits = (model.get("max_source_positions") for model in models)
    limit = min((each for each in limits if isinstance(each, int)), default=math.inf)
    for number, line in subwords:
        tokens = len(line.split()) + 1  # the end symbol
        if tokens > limit:
            raise UserError(
                f"{text}, line {number} has {tokens} tokens, and the model has room for {limit}: split the line"
            )


def check_models(request: TranslateRequest, corpus: TextPipeline) -> None:
    for path in request.checkpoints:
        state = checkpoint_fields.without_weights(path)
        check_same_languages(path, state, corpus)
        if request.precision != EXACT and not checkpoint_fields.of_this_package(state):
            raise UserError(f"{path} is no model of this package and decodes in {EXACT} alone: leave out --precision")


def check_translates(path: Path, state: Checkpoint) -> None:
    """Raise an error for a model of one text, which would not translate but continue the source."""
    task = checkpoint_fields.setting(state, "task", "_name")
    if not task_named(task).translates:
        raise UserError(f"{path} is of --task {task}, whose models do not translate: give one of --task {TRANSLATION}")


def check_same_languages(path: Path, state: Checkpoint, corpus: TextPipeline) -> None:
    """Raise an error for a model of another pair, which would translate nonsense if the dictionary is joined."""
    check_translates(path, state)
    trained = (state.get("task_state") or {}).get("languages")
    if trained and trained != [corpus.source, corpus.target]:
        pair = f"{corpus.data} is from {corpus.source} to {corpus.target}"
        raise UserError(f"{path} translates from {' to '.join(trained)}, and {pair}: give the data of its pair")
