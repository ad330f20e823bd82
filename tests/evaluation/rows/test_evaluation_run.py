"""The means of fairseq's own meters, and what is refused before a model is loaded."""

import json
from pathlib import Path

import pytest
from fairseq.logging import metrics
from msgspec import to_builtins
from programs import argv

from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation.rows import evaluation_run
from realformer_nmt.evaluation.rows.evaluate import EvaluateRequest
from realformer_nmt.evaluation.rows.text_rows import Sequences
from realformer_nmt.evaluation.run_record import RunRecord


def request(data: Path, *words: object) -> EvaluateRequest:
    return argv.read(EvaluateRequest, "model.pt", "--data", data, "--output", data / "test.json", *words)


def test_means_are_those_of_every_batch_by_its_weight() -> None:
    with metrics.aggregate() as seen:
        for value, weight in ((2.0, 3), (4.0, 1)):
            metrics.log_scalar("loss", value, weight, round=3)
            metrics.log_scalar("wpb", weight)
            metrics.log_scalar("_parts", value)
        metrics.log_derived("ppl", lambda meters: 2 ** meters["loss"].avg)
        metrics.log_speed("wps", 1.0)
    assert evaluation_run.means(seen.state_dict()) == {"loss": (3 * 2.0 + 1 * 4.0) / 4}


def test_inputs_are_the_subset_and_every_dictionary_also_behind_a_link(tmp_path: Path) -> None:
    read = {"input0/test.idx", "input0/test.bin", "input0/dict.txt", "label/dict.txt"}
    for name in (*read, "input0/train.idx", "log", "test.json"):
        (tmp_path / "elsewhere" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "elsewhere" / name).touch()
    data = tmp_path / "data"
    data.mkdir()
    for entry in (tmp_path / "elsewhere").iterdir():
        (data / entry.name).symlink_to(entry)
    assert evaluation_run.stage_of(request(data)).inputs.keys() == {"checkpoint", *read}


@pytest.mark.parametrize(
    ("words", "subset"), [("--subset absent", "absent"), ("--subset ../test", "../test"), ("--validate", "valid")]
)
def test_a_subset_that_is_not_there_is_named(words: str, subset: str, tmp_path: Path) -> None:
    (tmp_path / "test.idx").touch()
    with pytest.raises(UserError, match=f"holds no subset {subset}"):
        evaluation_run.stage_of(request(tmp_path, *words.split()))


@pytest.mark.parametrize(("bits", "has"), [(900.0, True), (1500.0, False)])
def test_a_loss_beyond_all_numbers_has_no_perplexity(bits: float, has: bool, tmp_path: Path) -> None:
    seen = Sequences()
    seen.rows = {0: (bits, 0, 1), 1: (bits + 200, 1, 1)}  # 1,000 bits a target, 1,100 in some samples
    (tmp_path / "rows").touch()
    scores = evaluation_run.with_rows(RunRecord(), seen, "masked_lm", tmp_path / "rows").scores
    assert scores["masked_accuracy"].score == 50
    assert ("perplexity" in scores) == has
    json.dumps(to_builtins(scores), allow_nan=False)


def test_two_records_have_two_tables() -> None:
    names = [evaluation_run.table_path(Path("lm") / name) for name in ("run-test.json", "lm-0.1", "lm-0.2")]
    assert [str(name) for name in names] == [f"lm/{name}.sequences.tsv" for name in ("run-test", "lm-0.1", "lm-0.2")]
