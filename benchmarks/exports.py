"""Compare exported models, each in its engine, with this package: BLEU, and how many hypotheses differ.

pip install -e '.[ctranslate2,onnx,huggingface]'
python benchmarks/exports.py RUN... --prepared FOLDER    # the folders of runs, and of `realformer-nmt prepare`
"""

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

from sacrebleu.metrics.bleu import BLEU
from tabulate import tabulate

from realformer_nmt import plugin
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.stages.versions import processor, versions
from realformer_nmt.corpora import text_pipeline
from realformer_nmt.corpora.corpus_options import CorpusOptions
from realformer_nmt.exporting import loaded_run, onnx_decoding
from realformer_nmt.exporting.export import TARGETS
from realformer_nmt.serving import translator

BEAM, LONGEST = 5, 200  # fairseq's defaults, as its length penalty of 1 is that of all engines
BATCH = 50  # sentences, where an engine does not make its own batches
Pieces = list[list[str]]
Row = dict[str, Any]


class Engine(NamedTuple):
    package: str
    translate: Callable[[Path, Pieces], Pieces]  # by an exported folder


def by_ctranslate2(folder: Path, sentences: Pieces) -> Pieces:
    import ctranslate2

    engine = ctranslate2.Translator(str(folder), compute_type="default")  # as it is stored
    translations = engine.translate_batch(sentences, beam_size=BEAM, max_decoding_length=LONGEST)
    return [result.hypotheses[0] for result in translations]


def by_onnxruntime(folder: Path, sentences: Pieces) -> Pieces:
    model = onnx_decoding.OnnxTranslator(folder)
    return [model.translate(pieces, BEAM, longest=LONGEST) for pieces in sentences]


def by_transformers(folder: Path, sentences: Pieces) -> Pieces:
    from transformers import AutoTokenizer, MarianMTModel

    words: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = MarianMTModel.from_pretrained(folder)
    written: Pieces = []
    for at in range(0, len(sentences), BATCH):
        ids = [words.convert_tokens_to_ids([*pieces, words.eos_token]) for pieces in sentences[at : at + BATCH]]
        batch = words.pad({"input_ids": ids}, return_tensors="pt")
        hypotheses = model.generate(**batch, num_beams=BEAM, max_new_tokens=LONGEST + 1)
        written += [words.convert_ids_to_tokens(row, skip_special_tokens=True) for row in hypotheses]
    return written


ENGINES = {
    "ctranslate2": Engine("ctranslate2", by_ctranslate2),
    "huggingface": Engine("transformers", by_transformers),
    "onnx": Engine("onnxruntime", by_onnxruntime),
}


def judge(path: Path, prepared: Path, engines: list[str]) -> Iterator[Row]:
    corpus = text_pipeline.read(prepared)
    raw, reference = ((prepared / f"test.raw.{side}").read_text().splitlines() for side in corpus.languages)
    run = loaded_run.load(path, CorpusOptions(prepared=prepared))
    model = translator.load(path, prepared=prepared, cpu=True)
    translations = [each[0] for each in model.stream(raw, beam=BEAM, max_len_b=LONGEST)]
    yield row(path, "this package", "fp32", [each.text for each in translations], translations, reference)
    for name in engines:
        for precision in TARGETS[name].precisions:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    resolve_name(f"realformer_nmt.exporting.{TARGETS[name].module}:write")(run, Path(folder), precision)
                except UserError:  # it has no place for this model
                    continue
                pieces = ENGINES[name].translate(Path(folder), [each.source for each in translations])
            texts = corpus.surface([" ".join(each) for each in pieces]).raw
            yield row(path, name, precision, texts, translations, reference)


def row(
    path: Path, engine: str, precision: str, texts: list[str], translations: list[Any], reference: list[str]
) -> Row:
    equal = sum(text == each.text for text, each in zip(texts, translations, strict=True))
    score = BLEU().corpus_score(texts, [reference]).score
    return {"model": path.name, "engine": engine, "precision": precision, "bleu": round(score, 2), "equal": equal}


def key(row: Row) -> tuple[str, ...]:
    """Rows of other models and engines stay in the record."""
    return row["model"], row["engine"] if row["engine"] in ENGINES else "", row["precision"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--engines", nargs="*", choices=ENGINES, default=[*ENGINES])
    parser.add_argument("--json", type=Path, default=Path("exports.json"))
    args = parser.parse_args()
    plugin.register()
    packages = {engine.package: version(engine.package) for engine in ENGINES.values()}
    new_rows = [each for run in args.runs for each in judge(run, args.prepared, args.engines)]
    before = json.loads(args.json.read_text())["rows"] if args.json.is_file() else []
    rows = sorted(({key(each): each for each in (*before, *new_rows)}).values(), key=key)
    record = {"versions": {**versions(), **packages}, "processor": processor(), "beam": BEAM, "rows": rows}
    args.json.write_text(json.dumps(record, indent=1) + "\n")
    print(tabulate(rows, headers="keys"))


if __name__ == "__main__":
    main()
