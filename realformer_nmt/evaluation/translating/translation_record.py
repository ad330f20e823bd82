"""translation.json: the record of hypotheses, of how they were decoded and of the corpus that they belong to."""

from pathlib import Path

from msgspec import UNSET, Struct, UnsetType

from realformer_nmt.common.files import records
from realformer_nmt.common.files.records import StageRecord

HYPOTHESES, TOKENISED, REFERENCE, RECORD = "hypotheses.txt", "hypotheses.tok", "reference.tok", "translation.json"
WRITER = "`realformer-nmt translate` writes it when it is done"
Number = int | float
Measures = dict[str, str | float | None]  # values by name, and the name of their subset


class DecodingSettings(Struct, frozen=True, kw_only=True):
    """Settings of beam search: each field is a flag of fairseq-generate, and a setting that the stage is made from.

    A new field needs UNSET as its default, and `translation.decoding` leaves it unset at its usual value: records
    written before lack it, and are read and compared.
    """

    beam: int
    lenpen: Number
    max_len_a: Number
    max_len_b: int
    max_tokens: int | None
    batch_size: int | None
    fp16: bool
    bf16: bool
    precision: str | UnsetType = UNSET  # of a CPU, where it is not fp32


class TranslationRecord(StageRecord, frozen=True, kw_only=True):
    """Record of a translation, of a subset of the data-bin or of a text."""

    checkpoints: list[str]
    checkpoint_sha256: list[str]
    input: str | UnsetType = UNSET
    subset: str | UnsetType = UNSET
    texts: list[str] | UnsetType = UNSET  # names of the subset's files
    test_set: str | UnsetType | None = UNSET  # of sacreBLEU
    split_sentences: bool | UnsetType = UNSET  # set if lines have several sentences
    corpus: str | None = None
    published: str | None = None  # name of the test set in the table of published figures
    languages: tuple[str, str]
    subwords: str
    hyphens: str | None = None
    data: str | None = None
    prepared: str | None = None
    subwords_folder: str | None = None
    decoding: DecodingSettings
    lines: int
    seconds: float = 0
    validation: Measures | UnsetType = UNSET
    files: dict[str, str]  # hash of each text, by its name


def read(folder: Path) -> TranslationRecord:
    return records.read(folder / RECORD, TranslationRecord, WRITER)
