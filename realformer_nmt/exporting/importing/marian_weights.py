"""A Marian model's weights as this package's: rows in the order of fairseq's dictionary, positions, start and bias."""

from collections.abc import Sequence

import torch
from torch import Tensor

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.records import Finite
from realformer_nmt.data_bins.vocabulary import END, SYMBOLS
from realformer_nmt.exporting.folding import Weights
from realformer_nmt.exporting.importing.hub_folder import HINT, HubConfig, HubFolder
from realformer_nmt.model.config import SIDES

SHARED, SOURCE, TARGET = "shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"
OUTPUT, BIAS, POSITIONS = "lm_head.weight", "final_logits_bias", "{}.embed_positions.weight"
CONVERTED = {SHARED, SOURCE, TARGET, OUTPUT, BIAS, *map(POSITIONS.format, SIDES)}
FIRST_POSITION = SYMBOLS.index("<pad>") + 1  # fairseq's row of a sequence's first word
ABSENT = -1
HIDDEN = -1000.0  # logit of a word that Marian does not have: its probability is 0 in fp32
BASE = 10_000


class MarianConfig(HubConfig, frozen=True, kw_only=True):
    """Fields of config.json that decide what a Marian model computes, with the defaults of transformers."""

    activation_function: str = "gelu"
    attention_dropout: Finite = 0.0
    scale_embedding: bool = False
    eos_token_id: int = 0
    decoder_start_token_id: int = 58100
    share_encoder_decoder_embeddings: bool = True


class MarianWeights:
    """The weights in a folder; a table that several parts share may be stored under the name of any of them."""

    def __init__(self, folder: HubFolder, fields: MarianConfig) -> None:
        self.path, self.fields = folder.path, fields
        self.stored = {name.removeprefix("model."): tensor for name, tensor in folder.tensors().items()}

    def converted(self, source: Sequence[str], target: Sequence[str]) -> Weights:
        """Return the weights by fairseq's names, for these vocabularies; no table is shared."""
        shared = (SHARED, SOURCE, TARGET) if self.fields.share_encoder_decoder_embeddings else ()
        target_table = self.table(target, TARGET, *shared)
        written = reordered(target_table, target)
        written[END] = target_table[self.fields.decoder_start_token_id]  # fairseq's decoder starts from the end symbol
        output = target_table if self.fields.tie_word_embeddings else self.table(target, OUTPUT)
        bias = self.stored.get(BIAS, torch.zeros(1, len(target)))[0].clone()
        bias[target.index("<pad>")] = HIDDEN
        return {
            **{name: tensor for name, tensor in self.stored.items() if name not in CONVERTED},
            **{POSITIONS.format(side): self.positions(side) for side in SIDES},
            SOURCE: reordered(self.table(source, SOURCE, *shared), source),
            TARGET: written,
            **self.output(reordered(output, target), reordered(bias, target, HIDDEN)),
        }

    def find(self, *names: str) -> Tensor:
        tensor = next((self.stored[name] for name in names if name in self.stored), None)
        if tensor is None:
            raise UserError(f"{self.path} lacks the weights {' or '.join(names)}; {HINT}")
        return tensor

    def table(self, words: Sequence[str], *names: str) -> Tensor:
        table = self.find(*names)
        if len(table) != len(words):
            raise UserError(
                f"{self.path}: {names[0]} has {len(table)} rows, and the vocabulary {len(words)} subwords; {HINT}"
            )
        return table

    def positions(self, side: str) -> Tensor:
        """Return a learned table of fairseq's: Marian's stored table, or else [sin(p w), cos(p w)] in row p."""
        rows = self.stored.get(POSITIONS.format(side))
        if rows is None:
            rows = sinusoids(self.fields.max_position_embeddings, self.fields.d_model)
        return torch.cat([rows.new_zeros(FIRST_POSITION, rows.size(1)), rows])

    def output(self, matrix: Tensor, bias: Tensor) -> Weights:
        """Return the output matrix with the bias folded in, and the last norm, which becomes z + 1.

        z = (x - mean) / deviation has the sum 0, so that z + 1 has the sum d, its width:
        W (g z + b) + c = (W diag(g) + (W (b - g) + c) 1^T / d) (z + 1).
        """
        name = f"decoder.layers.{self.fields.decoder_layers - 1}.final_layer_norm"
        gain, shift = (self.find(f"{name}.{part}").double() for part in ("weight", "bias"))
        wide = matrix.double()  # V x d
        constant = (wide @ (shift - gain) + bias.double()) / len(gain)
        ones = torch.ones(len(gain))
        return {
            "decoder.output_projection.weight": (wide * gain + constant.unsqueeze(1)).float(),
            f"{name}.weight": ones,
            f"{name}.bias": ones.clone(),
        }


def order(entries: Sequence[str]) -> list[int]:
    """Return the numbers of a vocabulary's entries in the order of fairseq's dictionary."""
    special = [entries.index(symbol) if symbol in entries else ABSENT for symbol in SYMBOLS]
    return [*special, *(number for number, word in enumerate(entries) if word not in SYMBOLS)]


def reordered(rows: Tensor, words: Sequence[str], absent: float = 0.0) -> Tensor:
    """Return the rows of a vocabulary in the order of fairseq's dictionary."""
    return torch.cat([rows, torch.full_like(rows[:1], absent)])[order(words)]


def sinusoids(length: int, width: int) -> Tensor:
    """Return sin(p w_k), then cos(p w_k), with w_k = 10000^(-2k / d), for p from 0: Marian's, not fairseq's w_k."""
    half = (width + 1) // 2
    frequencies = float(BASE) ** (-2 * torch.arange(half, dtype=torch.float64) / width)
    angles = torch.outer(torch.arange(length, dtype=torch.float64), frequencies)  # length x half
    return torch.cat([angles.sin(), angles[:, : width // 2].cos()], 1).float()
