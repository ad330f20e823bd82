"""COMET scores of translations: the model is loaded once, and scores segments in batches of similar length."""

import importlib.metadata
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import torch
from msgspec.structs import replace
from omegaconf import OmegaConf
from transformers import AutoConfig, AutoTokenizer, PretrainedConfig, PreTrainedTokenizerBase, XLMRobertaConfig

from realformer_nmt.checkpoints.files import reading
from realformer_nmt.common.errors import UserError, one_line
from realformer_nmt.common.files.json_records import expected
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.common.requests.option_choice import choose
from realformer_nmt.evaluation.comet import settings
from realformer_nmt.evaluation.comet.model_files import ENCODER, LAYOUT, ModelFiles
from realformer_nmt.evaluation.comet.models import MODELS, CometModel, Segment
from realformer_nmt.evaluation.comet.settings import CometSettings
from realformer_nmt.evaluation.metrics.metric_table import METRICS
from realformer_nmt.evaluation.metrics.metrics import Lines, ScoredTexts, measure
from realformer_nmt.evaluation.metrics.segment_mean import mean_of
from realformer_nmt.evaluation.run_record import Score

BATCH, PRECISION, DIGITS = 16, "fp32", 6
DEPTHS = ("encoder.model.encoder.layer.", "estimator.")  # a model without some of these weights computes another score
# of the hub, for a model's settings to choose among: they are no way to a file or to an address
PRETRAINED = ("xlm-roberta-base", "xlm-roberta-large", "microsoft/infoxlm-base", "microsoft/infoxlm-large")
HINT = f"--comet: {LAYOUT}"


class CometScorer:
    """A COMET model with its tokenizer, on the GPU where there is one, unless the CPU is to be used."""

    def __init__(self, files: ModelFiles, cpu: bool = False) -> None:
        weights, options = read(files)
        kind = choose(f"{files.hparams}: class_identifier", options.class_identifier, MODELS)
        config, self.tokenizer = encoder_files(files, options.pretrained_model)
        self.files = files
        self.model = with_weights(kind(options, config), weights, files.checkpoint)
        self.model.to("cuda" if torch.cuda.is_available() and not cpu else "cpu").eval()

    def segments(self, source: Lines, hypotheses: Lines, reference: Lines) -> list[float]:
        """Return the score of each segment."""
        segments = list(map(Segment, self.tokens(hypotheses), self.tokens(source), self.tokens(reference)))
        order = sorted(range(len(segments)), key=lambda index: sum(map(len, segments[index])))
        scores = [0.0] * len(segments)
        with torch.inference_mode():
            for start in range(0, len(order), BATCH):
                batch = order[start : start + BATCH]
                for index, score in zip(batch, self.model([segments[i] for i in batch]).tolist(), strict=True):
                    scores[index] = score
        return scores

    def tokens(self, lines: Lines) -> list[list[int]]:
        ids: list[list[int]] = self.tokenizer(list(lines), truncation=True, max_length=self.model.longest)["input_ids"]
        return ids

    def about(self) -> dict[str, str]:
        """Return what a signature says of the model and its computation."""
        return {
            "model": re.sub(r"[|:\s]", "_", self.files.name),
            "sha256": sha256(self.files.checkpoint)[:16],
            "precision": PRECISION,
            "transformers": importlib.metadata.version("transformers"),
        }


def score(scorer: CometScorer, source: Lines, hypotheses: Lines, reference: Lines, samples: int) -> Score:
    """Return the mean of the segments' scores x 100, with these scores and the number of empty hypotheses."""
    segments = [round(100 * value, DIGITS) for value in scorer.segments(source, hypotheses, reference)]
    if not all(map(math.isfinite, segments)):
        raise UserError(f"{scorer.files.checkpoint} gives scores that are no numbers: it is damaged; {HINT}")
    texts = ScoredTexts("raw text", list(map(repr, segments)), reference)
    mean = measure(mean_of(scorer.about()), METRICS["comet"].label, texts, samples)
    return replace(mean, segments=segments, empty=sum(not line.strip() for line in hypotheses))


def read(files: ModelFiles) -> tuple[Mapping[str, torch.Tensor], CometSettings]:
    """Return the weights and the settings of a model; no code of its files is run."""
    with files.checkpoint.open("rb") as file:
        content = reading.load_stream(file, str(files.checkpoint), ("optimizer_states",), HINT)
    stored = cast("Mapping[str, Any]", content)
    try:
        hparams = cast("Mapping[str, object]", OmegaConf.to_container(OmegaConf.load(files.hparams)))
    except Exception as error:  # YAML has errors of its own
        raise UserError(f"{files.hparams} cannot be read ({one_line(error)[:200]}); {HINT}") from error
    with expected(files.hparams, HINT):
        options = settings.merge(hparams, stored.get("hyper_parameters") or {})
    with expected(files.checkpoint, HINT):
        return dict(stored["state_dict"]), options


def encoder_files(files: ModelFiles, name: str) -> tuple[XLMRobertaConfig, PreTrainedTokenizerBase]:
    """Return the encoder's configuration and tokenizer: of the folder `encoder` beside hparams.yaml, or of the hub."""
    beside = files.folder / ENCODER
    if not beside.is_dir():
        hint = f"; its config.json and tokenizer may stand in {beside}"
        choose(f"{files.hparams}: pretrained_model", name, dict.fromkeys(PRETRAINED), hint)
    place = str(beside) if beside.is_dir() else name
    try:
        # which would otherwise ask the user whether to run a model's code
        config = AutoConfig.from_pretrained(place, trust_remote_code=False)
        tokenizer = AutoTokenizer.from_pretrained(place, trust_remote_code=False)
    except Exception as error:
        raise UserError(
            f"--comet: the configuration and the tokenizer of {place} cannot be read ({one_line(error)[:200]}): "
            f"connect to the internet, or put them into {beside}"
        ) from error
    check_encoder(place, config, tokenizer)
    return config, tokenizer


def check_encoder(place: str, config: PretrainedConfig, tokenizer: PreTrainedTokenizerBase) -> None:
    """Refuse another encoder, and a tokenizer that is not its own: without its file it knows five symbols alone."""
    if not isinstance(config, XLMRobertaConfig):
        raise UserError(f"--comet: the encoder of {place} is of the type {config.model_type}; allowed is xlm-roberta")
    if len(tokenizer) != config.vocab_size:
        raise UserError(
            f"--comet: the tokenizer of {place} has {len(tokenizer)} subwords, and config.json {config.vocab_size}: "
            "put all files of one tokenizer there, such as sentencepiece.bpe.model"
        )


def with_weights(model: CometModel, weights: Mapping[str, torch.Tensor], checkpoint: Path) -> CometModel:
    """Return the model with the weights of a checkpoint, which may have more, such as a head for words."""
    try:
        missing, spare = model.load_state_dict(weights, strict=False, assign=True)
    except RuntimeError as error:
        raise UserError(f"{checkpoint}: {one_line(error)[:300]}; {HINT}") from error
    deeper = [name for name in spare if name.startswith(DEPTHS)]
    if deeper:
        raise UserError(f"{checkpoint} has {deeper[0]}, and its settings make a model without: take both of one model")
    if missing:
        raise UserError(f"{checkpoint} lacks {missing[0]} ({len(missing)} weights in all); {HINT}")
    return model.float()
