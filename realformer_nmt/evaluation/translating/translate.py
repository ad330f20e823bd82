"""`realformer-nmt translate`: a hypothesis for every source line, in the order of the source."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.checkpoints import model_in_run
from realformer_nmt.common.numbers import LENPEN, MAX_LEN_A, MAX_LEN_B, MOST_BEAM, PROCESSES, whole
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.stages.stage import HELP, StageRequest
from realformer_nmt.corpora.corpus_options import CorpusOptions

PRECISIONS = ("fp32", "bf16", "int8")  # of kernels/precision.py, which imports torch
EXACT = "fp32"  # not named in records
DECODING = "decoding, with fairseq-generate's defaults"


@dataclass(frozen=True, kw_only=True)
class TranslateRequest(CorpusOptions, StageRequest):
    """Translate a test set or raw text into a folder: hypotheses.txt, raw text, a line for each source line (an empty
    one for an empty source); hypotheses.tok and reference.tok, without subwords, where the text is tokenised;
    translation.json, how they were made."""

    subcommand: ClassVar[str] = "translate"
    implementation: ClassVar[str] = "realformer_nmt.evaluation.translating.translation"
    examples: ClassVar[str] = """example:
  realformer-nmt translate run --beam 4 --lenpen 0.6 --output run/test
"""

    checkpoints: tuple[Path, ...] = argument(
        "a checkpoint, or a run's folder; several are used as an ensemble",
        metavar="CHECKPOINT",
        parse=model_in_run.parse_checkpoint,
    )
    subset: str = option("part of the data-bin to translate (default: test)", "test", either="text")
    input: Path | None = option(
        "translate this raw text instead; FILE.gz works too, - is stdin", None, metavar="FILE", either="text"
    )
    test_set: str | None = option(
        "translate this instead: a name of sacreBLEU's, such as wmt24, or FILE.tsv or FILE.jsonl",
        None,
        metavar="NAME",
        either="text",
    )
    split_sentences: bool = option(
        "of a text: translate each sentence of a line alone (default: a line is one sentence)", False
    )
    output: Path = option("folder to fill; - prints the hypotheses on stdout", metavar="FOLDER")
    validate: bool = option("also record loss and greedy BLEU on the validation data", False)
    fresh: bool = option(HELP, False)
    beam: int = option("beam size (default: 5)", 5, group=DECODING, range=whole(1, MOST_BEAM))
    lenpen: float = option(
        "length penalty (default: 1.0); below 1 gives shorter translations, above 1 longer",
        1.0,
        group=DECODING,
        range=LENPEN,
    )
    max_len_a: float = option("at most a * source length + b tokens (default: 0)", 0.0, group=DECODING, range=MAX_LEN_A)
    max_len_b: int = option("b of that limit (default: 200)", 200, group=DECODING, range=MAX_LEN_B)
    max_tokens: int | None = option("tokens in a batch (default: 12000)", None, group=DECODING, range=whole(1))
    batch_size: int | None = option("sentences in a batch, at most", None, group=DECODING, range=whole(1))
    fp16: bool = option("cast the model to fp16", False, group=DECODING, either="precision")
    bf16: bool = option("cast the model to bf16", False, group=DECODING, either="precision")
    precision: str = option(
        "of products with weights on a CPU; bf16 and int8 are faster where the processor has them (default: fp32)",
        EXACT,
        choices=PRECISIONS,
        group=DECODING,
        either="precision",
    )
    cpu: bool = option("use the CPU even if there is a GPU", False, group=DECODING)
    jobs: int = option(
        "processes on a CPU, each with its share of the cores (default: 1)",
        1,
        metavar="N",
        group=DECODING,
        range=whole(1, PROCESSES),
    )


REQUEST = TranslateRequest
