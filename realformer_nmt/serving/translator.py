"""A trained model as an object in Python: raw text in, raw text out."""

import copy
import itertools
import math
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from fairseq import checkpoint_utils, utils
from fairseq.data import LanguagePairDataset
from omegaconf import open_dict
from torch import Tensor, nn

from realformer_nmt import plugin
from realformer_nmt.checkpoints import model_in_run
from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.common import extras
from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora import text_pipeline
from realformer_nmt.corpora.corpus_options import CorpusOptions
from realformer_nmt.corpora.paragraphs import Paragraphs
from realformer_nmt.corpora.text_pipeline import TextPipeline
from realformer_nmt.evaluation.translating.translate import EXACT
from realformer_nmt.evaluation.translating.translation_checks import check_same_languages, check_translates
from realformer_nmt.fairseq_patches.messages.quiet import quiet
from realformer_nmt.serving.decoding import Hypothesis, SearchOptions, options_of

SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which no file can contain
AHEAD = 2000  # texts that are translated together


class Loaded(NamedTuple):
    models: list[Any]
    task: Any
    limit: int  # tokens of a source, end symbol included


class Translator:
    """One model, or an ensemble of several. Threads may share it."""

    def __init__(self, checkpoints: Sequence[Path], corpus: TextPipeline, device: torch.device) -> None:
        self.checkpoints, self.corpus, self.device = checkpoints, corpus, device
        self._loaded: dict[str, dict[bool, Loaded]] = {}  # by precision, and by whether with alignments
        self._loading = threading.Lock()

    def translate(self, texts: Iterable[str], *, split_sentences: bool = False, **options: Any) -> list[str]:
        """Return the best translation of each text, or of its sentences; the options are those of SearchOptions."""
        check_list(texts)
        with extras.user_errors("translate"):
            paragraphs = Paragraphs(texts, self.corpus.source, split_sentences)
        return paragraphs.joined(hypotheses[0].text for hypotheses in self.stream(paragraphs.sentences, **options))

    def stream(self, texts: Iterable[str], **options: Any) -> Iterator[list[Hypothesis]]:
        """Yield the `nbest` hypotheses of each text, in order, the best first. There may be endlessly many texts."""
        check_list(texts)
        decoding = SearchOptions(**options)
        rest = iter(texts)
        with extras.user_errors("translate"):
            loaded = self.loaded(decoding)
            while ahead := list(itertools.islice(rest, AHEAD)):
                yield from self._answers(loaded, ahead, decoding)

    def loaded(self, decoding: SearchOptions) -> Loaded:
        """Read each checkpoint once for each precision: with and without alignments the weights are the same."""
        with self._loading, torch.inference_mode(False):  # the weights outlast the mode
            if decoding.precision not in self._loaded:
                plain = load_models(self.checkpoints, self.corpus, self.device, decoding.precision)
                aligning = plain._replace(models=[attending(model) for model in plain.models])
                words = plain.task.source_dictionary
                word = torch.tensor([words.nspecial, words.eos()])
                for alignments, loaded in ((False, plain), (True, aligning)):  # lays out weights, in one thread
                    self._search(loaded, [word], SearchOptions(alignments=alignments))
                self._loaded[decoding.precision] = {False: plain, True: aligning}
            return self._loaded[decoding.precision][decoding.alignments]

    def read(self, loaded: Loaded, texts: Sequence[str], decoding: SearchOptions) -> list[Tensor]:
        """Return the tokens of each text, end symbol included."""
        for text in texts:
            if not isinstance(text, str) or "\n" in text or SURROGATE.search(text):
                raise UserError(
                    f"{text!r:.80} is not a line of text: "
                    "give a string of valid Unicode, without line breaks, for each sentence, or pass split_sentences"
                )
        words, tokens = loaded.task.source_dictionary, []
        for pieces in self.corpus.pieces("".join(f"{text}\n" for text in texts).encode()):
            tokens.append(words.encode_line(pieces, add_if_not_exist=False).long())
            for limit, whose in ((loaded.limit, "the model's"), (decoding.max_tokens, "max_tokens,")):
                if len(tokens[-1]) > limit:
                    raise UserError(
                        f"a text of {len(tokens[-1])} tokens, {pieces[:60]!r}, is longer than {whose} {limit}: "
                        "split it into sentences"
                    )
        return tokens

    def _answers(self, loaded: Loaded, texts: Sequence[str], decoding: SearchOptions) -> list[list[Hypothesis]]:
        tokens = self.read(loaded, texts, decoding)
        nonempty = [index for index, sentence in enumerate(tokens) if len(sentence) > 1]
        answers = [[Hypothesis("", 0.0, [], [], [])] for _ in texts]
        results = self._search(loaded, [tokens[index] for index in nonempty], decoding)
        for index, hypotheses in zip(nonempty, results, strict=True):
            answers[index] = hypotheses
        return answers

    def _search(self, loaded: Loaded, tokens: list[Tensor], decoding: SearchOptions) -> list[list[Hypothesis]]:
        generator = loaded.task.build_generator(loaded.models, options_of(decoding))
        results: list[list[Hypothesis]] = [[] for _ in tokens]
        for batch in batches(tokens, loaded.task, decoding.max_tokens):
            sample = utils.apply_to_sample(lambda tensor: tensor.to(self.device), batch)
            answers = loaded.task.inference_step(
                generator, loaded.models, sample, self._prefix(loaded, len(batch["id"]))
            )
            for index, beams in zip(batch["id"].tolist(), answers, strict=True):
                results[index] = [hypothesis_of(beam, tokens[index], loaded.task) for beam in beams[: decoding.nbest]]
        texts = iter(self.corpus.surface([each.text for hypotheses in results for each in hypotheses]).raw)
        return [[each._replace(text=next(texts)) for each in hypotheses] for hypotheses in results]

    def _prefix(self, loaded: Loaded, sentences: int) -> Tensor | None:
        """Return the target language's tag for each sentence, or None for a model without tags."""
        tag = self.corpus.tags[1]
        first = loaded.task.target_dictionary.index(tag)
        return torch.full((sentences, 1), first, device=self.device) if tag else None


