"""Speed of an imported model of OPUS-MT's base size, in int8, beside CTranslate2 and transformers' generate.

The weights are random, so every hypothesis is forced to the same length. Each engine runs in a process of its own, on
one thread, whose processor time counts.

pip install -e '.[bench,huggingface]'
python benchmarks/imported.py --json docs/results/imported_speed.json    # minutes, on a quiet machine
"""

import argparse
import json
import logging
import os
import tempfile
from argparse import Namespace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from tabulate import tabulate
from timing import Apart, Work, interleaved, ratios, spread

from realformer_nmt.common.stages.versions import processor, versions
from realformer_nmt.exporting.importing.import_model import ImportRequest
from realformer_nmt.serving import translator
from realformer_nmt.serving.decoding import SearchOptions

BEAM, LENGTH, VOCABULARY = 4, 24, 58_101
LAYERS = {"layers": 6, "attention_heads": 8, "ffn_dim": 2048}
SIZES = {f"{side}_{name}": size for side in ("encoder", "decoder") for name, size in LAYERS.items()}
TEXT = Namespace(beam=BEAM, max_len_a=0, max_len_b=LENGTH, min_len=LENGTH)  # and the end symbol
WORDS = ["</s>", "<unk>", *(f"w{number}" for number in range(VOCABULARY - 3)), "<pad>"]


def save_random(folder: Path) -> None:
    """Save a Marian model of random weights, with subwords of no language."""
    from transformers import MarianConfig, MarianMTModel

    torch.manual_seed(1)
    symbols = {"eos_token_id": 0, **dict.fromkeys(("pad_token_id", "decoder_start_token_id"), VOCABULARY - 1)}
    config: Any = {
        "d_model": 512,
        "activation_function": "swish",
        "scale_embedding": True,
        **SIZES,
        **symbols,
    }
    model = MarianMTModel(MarianConfig(vocab_size=VOCABULARY, **config))
    model.final_logits_bias.normal_()
    model.save_pretrained(folder)
    (folder / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(WORDS)}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"source_lang": "en", "target_lang": "de"}))
    for name in ("source", "target"):  # which only the tokenizer that CTranslate2's converter loads reads
        options: Any = {"model_prefix": str(folder / name), "vocab_size": 20, "minloglevel": 2}
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=map(str, range(1000)), **options)
        (folder / f"{name}.model").rename(folder / f"{name}.spm")


def by_this_package(folder: Path, precision: str, numbers: torch.Tensor) -> Work:
    loaded = translator.load(folder / "run", cpu=True).loaded(SearchOptions(precision=precision))
    words, generator = loaded.task.source_dictionary, loaded.task.build_generator(loaded.models, TEXT)
    tokens = torch.tensor([[*(words.index(WORDS[number]) for number in row), words.eos()] for row in numbers.tolist()])
    sample = {"net_input": {"src_tokens": tokens, "src_lengths": torch.full((len(tokens),), tokens.size(1))}}
    return lambda: {len(beams[0]["tokens"]) for beams in generator.generate(loaded.models, sample)}


def by_ctranslate2(folder: Path, precision: str, numbers: torch.Tensor) -> Work:
    import ctranslate2
    from ctranslate2.converters import TransformersConverter

    converted = TransformersConverter(str(folder)).convert(str(folder / precision), quantization=precision, force=True)
    engine = ctranslate2.Translator(converted, intra_threads=1, compute_type=precision)
    texts = [[*(WORDS[number] for number in row), WORDS[0]] for row in numbers.tolist()]
    options = {"beam_size": BEAM, "min_decoding_length": LENGTH, "max_decoding_length": LENGTH + 1, "max_batch_size": 0}
    return lambda: {len(each.hypotheses[0]) for each in engine.translate_batch(texts, **options)}


def by_transformers(folder: Path, _: str, numbers: torch.Tensor) -> Work:
    from transformers import MarianMTModel

    model: Any = MarianMTModel.from_pretrained(folder)
    batch = torch.cat([numbers, torch.zeros(len(numbers), 1, dtype=torch.long)], 1)
    options = {"num_beams": BEAM, "min_new_tokens": LENGTH + 1, "max_new_tokens": LENGTH + 1}
    return lambda: {model.generate(input_ids=batch, **options).size(1) - 1}


ENGINES = {
    "transformers, fp32": (by_transformers, "float32"),
    "CTranslate2, int8": (by_ctranslate2, "int8"),
    "this package, fp32": (by_this_package, "fp32"),
    "this package, int8": (by_this_package, "int8"),
}


def make(engine: str, folder: Path, sentences: int) -> Work:
    logging.disable(logging.INFO)
    torch.set_num_threads(1)
    numbers = torch.randint(2, VOCABULARY - 1, (sentences, LENGTH), generator=torch.Generator().manual_seed(1))
    work, precision = ENGINES[engine]
    return work(folder, precision, numbers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", nargs="*", type=int, default=[1, 62])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, default=Path("imported_speed.json"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    load, rows = os.getloadavg()[0], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_random(folder)
        ImportRequest(model=folder, output=folder / "run").run()
        for sentences in args.sentences:
            works: dict[str, Work] = {engine: Apart(make, engine, folder, sentences) for engine in ENGINES}
            print({engine: work() for engine, work in works.items()}, flush=True)  # lengths, the end symbol included
            times = interleaved(works, args.rounds, torch.device("cpu"))
            for engine, ratio in ratios(times, "transformers, fp32").items():
                seconds = round(spread(times[engine]).median, 3)
                rows.append({"sentences": sentences, "engine": engine, "as fast": str(ratio), "seconds": seconds})
    print(tabulate(rows, headers="keys"))
    packages = {name: version(name) for name in ("ctranslate2", "transformers")}
    record = {"versions": {**versions(), **packages}, "processor": processor(), "load": load, "rounds": args.rounds}
    args.json.write_text(json.dumps({**record, "beam": BEAM, "length": LENGTH, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
