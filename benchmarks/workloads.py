"""Work of benchmarks: models that run against each other, their batches, trainings and translations."""

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.data import Dictionary
from fairseq.models import BaseFairseqModel
from fairseq.models.transformer import TransformerModel
from fairseq.models.transformer.transformer_legacy import base_architecture
from fairseq.optim.adam import Adam
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor, nn

from realformer_nmt.fairseq_patches.decoding.shortlist import ShortlistGenerator
from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.model.presets import FAMILIES
from realformer_nmt.training.fused_loss import FusedLabelSmoothedCrossEntropyCriterion
from realformer_nmt.training.radam import RAdam

STOCK = "stock"
PAD, EOS = 1, 2
SENTENCES = 1_000_000  # of the corpus that the batches are cut from: the more, the less padding
BETAS = (0.9, 0.98)
Sample = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """Width and heads are those of WMT's base transformer unless a small run says otherwise."""

    encoder_layers: int
    decoder_layers: int
    width: int = 512
    vocabulary: int = 32768
    checkpoint_activations: bool = False

    @property
    def name(self) -> str:
        ending = ", checkpointed" if self.checkpoint_activations else ""
        return f"{self.encoder_layers}L-{self.decoder_layers}L{ending}"


@dataclass(frozen=True)
class Place:
    device: torch.device
    dtype: torch.dtype


def task(vocabulary: int) -> SimpleNamespace:
    words = Dictionary()
    for index in range(vocabulary - len(words)):
        words.add_symbol(f"w{index}")
    return SimpleNamespace(source_dictionary=words, target_dictionary=words)


