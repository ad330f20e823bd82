"""p-values against full enumeration and the sacrebleu command line; what is refused."""

import itertools
import json
import math
import os
import re
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from programs import argv
from programs.program import realformer_nmt
from sacrebleu.metrics import BLEU
from texts.translation_records import record

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.evaluation import significance, tested_system
from realformer_nmt.evaluation.run_record import RecordedFile, RunRecord, Score
from realformer_nmt.evaluation.significance import SignificanceRequest, compare
from realformer_nmt.evaluation.tested_system import System
from reliability.fuzzed_inputs import MODEL

WORDS = list("abcdefgh")


def reference(number: int) -> list[str]:
    chance = np.random.default_rng(1)
    return [" ".join(chance.choice(WORDS, 12)) for _ in range(number)]


def spoilt(lines: list[str], part: float, seed: int) -> list[str]:
    """Return the lines with about this part of their words replaced."""
    chance = np.random.default_rng(seed)
    return [
        " ".join(str(chance.choice(WORDS)) if chance.random() < part else w for w in line.split()) for line in lines
    ]


def run_json(path: Path, hypotheses: list[str], lines: list[str], corpus: str | None = "c") -> Path:
    """Write a run.json as `score` does, as far as it matters here."""
    files = {}
    for name, text in (("hypotheses", hypotheses), ("reference", lines)):
        file = path.with_suffix(f".{name}")
        file.write_text("".join(f"{line}\n" for line in text))
        files[name] = RecordedFile(path=file.name, sha256=sha256(file))
    translation = record(corpus=corpus, subset="test", lines=len(hypotheses))
    run = RunRecord(corpus=corpus, subset="test", models=[MODEL], translation=translation, files=files)
    records.write(path, run)
    return path


def called(*words: object) -> SignificanceRequest:
    return argv.read(SignificanceRequest, *words)


def test_p_is_near_what_all_exchanges_of_lines_give() -> None:
    """Two systems of eight lines have 256 exchanges; p lies within four deviations of their share."""
    lines = reference(8)
    one, other = spoilt(lines, 0.2, 1), spoilt(lines, 0.4, 2)

    def difference(first: list[str], second: list[str]) -> float:
        return abs(BLEU().corpus_score(first, [lines]).score - BLEU().corpus_score(second, [lines]).score)

    observed = difference(one, other)
    pairs = list(zip(one, other, strict=True))
    larger = 0
    for swaps in itertools.product([False, True], repeat=8):
        mixed = [pair[::-1] if swap else pair for pair, swap in zip(pairs, swaps, strict=True)]
        larger += difference([pair[0] for pair in mixed], [pair[1] for pair in mixed]) > observed - 1e-9
    exact = larger / 256
    systems = [System(name, "", hypotheses, lines, "") for name, hypotheses in (("a", one), ("b", other))]
    (row,) = compare(systems, ["bleu"], "ar", 4000, 1)
    assert 0.01 < exact < 0.99
    assert abs(row.p - exact) < 4 * (exact * (1 - exact) / 4000) ** 0.5 + 1 / 4001
    assert row.difference == pytest.approx(
        BLEU().corpus_score(other, [lines]).score - BLEU().corpus_score(one, [lines]).score
    )


@pytest.mark.parametrize("unequal", [0, 1, 2, 3])
def test_systems_that_hardly_differ_are_not_found_to_differ(unequal: int) -> None:
    """Two of the 2^d exchanges of d unequal lines reach the difference, all and none; sacreBLEU counts neither."""
    lines = reference(60)
    other = [f"{line} x" if place < unequal else line for place, line in enumerate(lines)]
    systems = [System(str(place), "c test", text, lines, "") for place, text in enumerate((lines, other))]
    for test in ("ar", "bs"):
        (row,) = compare(systems, ["bleu"], test, 1000, 1)
        assert row.p >= min(1.0, 2 / 2**unequal)
        assert not row.significant


@pytest.mark.parametrize(("better", "worse"), [(11, 4), (20, 10), (4, 11)])
def test_samples_that_equal_the_difference_count(better: int, worse: int) -> None:
    """Each unequal line changes the score by as much, so the exact p is that of the sign test."""
    lines = [" ".join(f"w{number}{letter}" for letter in "abcdef") for number in range(200)]
    one, other = list(lines), list(lines)
    for number in range(better + worse):
        text = one if number < better else other
        text[number] = " ".join([*lines[number].split()[:-1], "zz"])
    unequal = better + worse
    tail = sum(math.comb(unequal, number) for number in range(min(better, worse) + 1))
    exact = 2 * tail / 2**unequal
    systems = [System(name, "", text, lines, "") for name, text in (("a", one), ("b", other))]
    (row,) = compare(systems, ["bleu"], "ar", 4000, 12345)
    assert abs(row.p - exact) < 4 * (exact * (1 - exact) / 4000) ** 0.5


def test_lines_that_change_no_statistic_are_no_differences() -> None:
    """There are 200 lines: 12 have another wrong word, one is better, and each exchange reaches the difference."""
    lines = reference(200)
    one = [f"{line} y" if place < 12 else line for place, line in enumerate(lines)]
    other = [f"{line} z" if place < 12 else line for place, line in enumerate(lines)]
    one[50] += " y"
    systems = [System(name, "c test", text, lines, "") for name, text in (("a", one), ("b", other))]
    for test in ("ar", "bs"):
        (row,) = compare(systems, ["bleu"], test, 1000, 1)
        assert (row.p, row.significant) == (1, False)


@pytest.mark.parametrize("test", ["ar", "bs"])
def test_systems_of_one_score_do_not_differ(test: str) -> None:
    """No line of either has a word of the reference, so that BLEU is 0 and so is the difference of every exchange."""
    lines = reference(40)
    systems = [System(word, "c test", [f"{word} {number}" for number in range(40)], lines, "") for word in "yz"]
    (row,) = compare(systems, ["bleu"], test, 500, 1)
    assert (row.difference, row.p, row.significant) == (0, 1, False)


