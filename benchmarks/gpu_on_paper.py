"""What a step would ask of a GPU, counted without one: products, launches, bytes, memory, and the limits these set.

python benchmarks/gpu_on_paper.py                        # every family at three sizes: minutes
python benchmarks/gpu_on_paper.py --families post_ln     # a minute

A step trains in bf16 with weights in fp32, as fairseq-train --bf16 does, on one batch; and a step of decoding.
"""

import argparse
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from contestants import STOCK, Place, Sample, Shape, build, samples
from paper_gpu import CHIPS, Work, like, on_paper, put
from steps import Training, decoder_step
from torch import nn
from torch.distributed._tools.mem_tracker import MemTracker

from realformer_nmt.common.versions import versions
from realformer_nmt.model.presets import FAMILIES

Row = dict[str, Any]
RECORD = Path("docs/results/gpu_on_paper.json")
SIZES = ("6-6", "18-18", "60-12")
TOKENS = 8192
LAUNCH = 5e-6  # seconds that Python and torch take for an operation: an assumption, which only a GPU can test
META = torch.device("meta")


def on_meta(who: str, shape: Shape) -> nn.Module:
    with META:
        model: nn.Module = build(who, shape, Place(META, torch.bfloat16))
    return model


def training(who: str, shape: Shape, batch: Sample) -> Row:
    cold = on_meta(who, shape)
    with on_paper() as device:
        own = {name: like(value, device) for name, value in batch["net_input"].items()}
        sample = {**batch, "net_input": own, "target": like(batch["target"], device)}
        step = Training(who, shape, put(cold, device), sample, device)
        memory = MemTracker()
        memory.track_external(step.model, *step.held(), *own.values(), sample["target"])
        works = {name: Work() for name in step.parts}
        with memory:
            for name, part in step.parts.items():
                with works[name]:
                    part()
        peak = next(found["Total"] for place, found in memory.get_tracker_snapshot("peak").items() if place != META)
    total = Work.together(works.values())
    return {
        "parameters": sum(weight.numel() for weight in cold.parameters()),
        "launches": {name: work.launches for name, work in works.items()},
        **described(total),
        "peak bytes": peak,
    }


def decoding(who: str, shape: Shape) -> Row:
    cold = on_meta(who, shape)
    with on_paper() as device, torch.no_grad():
        run = decoder_step(put(cold, device).eval(), device, shape.vocabulary)
        with Work() as work:
            run()
    return {"launches": work.launches, **described(work)}


def described(work: Work) -> Row:
    limits = {name: seconds * 1e3 for name, seconds in work.seconds.items()}
    found = {"waits": work.waits, "flops": work.flops, "bytes": work.bytes, "ms at the limits": limits}
    return {**found, "ms of launches": work.launches * LAUNCH * 1e3}


def rows(sizes: list[str], families: list[str]) -> Iterator[Row]:
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
    return {"training": training(who, shape, batch), "decoding": decoding(who, shape)}


def grow(base: Any, encoder: Any, decoder: Any, encoders: int, decoders: int) -> Any:
    """Numbers of so many more layers, whatever tables they stand in."""
    if isinstance(base, dict):
        return {name: grow(base[name], encoder[name], decoder[name], encoders, decoders) for name in base}
    found = base + encoders * (encoder - base) + decoders * (decoder - base)
    return found if isinstance(found, int) else round(found, 3)


def cells(row: Row) -> list[str]:
    """A line of the table in docs/results/gpu_on_paper.md."""
    train, decode = row["training"], row["decoding"]
    launches = train["launches"]
    apart = " + ".join(f"{launches[name]:,}" for name in launches)
    limits, slow = train["ms at the limits"], train["ms of launches"]
    return [
        f"`{row['model']}`",
        f"{train['flops'] / 1e12:.2f}",
        apart,
        str(train["waits"]),
        f"{train['bytes'] / 1e9:.0f}",
        f"{train['peak bytes'] / 1e9:.1f}",
        *(f"{limits[chip]:.0f}" for chip in CHIPS),
        f"{slow:.0f}",
        f"{decode['launches']:,}",
        *(f"{decode['ms at the limits'][chip]:.2f}" for chip in CHIPS),
        f"{decode['ms of launches']:.1f}",
    ]


def read_options(description: str | None, record: Path) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", default=list(SIZES), help="layers of encoder and decoder")
    parser.add_argument("--families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--json", type=Path, default=record)
    return parser.parse_args()


def main() -> None:
    args = read_options(__doc__, RECORD)
    logging.disable(logging.INFO)
    found = []
    for row in rows(args.sizes, args.families):
        found.append(row)
        print("|", " | ".join([row["size"], *cells(row)]), "|", flush=True)
    chips = {name: chip._asdict() for name, chip in CHIPS.items()}
    made = {"what": "an estimate, counted without a GPU", "versions": versions(), "chips": chips, "launch": LAUNCH}
    args.json.write_text(json.dumps({**made, "rows": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
