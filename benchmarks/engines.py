"""Beam search by stock fairseq, by this package in every precision, and by CTranslate2, on the same weights.

CTranslate2 runs in processes of its own: in one process with it our batches took 1.6 times as long, stock's no longer.

pip install -e '.[bench]'
python benchmarks/engines.py                        # 62 sentences together and single ones, with 1 and 2 threads

With --shapes one family races itself: how many times as fast as the first shape is each? CTranslate2 is not needed.

python benchmarks/engines.py --shapes 6-6 12-1 6-2 --json docs/results/distillation/speed.json

One thread is timed by its processor time, several by the clock.
"""

import argparse
import ctypes
import gc
import json
import logging
import multiprocessing
import os
import platform
import tempfile
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from tabulate import tabulate
from timing import Apart, Work, interleaved, ratios, spread
from torch import nn
from workloads import PAD, STOCK, Place, Sample, Shape, build, generator, samples, task

from realformer_nmt.common.stages.versions import processor, versions
from realformer_nmt.protocols.command import layers

BLANK = "<blank>"  # its name for padding


def exported(
    model: nn.Module, shape: Shape, samples: list[Sample], beam: int, precision: str, device: str = "cpu"
) -> Callable[[], int]:
    """Return CTranslate2's `generator`: one call translates the samples, to hypotheses of their sources' length."""
    words = [
        BLANK if index == PAD else word for index, word in enumerate(task(shape.vocabulary).target_dictionary.symbols)
    ]
    translator = _translator(model, shape, words, precision, device)
    batches: list[Any] = [sample["net_input"]["src_tokens"] for sample in samples]
    texts = [[[words[index] for index in row[row.ne(PAD)][:-1]] for row in batch] for batch in batches]

    def translate() -> int:
        written = 0
        for batch, text in zip(batches, texts, strict=True):
            longest = batch.size(1)
            translations = translator.translate_batch(
                text, beam_size=beam, min_decoding_length=longest - 1, max_decoding_length=longest, max_batch_size=0
            )
            written += sum(len(result.hypotheses[0]) + 1 for result in translations)
        return written

    return translate


