"""Hypotheses of `realformer-nmt translate`, and the record of how they were decoded."""

import contextlib
import dataclasses
import sys
import tempfile
import time
from pathlib import Path

from msgspec import UNSET, convert, to_builtins
from msgspec.structs import replace

from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.records import Origin
from realformer_nmt.common.files.text_lines import read_lines, sha256, without_mark, write_lines
from realformer_nmt.common.stages.provenance import files_by_name, number_of_models
from realformer_nmt.common.stages.stage import Stage
from realformer_nmt.common.user_dir import for_fairseq
from realformer_nmt.corpora import text_pipeline
from realformer_nmt.corpora.paragraphs import Paragraphs
from realformer_nmt.corpora.text_pipeline import TextPipeline
from realformer_nmt.data_bins import subsets
from realformer_nmt.evaluation.translating import evaluation_sets, translation_checks, validation_scores
from realformer_nmt.evaluation.translating.generation import Generated, generate
from realformer_nmt.evaluation.translating.translate import TranslateRequest
from realformer_nmt.evaluation.translating.translation_record import (
    HYPOTHESES,
    RECORD,
    REFERENCE,
    TOKENISED,
    DecodingSettings,
    TranslationRecord,
)
from realformer_nmt.kernels.precision import EXACT

STREAM = Path("-")  # standard input or output
BLOCK = 100_000  # sentences split into subwords at a time


def run(request: TranslateRequest) -> int:
    if not request.says_corpus():
        path = request.checkpoints[0]
        translation_checks.check_translates(path, checkpoint_fields.without_weights(path))
        request = text_pipeline.with_corpus(request, path)
    if STREAM not in (request.input, request.output):
        return fill(request)
    with tempfile.TemporaryDirectory() as folder:
        return translate_stream(request, Path(folder))


def translate_stream(request: TranslateRequest, folder: Path) -> int:
    """Translate standard input, or to standard output, through files in a temporary folder."""
    if request.input == STREAM:
        text = folder / "stdin"
        text.write_bytes(sys.stdin.buffer.read())
        request = dataclasses.replace(request, input=text)
    if request.output != STREAM:
        return fill(request)
    output = folder / "output"
    with contextlib.redirect_stdout(sys.stderr):  # nothing but hypotheses goes to standard output
        fill(dataclasses.replace(request, output=output))
    sys.stdout.buffer.write((output / HYPOTHESES).read_bytes())  # UTF-8, whatever the locale
    return 0


def fill(request: TranslateRequest) -> int:
    """Translate into a folder."""
    translation_checks.check_possible(request)
    corpus, stage = text_pipeline.requested(request), stage_of(request)
    if stage.is_up_to_date(request.fresh, *output_files(request)):
        return 0
    corpus.import_detokeniser()
    translation_checks.check_models(request, corpus)
    start, origin = time.monotonic(), stage.new_origin()
    with tempfile.TemporaryDirectory() as folder:
        generated = translate(request, corpus, Path(folder))
    with stage.claimed(*output_files(request)):
        files = write(generated, corpus, request.output)
    record = replace(
        described(request, corpus, origin),
        lines=len(generated.lines(generated.hypotheses)),
        seconds=time.monotonic() - start,
        files=files,
        outputs=stage.fingerprints(*(request.output / name for name in files)),
    )
    if generated.validation:
        record = replace(record, validation={"subset": validation_scores.SUBSET, **generated.validation})
        print(f"validation: {validation_scores.describe(record.validation or {})}")
    stage.write(record)
    print(f"{request.output / HYPOTHESES}: {record.lines} lines in {record.seconds:.1f} s")
    return 0


def output_files(request: TranslateRequest) -> list[Path]:
    return [request.output / name for name in (HYPOTHESES, TOKENISED, REFERENCE)]


def stage_of(request: TranslateRequest) -> Stage:
    corpus = text_pipeline.requested(request)
    raw = raw_text(request, corpus)
    text = {"subset": None if raw else request.subset}
    if request.test_set is not None:
        text["test_set"] = evaluation_sets.setting(request.test_set)
    text_files = {"input": raw} if raw else subsets.files(corpus.data, request.subset)
    if request.validate:
        text_files |= subsets.files(corpus.data, validation_scores.SUBSET)
    model = sorted(path for path in corpus.folder.glob("*") if path.is_file()) if corpus.folder else []
    dictionaries = {path.name: path for path in corpus.dictionaries}
    subwords = {f"subwords/{path.name}": path for path in model}
    models, data_files = files_by_name(request.checkpoints), {**dictionaries, **text_files, **subwords}
    for name in models.keys() & data_files.keys():
        raise UserError(f"{models[name]} has the same name as another input, {name}: give the checkpoint another name")
    settings = {**text, **to_builtins(decoding(request)), "validate": request.validate, **corpus.settings()}
    settings |= number_of_models(request.checkpoints)
    settings |= {"split_sentences": True} if request.split_sentences else {}  # absent from the first records
    return Stage("translate", request.output / RECORD, settings, {**models, **data_files})


def raw_text(request: TranslateRequest, corpus: TextPipeline) -> Path | None:
    """Return the file that is translated in place of a subset, if there is one."""
    if request.test_set is None:
        return request.input
    return evaluation_sets.find(request.test_set, corpus.languages).source


