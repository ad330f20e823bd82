"""Description of a model: its architecture, the choices that decide what it computes, its shortcuts."""

from msgspec import UNSET, Struct, UnsetType

from realformer_nmt.common.files.records import Text

Choice = str | int | float | bool | UnsetType | None
Number = int | float


class ShortcutWeight(Struct, frozen=True, kw_only=True):
    """ADMIN's w of one sub-layer, over the width."""

    sublayer: Text
    mean: Number
    smallest: Number | UnsetType = UNSET
    largest: Number | UnsetType = UNSET


class Architecture(Struct, frozen=True, kw_only=True):
    """Family and sizes of a model, by the names of fairseq's options; a choice that it does not have is unset."""

    arch: str | None
    residual_topology: Choice = UNSET
    residual_scaling: Choice = UNSET
    score_source: Choice = UNSET
    score_carry: Choice = UNSET
    norm: Choice = UNSET
    heads: Choice = UNSET
    encoder_layers: Choice = UNSET
    decoder_layers: Choice = UNSET
    encoder_embed_dim: Choice = UNSET
    decoder_embed_dim: Choice = UNSET


class ModelDescription(Architecture, frozen=True, kw_only=True):
    """Architecture of a checkpoint with all its choices, and the weights of its shortcuts."""

    score_length: Choice = UNSET
    encoder_ffn_embed_dim: Choice = UNSET
    decoder_ffn_embed_dim: Choice = UNSET
    encoder_attention_heads: Choice = UNSET
    decoder_attention_heads: Choice = UNSET
    encoder_learned_pos: Choice = UNSET
    decoder_learned_pos: Choice = UNSET
    encoder_attention_pattern: Choice = UNSET
    encoder_window: Choice = UNSET
    encoder_global_tokens: Choice = UNSET
    encoder_relative_positions: Choice = UNSET
    encoder_normalize_before: Choice = UNSET
    decoder_normalize_before: Choice = UNSET
    activation_fn: Choice = UNSET
    layernorm_embedding: Choice = UNSET
    no_scale_embedding: Choice = UNSET
    no_token_positional_embeddings: Choice = UNSET
    share_decoder_input_output_embed: Choice = UNSET
    share_all_embeddings: Choice = UNSET
    parameters: int
    updates: int | UnsetType | None = UNSET
    shortcuts: list[ShortcutWeight] | UnsetType = UNSET
