"""Models of a server, each under a unique name."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from realformer_nmt.checkpoints import inspection
from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.model.part_names import FAMILY_OPTIONS, PART_NAMES
from realformer_nmt.model.presets import FAMILIES
from realformer_nmt.serving.serve import ServeRequest
from realformer_nmt.serving.translator import Translator, load_for


class Served(NamedTuple):
    name: str
    translator: Translator
    precision: str
    family: str
    layers: tuple[int, int] | None  # of encoder and decoder


def serve(request: ServeRequest) -> dict[str, Served]:
    """Return the models by their names, with all loaded that an answer needs: later changes on the disk change none."""
    models = {}
    for name, run in names(request.runs).items():
        translator = load_for(request, run, cpu=request.cpu)
        translator.translate(["a"], precision=request.precision)
        choices = checkpoint_fields.options(checkpoint_fields.without_weights(translator.checkpoints[0]))
        models[name] = Served(name, translator, request.precision, family(choices), layers(choices))
    return models


def names(runs: Sequence[Path]) -> dict[str, Path]:
    """Return runs by the names of their folders, and checkpoints by those of their files; a repeated one is NAME-2."""
    by_name: dict[str, Path] = {}
    for run in runs:
        base = name = run.resolve().name.removesuffix(".pt")
        number = 1
        while name in by_name:
            number += 1
            name = f"{base}-{number}"
        by_name[name] = run
    return by_name


def family(options: Mapping[str, Any]) -> str:
    """Return the family of a model's choices, or the choices if no family has them; of a model of fairseq its arch."""
    stock = (None, "layer", "plain")  # which a family with other norms or heads names
    choices = {name: options[name] for name in FAMILY_OPTIONS if options.get(name) not in stock}
    if not choices.keys() >= {*PART_NAMES}:
        return str(inspection.arch_of(dict(options)))
    return next((name for name, preset in FAMILIES.items() if preset == choices), " ".join(map(str, choices.values())))


def layers(options: Mapping[str, Any]) -> tuple[int, int] | None:
    encoder, decoder = options.get("encoder_layers"), options.get("decoder_layers")
    return (encoder, decoder) if isinstance(encoder, int) and isinstance(decoder, int) else None
