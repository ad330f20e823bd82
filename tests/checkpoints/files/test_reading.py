"""The one reader of checkpoints: what torch.save wrote comes out as torch reads it, whatever else is one line."""

import argparse
import os
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from programs.program import REPOSITORY

from realformer_nmt.checkpoints import inspection
from realformer_nmt.checkpoints.files import checkpoint_fields, reading, rebuilders
from realformer_nmt.common.errors import UserError
from reliability import attacks_checkpoints, hostile_pickles
from reliability.attacks_checkpoints import READERS
from reliability.pickle_words import raw, scalar
from reliability.trainings import same

TIED = torch.arange(12.0).view(3, 4)
STATE: dict[str, Any] = {
    "model": OrderedDict(a=TIED, b=TIED.t(), c=TIED[1:, ::2], d=torch.tensor(3.5), e=torch.empty(0, 4)),
    "kinds": [torch.ones(3, dtype=kind) for kind in (torch.float16, torch.bfloat16, torch.float64, torch.int64)],
    "flags": torch.tensor([True, False]),
    "bytes": torch.tensor([1, 255], dtype=torch.uint8),
    "plain": ("\N{SNOWMAN}", b"\xff\0", 1, -(2**70), 2.5, None, True, {"a": [1, (2, ())]}, {7: "seven"}),
}


@pytest.mark.parametrize("zipped", [True, False])
def test_what_torch_saves_is_what_torch_reads(tmp_path: Path, zipped: bool) -> None:
    path = tmp_path / "a.pt"
    options, counts = argparse.Namespace(arch="transformer", layers=6), [np.arange(4), np.arange(3.0)]
    torch.save({**STATE, "args": options, "counts": counts}, path, _use_new_zipfile_serialization=zipped)
    actual, expected = reading.load(path), torch.load(path, weights_only=False)
    assert vars(actual.pop("args")) == vars(expected.pop("args"))
    for array, expected_array in zip(actual.pop("counts"), expected.pop("counts"), strict=True):
        assert array.dtype == expected_array.dtype
        assert array.tolist() == expected_array.tolist()
    assert same(actual, expected)
    assert [tensor.dtype for tensor in actual["kinds"]] == [tensor.dtype for tensor in expected["kinds"]]
    assert actual["model"]["a"].data_ptr() == actual["model"]["b"].data_ptr(), "weights that are one stay one"


def test_the_page_on_security_counts_the_names_that_are_read() -> None:
    page = " ".join((REPOSITORY / "SECURITY.md").read_text().split())
    assert f"it knows {len(rebuilders.BUILDERS)} classes and functions, and torch's types of numbers" in page


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("number", [97.25, -0.0, 5e-324, float("inf")])
def test_a_float_of_numpy_is_that_float(tmp_path: Path, number: float, zipped: bool) -> None:
    """The best figure of `--best-checkpoint-metric pearson` is one."""
    path = tmp_path / "a.pt"
    torch.save({"best": np.float64(number)}, path, _use_new_zipfile_serialization=zipped)
    best = reading.load(path)["best"]
    assert type(best) is float
    assert best.hex() == number.hex()
    older = scalar("f8", raw(np.float64(number).tobytes())).replace(b"numpy._core", b"numpy.core")
    path.write_bytes(hostile_pickles.packed(older))
    assert reading.load(path)["model"] == number


def test_the_numbers_of_an_entry_stay_in_the_file(tmp_path: Path) -> None:
    """A flip in them is then no matter, and one in what is read is."""
    path = tmp_path / "a.pt"
    torch.save({"model": {"w": torch.full((99,), 1.5)}, "other": torch.full((99,), 2.5)}, path)
    whole = path.read_bytes()
    place = whole.index(torch.full((9,), 2.5).numpy().tobytes()) + 8
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    state = reading.load(path, ("other",))
    assert state["other"].is_meta
    assert state["other"].shape == (99,)
    assert float(state["model"]["w"].sum()) == 148.5
    with pytest.raises(UserError, match=r"a\.pt: it is not a complete checkpoint \(Bad CRC-32"):
        reading.load(path)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory, toy_corpus: Path) -> Path:
    path = tmp_path_factory.mktemp("good") / "good.pt"
    torch.save(attacks_checkpoints.untrained(toy_corpus), path)
    return path


