"""COMET's models: sentence vectors of XLM-R, and an estimator that turns them into a score.

Names of modules are those of checkpoints of the package unbabel-comet.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers import XLMRobertaConfig, XLMRobertaModel

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.option_choice import choose
from realformer_nmt.evaluation.comet.layers import POOLS, LayerMix, estimator
from realformer_nmt.evaluation.comet.settings import CometSettings, Layer

Ids = list[int]
SPARE = 4  # positions of the table that a single sentence does not use


class Segment(NamedTuple):
    """Tokens of a hypothesis with its source and reference, each with the symbols around it."""

    mt: Ids
    src: Ids
    ref: Ids


class CometModel(nn.Module):
    """Base of the models: encoder, mix of layers, estimator."""

    vectors: ClassVar[int]  # that the estimator reads
    layer_setting: ClassVar[str]  # that says which layer they are of

    def __init__(self, settings: CometSettings, config: XLMRobertaConfig) -> None:
        super().__init__()
        self.settings = settings
        self.layer: Layer = getattr(settings, self.layer_setting)
        self.padding, self.end = cast(int, config.pad_token_id), cast(int, config.eos_token_id)
        self.longest = config.max_position_embeddings - SPARE  # tokens of a sentence, with the symbols around it
        self.encoder = nn.ModuleDict({"model": XLMRobertaModel(config, add_pooling_layer=False)})
        layers = config.num_hidden_layers + 1
        if isinstance(self.layer, int) and not -layers <= self.layer < layers:
            raise UserError(f"layer {self.layer} of a COMET model, whose encoder has 0 to {layers - 1}; or `mix`")
        if self.layer == "mix":
            self.layerwise_attention = LayerMix(layers, settings.layer_transformation, settings.layer_norm)
        size = self.vectors * config.hidden_size
        head = estimator(size, settings.hidden_sizes, settings.activations, settings.final_activation)
        self.estimator = nn.ModuleDict({"ff": head})

    def embed(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return n x T x C numbers of n x T tokens: the mix of all layers, or one layer's."""
        output = self.encoder["model"](input_ids=ids, attention_mask=mask, output_hidden_states=True)
        if isinstance(self.layer, int):
            layer: Tensor = output.hidden_states[self.layer]
            return layer
        mix: Tensor = self.layerwise_attention(output.hidden_states, mask.float())
        return mix

    def pad(self, sentences: Sequence[Ids]) -> tuple[Tensor, Tensor]:
        """Return n x T tokens and the mask of those that are no padding."""
        ids, device = [torch.tensor(tokens) for tokens in sentences], next(self.parameters()).device
        mask = pad_sequence([torch.ones_like(tokens, dtype=torch.bool) for tokens in ids], batch_first=True)
        return pad_sequence(ids, True, self.padding).to(device), mask.to(device)

    def estimate(self, vectors: Tensor) -> Tensor:
        score: Tensor = self.estimator["ff"](vectors).view(-1)
        return score


class RegressionMetric(CometModel):
    """score = f([m, r, m r, |m - r|, m s, |m - s|]) of the vectors of hypothesis, reference and source, each a mean
    over tokens (Rei et al. 2020, section 2.3)."""

    vectors, layer_setting = 6, "layer"

    def forward(self, segments: Sequence[Segment]) -> Tensor:
        mt, src, ref = (self.vector(sentences) for sentences in zip(*segments, strict=True))
        return self.estimate(torch.cat([mt, ref, mt * ref, (mt - ref).abs(), mt * src, (mt - src).abs()], 1))

    def vector(self, sentences: Sequence[Ids]) -> Tensor:
        ids, mask = self.pad(sentences)
        pool = choose("pool", self.settings.pool, POOLS)
        return pool(self.embed(ids, mask), ids.ne(self.padding), mask)


class UnifiedMetric(CometModel):
    """score = f(v), v the first token of hypothesis and source, encoded as one sequence (Rei et al. 2022, CometKiwi);
    with references the mean of three scores: with the source, with the reference, with both."""

    vectors, layer_setting = 1, "sent_layer"

    def __init__(self, settings: CometSettings, config: XLMRobertaConfig) -> None:
        super().__init__(settings, config)
        if not self.sequences() or "mt" not in settings.input_segments:
            raise UserError("input_segments of a COMET model: allowed are mt, and src or ref or both")

    def forward(self, segments: Sequence[Segment]) -> Tensor:
        scores = []
        for names in self.sequences():
            ids, mask = self.pad([self.join(segment, names) for segment in segments])
            scores.append(self.estimate(self.embed(ids, mask)[:, 0]))
        return torch.stack(scores).mean(0)

    def sequences(self) -> list[list[str]]:
        """Return which sentences follow the hypothesis in each sequence."""
        names: list[str] = [name for name in ("src", "ref") if name in self.settings.input_segments]
        return [[name] for name in names] + ([names] if len(names) > 1 else [])

    def join(self, segment: Segment, names: Sequence[str]) -> Ids:
        """Return <s> hypothesis </s></s> source </s>, cut at the table's end, without padding that a text spells."""
        ids = list(segment.mt)
        for name in names:
            ids += [self.end, *getattr(segment, name)[1:]]
        return [token for token in ids if token != self.padding][: self.longest + 2]


MODELS: Mapping[str, type[CometModel]] = {"regression_metric": RegressionMetric, "unified_metric": UnifiedMetric}
