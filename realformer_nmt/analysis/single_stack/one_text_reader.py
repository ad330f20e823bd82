"""The reader of held-out text for a checkpoint of a single stack."""

from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from realformer_nmt.analysis.measures import alignment
from realformer_nmt.analysis.sentence import Sentence, SentenceAttention, attention_by_chain, check_room
from realformer_nmt.analysis.single_stack import one_text
from realformer_nmt.analysis.single_stack.one_text import OneText
from realformer_nmt.analysis.text import Batch, Text
from realformer_nmt.analysis.text_readers import Reader, kind_of
from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation.rows import evaluation_run
from realformer_nmt.model import presets
from realformer_nmt.tasks import TASKS, task_named


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

    def sentence(self, model: Any, read: Any, line: str) -> Sentence:
        return study(model, read, line)

    def links(self, file: Path, _read: Text) -> list[alignment.Links]:
        raise UserError(f"--alignment {file} is of a translation, and {self.path} does not translate: leave it out")


def study(model: Any, text: OneText, line: str) -> Sentence:
    """Return the attention of a model of a single stack, which reads the sentence."""
    tokens = text.tokens(line)
    check_room(tokens.size(1), model.max_positions())
    words = [text.dictionaries[0][number] for number in tokens[0].tolist()]
    layers = attention_by_chain(model, Batch([0], {text.side: tokens}, tokens))
    return Sentence(words, [], {chain: SentenceAttention(words, words, heads) for chain, heads in layers.items()})
