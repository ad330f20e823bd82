"""A training step and a decoding step on a GPU, counted without one, or measured on the one that is there.

python benchmarks/gpu.py                                 # every family at three sizes: minutes
python benchmarks/gpu.py --families post_ln              # a minute
python benchmarks/gpu.py --measured --sizes 6-6          # on a GPU, too: what CUDA graphs bring
python benchmarks/gpu.py --measured --sizes 6-6 --compiled   # and torch.compile: minutes a family

A step trains in bf16 with weights in fp32, as fairseq-train --bf16 does, on one batch; and a step of decoding.
"""

import argparse
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from gpu_measured import TOKENS, Row, measure
from gpu_steps import Training, decoder_step
from paper_gpu import CHIPS, Work, like, on_paper, put
from torch import nn
from torch.distributed._tools.mem_tracker import MemTracker
from workloads import STOCK, Place, Sample, Shape, build, samples

from realformer_nmt.common.stages.versions import versions
from realformer_nmt.model.presets import FAMILIES

RECORD, MEASURED = Path("docs/results/gpu_on_paper.json"), Path("docs/results/gpu_measured.json")
SIZES = ("6-6", "18-18", "60-12")
LAUNCH = 5e-6  # seconds that Python and torch take for an operation: an assumption, which only a GPU can test
META = torch.device("meta")


def on_meta(who: str, shape: Shape) -> nn.Module:
    with META:
        model: nn.Module = build(who, shape, Place(META, torch.bfloat16))
    return model


def count_training(who: str, shape: Shape, batch: Sample) -> Row:
    cold = on_meta(who, shape)
    with on_paper() as device:
        inputs = {name: like(value, device) for name, value in batch["net_input"].items()}
        sample = {**batch, "net_input": inputs, "target": like(batch["target"], device)}
        step = Training(who, shape, put(cold, device), sample, device)
        memory = MemTracker()
        memory.track_external(step.model, *step.held(), *inputs.values(), sample["target"])
        works = {name: Work() for name in step.parts}
        with memory:
            for name, part in step.parts.items():
                with works[name]:
                    part()
        peak = next(usage["Total"] for place, usage in memory.get_tracker_snapshot("peak").items() if place != META)
    total = Work.together(works.values())
    return {
        "parameters": sum(weight.numel() for weight in cold.parameters()),
        "launches": {name: work.launches for name, work in works.items()},
        **described(total),
        "peak bytes": peak,
    }


def count_decoding(who: str, shape: Shape) -> Row:
    cold = on_meta(who, shape)
    with on_paper() as device, torch.no_grad():
        run = decoder_step(put(cold, device).eval(), device, shape.vocabulary)
        with Work() as work:
            run()
    return {"launches": work.launches, **described(work)}


def described(work: Work) -> Row:
    limits = {name: seconds * 1e3 for name, seconds in work.seconds.items()}
    figures = {"waits": work.waits, "flops": work.flops, "bytes": work.bytes, "ms at the limits": limits}
    return {**figures, "ms of launches": work.launches * LAUNCH * 1e3}


def count(sizes: list[str], families: list[str]) -> Iterator[Row]:
    """Counted at three sizes, since all layers after the first two of a side ask the same."""
    (batch,) = samples(Shape(2, 2), Place(torch.device("cpu"), torch.float32), TOKENS, 1)
    for who in [STOCK, *families]:
        base, encoder, decoder = (counts(who, Shape(*layers), batch) for layers in ((2, 2), (3, 2), (2, 3)))
        for size in sizes:
            encoder_layers, decoder_layers = map(int, size.split("-"))
            grown = grow(base, encoder, decoder, encoder_layers - 2, decoder_layers - 2)
            yield {
                "size": Shape(encoder_layers, decoder_layers).name,
                "model": who,
                "tokens": batch["ntokens"],
                **grown,
            }


def counts(who: str, shape: Shape, batch: Sample) -> Row:
    return {"training": count_training(who, shape, batch), "decoding": count_decoding(who, shape)}


def grow(base: Any, encoder: Any, decoder: Any, encoders: int, decoders: int) -> Any:
    """Numbers of so many more layers, whatever tables they stand in."""
    if isinstance(base, dict):
        return {name: grow(base[name], encoder[name], decoder[name], encoders, decoders) for name in base}
    total = base + encoders * (encoder - base) + decoders * (decoder - base)
    return total if isinstance(total, int) else round(total, 3)


def cells(row: Row) -> list[str]:
    """A line of the table in docs/results/gpu_on_paper.md."""
    train, decode = row["training"], row["decoding"]
    launches = train["launches"]
    terms = " + ".join(f"{launches[name]:,}" for name in launches)
    limits, slow = train["ms at the limits"], train["ms of launches"]
    return [
        f"`{row['model']}`",
        f"{train['flops'] / 1e12:.2f}",
        terms,
        str(train["waits"]),
        f"{train['bytes'] / 1e9:.0f}",
        f"{train['peak bytes'] / 1e9:.1f}",
        *(f"{limits[chip]:.0f}" for chip in CHIPS),
        f"{slow:.0f}",
        f"{decode['launches']:,}",
        *(f"{decode['ms at the limits'][chip]:.2f}" for chip in CHIPS),
        f"{decode['ms of launches']:.1f}",
    ]


def on_paper_record(args: argparse.Namespace) -> Row:
    rows = []
    for row in count(args.sizes, args.families):
        rows.append(row)
        print("|", " | ".join([row["size"], *cells(row)]), "|", flush=True)
    chips = {name: chip._asdict() for name, chip in CHIPS.items()}
    setup = {"what": "an estimate, counted without a GPU", "versions": versions(), "chips": chips, "launch": LAUNCH}
    return {**setup, "rows": rows}


def measured_record(args: argparse.Namespace) -> Row:
    if not torch.cuda.is_available():
        raise SystemExit("bench-gpu: no GPU that torch can use here; without --measured it is counted")
    place, rows = Place(torch.device("cuda"), torch.bfloat16), []
    for row in measure(args.sizes, args.families, place, args.compiled):
        rows.append(row)
        print(row, flush=True)
    return {"what": "measured", "graphics": torch.cuda.get_device_name(), "versions": versions(), "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measured", action="store_true", help="on the GPU that is there")
    parser.add_argument("--compiled", action="store_true", help="measure torch.compile, too")
    parser.add_argument("--sizes", nargs="*", default=list(SIZES), help="layers of encoder and decoder")
    parser.add_argument("--families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    logging.disable(logging.INFO)
    record = measured_record(args) if args.measured else on_paper_record(args)
    file = args.json or (MEASURED if args.measured else RECORD)
    file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
