"""`realformer-nmt invent`: a synthetic English-German corpus from a small grammar, without a download."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.common.files.records import StageRecord
from realformer_nmt.common.files.text_lines import write_lines
from realformer_nmt.common.numbers import SEED, whole
from realformer_nmt.common.requests.option import option
from realformer_nmt.common.stages.stage import HELP, Stage
from realformer_nmt.common.stages.stage_request import StageRequest
from realformer_nmt.synthetic.chance import Chance
from realformer_nmt.synthetic.composer import Composer, Pair
from realformer_nmt.synthetic.sentences import sentence

RECORD = "invent.json"
LANGUAGES = ("en", "de")
MOST = 1_000_000


@dataclass(frozen=True, kw_only=True)
class InventRequest(StageRequest):
    """Write train, valid and test .en and .de, no sentence twice. The German is right by construction: gender, case,
    number, word order, separable verbs, compounds, negation, numerals, names. The same options give the same bytes on
    every platform."""

    subcommand: ClassVar[str] = "invent"
    implementation: ClassVar[str] = __name__
    examples: ClassVar[str] = "example: realformer-nmt invent --folder corpus --pairs 20000 --seed 1"

    folder: Path = option("where train, valid and test .en and .de are written")
    pairs: int = option("training pairs (default: 20000)", 20_000, metavar="N", range=whole(1, MOST))
    valid: int = option("validation pairs (default: 500)", 500, metavar="N", range=whole(1, MOST))
    test: int = option("test pairs (default: 500)", 500, metavar="N", range=whole(1, MOST))
    seed: int = option("seed of the sentences (default: 1)", 1, range=SEED)
    hard: bool = option("more words, longer sentences, more of what is rare", False)
    fresh: bool = option(HELP, False, old_flag="--anew")

    def stage(self) -> Stage:
        names = ("pairs", "valid", "test", "seed", "hard")
        return Stage("invent", self.folder / RECORD, {name: getattr(self, name) for name in names}, {})


REQUEST = InventRequest


class InventRecord(StageRecord, frozen=True, kw_only=True):
    """Record of an invented corpus."""

    invented: dict[str, int]  # pairs of each split


def run(request: InventRequest) -> int:
    sizes = {"train": request.pairs, "valid": request.valid, "test": request.test}
    stage = request.stage()
    files = [request.folder / f"{split}.{language}" for split in sizes for language in LANGUAGES]
    if stage.is_up_to_date(request.fresh, *files):
        return 0
    origin = stage.start()
    sentences = iter(pairs(sum(sizes.values()), request.seed, *(["hard"] if request.hard else [])))
    with stage.claimed(*files):
        for split in reversed(sizes):  # so that the test set does not depend on the size of the training set
            texts = zip(*(next(sentences) for _ in range(sizes[split])), strict=True)
            for language, lines in zip(LANGUAGES, texts, strict=True):
                write_lines(request.folder / f"{split}.{language}", lines)
    stage.write(InventRecord(invented=sizes, made_from=origin, outputs=stage.fingerprints(*files)))
    print(f"{request.folder}: " + ", ".join(f"{size:,} pairs in {split}" for split, size in sizes.items()))
    return 0


def pairs(number: int, seed: int, *more: str) -> list[Pair]:
    """Return that many pairs, no English sentence twice; `more` are grammar files beside grammar.toml."""
    composer = Composer(Chance(seed), *more)
    translations: dict[str, str] = {}
    while len(translations) < number:
        english, german = sentence(composer)
        translations.setdefault(english, german)
    return list(translations.items())
