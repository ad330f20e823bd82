"""Held-out text of a model of one side, as its task validates it: cut into samples and masked as in the training."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fairseq import tasks
from omegaconf import OmegaConf
from torch import Tensor

from realformer_nmt.analysis.text import Batch, Text
from realformer_nmt.common.errors import UserError, one_line
from realformer_nmt.fairseq_patches.quiet import quiet


@dataclass(frozen=True)
class OneText(Text):
    """Of which a model's only side reads samples."""

    side: str
    task: Any  # fairseq's

    @staticmethod
    def demand(data: Path, subset: str) -> None:
        if not (data / f"{subset}.idx").is_file():
            found = sorted({file.name.partition(".")[0] for file in data.glob("*.idx")})
            raise UserError(f"{data} holds no subset {subset} of one text: there are {', '.join(found) or 'none'}")

    def lengths(self) -> np.ndarray:
        (samples,) = self.sides
        return np.array([[samples.num_tokens(place)] for place in self.chosen])

    def tokens(self, line: str) -> Tensor:
        """Of a sentence as the model reads it, 1 x T; nothing is masked."""
        encoded = self.dictionaries[0].encode_line(line, add_if_not_exist=False).long()
        samples = self.task.build_dataset_for_inference([encoded], [len(encoded)])
        tokens: Tensor = samples.collater([samples[0]])["net_input"]["src_tokens"]
        return tokens

    def _batch(self, places: list[int]) -> Batch:
        (samples,) = self.sides
        found = samples.collater([samples[place] for place in places])
        return Batch(places, {self.side: found["net_input"]["src_tokens"]}, found["target"])


def read(kind: type[OneText], path: Path, settings: Mapping[str, Any], side: str, data: Path, subset: str) -> OneText:
    """By the settings of a checkpoint's task."""
    kind.demand(data, subset)
    asked = {**settings, "data": str(data), "use_plasma_view": False}  # which would start a server
    try:
        with quiet():
            task = tasks.setup_task(OmegaConf.create(asked), from_checkpoint=True)
            task.load_dataset(subset)
    except UserError:
        raise
    except Exception as error:  # fairseq has no class for any of its complaints
        raise UserError(f"{path} has settings of its task that do not fit {data}: {one_line(error)}") from error
    samples = task.dataset(subset)
    samples.set_epoch(1)  # what is masked depends on it: fairseq validates in the first
    return kind((task.source_dictionary,), (samples,), range(len(samples)), side, task)
