"""`realformer-nmt user-dir`: the package's folder, for fairseq's --user-dir."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.common.requests.request import Request


@dataclass(frozen=True, kw_only=True)
class UserDirRequest(Request):
    """Print a folder, so that --user-dir works from everywhere."""

    subcommand: ClassVar[str] = "user-dir"
    examples: ClassVar[str] = (
        'example: fairseq-train DATA --user-dir "$(realformer-nmt user-dir)" --arch realformer_tiny'
    )

    def run(self) -> int:
        print(Path(__file__).resolve().parents[1])
        return 0


REQUEST = UserDirRequest
