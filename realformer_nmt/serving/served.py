"""The models of a server, each by a name of its own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from realformer_nmt.checkpoints import inspection, layout
from realformer_nmt.model.presets import FAMILIES
from realformer_nmt.serving.serve import ServeRequest
from realformer_nmt.serving.translator import Translator, load_for


class Served(NamedTuple):
    name: str
    translator: Translator
    precision: str
    family: str
    layers: tuple[int, int] | None  # of encoder and decoder

    def ready(self) -> "Served":
        """Loaded with all that an answer needs: what changes on the disk from now on changes no answer."""
        self.translator.translate(["a"], precision=self.precision)
        return self


def serve(request: ServeRequest) -> dict[str, Served]:
    """Return the models by their names."""
    found = {}
    for name, run in names(request.runs).items():
        translator = load_for(request, run, cpu=request.cpu)
        choices = layout.options(layout.without_weights(translator.checkpoints[0]))
        found[name] = Served(name, translator, request.precision, family(choices), layers(choices)).ready()
    return found


def names(runs: Sequence[Path]) -> dict[str, Path]:
    """Of a run the folder's, of a checkpoint the file's without its ending; the second of a name is NAME-2."""
    found: dict[str, Path] = {}
    for run in runs:
        own = name = run.resolve().name.removesuffix(".pt")
        number = 1
        while name in found:
            number += 1
            name = f"{own}-{number}"
        found[name] = run
    return found


def family(options: Mapping[str, Any]) -> str:
    """That of its four parts; where no family has them, the parts; of a model of fairseq's own its arch."""
    parts = {name: options.get(name) for name in inspection.CHOICES}
    if None in parts.values():
        return str(inspection.arch_of(dict(options)))
    return next((name for name, preset in FAMILIES.items() if preset == parts), " ".join(map(str, parts.values())))


def layers(options: Mapping[str, Any]) -> tuple[int, int] | None:
    encoder, decoder = options.get("encoder_layers"), options.get("decoder_layers")
    return (encoder, decoder) if isinstance(encoder, int) and isinstance(decoder, int) else None
