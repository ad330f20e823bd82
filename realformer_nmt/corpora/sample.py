"""`realformer-nmt sample`: a prepared corpus with a share of its training pairs."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.common.numbers import FRACTION
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.requests.request import Request


@dataclass(frozen=True, kw_only=True)
class SampleRequest(Request):
    """Copy a folder of `realformer-nmt prepare` with a share of its training pairs, evenly spread over all of them. A
    smaller share is part of a larger one; subwords, dictionaries, validation and test sets are the same."""

    subcommand: ClassVar[str] = "sample"
    implementation: ClassVar[str] = "realformer_nmt.corpora.sampling"
    examples: ClassVar[str] = "example: realformer-nmt sample data/wmt14_en_de --share 0.25 --folder data/quarter"

    prepared: Path = argument("the folder of `realformer-nmt prepare`", metavar="PREPARED")
    share: float = option("of the pairs: above 0, below 1", metavar="S", range=FRACTION)
    folder: Path = option("the folder to make")


REQUEST = SampleRequest
