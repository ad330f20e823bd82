"""Beam search by CTranslate2, on the weights of stock fairseq's transformer: the extra `bench`."""

import tempfile
from collections.abc import Callable
from typing import Any

import ctranslate2
import torch
from contestants import PAD, Sample, Shape, task
from ctranslate2.converters.fairseq import set_transformer_decoder, set_transformer_encoder
from ctranslate2.specs import TransformerSpec
from torch import nn

BLANK = "<blank>"  # its name for padding


def exported(model: nn.Module, shape: Shape, samples: list[Sample], beam: int, precision: str) -> Callable[[], int]:
    """As `generating.generator`: one call translates the samples, each to hypotheses of the length of its sources."""
    words = [
        BLANK if index == PAD else word for index, word in enumerate(task(shape.vocabulary).target_dictionary.symbols)
    ]
    translator = _translator(model, shape, words, precision)
    batches: list[Any] = [sample["net_input"]["src_tokens"] for sample in samples]
    texts = [[[words[index] for index in row[row.ne(PAD)][:-1]] for row in batch] for batch in batches]

    def translate() -> int:
        written = 0
        for batch, text in zip(batches, texts, strict=True):
            longest = batch.size(1)
            found = translator.translate_batch(
                text, beam_size=beam, min_decoding_length=longest - 1, max_decoding_length=longest, max_batch_size=0
            )
            written += sum(len(result.hypotheses[0]) + 1 for result in found)
        return written

    return translate


def _translator(model: nn.Module, shape: Shape, words: list[str], precision: str) -> ctranslate2.Translator:
    heads = max(1, shape.width // 64)
    spec = TransformerSpec.from_config((shape.encoder_layers, shape.decoder_layers), heads, pre_norm=False)
    set_transformer_encoder(spec.encoder, model.encoder)
    set_transformer_decoder(spec.decoder, model.decoder)
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.decoder_start_token, spec.config.add_source_eos = spec.config.eos_token, True
    spec.validate()
    spec.optimize(quantization=precision)
    with tempfile.TemporaryDirectory() as folder:
        spec.save(folder)
        return ctranslate2.Translator(folder, intra_threads=torch.get_num_threads(), compute_type=precision)
