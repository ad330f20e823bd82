"""Held-out text of a model of a single stack, cut into samples and masked as its task does for validation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fairseq import tasks
from omegaconf import OmegaConf
from torch import Tensor

from realformer_nmt.analysis.text import Batch, Text
from realformer_nmt.checkpoints.files.checkpoint_fields import Options
from realformer_nmt.common.errors import UserError, one_line
from realformer_nmt.fairseq_patches.messages.quiet import quiet


@dataclass(frozen=True)
class OneText(Text):
    """Text whose samples are read by the only stack of a model."""

    side: str
    task: Any  # fairseq's

    def lengths(self) -> np.ndarray:
        (samples,) = self.sides
        return np.array([[samples.num_tokens(index)] for index in self.indices])

    def tokens(self, line: str) -> Tensor:
        """Return the tokens of a sentence as the model reads it, 1 x T, without masks."""
        encoded = self.dictionaries[0].encode_line(line, add_if_not_exist=False).long()
        samples = self.task.build_dataset_for_inference([encoded], [len(encoded)])
        tokens: Tensor = samples.collater([samples[0]])["net_input"]["src_tokens"]
        return tokens

    def _batch(self, indices: list[int]) -> Batch:
        (samples,) = self.sides
        sample = samples.collater([samples[index] for index in indices])
        return Batch(indices, {self.side: sample["net_input"]["src_tokens"]}, sample["target"])


def read(kind: type[OneText], path: Path, settings: Options, side: str, data: Path, subset: str) -> OneText:
    """Read a subset of a data-bin by the settings of a checkpoint's task."""
    options = {**settings, "data": str(data), "use_plasma_view": False}  # plasma would start a server
    try:
        with quiet():
            task = tasks.setup_task(OmegaConf.create(options), from_checkpoint=True)
            task.load_dataset(subset)
    except UserError:
        raise
    except Exception as error:  # fairseq raises errors of any class
        problem = f"has settings of its task that do not fit {subset} of {data}: {one_line(error)}"
        raise UserError(f"{path} {problem}; give another --subset or --data") from error
    samples = task.dataset(subset)
    samples.set_epoch(1)  # the masks depend on the epoch: fairseq validates in the first
    if "target" not in samples[0]:
        raise UserError(f"{data} has no labels of {subset}: give a subset that has labels")
    return kind((task.source_dictionary,), (samples,), range(len(samples)), side, task)