def hypothesis_of(beam: Mapping[str, Any], source: Tensor, task: Any) -> Hypothesis:
    """Return a hypothesis of fairseq's generator; its text is still in subwords."""
    pieces = task.target_dictionary.string(beam["tokens"].cpu()).split()
    return Hypothesis(
        text=" ".join(pieces),
        score=float(beam["score"]) / math.log(2),
        source=[task.source_dictionary[number] for number in source[:-1].tolist()],
        pieces=pieces,
        alignment=[(int(read), int(written)) for read, written in beam.get("alignment", ())],
    )


def check_list(texts: Iterable[str]) -> None:
    if isinstance(texts, str):
        raise UserError(f"{texts!r:.80} is one text: give a list of them")


def load(
    *models: str | PathLike[str],
    prepared: str | PathLike[str] | None = None,
    data: str | PathLike[str] | None = None,
    subwords: str | None = None,
    subwords_folder: str | PathLike[str] | None = None,
    hyphens: Literal["aggressive", "plain"] | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
    cpu: bool = False,
) -> Translator:
    """Load a run's folder or a checkpoint, or several as an ensemble.

    Subwords are those of the folder `prepared` by `realformer-nmt prepare` (default: the one that the model was trained
    on), or those of the options `data`, `subwords`, `subwords_folder` and `hyphens`. A model of many languages needs
    `source_language` and `target_language`.
    """
    if not models:
        raise UserError("load() needs a run's folder or a checkpoint")
    options = CorpusOptions(
        prepared=None if prepared is None else Path(prepared),
        data=None if data is None else Path(data),
        subwords=subwords,
        subwords_folder=None if subwords_folder is None else Path(subwords_folder),
        hyphens=hyphens,
        source_language=source_language,
        target_language=target_language,
    )
    return load_for(options, *map(Path, models), cpu=cpu)


def load_for(options: CorpusOptions, *models: Path, cpu: bool) -> Translator:
    """Load models for text of a corpus; by default that of the first model."""
    plugin.register()
    checkpoints = [model_in_run.checkpoint(model) for model in models]
    for path in checkpoints:
        check_translates(path, checkpoint_fields.without_weights(path))
    corpus = text_pipeline.requested(text_pipeline.with_corpus(options, checkpoints[0]))
    for path in checkpoints:
        check_same_languages(path, checkpoint_fields.without_weights(path), corpus)
    return Translator(checkpoints, corpus, torch.device("cuda" if torch.cuda.is_available() and not cpu else "cpu"))


def load_models(checkpoints: Sequence[Path], corpus: TextPipeline, device: torch.device, precision: str) -> Loaded:
    pair = {"source_lang": corpus.source, "target_lang": corpus.target}
    overrides = {"data": str(corpus.data), **pair, "decoding_precision": precision}
    if precision != EXACT:
        for path in checkpoints:
            if not checkpoint_fields.of_this_package(checkpoint_fields.without_weights(path)):
                raise UserError(f"{path} is no model of this package and decodes in {EXACT} alone")
    with quiet():
        models, cfg, task = checkpoint_utils.load_model_ensemble_and_task(list(map(str, checkpoints)), overrides)
    with open_dict(cfg):
        cfg.generation.print_alignment = None
    for model in models:
        model.to(device).prepare_for_inference_(cfg)
    return Loaded(models, task, min(model.max_positions()[0] for model in models))


def attending(model: nn.Module) -> nn.Module:
    """Return a copy that returns its last layer's attention and shares parameters, buffers and packed weights."""
    twin = _shared(model)
    for module in twin.modules():
        if hasattr(module, "need_attn"):  # fairseq's make_generation_fast_ sets it, and nothing resets it
            vars(module)["need_attn"] = True
    return twin


def _shared(module: nn.Module) -> nn.Module:
    twin = copy.copy(module)
    twin._modules = {name: child and _shared(child) for name, child in module._modules.items()}
    return twin


def batches(tokens: list[Tensor], task: Any, most: int) -> Iterator[Any]:
    """Yield batches of texts of similar length, as fairseq-generate does."""
    text = LanguagePairDataset(
        tokens,
        [len(sentence) for sentence in tokens],
        task.source_dictionary,
        tgt_dict=task.target_dictionary,
        left_pad_source=task.cfg.left_pad_source,
        shuffle=False,
    )
    divide: Callable[..., Any] = text.batch_by_size
    for indices in divide(text.ordered_indices(), max_tokens=most) if tokens else ():
        yield text.collater([text[index] for index in indices])
