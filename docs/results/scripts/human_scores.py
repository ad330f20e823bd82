"""Compare `significance` and its column "people agree" with people's scores, for all pairs of real systems.

python docs/results/scripts/human_scores.py WMT24 MQM docs/results/human_scores.json

WMT24 and MQM are clones of github.com/wmt-conference/wmt24-news-systems (bfa937e) and google/wmt-mqm-human-evaluation
(7fadea2). A test set is the lines of which people scored every system's translation. Metrics and people's scores are
tested alike: by exchanges of lines, and of whole documents.
"""

import argparse
import csv
import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from sacrebleu.metrics.base import Metric, Score

from realformer_nmt.common.files.text_lines import read_lines
from realformer_nmt.common.stages.versions import versions
from realformer_nmt.evaluation.agreement import FITS
from realformer_nmt.evaluation.exchanges import Exchanges
from realformer_nmt.evaluation.metrics.metric_table import METRICS
from realformer_nmt.evaluation.metrics.segment_mean import mean_of
from realformer_nmt.evaluation.p_values import ALPHA
from realformer_nmt.evaluation.significance import scorer

SAMPLES, SEED = 1000, 12345
STRICT = 0.01
LANGUAGES = {"ces": "en-cs", "hin": "en-hi", "jpn": "en-ja", "zho": "en-zh"}
UNSPLIT = ("WMT24 en-ja", "WMT24 en-zh")  # BLEU's tokeniser 13a does not split these languages
REFERENCES = {"ende": "ref", "zhen": "refB"}  # the one that people prefer

Texts = Mapping[str, Mapping[int, str]]  # by system and line
Scores = Mapping[str, Mapping[int, list[float]]]


class RatedSet(NamedTuple):
    """Test set whose every line people scored, for each system."""

    name: str
    texts: dict[str, list[str]]  # by system
    scores: dict[str, list[float]]
    reference: list[str]
    documents: list[str]


def build(name: str, texts: Texts, scores: Scores, reference: Mapping[int, str], ids: Mapping[int, str]) -> RatedSet:
    systems = [system for system in scores if not system.startswith("ref")]
    lines = sorted(set.intersection(*(set(scores[system]) for system in systems)))
    return RatedSet(
        name,
        {system: [texts[system][line] for line in lines] for system in systems},
        {system: [float(np.mean(scores[system][line])) for line in lines] for system in systems},
        [reference[line] for line in lines],
        [ids[line] for line in lines],
    )


