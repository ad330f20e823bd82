"""Averages of checkpoints against numpy's mean, and what cannot be averaged."""

import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tiny_models.snapshots import CFG, save
from torch import Tensor

from realformer_nmt.checkpoints.averaging import average
from realformer_nmt.common.errors import UserError


def values(width: int) -> st.SearchStrategy[np.ndarray]:
    elements = st.floats(-100, 100, width=width, allow_subnormal=False)
    return arrays.arrays(np.dtype(f"float{width}"), st.tuples(st.integers(1, 5), st.just(7)), elements=elements)


@pytest.mark.parametrize("width", [16, 32, 64])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_average_is_numpys_mean_in_any_order(tmp_path: Path, width: int, data: st.DataObject) -> None:
    rows = data.draw(values(width))
    counts = data.draw(arrays.arrays(np.int64, len(rows), elements=st.integers(0, 2**40)))
    paths = [
        save(tmp_path / f"{i}.pt", {"weight": torch.tensor(row), "seen": torch.tensor(count)})
        for i, (row, count) in enumerate(zip(rows, counts, strict=True))
    ]
    mean = average(paths)["model"]
    other = average(data.draw(st.permutations(paths)))["model"]
    expected = rows.astype(np.float64).mean(axis=0).astype(rows.dtype)
    assert mean["weight"].numpy().dtype == rows.dtype
    np.testing.assert_allclose(mean["weight"].numpy(), expected, rtol=np.finfo(rows.dtype).eps, atol=1e-12)
    np.testing.assert_allclose(other["weight"].numpy(), expected, rtol=np.finfo(rows.dtype).eps, atol=1e-12)
    assert int(mean["seen"]) == int(other["seen"]) == sum(map(int, counts)) // len(counts)


def test_small_numbers_survive_in_half_precision(tmp_path: Path) -> None:
    """2048 + 1 is 2048 in fp16: a sum in the precision of the weights would lose every step."""
    paths = [save(tmp_path / f"{i}.pt", {"w": torch.tensor([2048.0, 1.0, 1.0])[i : i + 1].half()}) for i in range(3)]
    assert average(paths)["model"]["w"].item() == np.float16(2050 / 3)
    large = [save(tmp_path / f"l{i}.pt", {"w": torch.tensor([60000.0]).half()}) for i in range(3)]
    assert average(large)["model"]["w"].item() == np.float16(60000)


def test_tied_tensors_stay_tied_and_are_stored_once(tmp_path: Path) -> None:
    def tied(value: float) -> dict[str, Tensor]:
        matrix = torch.full((100, 100), value)
        return {"encoder.embed": matrix, "decoder.embed": matrix, "untied": matrix.clone()}

    mean = average([save(tmp_path / f"{value}.pt", tied(value)) for value in (1.0, 4.0)])["model"]
    assert mean["encoder.embed"].data_ptr() == mean["decoder.embed"].data_ptr() != mean["untied"].data_ptr()
    assert mean["decoder.embed"].eq(2.5).all()
    untied_later = save(tmp_path / "untied.pt", {name: t.clone() + i for i, (name, t) in enumerate(tied(1.0).items())})
    mean = average([tmp_path / "1.0.pt", untied_later])["model"]
    assert (mean["encoder.embed"][0, 0].item(), mean["decoder.embed"][0, 0].item()) == (1.0, 1.5)


def test_what_is_not_alike_is_refused_by_name(tmp_path: Path) -> None:
    first = save(tmp_path / "first.pt", {"w": torch.ones(2), "b": torch.ones(1)})
    unlike = {
        "shape.pt": ({"w": torch.ones(3), "b": torch.ones(1)}, {}, r"w is \(3,\) torch.float32, there \(2,\)"),
        "dtype.pt": ({"w": torch.ones(2).half(), "b": torch.ones(1)}, {}, r"w is \(2,\) torch.float16"),
        "fewer.pt": ({"w": torch.ones(2)}, {}, r"b is nothing, there \(1,\)"),
        "more.pt": ({"w": torch.ones(2), "b": torch.ones(1), "c": torch.ones(1)}, {}, r"c is \(1,\) .*, there nothing"),
        "choice.pt": (
            {"w": torch.ones(2), "b": torch.ones(1)},
            {"cfg": {**CFG, "model": {"_name": "realformer_tiny", "residual_topology": "pre"}}},
            "residual_topology is pre, there post",
        ),
    }
    for name, (model, changes, message) in unlike.items():
        path = save(tmp_path / name, model, **changes)
        with pytest.raises(UserError, match=f"{name} is of another model than .*first.pt: {message}"):
            average([first, path])


