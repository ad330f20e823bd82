"""Kinds of work on the texts of requests: translation, and attention."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from realformer_nmt.analysis import sentence
from realformer_nmt.analysis.sentence import Sentence
from realformer_nmt.common.errors import UserError
from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.serving import schemas
from realformer_nmt.serving.decoding import Hypothesis, SearchOptions
from realformer_nmt.serving.served_models import Served
from realformer_nmt.serving.translator import Translator

MOST_WEIGHTS = 250_000  # of an answer


@dataclass(frozen=True)
class TranslationWork:
    """Search for the best translations."""

    translator: Translator
    decoding: SearchOptions

    def answer(self, texts: Sequence[str]) -> list[list[Hypothesis]]:
        return list(self.translator.stream(texts, **asdict(self.decoding)))


@dataclass(frozen=True)
class AttentionWork:
    """Attention of every head of a layer while the model reads a text and writes these subwords."""

    served: Served
    pieces: tuple[str, ...]
    chain: str
    layer: int  # from 1

    def answer(self, texts: Sequence[str]) -> list[schemas.Weights]:
        translator, decoding = self.served.translator, SearchOptions(precision=self.served.precision)
        loaded = translator.loaded(decoding)
        (model,) = loaded.models
        if not isinstance(model, TranslationModel):
            raise UserError("this model is not of this package: its attention cannot be shown")
        words = loaded.task.source_dictionary, loaded.task.target_dictionary
        target = words[1].encode_line(" ".join(self.pieces), add_if_not_exist=False).long()
        longest = model.max_positions()[1]
        if len(target) > longest:
            raise UserError(f"a translation of {len(target)} tokens: the model has room for {longest}, give fewer")
        sources = translator.read(loaded, texts, decoding)
        return [self._layer_of(sentence.attention(model, words, source, target)) for source in sources]

    def _layer_of(self, whole: Sentence) -> schemas.Weights:
        """Return the layer alone, as answers that wait for others must not fill the memory."""
        queries, keys, layers = whole.chains[self.chain]
        if self.layer > len(layers):
            raise UserError(f"layer={self.layer}: {self.served.name} has layers 1 to {len(layers)}")
        weights = layers[self.layer - 1]  # H x T x S
        if weights.numel() > MOST_WEIGHTS:
            raise UserError(f"{weights.numel()} weights: allowed are {MOST_WEIGHTS} or less, give a shorter text")
        return schemas.Weights(
            model=self.served.name,
            chain=self.chain,
            layer=self.layer,
            layers=len(layers),
            queries=queries,
            keys=keys,
            weights=weights.double().round(decimals=4).tolist(),
        )
