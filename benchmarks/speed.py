"""Measure this package against stock fairseq's transformer, side by side in one process, on the CPU or a GPU.

python benchmarks/speed.py                          # minutes
python benchmarks/speed.py --sizes 6-6 18-18 60-12 --families all --tokens 1024 --rounds 7
"""

import argparse
import json
import logging
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.models import BaseFairseqModel
from tabulate import tabulate
from timing import flops, interleaved, matmul_rate, peak_bytes, ratios, spread
from workloads import STOCK, Place, Sample, Shape, build, generator, optimiser, samples, trainer, warm_up

import realformer_nmt
from realformer_nmt.common.stages.versions import processor, versions
from realformer_nmt.kernels.native.library import library
from realformer_nmt.model.presets import FAMILIES

TINY = ["--encoder-embed-dim=32", "--decoder-embed-dim=32", "--encoder-layers=1", "--decoder-layers=1"]


def starter(who: str, data: Path) -> Callable[[], None]:
    """The model is stock's both times, or a family's: with the plug-in, whoever is not called stock."""
    arch = "transformer" if who.startswith(STOCK) else who
    plugin = [] if who == STOCK else ["--user-dir", str(Path(realformer_nmt.__file__).parent)]
    once = [
        "--max-update=1",
        "--save-dir",
        str(data / "checkpoints"),
        "--no-save",
        "--disable-validation",
        "--max-tokens=500",
        "--num-workers=0",
    ]
    options = ["--optimizer=adam", "--lr=1e-3", "--cpu", "--arch", arch, *TINY, *once, *plugin]

    def start() -> None:
        command = [sys.executable, "-m", "fairseq_cli.train", str(data), *options]
        subprocess.run(command, check=True, capture_output=True)

    return start


def binarised(folder: Path) -> Path:
    lines = map(" ".join, np.random.default_rng(1).choice(list("abcdefgh"), (200, 9)))
    text = "\n".join(lines) + "\n"
    for language in ("de", "en"):
        (folder / f"text.{language}").write_text(text)
    prefix = str(folder / "text")
    command = [sys.executable, "-m", "fairseq_cli.preprocess", "--source-lang=en", "--target-lang=de"]
    subprocess.run(
        [*command, "--trainpref", prefix, "--validpref", prefix, "--destdir", str(folder)],
        check=True,
        capture_output=True,
    )
    return folder


WITHOUT = "post_ln"


