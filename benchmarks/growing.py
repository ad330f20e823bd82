"""How time and memory grow with depth and length, with a carried score and without."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from contestants import Place, Sample, Shape, build
from fairseq.models import BaseFairseqModel
from measuring import interleaved, ratios, spread

WITHOUT = "post_ln"


def growth(
    place: Place, family: str, lengths: list[int], depths: list[int], width: int, rounds: int
) -> Iterator[dict[str, Any]]:
    """Of forward and backward passes: their time, and the bytes that autograd keeps in between; how many arrays of
    scores a carried score adds to the latter."""
    cases = [(depth, 32) for depth in depths] + [(depths[0], length) for length in lengths]
    for depth, length in dict.fromkeys(cases):
        shape = Shape(depth, 1, width, 512)
        tokens = torch.full((1, length), 5, device=place.device)
        sample = {"net_input": {"src_tokens": tokens, "src_lengths": None, "prev_output_tokens": tokens[:, :2]}}
        models = {name: build(name, shape, place).train() for name in (WITHOUT, family)}
        kept = {name: saved_bytes(model, sample) for name, model in models.items()}
        steps = {name: partial(there_and_back, model, sample) for name, model in models.items()}
        times = interleaved(steps, rounds, place.device)
        scores = length * length * max(1, width // 64) * 4
        yield {
            "what": f"growth, {depth}L, length {length}",
            "model": family,
            "ms": round(1e3 * spread(times[family]).median, 1),
            f"speed against {WITHOUT}": ratios(times, WITHOUT)[family],
            "kept MB": kept[family] / 1e6,
            f"kept against {WITHOUT}": round(kept[family] / kept[WITHOUT], 3),
            "more, in arrays of scores": round((kept[family] - kept[WITHOUT]) / scores, 2),
        }


def there_and_back(model: BaseFairseqModel, sample: Sample) -> None:
    output, _ = model(**sample["net_input"])
    output.sum().backward()
    model.zero_grad()


def saved_bytes(model: BaseFairseqModel, sample: Sample) -> int:
    model(**sample["net_input"])  # ADMIN's profile
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        output = model(**sample["net_input"])
    del output
    return sum(kept.values())