@pytest.mark.parametrize(("test", "flag"), [("ar", "--paired-ar"), ("bs", "--paired-bs")])
def test_p_is_that_of_the_sacrebleu_command(tmp_path: Path, test: str, flag: str) -> None:
    lines = reference(60)
    runs = [
        run_json(tmp_path / f"{part}.json", spoilt(lines, part, seed), lines)
        for seed, part in enumerate([0.2, 0.22, 0.4])
    ]
    systems = [tested_system.read(path) for path in runs]
    rows = compare(systems, ["bleu", "chrf"], test, 300, 9)
    program = Path(sysconfig.get_path("scripts"), "sacrebleu")
    files = [path.with_suffix(".hypotheses") for path in runs]
    flags = ["-m", "bleu", "chrf", flag, f"{flag}-n", "300", "-f", "text", "-w", "4"]
    command = [program, runs[0].with_suffix(".reference"), "-i", *files, *flags]
    environment = {**os.environ, "SACREBLEU_SEED": "9"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert re.findall(r"\(p = ([\d.]+)\)", done.stdout) == [f"{row.p:.4f}" for row in rows]
    assert all(f" {row.score:.4f} " in done.stdout for row in rows)
    assert len({row.p for row in rows}) > 2


def test_the_smallest_p_is_a_bound(tmp_path: Path) -> None:
    lines = reference(60)
    names = [("a", lines), ("b", spoilt(lines, 0.5, 1)), ("c", spoilt(lines, 0.6, 2))]
    for name, _ in names:
        (tmp_path / name).mkdir()
    baseline, *runs = [run_json(tmp_path / name / "run.json", text, lines) for name, text in names]
    folders = [run.parent for run in runs]
    done = realformer_nmt("significance", baseline, *folders, "--samples", 999, "--output", tmp_path / "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("< 0.0010") == done.stdout.count("< 0.0020") == 2
    written = json.loads((tmp_path / "out.json").read_text())
    assert [row["p_holm"] for row in written["comparisons"]] == pytest.approx([2 / 1000, 2 / 1000])
    assert all(row["significant"] and row["difference"] < -20 for row in written["comparisons"])
    assert (written["baseline"], written["comparisons"][0]["system"]) == (str(baseline), str(runs[0]))


def test_what_cannot_be_compared_is_refused_by_name(tmp_path: Path) -> None:
    lines = reference(5)
    one = run_json(tmp_path / "one.json", lines, lines, "wmt14_en_de")
    other = run_json(tmp_path / "other.json", lines, lines[::-1], None)
    changed = run_json(tmp_path / "changed.json", lines, lines)
    changed.with_suffix(".hypotheses").write_text("\n" * 5)
    (tmp_path / "else.json").write_text('{"scores": {}}')
    for runs, message in [
        ([one, other], r"other\.json has another reference \(test\) than .*one\.json \(wmt14_en_de test\)"),
        (
            [one, changed],
            r"changed\.hypotheses is missing or has changed since .*changed\.json was written: make changed",
        ),
        ([one, one], "a run is given twice"),
        ([one], "give two runs or more"),
        (
            [one, tmp_path / "else.json"],
            r"else\.json has no seal: it is no record of this package.*; .* score` writes it",
        ),
        ([one, tmp_path / "absent.json"], r"absent\.json: no such file"),
        ([one, tmp_path], r"run\.json: no such file; `realformer-nmt score` writes it"),
    ]:
        with pytest.raises(UserError, match=message):
            significance.run(called(*runs))


def scored_by(model: str, name: str, segments: list[float], lines: list[str]) -> System:
    score = Score(metric="COMET", score=0, signature=f"nrefs:1|sha256:{model}|version:2", segments=segments)
    return System(name, "", [f"{name} {line}" for line in lines], lines, "", scores={"comet": score})


def test_a_neural_metric_is_tested_by_its_scores_of_segments() -> None:
    """The p of all exchanges of eight pairs of numbers, whose mean is the score."""
    lines = reference(8)
    chance = np.random.default_rng(5)
    one, other = (chance.normal(80, 5, 8).round(3), chance.normal(83, 5, 8).round(3))
    systems = [scored_by("a", "one", one.tolist(), lines), scored_by("a", "other", other.tolist(), lines)]
    signs = np.array(list(itertools.product([-1, 1], repeat=8)))
    means = np.abs(signs @ (other - one)) / 8
    exact = float((means > abs((other - one).mean()) + 1e-9).mean())
    (row,) = compare(systems, ["comet"], "ar", 4000, 1)
    assert (row.metric, row.score) == ("COMET x 100", pytest.approx(other.mean()))
    assert row.difference == pytest.approx((other - one).mean())
    assert 0.01 < exact < 0.99
    assert abs(row.p - exact) < 4 * (exact * (1 - exact) / 4000) ** 0.5 + 2 / 256
    assert compare(systems, ["bleu", "comet"], "ar", 4000, 1)[1].p == row.p


def test_scores_of_other_models_or_of_no_segments_are_not_tested() -> None:
    lines = reference(3)
    systems = [scored_by(model, model, [1.0, 2, 3], lines) for model in ("aaa", "bbb")]
    with pytest.raises(UserError, match=r"several comet models .*\(aaa by aaa, bbb by bbb\): score all by one"):
        compare(systems, ["comet"], "ar", 10, 1)
    with pytest.raises(UserError, match="c has no scores of segments in comet: `score --comet MODEL` keeps them"):
        compare([systems[0], System("c", "", lines, lines, "")], ["comet"], "ar", 10, 1)
