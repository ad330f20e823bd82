"""Errors as they come from Python, torch and fairseq, in one line."""

import errno
import os
import runpy
import signal
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest
import torch
from fairseq.data import FairseqDataset
from fairseq.models.transformer_lm import TransformerLanguageModelConfig as LanguageModelConfig
from fairseq.tasks import FairseqTask
from omegaconf import OmegaConf
from omegaconf.errors import InterpolationKeyError

from realformer_nmt.common import error_messages
from realformer_nmt.common.errors import UserError


class Breaking(torch.utils.data.Dataset[int]):
    """Whose worker process meets an error."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> int:
        raise self.error


@pytest.mark.parametrize(
    ("error", "message"), [(UserError("give\nanother"), "give another"), (KeyError("x"), "KeyError")]
)
def test_what_a_worker_process_met(error: Exception, message: str) -> None:
    with pytest.raises(type(error)) as met:
        list(torch.utils.data.DataLoader(Breaking(error), num_workers=1))
    words = error_messages.message_of(met.value)
    assert message in words
    assert "Traceback" not in words
    assert "\n" not in words


def test_what_another_process_met() -> None:
    try:
        raise UserError("rank 1: --lr is wrong")
    except UserError:
        sent = traceback.format_exc()  # as torch.multiprocessing does
    assert error_messages.message_of(RuntimeError(f"-- Process 1 terminated:\n{sent}")) == "rank 1: --lr is wrong"


def test_the_system_is_told_by_file() -> None:
    with pytest.raises(NotADirectoryError) as met:
        Path("/proc/self/mem/absent").read_text()
    assert error_messages.message_of(met.value) == "/proc/self/mem/absent: Not a directory; fix that and run this again"
    assert "has ended" in error_messages.message_of(BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)))


def test_too_much_memory() -> None:
    with pytest.raises(RuntimeError) as met:
        torch.empty(2**60)
    assert "--max-tokens" in error_messages.message_of(met.value)
    assert "--max-tokens" in error_messages.message_of(OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)))


class Killing(Breaking):
    """Whose worker process is killed, as the system does that is out of memory."""

    def __getitem__(self, _: int) -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return 0


def test_a_worker_process_that_is_killed() -> None:
    with pytest.raises(RuntimeError) as met:
        list(torch.utils.data.DataLoader(Killing(UserError()), num_workers=1))
    assert "perhaps for its memory: pass --num-workers 0" in error_messages.message_of(met.value)


class OneText(FairseqDataset):
    sizes = np.array([100])

    def size(self, index: int) -> tuple[np.int64, int]:
        return self.sizes[index], 0


def test_a_text_that_is_longer_than_the_model() -> None:
    with pytest.raises(Exception, match="is invalid") as met:
        FairseqTask(None).filter_indices_by_size(np.array([0]), OneText(), (64, 64))
    message = "has (100, 0) tokens, and the model has room for (64, 64): cut the lines of the text"
    assert message in error_messages.message_of(met.value)


def test_a_model_that_asks_its_task_for_what_it_has_not() -> None:
    model = LanguageModelConfig()
    cfg = OmegaConf.create({"task": {"_name": "question_answering"}, "model": OmegaConf.structured(model)})
    with pytest.raises(InterpolationKeyError) as met:
        OmegaConf.to_container(cfg, resolve=True)
    words = error_messages.message_of(met.value)
    assert words.startswith("this --arch takes ")
    assert "from its --task, and this one has none" in words


def broken() -> None:
    raise AssertionError


def test_a_bare_error_shows_its_line_and_place() -> None:
    with pytest.raises(AssertionError) as met:
        broken()
    words = error_messages.message_of(met.value)
    place = "common/test_error_messages.py"
    assert words.startswith(f"failed with AssertionError: raise AssertionError in {place}, line ")
    assert error_messages.foreseen_message(met.value) is None


@pytest.mark.parametrize("name", ["mine", "elsewhere"])
def test_an_error_in_a_user_dir_is_of_its_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["fairseq-train", "data", "--user-dir", str(tmp_path / "mine")])
    file = tmp_path / name / "__init__.py"
    file.parent.mkdir()
    file.write_text("\n\nshortcut(0)\n")
    with pytest.raises(NameError) as met:
        runpy.run_path(str(file))
    expected = f"{file}, line 3: NameError: name 'shortcut' is not defined; correct that file, and run this again"
    assert (error_messages.message_of(met.value) == expected) is (name == "mine")
