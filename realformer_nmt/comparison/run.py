"""Request of `realformer-nmt run CORPUS`: one training, from the archives of its corpus to its scores."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.common.errors import UsageError
from realformer_nmt.common.files import safe_names
from realformer_nmt.common.numbers import PROCESSES, whole
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.corpora.manifest import shipped
from realformer_nmt.corpora.subwords.subword_methods import LEARNT, OF_PAPERS
from realformer_nmt.protocols.train import TrainingOptions

STAGES = ("prepare", "train", "average", "translate", "score")
DATA = "data"  # in FOLDER, for all runs
PREPARE = "of `realformer-nmt prepare`"


@dataclass(frozen=True, kw_only=True)
class RunRequest(TrainingOptions):
    """Prepare a corpus, train, average, translate and score. Stages that are done are skipped. After an interruption
    the same command resumes."""

    subcommand: ClassVar[str] = "run"
    implementation: ClassVar[str] = "realformer_nmt.comparison.pipeline"
    examples: ClassVar[str] = """examples:
  realformer-nmt run wmt14_en_de --arch realformer --layers 18 --folder wmt14_en_de
  realformer-nmt run wmt14_en_de --arch admin --protocol admin --layers 18 --folder wmt14_en_de --dry-run
  realformer-nmt run multi30k_en_de --layers 6 --folder multi30k --protocol small -- --dropout 0.3
"""

    corpus: str = argument(f"{', '.join(shipped())}, or FILE.toml of your own", metavar="CORPUS")
    arch: str = option("what is trained (`realformer-nmt archs`; default: realformer)", "realformer", metavar="FAMILY")
    layers: str = option(
        "required, except to prepare alone: layers of encoder and decoder: 18, or 60-12", "", metavar="N|N-M"
    )
    protocol: str = option(
        "how it is trained (`realformer-nmt protocol NAME`; default: realformer)", "realformer", metavar="NAME"
    )
    folder: Path | None = option(
        f"required: {DATA}/, which all runs share, and a folder for each run are made in it", None, metavar="DIR"
    )
    name: str = option(
        "of the run's folder (default: arch, layers, protocol and seed: realformer-18-realformer-s1111)",
        "",
        metavar="NAME",
    )
    archives: Path | None = option("archives that you have; the others are downloaded", None, metavar="DIR")
    manifest: str = option(
        "manifest to prepare and train on; the protocol stays that of CORPUS, which, in a clone, recipes/*/run.sh set",
        "",
        flag="--corpus",
        metavar="FILE.toml",
    )
    subwords: str = option(f"{PREPARE}, but the default is {OF_PAPERS}", OF_PAPERS, choices=LEARNT)
    vocabulary: int | None = option(PREPARE, None, metavar="N", range=whole(1))
    workers: int | None = option(PREPARE, None, metavar="N", range=whole(1, PROCESSES))
    subset: tuple[str, ...] = option(
        "a test set of the data, other than test; repeated: several (translation-test1/, run-test1.json)",
        (),
        metavar="NAME",
        repeated=True,
    )
    tensorboard: bool = option("log to the folder tensorboard/ of the run", False)
    fresh: bool = option("make again what was made from other settings or files, in the stages that run", False)
    stage: str | None = option("this one alone", None, choices=STAGES)
    dry_run: bool = option("print every command, ready to paste; in comments what the stage train runs", False)
    flags: tuple[str, ...] = argument(
        "flags of fairseq-train, which override the protocol's", (), metavar="-- FLAG", last=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        required = {"--folder DIR": self.folder, "--layers N|N-M": self.layers or self.stage == STAGES[0]}
        missing = [option for option, value in required.items() if not value]
        if missing:
            raise UsageError(f"missing: {' '.join(missing)}")
        if "/" in self.name or self.name.startswith(".") or self.name == DATA:
            raise UsageError(
                f"--name {self.name}: allowed is the name of one folder, which starts with no dot and is not data, the "
                "corpus's"
            )
        for subset in self.subset:
            if not safe_names.is_plain(subset):
                raise UsageError(f"--subset {subset}: allowed is the name of a test set, such as test1")
        if any(flag.startswith("--seed") for flag in self.flags):
            raise UsageError("the seed is in the run's name: give --seed N before the --")


REQUEST = RunRequest
