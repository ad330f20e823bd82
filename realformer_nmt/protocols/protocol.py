"""A protocol: how a paper trained, averaged and decoded on a corpus, read from a small TOML file."""

import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

from msgspec import convert

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import safe_names
from realformer_nmt.common.numbers import LENPEN, MAX_LEN_A, MAX_LEN_B, MOST_BEAM, SEED, check_length_limit, whole
from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.common.requests.toml_tables import (
    Table,
    TableError,
    build,
    build_table,
    constructed,
    locate,
    merge,
    read_toml,
)
from realformer_nmt.protocols.allowed_flags import check_flags
from realformer_nmt.tasks import TASKS, TRANSLATION

FOLDER = Path(__file__).parent
VARIANTS = ("corpora", "layers")  # tables of settings for one corpus, for one depth
DEPTH = re.compile(r"[1-9]\d{0,8}(-[1-9]\d{0,8})?")
ORIGIN = ("paper", "families")  # not taken over from a base: with other settings they no longer hold

PRECISION_FLAGS = ("fp16", "bf16", "memory-efficient-fp16", "memory-efficient-bf16", "amp")  # flags of fairseq-train
ELSEWHERE = {  # flags that [train] leaves to what sets and records them
    "max-tokens": "max_tokens",
    "update-freq": "update_freq, with gpus and max_tokens",
    "max-epoch": "epochs",
    "max-update": "updates",
    "keep-last-epochs": "average",
    **dict.fromkeys(PRECISION_FLAGS, "--precision of the command"),
    **dict.fromkeys(
        ("fp16-scale-window", "log-interval", "required-batch-size-multiple", "update-epoch-batch-itr"),
        "the command, after its `--`",
    ),
}
RANGES = {
    **dict.fromkeys(("gpus", "max_tokens", "update_freq", "average", "epochs", "updates"), whole(1)),
    "beam": whole(1, MOST_BEAM),
    "lenpen": LENPEN,
    "max_len_a": MAX_LEN_A,
    "max_len_b": MAX_LEN_B,
}


class DecodingOptions(TypedDict, total=False):
    """Options of `realformer-nmt translate` that a protocol sets."""

    beam: int
    lenpen: float
    max_len_a: float
    max_len_b: int
    precision: str


@dataclass(frozen=True)
class Protocol:
    """Settings of a paper, or of a file of the user's."""

    name: str
    gpus: int
    max_tokens: int
    update_freq: int
    average: int
    average_of: Literal["last", "best"]
    train: dict[str, object]  # flags of fairseq-train, without their dashes
    task: str = TRANSLATION
    kind: str | None = None  # bert or etc, where the task has several kinds of models
    beam: int | None = None  # this and lenpen are for translation
    lenpen: float | None = None
    paper: str | None = None
    families: tuple[str, ...] = ()  # trained by the paper with these settings
    epochs: int | None = None
    updates: int | None = None
    max_len_a: float | None = None  # at most a n + b target tokens for n source tokens; else fairseq's limit
    max_len_b: int | None = None
    precision: Literal["fp32", "bf16", "int8"] | None = None  # for decoding on a CPU

    def __post_init__(self) -> None:
        if (self.epochs is None) == (self.updates is None):
            raise ValueError("give either epochs or updates, the length of the training")
        for name, allowed in RANGES.items():
            value = getattr(self, name)
            if value is not None:
                allowed.check(name, value)
        if self.max_len_b is not None:  # fairseq's is 200
            check_length_limit(self.max_len_a or 0, self.max_len_b)
        SEED.check("train: seed", self.seed)
        if self.task not in TASKS:
            raise ValueError(not_allowed("task", self.task, TASKS))
        check_flags(self.train, ELSEWHERE)

    @property
    def tokens_a_step(self) -> int:
        return self.gpus * self.max_tokens * self.update_freq

    @property
    def seed(self) -> int:
        seed = self.train.get("seed", 1)  # 1 is fairseq's default
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise ValueError(f"train: seed {seed!r}: allowed is a whole number, {SEED.words}")
        return seed

    @property
    def averaging(self) -> list[str]:
        """Return options of `realformer-nmt average` as argv."""
        return [f"--{self.average_of}", str(self.average)]

    @property
    def decoding_options(self) -> DecodingOptions:
        """Return options of `realformer-nmt translate` by name, numbers as argparse reads them: TOML's 1 is whole."""
        values = {name: getattr(self, name) for name in DecodingOptions.__annotations__}
        return convert({name: value for name, value in values.items() if value is not None}, DecodingOptions)

    @property
    def decoding(self) -> list[str]:
        """Return options of `realformer-nmt translate` as argv."""
        argv = []
        for name, value in self.decoding_options.items():
            argv += [f"--{name.replace('_', '-')}", f"{value:g}" if isinstance(value, float) else str(value)]
        return argv


def shipped() -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in FOLDER.glob("*.toml") if file.stem != "base"))


def corpora(name_or_path: str) -> tuple[str, ...]:
    """Return the corpora for which a protocol has settings of their own."""
    file = locate("--protocol", name_or_path, FOLDER, shipped())
    try:
        named = [build(dict, table.get("corpora", {}), "corpora") for table in read(file)]
    except TableError as error:
        raise UserError(f"{file}: {error}") from error
    return tuple(dict.fromkeys(itertools.chain(*named)))


def load(name_or_path: str, corpus: str | None = None, layers: str | None = None) -> Protocol:
    """Read a protocol, with its settings for `corpus` and for the depth `layers` where it has such tables."""
    file = locate("--protocol", name_or_path, FOLDER, shipped())
    try:
        table: Table = {}
        for each in read(file):
            table = merge(table, with_variants(each, corpus, layers))
        protocol: Protocol = build_table(Protocol, table, "", {"name": file.stem})
    except TableError as error:
        raise UserError(f"{file}: {error}") from error
    return protocol


def with_variants(table: Table, corpus: str | None, layers: str | None) -> Table:
    """Return the table of one file with its settings for a corpus and a depth, which precede its general ones."""
    for kind, spellings in zip(VARIANTS, ([corpus], spellings_of(layers)), strict=True):
        variants = build(dict, table.pop(kind, {}), kind)
        wrong = [name for name in variants if kind == "layers" and not DEPTH.fullmatch(name)]
        if wrong:
            raise TableError(f"layers.{wrong[0]}", "allowed is a depth, such as 18, or 60-12")
        key = next((each for each in spellings if each in variants), None)
        table = merge(table, build(dict, variants.get(key, {}), f"{kind}.{key}"))
    return table


def spellings_of(layers: str | None) -> list[str | None]:
    """Return the ways to write a depth, its own first: 18 and 18-18 are one."""
    encoder, _, decoder = (layers or "").partition("-")
    equal = [encoder, f"{encoder}-{encoder}"] if decoder in ("", encoder) else []
    return [layers, *equal]


def read(file: Path, dependents: tuple[Path, ...] = ()) -> list[Table]:
    """Read a protocol's table, and before it that of its base, which lies beside it or in this package."""
    if file.resolve() in dependents:
        raise UserError(f"{file} names itself as base: name another, of {', '.join(shipped())}")
    table = read_toml(file, f"shipped are {', '.join(shipped())}")
    base = table.pop("base", None)
    if base is None:
        return [table]
    beside = file.with_name(f"{constructed('base', safe_names.plain, build(str, base, 'base'))}.toml")
    is_other = beside.is_file() and not beside.samefile(file)
    inherited = read(beside if is_other else FOLDER / beside.name, (*dependents, file.resolve()))
    return [*({key: each[key] for key in each if key not in ORIGIN} for each in inherited), table]