def _translator(model: nn.Module, shape: Shape, words: list[str], precision: str, device: str) -> Any:
    import ctranslate2
    from ctranslate2.converters.fairseq import set_transformer_decoder, set_transformer_encoder
    from ctranslate2.specs import TransformerSpec

    heads = max(1, shape.width // 64)
    spec = TransformerSpec.from_config((shape.encoder_layers, shape.decoder_layers), heads, pre_norm=False)
    set_transformer_encoder(spec.encoder, model.encoder)
    set_transformer_decoder(spec.decoder, model.decoder)
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.decoder_start_token, spec.config.add_source_eos = spec.config.eos_token, True
    spec.validate()
    spec.optimize(quantization=precision)
    with tempfile.TemporaryDirectory() as folder:
        spec.save(folder)
        threads = torch.get_num_threads()
        return ctranslate2.Translator(folder, device=device, intra_threads=threads, compute_type=precision)


PLACE = Place(torch.device("cpu"), torch.float32)
TINY = Shape(1, 1, 64, 1000)  # what the libraries keep for themselves they keep for it, too


def resident(who: str, shape: Shape, tokens: int, beam: int) -> int:
    """Return the bytes that an engine takes, measured in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_grown, (who, shape, tokens, beam))


def weights(shape: Shape) -> int:
    """Return the bytes of the weights of stock fairseq's model."""
    return sum(parameter.nbytes for parameter in build(STOCK, shape, PLACE).parameters())


def _grown(who: str, shape: Shape, tokens: int, beam: int) -> int:
    torch.set_num_threads(1)
    generator(who, TINY, PLACE, samples(TINY, PLACE, tokens, 1), beam)()
    batch = samples(shape, PLACE, tokens, 1)
    before = _resident()
    generate = generator(who, shape, PLACE, [*batch, *alone(batch)], beam)
    generate()
    return _resident() - before


def alone(batches: list[Sample]) -> list[Sample]:
    """The first sentence of each."""
    return [{"net_input": {key: value[:1] for key, value in batch["net_input"].items()}} for batch in batches]


def _resident() -> int:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what is free goes back to the system
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


PLACE = Place(torch.device("cpu"), torch.float32)
OURS = ["post_ln", "post_ln, bf16", "post_ln, int8", "realformer, int8"]
THEIRS = {"CTranslate2": "float32", "CTranslate2, int8": "int8"}
Row = dict[str, Any]


def race(shape: Shape, batches: list[Sample], who: list[str], beam: int, rounds: int) -> Iterator[Row]:
    stock = build(STOCK, shape, PLACE).eval().requires_grad_(False)
    for label, inputs in (("single sentences", alone(batches)), (f"{sentences(batches)} sentences together", batches)):
        works: dict[str, Work] = {name: generator(name, shape, PLACE, inputs, beam, stock) for name in (STOCK, *who)}
        arguments = (shape, inputs, beam, torch.get_num_threads())
        works |= {name: Apart(translated_apart, kind, *arguments) for name, kind in THEIRS.items()}
        times = interleaved(works, rounds, PLACE.device)
        for name, ratio in ratios(times, STOCK).items():
            threads, seconds = torch.get_num_threads(), round(spread(times[name]).median, 3)
            yield {"what": label, "threads": threads, "engine": name, "against stock": str(ratio), "seconds": seconds}
        del works


def translated_apart(precision: str, shape: Shape, inputs: list[Sample], beam: int, threads: int) -> Work:
    logging.disable(logging.INFO)
    torch.set_num_threads(threads)
    stock = build(STOCK, shape, PLACE).eval().requires_grad_(False)  # the same each time: its seed is fixed
    return exported(stock, shape, inputs, beam, precision)


def sentences(batches: list[Sample]) -> int:
    return sum(len(batch["net_input"]["src_tokens"]) for batch in batches)


def memory(shape: Shape, who: list[str], tokens: int, beam: int) -> Iterator[Row]:
    whole = weights(shape)
    for name in who:
        footprint = resident(name, shape, tokens, beam)
        yield {"engine": name, "MB": round(footprint / 1e6), "of stock's weights": round(footprint / whole, 2)}


def race_shapes(args: argparse.Namespace) -> Row:
    """One family with each depth of encoder and decoder, on one thread."""
    torch.set_num_threads(1)
    shapes = {name: Shape(*layers(name)) for name in args.shapes}
    together = samples(shapes[args.shapes[0]], PLACE, args.tokens, 1)
    rows = []
    for what, inputs in {"single sentences": alone(together), "together": together}.items():
        works = {name: generator(args.family, shape, PLACE, inputs, args.beam) for name, shape in shapes.items()}
        times = interleaved(works, args.rounds, PLACE.device)
        for name, ratio in ratios(times, args.shapes[0]).items():
            seconds = round(spread(times[name]).median, 3)
            rows.append({"layers": name, "what": what, "as fast": str(ratio), "seconds": seconds})
    print(tabulate(rows, headers="keys"))
    setup = {"versions": versions(), "processor": processor(), "load": os.getloadavg()[0], "rounds": args.rounds}
    return {**setup, "family": args.family, "beam": args.beam, "sentences": sentences(together), "rows": rows}


def race_engines(args: argparse.Namespace) -> None:
    shape = Shape(6, 6)
    batches = samples(shape, PLACE, args.tokens, 1)
    report: Row = {
        "versions": {**versions(), "ctranslate2": version("ctranslate2")},
        "python": platform.python_version(),
    }
    report |= {"processor": processor(), "cores": os.cpu_count(), "load": os.getloadavg()[0], "rounds": args.rounds}
    report |= {"speed": [], "memory": []}
    for threads in args.threads:
        torch.set_num_threads(threads)
        record(report, "speed", race(shape, batches, args.ours, args.beam, args.rounds), args.json)
    record(report, "memory", memory(shape, args.ours, args.tokens, args.beam), args.json)
    print(*(tabulate(report[name], headers="keys") for name in ("speed", "memory")), sep="\n\n")


def record(report: Row, name: str, rows: Iterable[Row], file: Path) -> None:
    """Write each row when it comes: a race takes long."""
    for row in rows:
        report[name].append(row)
        file.write_text(json.dumps(report, indent=1) + "\n")
        print(row, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", nargs="*", default=OURS, help="families, with a precision behind a comma")
    parser.add_argument("--threads", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--shapes", nargs="+", metavar="N-M", help="race these layers of --family instead")
    parser.add_argument("--family", default="realformer", help="of --shapes")
    parser.add_argument("--tokens", type=int, help="of the batch (1500; of --shapes 500)")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, default=Path("engines.json"))
    args = parser.parse_args()
    logging.disable(logging.INFO)
    args.tokens = args.tokens or (500 if args.shapes else 1500)
    if args.shapes:
        args.json.write_text(json.dumps(race_shapes(args), indent=1) + "\n")
    else:
        race_engines(args)


if __name__ == "__main__":
    main()
