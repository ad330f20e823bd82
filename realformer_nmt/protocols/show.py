"""`realformer-nmt protocol NAME`: what a protocol says, as a table."""

from dataclasses import dataclass
from typing import ClassVar

from tabulate import tabulate

from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.requests.request import Request
from realformer_nmt.common.requests.toml_tables import locate
from realformer_nmt.corpora import manifest
from realformer_nmt.protocols.command import layers
from realformer_nmt.protocols.protocol import Protocol, corpora, load, shipped
from realformer_nmt.tasks import TASKS


@dataclass(frozen=True, kw_only=True)
class ProtocolRequest(Request):
    """Show a protocol: its batch, its length, its flags, and the options that `average` and `translate` get."""

    subcommand: ClassVar[str] = "protocol"
    examples: ClassVar[str] = "example: realformer-nmt protocol realformer --corpus wmt14_en_fr --layers 60-12"

    protocol: str = argument(f"{', '.join(shipped())}, or your own FILE.toml")
    corpus: str | None = option("show the settings for this corpus, a name or FILE.toml", None, metavar="CORPUS")
    layers: str | None = option("show the settings for this depth", None, metavar="N|N-M")

    def run(self) -> int:
        print(tabulate(rows(protocol_of(self)), tablefmt="plain", disable_numparse=True))
        return 0


REQUEST = ProtocolRequest


def protocol_of(request: ProtocolRequest, corpus_option: str = "--corpus") -> Protocol:
    """Read the protocol of a request; `corpus_option` is what the user's command calls the corpus."""
    protocol = load(request.protocol, corpus_name(request, corpus_option), request.layers)
    if request.layers is not None:
        layers(request.layers, TASKS[protocol.task].sides)
    return protocol


def corpus_name(request: ProtocolRequest, option: str) -> str | None:
    """Return the name by which the protocol knows the corpus of a request."""
    if request.corpus is None:
        return None
    names = sorted({*manifest.shipped(), *corpora(request.protocol)})
    if request.corpus in names:
        return request.corpus
    return manifest.load(locate(option, request.corpus, manifest.FOLDER, names)).name


def rows(protocol: Protocol) -> list[tuple[str, object]]:
    batch = f"{protocol.gpus} GPUs x {protocol.max_tokens:,} tokens x {protocol.update_freq}"
    length = f"{protocol.epochs} epochs" if protocol.epochs else f"{protocol.updates:,} updates"
    table: list[tuple[str, object]] = [
        ("protocol", protocol.name),
        ("paper", protocol.paper or "none"),
        ("tokens a step", f"{batch} = {protocol.tokens_a_step:,}"),
        ("length", length),
        ("average", f"{protocol.average_of} {protocol.average}"),
        ("decoding", " ".join(protocol.decoding)),
    ]
    return table + [(f"--{name}", value) for name, value in protocol.train.items()]
