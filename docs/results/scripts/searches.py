"""Beam searches by this package and by stock fairseq on the same weights, in fp32 and in fp64, with all candidates."""

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import torch
from fairseq.models.transformer import TransformerModel
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.overrides import TorchFunctionMode

from realformer_nmt.checkpoints.inspection import arch_of
from realformer_nmt.corpora.corpus_options import CorpusOptions
from realformer_nmt.exporting import as_stock_transformer, loaded_run
from realformer_nmt.fairseq_patches.decoding.shortlist import ShortlistGenerator
from realformer_nmt.serving import translator
from realformer_nmt.serving.decoding import SearchOptions, options_of

PAD, EOS = 1, 2
TOGETHER = 64  # hypotheses
Tokens = tuple[int, ...]


class Doubled(TorchFunctionMode):
    """Give fp64 wherever code asks for fp32 by name, as fairseq's softmax and ours do."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Iterable[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        options = dict(kwargs or {})
        if options.get("dtype") is torch.float32:
            options["dtype"] = torch.float64
        return (Tensor.double if func is Tensor.float else func)(*args, **options)


def total_scores(model: nn.Module, source: Tensor, targets: Iterable[Tokens]) -> dict[Tokens, float]:
    """Return the sum of the log-probabilities of each target, a hypothesis or the beginning of one, by a model in fp64.

    The source, S, is without padding.
    """
    unique = list(dict.fromkeys(targets))
    parts = [unique[at : at + TOGETHER] for at in range(0, len(unique), TOGETHER)]
    return {tokens: score for part in parts for tokens, score in zip(part, _totals(model, source, part), strict=True)}


def _totals(model: nn.Module, source: Tensor, targets: list[Tokens]) -> list[float]:
    target = pad_sequence([torch.tensor(tokens) for tokens in targets], batch_first=True, padding_value=PAD)  # N x T
    previous = torch.cat([target.new_full((len(target), 1), EOS), target[:, :-1]], 1)
    lengths = torch.full((len(target),), len(source))
    with Doubled(), torch.no_grad():
        logits, _ = model(source.expand(len(target), -1), lengths, previous)
        scores = logits.log_softmax(-1).gather(2, target.unsqueeze(2)).squeeze(2)
        totals: list[float] = scores.masked_fill(target.eq(PAD), 0).sum(1).tolist()
    return totals


Pair = tuple[Tokens, Tokens]
Hypotheses = list[dict[str, Tensor]]  # of a sentence, best first


def tokens_of(hypothesis: Mapping[str, Tensor]) -> Tokens:
    return tuple(hypothesis["tokens"].tolist())


class Step(NamedTuple):
    """The candidates of each sentence of a batch that is still searched for, best first."""

    beams: Tensor  # tokens so far, the end symbol in front: sentences x beams x length
    scores: Tensor  # cumulative: sentences x candidates
    words: Tensor
    origins: Tensor  # the beam that each candidate continues

    def prefixes(self, row: int) -> list[Tokens]:
        return [tuple(beam[1:]) for beam in self.beams[row].tolist()]

    def candidates(self, row: int) -> list[Tokens]:
        prefixes, possible = self.prefixes(row), self.scores[row].isfinite().tolist()
        words, origins = self.words[row].tolist(), self.origins[row].tolist()
        return [(*prefixes[origins[at]], words[at]) for at, finite in enumerate(possible) if finite]

    def same(self, row: int, other: "Step", place: int) -> bool:
        pairs = ((self.beams, other.beams), (self.words, other.words), (self.origins, other.origins))
        return all(torch.equal(mine[row], its[place]) for mine, its in pairs)


class Search:
    """One of fairseq's generators, with the steps of all that it has decoded."""

    def __init__(self, generator: Any, exact: bool = False) -> None:
        self.generator, self.exact = generator, exact
        self.steps: list[tuple[dict[int, int], Step]] = []  # with the row of each sentence, by its id
        search = (getattr(generator, "short", None) or generator).search
        self.choose = search.step
        vars(search)["step"] = self.note

    def note(self, step: int, lprobs: Tensor, scores: Tensor, tokens: Tensor, sentences: Tensor) -> Any:
        candidates = self.choose(step, lprobs, scores, tokens, sentences)
        rows = {sentence: row for row, sentence in enumerate(sentences.tolist())}
        self.steps.append((rows, Step(tokens.view(len(rows), -1, step + 1).clone(), *candidates)))
        return candidates

    def decode(self, sample: dict[str, Any]) -> list[Hypotheses]:
        with torch.no_grad(), Doubled() if self.exact else nullcontext():
            hypotheses: list[Hypotheses] = self.generator.generate([], sample)
        return hypotheses

    def of(self, sentence: int) -> Iterator[tuple[Step, int]]:
        """Yield the steps of a sentence, by its `id` in the sample, with its row there."""
        return ((step, rows[sentence]) for rows, step in self.steps if sentence in rows)