def test_models_of_other_words_are_not_averaged(tmp_path: Path) -> None:
    """Their weights have the same names and shapes."""

    def of_words(name: str, languages: list[str], source: str) -> Path:
        task_state = {"languages": languages, "dictionaries": {"source": source, "target": "ef56"}}
        return save(tmp_path / name, {"w": torch.ones(2)}, task_state=task_state)

    first, second = of_words("first.pt", ["en", "de"], "ab12"), of_words("second.pt", ["en", "de"], "ab12")
    older = save(tmp_path / "older.pt", {"w": torch.ones(2)})
    assert average([first, second, older])["model"]["w"].tolist() == [1, 1]
    with pytest.raises(UserError, match=r"languages is \['de', 'en'\], there \['en', 'de'\]"):
        average([first, of_words("back.pt", ["de", "en"], "ab12")])
    with pytest.raises(UserError, match="the source dictionary is cd34, there ab12"):
        average([first, of_words("other.pt", ["en", "de"], "cd34")])


def test_a_legacy_namespace_is_compared_by_its_choices_alone(tmp_path: Path) -> None:
    def legacy(name: str, **options: Any) -> Path:
        namespace = Namespace(arch="transformer", encoder_normalize_before=False, **options)
        return save(tmp_path / name, {"w": torch.ones(2)}, cfg={"model": namespace})

    assert average([legacy("a.pt", max_epoch=3), legacy("b.pt", max_epoch=4)])["model"]["w"].tolist() == [1, 1]
    with pytest.raises(UserError, match="activation_fn is gelu, there relu"):
        average([legacy("c.pt", activation_fn="relu"), legacy("d.pt", activation_fn="gelu")])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_not_finite_are_refused_by_name(tmp_path: Path, value: float) -> None:
    good = save(tmp_path / "good.pt", {"w": torch.ones(2)})
    bad = save(tmp_path / "bad.pt", {"w": torch.tensor([1.0, value])})
    with pytest.raises(UserError, match=r"bad\.pt: w holds NaN or infinity"):
        average([good, bad])


def test_memory_does_not_grow_with_the_number_of_checkpoints(tmp_path: Path) -> None:
    """16 MB of weights and twice that of optimizer state a file: peak memory of two and of eight files."""
    size = 4 << 20
    for i in range(8):
        optimizer = {"exp_avg": torch.ones(size), "exp_avg_sq": torch.ones(size)}
        model, meters = {"w": torch.full((size,), float(i))}, {"metrics": {"train": [(0, "", "", torch.ones(1))]}}
        save(tmp_path / f"checkpoint{i}.pt", model, last_optimizer_state=optimizer, extra_state=meters)
    two, eight = peak_memory(tmp_path, 2, 8)
    assert eight - two < 6 * (16 << 20)  # what six more files hold of weights; of optimizer state they hold twice that


def peak_memory(folder: Path, *numbers: int) -> list[int]:
    program = (
        "import resource, sys, pathlib\n"
        "from realformer_nmt.checkpoints import averaging, selection\n"
        "for number in map(int, sys.argv[2:]):\n"
        "    averaging.average(selection.last(pathlib.Path(sys.argv[1]), number, selection.EPOCH))\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    command = [sys.executable, "-c", program, str(folder), *map(str, numbers)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [int(line) << 10 for line in done.stdout.splitlines()[-len(numbers) :]]
