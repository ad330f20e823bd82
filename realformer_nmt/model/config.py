"""The options of a model, under fairseq's usual flag names, and their checks."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from fairseq.dataclass import FairseqDataclass

from realformer_nmt.common.errors import OptionError
from realformer_nmt.common.requests.option_choice import choose
from realformer_nmt.fairseq_options import check_number
from realformer_nmt.kernels.activations import ACTIVATIONS
from realformer_nmt.kernels.precision import FORMS
from realformer_nmt.model.attention.attention_pattern import PATTERNS
from realformer_nmt.model.attention.carry import CARRIES
from realformer_nmt.model.attention.heads import HEADS
from realformer_nmt.model.attention.scores import SOURCES, longest, source_names
from realformer_nmt.model.norms import NORMS
from realformer_nmt.model.part_names import BLOCKS
from realformer_nmt.model.residual import TOPOLOGIES
from realformer_nmt.model.scaling import SCALINGS
from realformer_nmt.model.topologies.topology import Stack

SIDES = ("encoder", "decoder")
MAX_LAYERS = 1000  # ADMIN and DeepNet stop at 1000; more is a typing error


def model_option(default: Any, text: str, **extra: str) -> Any:
    return field(default=default, metadata={"help": text, **extra})


def _one_of(table: Iterable[str], default: str, words: str = "{}") -> Any:
    return model_option(default, words.format(f"one of {', '.join(table)}"))


@dataclass
class TranslationConfig(FairseqDataclass):
    residual_topology: str = _one_of(TOPOLOGIES, "post")
    residual_scaling: str = _one_of(SCALINGS, "none")
    score_source: str = _one_of(SOURCES, "dot", "scores of self-attention: {}, or several joined by +, as random+dot")
    score_carry: str = _one_of(CARRIES, "none", "residual attention: {}")
    norm: str = _one_of(NORMS, "layer", "which norm, wherever one stands: {}")
    heads: str = _one_of(HEADS, "plain", "which heads, in every attention: {}")
    residual_blocks: int = model_option(BLOCKS, "of block_attn_res: largest number of blocks of layers in a stack")
    score_length: int = model_option(256, "longest sequence a Synthesizer's tables have room for; N of qk_norm")
    encoder_embed_dim: int = model_option(512, "encoder width")
    encoder_ffn_embed_dim: int = model_option(2048, "width of the encoder's feed-forward blocks")
    encoder_layers: int = model_option(6, "number of encoder layers")
    encoder_attention_heads: int = model_option(8, "number of encoder attention heads")
    encoder_learned_pos: bool = model_option(False, "learned positions in the encoder")
    encoder_layerdrop: float = model_option(0.0, "not supported: anything but 0 is refused")
    encoder_attention_pattern: str = _one_of(PATTERNS, "full", "which of its tokens a token of the encoder sees: {}")
    encoder_window: int = model_option(
        128, "of the patterns local and global_local: number of tokens that a token sees on either side"
    )
    encoder_global_tokens: int = model_option(
        16, "of the pattern global_local: number of first tokens, which see all tokens and are seen by all"
    )
    encoder_relative_positions: int = model_option(
        0, "of the encoder: trained relative positions, one for all tokens this far away or farther; 0 for none"
    )
    decoder_embed_dim: int = model_option(512, "decoder width")
    decoder_ffn_embed_dim: int = model_option(2048, "width of the decoder's feed-forward blocks")
    decoder_layers: int = model_option(6, "number of decoder layers")
    decoder_attention_heads: int = model_option(8, "number of decoder attention heads")
    decoder_learned_pos: bool = model_option(False, "learned positions in the decoder")
    decoder_layerdrop: float = model_option(0.0, "not supported: anything but 0 is refused")
    activation_fn: str = _one_of(ACTIVATIONS, "relu")
    dropout: float = model_option(0.1, "dropout")
    attention_dropout: float = model_option(0.0, "dropout of attention weights")
    activation_dropout: float = model_option(0.0, "dropout after the activation", argparse_alias="--relu-dropout")
    share_decoder_input_output_embed: bool = model_option(
        False, "one matrix for the decoder's input and output embeddings"
    )
    share_all_embeddings: bool = model_option(False, "one matrix for all embeddings (joined dictionary, equal widths)")
    layernorm_embedding: bool = model_option(False, "normalise the embeddings")
    no_scale_embedding: bool = model_option(False, "do not multiply embeddings by sqrt(width)")
    no_token_positional_embeddings: bool = model_option(False, "no positions")
    checkpoint_activations: bool = model_option(
        False, "keep only each layer's input and compute the layer again in the backward pass"
    )
    decoding_precision: str = _one_of(FORMS, "fp32", "of products with weights when it decodes on a CPU: {}")
    carry_embeddings: str = model_option(
        "",
        "with --finetune-from-model: take over the embeddings of the subwords that both vocabularies have; a "
        "folder with the dictionaries of that checkpoint",
    )
    max_source_positions: int = model_option(1024, "longest source, in tokens")
    max_target_positions: int = model_option(1024, "longest target, in tokens")


def validate(cfg: TranslationConfig, sides: Sequence[str] = SIDES) -> None:
    """Refuse options with which these sides cannot be built."""
    _validate_numbers(cfg, sides)
    topology = choose("--residual-topology", cfg.residual_topology, TOPOLOGIES)
    scaling = choose("--residual-scaling", cfg.residual_scaling, SCALINGS)
    norm = choose("--norm", cfg.norm, NORMS)
    choose("--heads", cfg.heads, HEADS)
    choose("--decoding-precision", cfg.decoding_precision, FORMS)
    source_names(cfg.score_source)
    if choose("--score-carry", cfg.score_carry, CARRIES).needs_keys:
        _check_scores_of_pairs(cfg, "score_carry", "none")
    choose("--activation-fn", cfg.activation_fn, dict.fromkeys(ACTIVATIONS))
    for side in sides:
        _validate_side(cfg, side)
    if "encoder" in sides:
        _validate_pattern(cfg)
    if len(sides) > 1 and cfg.share_all_embeddings and cfg.encoder_embed_dim != cfg.decoder_embed_dim:
        raise OptionError(
            f"--share-all-embeddings needs one width: --encoder-embed-dim is {cfg.encoder_embed_dim}, "
            f"--decoder-embed-dim is {cfg.decoder_embed_dim}"
        )
    for side in sides:
        encoder_layers, decoder_layers = (getattr(cfg, f"{each}_layers") if each in sides else 0 for each in SIDES)
        stack = Stack(side, encoder_layers, decoder_layers)
        if not topology.has_shortcuts and scaling(stack).weighs:
            raise OptionError(
                f"--residual-topology {cfg.residual_topology} has no shortcuts for --residual-scaling "
                f"{cfg.residual_scaling} to weigh: use --residual-scaling none"
            )
        weight = scaling(stack).weight
        bounded = topology.renormalises and norm.bounds
        if not bounded and stack.sublayers * math.log(weight) > math.log(torch.finfo(torch.float32).max):
            raise OptionError(
                f"--residual-topology {cfg.residual_topology} with --norm {cfg.norm} never normalises the stream, and "
                f"--residual-scaling {cfg.residual_scaling} multiplies it by {weight:.2f} in each of the {side}'s "
                f"{stack.sublayers} sub-layers, beyond what fp32 can hold: use --residual-topology post or dual with "
                "a norm, or fewer layers"
            )


def _validate_numbers(cfg: TranslationConfig, sides: Sequence[str]) -> None:
    absent = tuple(f"{side}_" for side in SIDES if side not in sides)
    for name, value in vars(cfg).items():
        if isinstance(value, int | float) and not name.startswith(absent):
            check_number(name.replace("_", "-"), value)


def _validate_side(cfg: TranslationConfig, side: str) -> None:
    width, heads, layers = (getattr(cfg, f"{side}_{name}") for name in ("embed_dim", "attention_heads", "layers"))
    if width % heads:
        allowed = [str(h) for h in range(1, 33) if width % h == 0]
        raise OptionError(
            f"--{side}-attention-heads {heads} do not divide --{side}-embed-dim {width}: "
            f"use {', '.join(allowed)} heads, or a multiple of {heads} as width"
        )
    together = HEADS[cfg.heads].together
    if heads % together:
        raise OptionError(
            f"--{side}-attention-heads {heads} does not go with --heads {cfg.heads}, which computes {together} as one: "
            f"use a multiple of {together}"
        )
    if layers > MAX_LAYERS:
        raise OptionError(f"--{side}-layers {layers} is more than {MAX_LAYERS}, the deepest that was ever trained")
    if getattr(cfg, f"{side}_layerdrop"):
        raise OptionError(
            f"--{side}-layerdrop {getattr(cfg, f'{side}_layerdrop')} is not supported: carried scores and ADMIN's "
            "profile run through every layer; leave it at 0 and train a shallower model instead"
        )


def _validate_pattern(cfg: TranslationConfig) -> None:
    pattern = choose("--encoder-attention-pattern", cfg.encoder_attention_pattern, PATTERNS)
    for name, default, is_set in (
        ("encoder_attention_pattern", "full", not pattern.whole),
        ("encoder_relative_positions", "0", cfg.encoder_relative_positions > 0),
    ):
        if is_set:
            _check_scores_of_pairs(cfg, name, default)


def _check_scores_of_pairs(cfg: TranslationConfig, name: str, default: str) -> None:
    if longest(cfg.score_source, cfg.score_length):
        flag = f"--{name.replace('_', '-')}"
        raise OptionError(
            f"{flag} {getattr(cfg, name)} needs scores of queries and keys alone, and --score-source "
            f"{cfg.score_source} has rows for all positions: use --score-source dot, or {flag} {default}"
        )