class Engines(NamedTuple):
    task: Any
    models: Mapping[str, nn.Module]  # ours and stock, in fp32 and in fp64
    description: dict[str, Any]

    @classmethod
    def load(cls, run: Path) -> "Engines":
        """Ours as `realformer-nmt translate` loads it; stock's as `export --to fairseq` writes it."""
        (fast,), task, _ = translator.load(run, cpu=True).loaded(SearchOptions())
        exact = loaded_run.load(run, CorpusOptions())
        form = as_stock_transformer.of(exact)
        models = {"ours": fast, "ours, fp64": exact.model.double()}
        for name, dtype in (("stock", torch.float32), ("stock, fp64", torch.float64)):
            models[name] = TransformerModel.build_model(argparse.Namespace(**form.options), task)
            models[name].load_state_dict(form.weights, strict=True)
            models[name].to(dtype).eval().make_generation_fast_(beamable_mm_beam_size=None, need_attn=False)
        return cls(task, models, {"family": arch_of(dict(exact.options)), "updates": exact.updates})

    @property
    def judge(self) -> nn.Module:
        return self.models["stock, fp64"]

    def search(self, name: str, beam: int, longest: int) -> Search:
        """Build one with a limit that is the same in every batch; with max_len_a the longest source there sets it."""
        generator = SequenceGenerator if name.startswith("stock") else ShortlistGenerator
        options = options_of(SearchOptions(beam=beam, max_len_b=longest))
        built = self.task.build_generator([self.models[name]], options, seq_gen_cls=generator)
        return Search(built, name.endswith("fp64"))

    def texts(self, subset: str, joined: int) -> list[Tensor]:
        """Return the sources of a subset, so many sentences joined to each."""
        self.task.load_dataset(subset)
        data = self.task.dataset(subset)
        tokens = [data[at]["source"] for at in range(len(data))]
        groups = [tokens[at : at + joined] for at in range(0, len(tokens), joined)]
        return [torch.cat([*(part[:-1] for part in group[:-1]), group[-1]]) for group in groups]

    def batches(self, texts: list[Tensor], tokens: int) -> Iterator[dict[str, Any]]:
        return translator.batches(texts, self.task, tokens)

    def alone(self, name: str, text: Tensor, beam: int, longest: int) -> Hypotheses:
        """Return what an engine writes for a sentence outside all batches."""
        ((hypotheses,),) = (
            self.search(name, beam, longest).decode(sample) for sample in self.batches([text], len(text))
        )
        return hypotheses


def swaps(one: Search, other: Search, sentence: int) -> Iterator[tuple[int, list[Pair]]]:
    """Yield the steps at which two searches rank candidates the other way round, and these pairs, as long as both
    hold the same beams."""
    for number, ((step, row), (its, place)) in enumerate(zip(one.of(sentence), other.of(sentence), strict=False)):
        if step.same(row, its, place):
            continue
        if set(step.prefixes(row)) != set(its.prefixes(place)):
            return
        if pairs := swapped(step.candidates(row), its.candidates(place)):
            yield number, pairs


def swapped(one: Sequence[Tokens], other: Sequence[Tokens]) -> list[Pair]:
    """Return the pairs that two lists have in opposite order; what a list lacks stands behind all that it has."""
    ranks = {candidate: rank for rank, candidate in enumerate(other)}
    everything = [*one, *(candidate for candidate in other if candidate not in set(one))]
    return [
        (before, after)
        for at, before in enumerate(one)
        for after in everything[at + 1 :]
        if ranks.get(after, inf) < ranks.get(before, inf)
    ]