def translate(request: TranslateRequest, corpus: TextPipeline, folder: Path) -> Generated:
    text = raw_text(request, corpus)
    if text:
        return translate_text(request, corpus, folder, text)
    number = subsets.count(corpus.data, request.subset, corpus.source, corpus.target)
    validating = validate_argv(request, corpus.data) if request.validate else ()
    return generate(corpus.data, request.subset, number, arguments(request, corpus), folder, validating, request.jobs)


def validate_argv(request: TranslateRequest, data: Path) -> list[str]:
    batch = {"max_tokens": request.max_tokens, "batch_size": request.batch_size}
    argv = validation_scores.validate_argv(request.checkpoints[0], data, validation_scores.SUBSET, batch, request.cpu)
    return [*argv, *for_fairseq(request.user_dir)]


def translate_text(request: TranslateRequest, corpus: TextPipeline, folder: Path, text: Path) -> Generated:
    """Translate a text through a temporary data-bin; fairseq-interactive would split lines at more than \\n."""
    lines = without_mark(read_lines(text))  # `prepare` leaves the mark out of the training text, too
    paragraphs = Paragraphs(lines, corpus.source, request.split_sentences)
    parts = (paragraphs.sentences[start : start + BLOCK] for start in range(0, len(paragraphs.sentences), BLOCK))
    blocks = ("".join(f"{sentence}\n" for sentence in part).encode() for part in parts)
    subwords = [line for block in blocks for line in corpus.pieces(block)]
    if not any(subwords):
        return Generated(subwords, None, subwords, paragraphs=paragraphs)
    translation_checks.check_lengths(request.checkpoints, text, zip(paragraphs.numbers(), subwords, strict=True))
    with tempfile.TemporaryDirectory() as data:
        subsets.binarise(subwords, corpus.data, "input", *corpus.languages, Path(data), corpus.tags[1])
        argv = arguments(request, corpus)
        generated = generate(Path(data), "input", len(subwords), argv, folder, jobs=request.jobs)
    return generated._replace(paragraphs=paragraphs)


def arguments(request: TranslateRequest, corpus: TextPipeline) -> list[str]:
    """Return the arguments of fairseq-generate."""
    argv = [*for_fairseq(request.user_dir), "--path", ":".join(map(str, request.checkpoints))]
    argv += ["--model-overrides", repr({"decoding_precision": request.precision})]
    argv += ["--source-lang", corpus.source, "--target-lang", corpus.target]
    argv += ["--prefix-size", "1"] if corpus.tags[1] else []
    for name, value in to_builtins(replace(decoding(request), precision=UNSET)).items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            argv.append(flag)
        elif value is not None and value is not False:
            argv += [flag, str(value)]
    return argv + (["--cpu"] if request.cpu else [])


def decoding(request: TranslateRequest) -> DecodingSettings:
    """Return the settings of the search; what has its usual value and came later than the first records is unset."""
    settings = convert(request, DecodingSettings, from_attributes=True)
    return replace(settings, precision=UNSET) if request.precision == EXACT else settings


def write(generated: Generated, corpus: TextPipeline, folder: Path) -> dict[str, str]:
    """Write the texts that there are, remove the other files, and return the sha256 of each by name."""
    words = [text if source else "" for source, text in zip(generated.sources, generated.hypotheses, strict=True)]
    hypotheses = corpus.surface(words)
    references = None if generated.targets is None else corpus.surface(generated.targets).tokenised
    tokenised = None if hypotheses.tokenised is None else generated.lines(hypotheses.tokenised)
    texts = {HYPOTHESES: generated.lines(hypotheses.raw), TOKENISED: tokenised, REFERENCE: references}
    for name, lines in texts.items():
        if lines is None:
            (folder / name).unlink(missing_ok=True)
        else:
            write_lines(folder / name, lines)
    return {name: sha256(folder / name) for name, lines in texts.items() if lines is not None}


def described(request: TranslateRequest, corpus: TextPipeline, origin: Origin) -> TranslationRecord:
    """Return the record of a translation that is still without its texts."""
    text = raw_text(request, corpus)
    return TranslationRecord(
        checkpoints=[str(path.resolve()) for path in request.checkpoints],
        checkpoint_sha256=[origin.inputs[name].sha256 for name in files_by_name(request.checkpoints)],
        input=str(text.resolve()) if text else UNSET,
        subset=UNSET if text else request.subset,
        texts=UNSET if text else corpus.texts.get(request.subset, []),
        test_set=UNSET if request.test_set is None else evaluation_sets.lasting(request.test_set),
        split_sentences=request.split_sentences or UNSET,
        corpus=corpus.corpus,
        published=corpus.published,
        languages=corpus.languages,
        subwords=corpus.subwords,
        hyphens=corpus.steps.tokenise,
        data=resolved(corpus.data),
        prepared=resolved(corpus.prepared),
        subwords_folder=resolved(corpus.folder),
        decoding=decoding(request),
        lines=0,
        files={},
        made_from=origin,
    )


def resolved(path: Path | None) -> str | None:
    return None if path is None else str(path.resolve())
