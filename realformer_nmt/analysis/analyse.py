"""`realformer-nmt analyse`: measure what trained models do inside; write one record and figures of all of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.numbers import whole
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.requests.request import Request
from realformer_nmt.common.stages.stage import HELP

SENTENCES = 8192  # as many as He et al. look at


@dataclass(frozen=True, kw_only=True)
class AnalyseRequest(Request):
    """Read held-out text with trained models and fill a folder: analysis.json, and figures as SVG and PNG. Attention:
    entropy of each head, divergence between a head and the one above, where heads look. Depth: gradients, the stream
    and its branches, similarity of layers, loss without each layer."""

    subcommand: ClassVar[str] = "analyse"
    implementation: ClassVar[str] = "realformer_nmt.analysis.analysis_run"
    examples: ClassVar[str] = """examples:
  realformer-nmt analyse run
  realformer-nmt analyse runs/cells/pre_ln-18-s1 runs/cells/realformer-18-s1 --output runs/analysis
  realformer-nmt analyse run --sentence "A dog runs." --output dog
  realformer-nmt analyse run/average.pt --data data/data-bin --subset test --alignment test.links --output analysis
"""

    models: tuple[Path, ...] = argument("a run's folder, or a checkpoint (.pt)", metavar="RUN_OR_CHECKPOINT")
    output: Path | None = option("folder to fill (default for one run: RUN/analysis)", None, metavar="FOLDER")
    data: Path | None = option("default: the one the model was trained on", None, metavar="DATA-BIN")
    subset: str = option("part of the data-bin to read (default: valid)", "valid")
    sentences: int = option(f"read N of them at most (default: {SENTENCES})", SENTENCES, metavar="N", range=whole(1))
    alignment: Path | None = option("manual word alignment, a line per sentence, such as 0-0 1-2", None, metavar="FILE")
    sentence: str | None = option("translate it and draw every head of every layer for it", None, metavar="TEXT")
    cpu: bool = option("use the CPU even if there is a GPU", False)
    fresh: bool = option(HELP, False)

    @property
    def folder(self) -> Path:
        """Folder to fill."""
        if self.output:
            return self.output
        run, *further = self.models
        if further or not run.is_dir():
            raise UserError("pass --output FOLDER: only for the folder of one run there is a default, RUN/analysis")
        return run / "analysis"


REQUEST = AnalyseRequest
