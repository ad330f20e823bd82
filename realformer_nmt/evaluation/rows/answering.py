"""The best span of each question over all windows of its context, cut from the context as it was written."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from fairseq import checkpoint_utils
from torch import Tensor

from realformer_nmt.checkpoints import model_in_run
from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.atomic_files import completed
from realformer_nmt.common.files.records import StageRecord
from realformer_nmt.common.stages.stage import Stage
from realformer_nmt.evaluation.rows.answer import AnswerRequest
from realformer_nmt.fairseq_patches.messages.quiet import quiet
from realformer_nmt.questions import squad
from realformer_nmt.questions.squad import Question
from realformer_nmt.questions.task import QuestionAnsweringTask, dataset
from realformer_nmt.questions.windows import MODEL, Window, text_of
from realformer_nmt.single_stack.masked_model import SPANS
from realformer_nmt.tasks import QUESTION_ANSWERING as TASK

ANSWERS, RECORD = "answers.json", "record.json"


class WindowResult(NamedTuple):
    """The best span of one window."""

    score: float
    first: int  # subword of the context
    last: int
    none: float  # the score of no answer


class AnswerRecord(StageRecord, frozen=True, kw_only=True):
    """Record of answers."""

    questions: int


def run(request: AnswerRequest) -> int:
    stage = stage_of(request)
    if stage.is_up_to_date(request.fresh, request.output / ANSWERS):
        return 0
    origin = stage.new_origin()
    questions = squad.read(request.questions)
    answers = answer(questions, request)
    path = request.output / ANSWERS
    with stage.claimed(path), completed(path) as file:
        file.write(f"{json.dumps(answers, ensure_ascii=False, indent=0)}\n".encode())
    stage.write(AnswerRecord(questions=len(questions), made_from=origin, outputs=stage.fingerprints(path)))
    print(f"{path}: {len(answers):,} answers")
    return 0


def stage_of(request: AnswerRequest) -> Stage:
    data = folder(request)
    files = {"checkpoint": request.checkpoint, "questions": request.questions}
    files |= {name: data / name for name in ("dict.txt", MODEL) if name != MODEL or (data / name).exists()}
    settings = {"longest": request.longest, "no_answer": request.no_answer}
    return Stage("answer", request.output / RECORD, settings, files)


def folder(request: AnswerRequest) -> Path:
    """Return the folder of dictionary and subwords."""
    return model_in_run.trained_on(request.checkpoint) if request.data is None else request.data


def answer(questions: list[Question], request: AnswerRequest) -> dict[str, str]:
    model, task = load(request.checkpoint, folder(request))
    device = torch.device("cuda" if torch.cuda.is_available() and not request.cpu else "cpu")
    model.to(device).eval()
    windows = task.windows(questions)
    results: list[list[WindowResult]] = [[] for _ in questions]
    for start in range(0, len(windows), request.batch_size):
        batch = windows[start : start + request.batch_size]
        for window, logits in zip(batch, window_logits(model, task, batch, device), strict=True):
            results[window.question].append(best(logits, window, request.longest))
    return {
        question.name: answer_text(task, question, of_question, request.no_answer)
        for question, of_question in zip(questions, results, strict=True)
    }


def load(checkpoint: Path, data: Path) -> tuple[Any, QuestionAnsweringTask]:
    state = checkpoint_fields.without_weights(checkpoint)
    name = checkpoint_fields.setting(state, "task", "_name")
    if name != TASK:
        raise UserError(f"{checkpoint} is of --task {name}, whose models answer nothing: give one of --task {TASK}")
    if not any(weight.startswith(SPANS) for weight in state["model"]):
        raise UserError(f"{checkpoint} has no head for spans, and would guess: give one that --task {TASK} has saved")
    with quiet():
        (model,), _, task = checkpoint_utils.load_model_ensemble_and_task([str(checkpoint)], {"data": str(data)})
    return model, task


def window_logits(
    model: Any, task: QuestionAnsweringTask, batch: list[Window], device: torch.device
) -> Iterator[Tensor]:
    """Yield the T x 2 logits of each window: start and end of every token."""
    text = dataset(batch, task.dictionary.pad())
    sample = text.collater([text[index] for index in range(len(batch))])
    with torch.no_grad():
        logits = model(**{name: tensor.to(device) for name, tensor in sample["net_input"].items()})
    yield from logits.cpu()


def best(logits: Tensor, window: Window, longest: int) -> WindowResult:
    """Return the best span of a window's T x 2 logits, at most `longest` tokens, and the score of no answer."""
    none = float(logits[0].sum())
    starts, ends = logits[window.context : len(window.tokens) - 1].unbind(1)
    if not len(starts):
        return WindowResult(-math.inf, 0, 0, none)
    spans = starts[:, None] + ends
    allowed = torch.ones_like(spans, dtype=torch.bool).triu().tril(min(longest, len(starts)) - 1)
    score, index = spans.masked_fill(~allowed, -torch.inf).flatten().max(0)
    first, last = divmod(int(index), len(starts))
    return WindowResult(float(score), window.first + first, window.first + last, none)


def answer_text(
    task: QuestionAnsweringTask, question: Question, windows: Sequence[WindowResult], margin: float | None
) -> str:
    """Return the best span's text, or an empty one if no answer scores more than `margin` above it.

    No answer has the score of the window where it is least likely, as in BERT's code.
    """
    span = max(windows)
    none = min(window.none for window in windows)
    if span.score == -math.inf or (margin is not None and none - span.score > margin):
        return ""
    return text_of(task.cut(question.context), question.context, span.first, span.last)
