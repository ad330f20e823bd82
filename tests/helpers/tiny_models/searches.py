"""Models whose hypotheses differ and end at different lengths, and comparisons of two searches."""

from collections.abc import Sequence
from typing import Any

import torch
from fairseq.sequence_generator import SequenceGenerator
from tiny_models.tiny import EOS, PAD, build, dictionary, opened
from torch import Tensor, nn

from realformer_nmt.model.presets import FAMILIES

WIDER = {
    f"{side}_{name}": value
    for side in ("encoder", "decoder")
    for name, value in {"embed_dim": 32, "ffn_embed_dim": 64, "attention_heads": 4}.items()
}
Hypotheses = Sequence[Sequence[dict[str, Tensor]]]


def searchable(family: str, **options: Any) -> Any:
    """Return a model that decodes by torch alone; each word depends much on those before it."""
    options = {**FAMILIES[family], **WIDER, "score_length": 40, "share_decoder_input_output_embed": False, **options}
    model = opened(build(**options))
    model.decoder.need_attn = False
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=3 * parameter.size(1) ** -0.5)
        for words in (model.encoder.embed_tokens.weight, model.decoder.embed_tokens.weight):
            nn.init.normal_(words)
        nn.init.normal_(model.decoder.output_projection.weight, std=0.3)
        model.decoder.output_projection.weight[EOS] *= 2
    return model.eval()


def sources(sentences: int, longest: int, seed: int = 1) -> dict[str, Any]:
    """Sentences of random lengths, padded on the left."""
    chance = torch.Generator().manual_seed(seed)
    tokens = torch.randint(4, 14, (sentences, longest), generator=chance)
    tokens[:, -1] = EOS
    padding = torch.randint(0, longest - 1, (sentences, 1), generator=chance)
    return {"net_input": {"src_tokens": tokens.masked_fill(torch.arange(longest) < padding, PAD)}}


def by_fairseq(model: Any, sample: dict[str, Any], prefix: Tensor | None = None, **options: Any) -> Hypotheses:
    generator = SequenceGenerator([model], dictionary(), **options)
    hypotheses: Hypotheses = generator.generate([model], sample, prefix_tokens=prefix)
    return hypotheses


def check_equal(actual: Hypotheses, expected: Hypotheses) -> None:
    """Check that the beams are equal and in order, but for neighbours whose scores differ by rounding."""
    for beams in zip(actual, expected, strict=True):
        torch.testing.assert_close(*(torch.stack([beam["score"] for beam in each]) for each in beams))
        some, expected_beams = (sorted(each, key=lambda beam: beam["tokens"].tolist()) for each in beams)
        assert [beam["tokens"].tolist() for beam in some] == [beam["tokens"].tolist() for beam in expected_beams]
        for one, other in zip(some, expected_beams, strict=True):
            for name in ("score", "positional_scores", "attention"):
                torch.testing.assert_close(one[name], other[name], rtol=1e-5, atol=1e-5)
