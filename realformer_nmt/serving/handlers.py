"""Kinds of work on the texts of requests: translation, and attention."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from realformer_nmt.analysis import sentence
from realformer_nmt.analysis.sentence import Sentence
from realformer_nmt.common.errors import UserError
from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.serving.decoding import Hypothesis, SearchOptions
from realformer_nmt.serving.translator import Translator


@dataclass(frozen=True)
class TranslationWork:
    """Search for the best translations."""

    translator: Translator
    decoding: SearchOptions

    def answer(self, texts: Sequence[str]) -> list[list[Hypothesis]]:
        return list(self.translator.stream(texts, **asdict(self.decoding)))


@dataclass(frozen=True)
class AttentionWork:
    """Attention of every head while the model reads a text and writes these subwords."""

    translator: Translator
    decoding: SearchOptions
    pieces: tuple[str, ...]

    def answer(self, texts: Sequence[str]) -> list[Sentence]:
        loaded = self.translator.loaded(self.decoding)
        (model,) = loaded.models
        if not isinstance(model, TranslationModel):
            raise UserError("this model is not of this package: its attention cannot be shown")
        words = loaded.task.source_dictionary, loaded.task.target_dictionary
        target = words[1].encode_line(" ".join(self.pieces), add_if_not_exist=False).long()
        longest = model.max_positions()[1]
        if len(target) > longest:
            raise UserError(f"a translation of {len(target)} tokens: the model has room for {longest}, give fewer")
        sources = self.translator.read(loaded, texts, self.decoding)
        return [sentence.attention(model, words, source, target) for source in sources]