def wmt24(clone: Path) -> Iterator[RatedSet]:
    """Yield the pairs scored by ESA, without tutorials, controls, and documents that are repeated or incomplete."""
    scores: dict[str, dict[str, dict[int, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for wave in (2, 3):
        for row in csv.reader(read_lines(clone / f"humeval/esa_generalMT2024_wave{wave}.csv")):
            _, system, line, kind, _, language, score, document, *_ = row
            if kind == "TGT" and "tutorial" not in system and "#" not in document and document != "canary":
                scores[LANGUAGES[language]][system][int(line)].append(float(score))
    for pair, systems in sorted(scores.items()):
        paths = {system: f"system-outputs/{pair}/{system}.txt" for system in systems if system != "refA"}
        paths |= {"refA": f"references/{pair}.refA.txt", "documents": f"documents/{pair}.docs"}
        texts = {name: dict(enumerate(read_lines(clone / "txt" / path))) for name, path in paths.items()}
        yield build(f"WMT24 {pair}", texts, systems, texts["refA"], texts["documents"])


def ted(clone: Path) -> Iterator[RatedSet]:
    """Yield the pairs scored by MQM; the file of errors has the texts, in which errors are marked."""
    for pair, reference in REFERENCES.items():
        texts: dict[str, dict[int, str]] = defaultdict(dict)
        documents: dict[int, str] = {}
        for row in read_lines(clone / f"ted/{pair}/mqm_ted_{pair}.tsv")[1:]:
            system, document, _, line, _, _, text, *_ = row.split("\t")
            texts[system][int(line)] = text.replace("<v>", "").replace("</v>", "")
            documents[int(line)] = document
        scores: dict[str, dict[int, list[float]]] = defaultdict(dict)
        for row in read_lines(clone / f"ted/{pair}/mqm_ted_{pair}.avg_seg_scores.tsv")[1:]:
            system, score, line = row.split()
            scores[system] |= {} if score == "None" else {int(line): [float(score)]}
        yield build(f"TED {pair[:2]}-{pair[2:]}", texts, scores, texts[reference], documents)


class OfStatistics(NamedTuple):
    """Metric of lines or documents whose statistics are computed."""

    metric: Metric

    def _extract_corpus_statistics(self, rows: np.ndarray, _: object) -> np.ndarray:
        return rows

    def _aggregate_and_compute(self, rows: list[list[float]]) -> Score:
        return cast("Score", self.metric._aggregate_and_compute(rows))


def compare(metric: Metric, lines: Mapping[str, list[str]], rated: RatedSet) -> np.ndarray:
    """Return 3 x pairs: the difference of two systems, and its p by exchanges of lines and of documents."""
    documents = np.array(rated.documents)
    members = np.array([documents == name for name in sorted(set(documents))], dtype=float)
    tables = [np.array(metric._extract_corpus_statistics(each, [rated.reference]), float) for each in lines.values()]
    scores = [metric._aggregate_and_compute([table.sum(axis=0)]).score for table in tables]
    differences = [system - baseline for system, baseline in itertools.combinations(scores, 2)]
    by_lines = [p_of(metric, *pair) for pair in itertools.combinations(tables, 2)]
    by_documents = [p_of(metric, *pair) for pair in itertools.combinations([members @ table for table in tables], 2)]
    return np.array([differences, by_lines, by_documents])


def p_of(metric: Metric, system: np.ndarray, baseline: np.ndarray) -> float:
    exchanges = Exchanges(cast("Metric", OfStatistics(metric)), cast("Any", system), cast("Any", baseline), [])
    return max(exchanges.p_of_samples(SAMPLES, SEED), exchanges.smallest_p())


def row(rated: RatedSet, name: str, people: np.ndarray) -> dict[str, object]:
    """Count pairs of systems: all, those with a small p, and those that people cannot tell apart."""
    tests = compare(scorer(name), rated.texts, rated)
    same, small, undecided = tests[0] * people[0] > 0, tests[1:] < ALPHA, people[1:] >= ALPHA
    strict = tests[1] < STRICT
    return {
        "set": rated.name,
        "metric": METRICS[name].label,
        "systems": len(rated.texts),
        "lines": len(rated.reference),
        "documents": len(set(rated.documents)),
        "pairs": len(same),
        "same order": int(same.sum()),
        "people agree": float(np.mean([FITS[name, ""].accuracy(difference) for difference in tests[0]])),
        "people undecided": undecided.sum(axis=1).tolist(),  # by lines, by documents
        "significant": small.sum(axis=1).tolist(),
        "significant, same order": (small & same).sum(axis=1).tolist(),
        "significant, people undecided": (small[:, None] & undecided).sum(axis=-1).tolist(),  # metric's x people's
        "significant, against people": (small[:, None] & ~undecided & ~same).sum(axis=-1).tolist(),
        "significant by both": int(small.all(axis=0).sum()),
        "strictly significant": [int(strict.sum()), int((strict & small[1]).sum())],  # by lines; and by documents
    }


def rows(rated: RatedSet) -> Iterator[dict[str, object]]:
    people = compare(mean_of({}), {system: list(map(repr, scores)) for system, scores in rated.scores.items()}, rated)
    for name in ("chrf",) if rated.name in UNSPLIT else ("bleu", "chrf"):
        yield row(rated, name, people)
        print(rated.name, name, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("wmt24", "mqm", "file"):
        parser.add_argument(name, type=Path)
    args = parser.parse_args()
    sets = itertools.chain(wmt24(args.wmt24), ted(args.mqm))
    measured = [each for rated in sets for each in rows(rated)]
    record = {"versions": versions(), "samples": SAMPLES, "seed": SEED, "rows": measured}
    args.file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