def growth(
    place: Place, family: str, lengths: list[int], depths: list[int], width: int, rounds: int
) -> Iterator[dict[str, Any]]:
    """Yield the time of forward and backward passes, the bytes that autograd keeps in between, and how many arrays of
    scores a carried score adds to the latter."""
    cases = [(depth, 32) for depth in depths] + [(depths[0], length) for length in lengths]
    for depth, length in dict.fromkeys(cases):
        shape = Shape(depth, 1, width, 512)
        tokens = torch.full((1, length), 5, device=place.device)
        sample = {"net_input": {"src_tokens": tokens, "src_lengths": None, "prev_output_tokens": tokens[:, :2]}}
        models = {name: build(name, shape, place).train() for name in (WITHOUT, family)}
        memory = {name: saved_bytes(model, sample) for name, model in models.items()}
        steps = {name: partial(there_and_back, model, sample) for name, model in models.items()}
        times = interleaved(steps, rounds, place.device)
        scores = length * length * max(1, width // 64) * 4
        yield {
            "what": f"growth, {depth}L, length {length}",
            "model": family,
            "ms": round(1e3 * spread(times[family]).median, 1),
            f"speed against {WITHOUT}": ratios(times, WITHOUT)[family],
            "kept MB": memory[family] / 1e6,
            f"kept against {WITHOUT}": round(memory[family] / memory[WITHOUT], 3),
            "more, in arrays of scores": round((memory[family] - memory[WITHOUT]) / scores, 2),
        }


def there_and_back(model: BaseFairseqModel, sample: Sample) -> None:
    output, _ = model(**sample["net_input"])
    output.sum().backward()
    model.zero_grad()


def saved_bytes(model: BaseFairseqModel, sample: Sample) -> int:
    model(**sample["net_input"])  # ADMIN's profile
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    sizes: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        output = model(**sample["net_input"])
    del output
    return sum(sizes.values())


Row = dict[str, Any]
TOGETHER = 3  # families in memory beside stock


def training(shape: Shape, place: Place, who: list[str], batches: list[Sample], rounds: int) -> Iterator[Row]:
    steps = {name: trainer(name, shape, place, batches) for name in who}
    times = interleaved(steps, rounds, place.device)
    work = flops(trainer(STOCK, shape, place, batches))
    limit = work / matmul_rate(place.device, place.dtype)
    tokens = sum(batch["ntokens"] for batch in batches)
    del steps
    peaks = {name: peak_bytes(partial(trainer, name, shape, place, batches), place.device) for name in who}
    for name, ratio in ratios(times, STOCK).items():
        seconds = spread(times[name])
        yield {
            "what": f"training {shape.name}",
            "model": name,
            "tokens/s": round(tokens / seconds.median),
            "against stock": ratio,
            "peak MB": round(peaks[name] / 1e6),
            "peak against stock": round(peaks[name] / peaks[STOCK], 2),
            "share of the limit": f"{limit / seconds.median:.0%}",
        }


def generation(
    shape: Shape, place: Place, who: list[str], batches: list[Sample], beam: int, rounds: int
) -> Iterator[Row]:
    single = [{"net_input": {key: value[:1] for key, value in batch["net_input"].items()}} for batch in batches]
    for label, inputs in (("batches", batches), ("single sentences", single)):
        works = {name: generator(name, shape, place, inputs, beam) for name in who}
        tokens = next(iter(works.values()))()
        times = interleaved(works, rounds, place.device)
        for name, ratio in ratios(times, STOCK).items():
            speed = round(tokens / spread(times[name]).median)
            what = f"generation {shape.name}, beam {beam}, {label}"
            yield {"what": what, "model": name, "tokens/s": speed, "against stock": ratio}
        del works


def optimisers(shape: Shape, place: Place, rounds: int) -> Iterator[Row]:
    steps = {}
    for name in (STOCK, "post_ln"):
        model = build(name, shape, place)
        updates = optimiser(name, model)
        warm_up(model, updates)
        for parameter in model.parameters():
            parameter.grad = torch.randn_like(parameter) * 1e-3
        steps[name] = updates.step
    for name, ratio in ratios(interleaved(steps, rounds, place.device), STOCK).items():
        label = "Adam" if name == STOCK else "RAdam"
        yield {"what": f"optimiser step {shape.name}", "model": f"{name}, {label}", "against stock": ratio}


def start_up(rounds: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        data = binarised(Path(folder))
        works = {name: starter(name, data) for name in (STOCK, f"{STOCK}, --user-dir", "realformer")}
        for name, ratio in ratios(interleaved(works, rounds, torch.device("cpu")), STOCK).items():
            yield {"what": "start-up and one update", "model": name, "against stock": ratio}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sizes", nargs="*", default=["6-6"], help="layers of encoder and decoder, e.g. 6-6 18-18 60-12"
    )
    parser.add_argument("--families", nargs="*", default=["post_ln", "realformer"], help="or all")
    parser.add_argument("--checkpointed", action="store_true", help="train with activation checkpointing too")
    parser.add_argument("--beams", nargs="*", type=int, default=[4])
    parser.add_argument(
        "--precisions", nargs="*", default=[], help="beside fp32: bf16 (training and decoding), int8 (decoding)"
    )
    parser.add_argument("--tokens", type=int, default=512, help="of a batch")
    parser.add_argument("--batches", type=int, default=1, help="of different lengths, a step each")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--vocabulary", type=int, default=32768)
    parser.add_argument("--depths", nargs="*", type=int, default=[6, 18], help="for the growth")
    parser.add_argument("--lengths", nargs="*", type=int, default=[32, 128, 512], help="for the growth")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--json", type=Path, default=Path("bench.json"))
    args = parser.parse_args()
    logging.disable(logging.INFO)
    place = Place(torch.device(args.device), getattr(torch, args.dtype))
    graphics = torch.cuda.get_device_name() if place.device.type == "cuda" else None
    environment = {
        "python": platform.python_version(),
        **versions(),
        "processor": processor(),
        "graphics": graphics,
        "kernels in C": library() is not None,
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load": os.getloadavg()[0],
        **vars(args),
    }
    rows = []
    for row in measurements(args, place):
        rows.append(row)
        print({key: str(value) for key, value in row.items()}, flush=True)
    print(tabulate([{key: str(value) for key, value in row.items()} for row in rows], headers="keys"))
    args.json.write_text(json.dumps({"environment": environment, "rows": rows}, indent=2, default=str) + "\n")


def measurements(args: argparse.Namespace, place: Place) -> Iterator[Row]:
    families = list(FAMILIES) if args.families == ["all"] else args.families
    for size in args.sizes:
        encoder_layers, decoder_layers = map(int, size.split("-"))
        for checkpointed in [False, True][: 1 + args.checkpointed]:
            shape = Shape(encoder_layers, decoder_layers, args.width, args.vocabulary, checkpointed)
            batches = samples(shape, place, args.tokens, args.batches)
            for first in range(0, len(families), TOGETHER):
                who = [STOCK, *families[first : first + TOGETHER]]
                halves = [f"{family}, bf16" for family in who[1:] if "bf16" in args.precisions]
                yield from training(shape, place, who + halves, batches, args.rounds)
                for beam in [] if checkpointed else args.beams:
                    rounded = [f"{family}, {name}" for family in who[1:] for name in args.precisions]
                    yield from generation(shape, place, who + rounded, batches, beam, args.rounds)
        yield from optimisers(shape, place, args.rounds)
    yield from start_up(args.rounds)
    for family in ("realformer", "realformer_sum"):
        yield from growth(place, family, args.lengths, args.depths, args.width, args.rounds)


if __name__ == "__main__":
    main()
