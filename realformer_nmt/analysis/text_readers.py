"""The reader of held-out text for a checkpoint: of a text and its translation, or of one text."""

from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from realformer_nmt.analysis import sentence, text
from realformer_nmt.analysis.measures import alignment
from realformer_nmt.analysis.sentence import Sentence, SentenceAttention
from realformer_nmt.analysis.single_stack import one_text
from realformer_nmt.analysis.single_stack.one_text import OneText
from realformer_nmt.analysis.text import Batch, Text
from realformer_nmt.checkpoints import inspection
from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.checkpoints.files.reading import Checkpoint
from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins import subsets
from realformer_nmt.evaluation.rows import evaluation_run
from realformer_nmt.model import presets
from realformer_nmt.tasks import TASKS, task_named


class Reader:
    """Reader of the text for one checkpoint, here for one that translates."""

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


class OneTextReader(Reader):
    """Reader of the text for a checkpoint of a single stack."""

    def files(self, data: Path, subset: str) -> dict[str, Path]:
        return evaluation_run.files(data, subset)

    def read(self, data: Path, subset: str, most: int) -> Text:
        settings = checkpoint_fields.table(checkpoint_fields.table(self.state.get("cfg")).get("task"))
        task, side = settings.get("_name"), presets.KINDS[str(kind_of(self.state))].side
        kind = task_named(task).analysed_text
        if kind is None:
            allowed = ", ".join(name for name, row in TASKS.items() if row.analysed_text)
            raise UserError(f"{self.path} is of --task {task}: allowed are {allowed}; give a model of one of these")
        return one_text.read(resolve_name(kind), self.path, settings, side, data, subset).sample(most)

    def sentence(self, model: Any, read: OneText, line: str) -> Sentence:
        """Return the attention of the model while it reads the sentence."""
        tokens = read.tokens(line)
        sentence.check_room(tokens.size(1), model.max_positions())
        words = [read.dictionaries[0][number] for number in tokens[0].tolist()]
        layers = sentence.attention_by_chain(model, Batch([0], {read.side: tokens}, tokens))
        return Sentence(words, [], {chain: SentenceAttention(words, words, heads) for chain, heads in layers.items()})

    def links(self, file: Path, _read: Text) -> list[alignment.Links]:
        raise UserError(f"--alignment {file} is of a translation, and {self.path} does not translate: leave it out")


def reader(path: Path) -> Reader:
    state = checkpoint_fields.without_weights(path)
    inspection.check_arch(path, checkpoint_fields.options(state))
    return (Reader if kind_of(state) is None else OneTextReader)(path, state)


def kind_of(state: Checkpoint) -> str | None:
    return presets.kind_of(inspection.arch_of(checkpoint_fields.options(state)))
