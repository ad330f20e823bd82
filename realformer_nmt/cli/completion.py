"""`realformer-nmt completion SHELL`: a script that completes subcommands, options and their values."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from realformer_nmt.common.requests.option import argument
from realformer_nmt.common.requests.request import Request
from realformer_nmt.subcommands import SUBCOMMANDS, parser


@dataclass(frozen=True, kw_only=True)
class CompletionRequest(Request):
    """Print a script; write it where the shell looks for completions."""

    subcommand: ClassVar[str] = "completion"
    examples: ClassVar[str] = """examples:
  realformer-nmt completion bash > ~/.local/share/bash-completion/completions/realformer-nmt
  realformer-nmt completion zsh > DIR/_realformer-nmt    # a DIR of $fpath
"""

    shell: Literal["bash", "zsh", "tcsh"] = argument()

    def run(self) -> int:
        import shtab

        print(shtab.complete(parser([row.name for row in SUBCOMMANDS]), self.shell))
        return 0


REQUEST = CompletionRequest
