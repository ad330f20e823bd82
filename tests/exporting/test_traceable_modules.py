"""The traced functions under onnxruntime, position by position, beside the model that they were traced of."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from tiny_models import exportable
from tiny_models.representatives import every_family
from tiny_models.tiny import PAD

from realformer_nmt.exporting.onnx_graphs import save
from realformer_nmt.exporting.traceable_modules import reading, traceable, writing
from realformer_nmt.model.presets import FAMILIES

SOURCE = torch.tensor([[7, 5, 2, 1, 1, 1, 1], [4, 5, 6, 7, 8, 4, 2], [9, 4, 4, 6, 2, 1, 1]])
PREVIOUS = torch.tensor([[2, 5, 7, 8, 4], [2, 8, 7, 6, 6], [2, 6, 4, 9, 5]])
OTHERS: dict[str, tuple[str, ...]] = {  # parts that no family has together, and options
    "everything": ("dual", "admin_fixed", "random+dense+dot", "sum"),
    "mean of tables": ("pre", "none", "factorised_random", "mean"),
    "other norms": ("siamese", "none", "dot", "none", "rms"),
}


def differences(parts: tuple[str, ...], folder: Path, **options: object) -> list[float]:
    """The largest at each position, in other sizes than when traced, and also before the first position."""
    model = exportable.source(parts, folder, **options).model
    copied = traceable(model)
    encoder = reading(copied)
    save(encoder, folder / "encoder.onnx")
    save(writing(copied, encoder), folder / "step.onnx")
    read, step = (onnxruntime.InferenceSession(folder / f"{name}.onnx") for name in ("encoder", "step"))
    padding, *seen = read.run(None, {"tokens": SOURCE.numpy()})
    assert padding.tolist() == SOURCE.eq(PAD).tolist()
    largest = []
    encoder_outputs = {"padding": padding, **dict(zip([out.name for out in read.get_outputs()][1:], seen, strict=True))}
    shapes = {each.name: each.shape for each in step.get_inputs() if each.name.startswith("own_")}
    state = {name: np.zeros((3, shape[1], 0, shape[3]), np.float32) for name, shape in shapes.items()}
    expected = model(SOURCE, None, PREVIOUS)[0].log_softmax(-1).detach().numpy()
    for place in range(PREVIOUS.size(1)):
        scores, *grown = step.run(None, {"token": PREVIOUS[:, place : place + 1].numpy(), **encoder_outputs, **state})
        largest.append(float(np.abs(scores - expected[:, place]).max()))
        state = dict(zip(state, grown, strict=True))
    return largest


@every_family
def test_every_family_computes_what_it_did(family: str, tmp_path: Path) -> None:
    assert differences((), tmp_path, **FAMILIES[family]) == pytest.approx([0] * 5, abs=1e-4)


@pytest.mark.parametrize("parts", OTHERS.values(), ids=OTHERS)
def test_so_do_other_parts_and_options(parts: tuple[str, ...], tmp_path: Path) -> None:
    options = {"encoder_learned_pos": True, "layernorm_embedding": True, "activation_fn": "gelu"}
    largest = differences(parts, tmp_path, **options, share_all_embeddings=True)
    assert largest == pytest.approx([0] * 5, abs=1e-4)
