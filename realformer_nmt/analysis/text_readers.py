"""The reader of held-out text for a checkpoint, here of a text and its translation."""

from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from realformer_nmt.analysis import sentence, text
from realformer_nmt.analysis.measures import alignment
from realformer_nmt.analysis.sentence import Sentence
from realformer_nmt.analysis.text import Text
from realformer_nmt.checkpoints import inspection
from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.checkpoints.files.reading import Checkpoint
from realformer_nmt.data_bins import subsets
from realformer_nmt.model import presets

ONE_TEXT_READER = "realformer_nmt.analysis.single_stack.one_text_reader:OneTextReader"  # for a model of one stack


class Reader:
    """Reader of the text for one checkpoint, here of one that translates."""

    def __init__(self, path: Path, state: Checkpoint) -> None:
        self.path, self.state = path, state

    def files(self, data: Path, subset: str) -> dict[str, Path]:
        words = {f"dict.{side}.txt": data / f"dict.{side}.txt" for side in subsets.languages(data)}
        return words | subsets.files(data, subset)

    def read(self, data: Path, subset: str, most: int) -> Text:
        return text.read(data, subset, most)

    def sentence(self, model: Any, read: Any, line: str) -> Sentence:
        return sentence.study(model, read, line)

    def links(self, file: Path, read: Text) -> list[alignment.Links]:
        return alignment.read(file, len(read.sides[0]))


def reader(path: Path) -> Reader:
    state = checkpoint_fields.without_weights(path)
    inspection.check_arch(path, checkpoint_fields.options(state))
    kind: type[Reader] = Reader if kind_of(state) is None else resolve_name(ONE_TEXT_READER)
    return kind(path, state)


def kind_of(state: Checkpoint) -> str | None:
    return presets.kind_of(inspection.arch_of(checkpoint_fields.options(state)))