def test_the_attacks_are_on_what_loads(good: Path) -> None:
    for name, read in READERS.items():
        assert read(good), name


def test_a_hostile_pickle_is_refused_by_every_reader_and_runs_nothing(tmp_path: Path) -> None:
    assert attacks_checkpoints.refuse_pickles(tmp_path) > 800


def test_a_flip_is_refused_or_is_no_matter(good: Path, tmp_path: Path) -> None:
    assert attacks_checkpoints.flip(good, tmp_path, 200) > 100


def test_hostile_settings_are_refused_or_left_out(good: Path, tmp_path: Path) -> None:
    assert attacks_checkpoints.take_no_settings(good, tmp_path, step=3) > 70


@pytest.mark.parametrize("content", [b"", b"a text\n", b"\0" * 5000, b"PK\x03\x04", os.urandom(3000)])
def test_a_file_that_is_no_checkpoint_is_not_said_to_run_code(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.pt"
    path.write_bytes(content)
    for read in READERS.values():
        with pytest.raises(UserError, match=r"notes\.pt: it is not a complete checkpoint") as refused:
            read(path)
        assert not any(words in str(refused.value) for words in ("run code", "weights_only", "\n"))


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("nowhere")])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "checkpoint.pt"
    make(path)
    problem = "(: no such file or folder| is a folder| is no ordinary file)"
    with pytest.raises(UserError, match=rf"checkpoint\.pt{problem}; give"):
        reading.load(path)


def odd_contents(cfg: dict[str, Any], weights: dict[str, Any]) -> dict[str, dict[str, Any]]:
    options = ({"encoder_layers": "one"}, {"encoder_layers": None}, {"encoder_layers": [1]}, {"encoder_layers": -1})
    models = [{**cfg["model"], **changed} for changed in (*options, {"residual_topology": "sideways"})]
    numbers = (torch.ones(2, 2).to_sparse(), torch.ones(2, dtype=torch.complex64), torch.ones(2))
    tables = [{**weights, "w": tensor} for tensor in numbers]
    tables += [{**weights, "encoder.embed_tokens.weight": torch.tensor(1.0)}, {"decoder.embed_tokens.weight": TIED}]
    contents = [
        {"cfg": odd_cfg} for odd_cfg in ([1], "model", None, *({"model": model} for model in ("admin", *models)))
    ]
    return {f"{content}"[:60]: content for content in contents} | {
        f"weights {number}": {"model": odd_weights}
        for number, odd_weights in enumerate(([1], {}, dict.fromkeys(weights, torch.tensor(1.0)), *tables))
    }


def test_odd_contents_are_inspected_to_one_line(good: Path, tmp_path: Path) -> None:
    path, state = tmp_path / "odd.pt", torch.load(good, weights_only=True)
    for name, content in odd_contents(state["cfg"], state["model"]).items():
        torch.save({**state, **content}, path)
        with pytest.raises(UserError, match=r"odd\.pt") as refused:
            inspection.inspect(path)
        assert "\n" not in str(refused.value), name


@pytest.mark.parametrize("history", [None, [], "x", [1], [{"num_updates": "many"}], [{}]])
def test_odd_counters_are_not_known(good: Path, tmp_path: Path, history: Any) -> None:
    path, state = tmp_path / "odd.pt", torch.load(good, weights_only=True)
    torch.save({**state, "optimizer_history": history, "extra_state": {"train_iterator": [1]}}, path)
    loaded = checkpoint_fields.load(path)
    assert (checkpoint_fields.updates(loaded), checkpoint_fields.epochs(loaded)) == (None, None)
    assert inspection.inspect(path).updates is None