def build(who: str, shape: Shape, place: Place) -> BaseFairseqModel:
    """A family of the package, or `stock`."""
    options: dict[str, Any] = {"share_all_embeddings": True, "dropout": 0.1}
    options |= {"attention_dropout": 0.1, "activation_dropout": 0.1, "score_length": 1024}
    for side in ("encoder", "decoder"):
        sizes = {"layers": getattr(shape, f"{side}_layers"), "embed_dim": shape.width}
        sizes |= {"ffn_embed_dim": 4 * shape.width, "attention_heads": max(1, shape.width // 64)}
        options |= {f"{side}_{name}": size for name, size in sizes.items()}
    options["checkpoint_activations"] = shape.checkpoint_activations
    torch.manual_seed(1)
    with place.device:  # a GPU draws weights in a moment
        if who == STOCK:
            args = Namespace(**options, max_source_positions=1024, max_target_positions=1024)
            base_architecture(args)
            model = TransformerModel.build_model(args, task(shape.vocabulary))
        else:
            model = TranslationModel.build_model(Namespace(**options, **FAMILIES[who]), task(shape.vocabulary))
    return model.to(place.device, place.dtype)


def optimiser(who: str, model: nn.Module) -> torch.optim.Optimizer:
    kind = Adam if who == STOCK else RAdam
    return kind([p for p in model.parameters() if p.requires_grad], lr=1e-4, betas=BETAS)


class Masters:
    """A model in bf16 with weights in fp32 that the optimiser updates, as fairseq's --bf16 keeps them."""

    def __init__(self, model: nn.Module) -> None:
        self.weights = [p for p in model.parameters() if p.requires_grad]
        self.masters = [weight.detach().float() for weight in self.weights]
        self.optimiser = RAdam(self.masters, lr=1e-4, betas=BETAS)

    def step(self) -> None:
        for master, weight in zip(self.masters, self.weights, strict=True):
            master.grad = None if weight.grad is None else weight.grad.float()
        self.optimiser.step()
        with torch.no_grad():
            for master, weight in zip(self.masters, self.weights, strict=True):
                weight.copy_(master)

    def zero_grad(self) -> None:
        for weight in self.weights:
            weight.grad = None


def criterion(who: str, shape: Shape) -> nn.Module:
    kind = LabelSmoothedCrossEntropyCriterion if who == STOCK else FusedLabelSmoothedCrossEntropyCriterion
    return kind(task(shape.vocabulary), sentence_avg=False, label_smoothing=0.1)


def warm_up(model: nn.Module, updates: torch.optim.Optimizer | Masters, steps: int = 6) -> None:
    """Steps without gradient: RAdam's first few are of another kind."""
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    for _ in range(steps):
        updates.step()
    updates.zero_grad()


def trainer(who: str, shape: Shape, place: Place, samples: list[Sample]) -> Callable[[], None]:
    """One call is a training step on each sample: forward, loss, backward, optimiser. `who` may name bf16 too."""
    family, _, precision = who.partition(", ")
    place = Place(place.device, torch.bfloat16) if precision else place
    model, loss_of = build(family, shape, place).train(), criterion(family, shape)
    updates = Masters(model) if precision else optimiser(family, model)
    warm_up(model, updates)

    def train() -> None:
        for sample in samples:
            loss, size, _ = loss_of(model, sample)
            (loss / size).backward()
            updates.step()
            updates.zero_grad()

    return train


def samples(shape: Shape, place: Place, tokens: int, number: int, seed: int = 1) -> list[Sample]:
    """Batches as fairseq makes them from sentences of WMT's lengths: sorted by source, then by
    target length, sources padded on the left, targets on the right."""
    chance = np.random.default_rng(seed)
    targets = np.clip(chance.lognormal(3.2, 0.55, SENTENCES), 2, 250).astype(int)
    sources = np.clip(targets * chance.normal(0.95, 0.15, SENTENCES), 2, 250).astype(int)
    order = np.lexsort((targets, sources))
    batches: list[np.ndarray] = []
    for index in range(number):
        start = end = int((index + 0.5) * SENTENCES / number)
        while not batches[index:] or longest(sources, targets, order[start : end + 1]) * (end + 1 - start) <= tokens:
            end += 1
            batches[index:] = [order[start:end]]
    return [sample(sources[batch], targets[batch], shape.vocabulary, place, chance) for batch in batches]


def longest(sources: Any, targets: Any, batch: Any) -> int:
    return int(max(sources[batch].max(), targets[batch].max()))


def sample(sources: Any, targets: Any, vocabulary: int, place: Place, chance: np.random.Generator) -> Sample:
    def sentence(length: int) -> Tensor:
        return torch.tensor([*chance.integers(4, vocabulary, length - 1), EOS])

    source = [sentence(length).flip(0) for length in sources]
    src_tokens = nn.utils.rnn.pad_sequence(source, batch_first=True, padding_value=PAD).flip(1)
    target = nn.utils.rnn.pad_sequence([sentence(n) for n in targets], batch_first=True, padding_value=PAD)
    previous = target.roll(1, 1)  # B x T
    previous[:, 0] = EOS
    previous = previous.masked_fill(target.eq(PAD), PAD)
    inputs = {"src_tokens": src_tokens, "src_lengths": src_tokens.ne(PAD).sum(1), "prev_output_tokens": previous}
    return {
        "net_input": {name: value.to(place.device) for name, value in inputs.items()},
        "target": target.to(place.device),
        "ntokens": int(targets.sum()),
        "nsentences": len(targets),
    }


def generator(
    who: str, shape: Shape, place: Place, samples: list[Sample], beam: int, weights: nn.Module | None = None
) -> Callable[[], int]:
    """One call translates the samples, each to hypotheses of the length of its sources; their number of tokens. `who`
    may name a precision too: post_ln, int8. The weights are those of a model, as far as the family has the same."""
    family, _, precision = who.partition(", ")
    model = build(family, shape, place).eval()
    if weights is not None:
        nn.Module.load_state_dict(model, weights.state_dict(), strict=False)
    options = {"precision": precision} if precision else {}
    model.make_generation_fast_(beamable_mm_beam_size=None, need_attn=False, **options)
    kind = SequenceGenerator if family == STOCK else ShortlistGenerator
    words = task(shape.vocabulary).target_dictionary

    def generate() -> int:
        written = 0
        for sample in samples:
            longest = sample["net_input"]["src_tokens"].size(1)
            search = kind([model], words, beam_size=beam, max_len_a=0, max_len_b=longest, min_len=longest - 1)
            with torch.no_grad():
                outputs = search.generate([model], {"net_input": {**sample["net_input"], "prev_output_tokens": None}})
            written += sum(len(hypotheses[0]["tokens"]) for hypotheses in outputs)
        return written

    return generate
