"""Settings of a COMET model, as its hparams.yaml and its checkpoint say them."""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct, convert
from msgspec.structs import replace

from realformer_nmt.common.files.records import Positive

Layer = int | Literal["mix"]
SOFTMAX: Literal["softmax"] = "softmax"
PATCHED = "sparsemax_patch"  # in hparams.yaml: the checkpoint says sparsemax, and was trained with softmax


class CometSettings(Struct, frozen=True, kw_only=True):
    """Settings that inference needs, with the defaults of unbabel-comet 2.2.7."""

    class_identifier: str
    pretrained_model: str = "xlm-roberta-large"
    layer: Layer = "mix"
    sent_layer: Layer = "mix"  # instead of `layer`, of a unified metric
    layer_transformation: Literal["softmax", "sparsemax", "sparsemax_patch"] = SOFTMAX
    layer_norm: bool = True
    pool: str = "avg"
    hidden_sizes: Annotated[tuple[Positive, ...], Meta(min_length=1)] = (3072, 1024)
    activations: str = "Tanh"
    final_activation: str | None = None
    input_segments: Annotated[tuple[Literal["mt", "src", "ref"], ...], Meta(min_length=2)] = ("mt", "src", "ref")


def merge(hparams: Mapping[str, object], stored: Mapping[str, object]) -> CometSettings:
    """Return the settings: the class of hparams.yaml, and the rest of the checkpoint, as unbabel-comet reads them."""
    settings = convert({**(stored or hparams), "class_identifier": hparams["class_identifier"]}, CometSettings)
    patched = PATCHED in (hparams.get("layer_transformation"), settings.layer_transformation)
    return replace(settings, layer_transformation=SOFTMAX) if patched else settings
