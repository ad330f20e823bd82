"""The encoder, and its output for the decoder."""

from collections.abc import Mapping

import torch
from fairseq.data import Dictionary
from fairseq.models import FairseqEncoder
from torch import Tensor, nn

from realformer_nmt.model.attention.beam_order import OrderReader
from realformer_nmt.model.attention.cache import sentences_of, unchanged
from realformer_nmt.model.attention.carry import Carried
from realformer_nmt.model.config import TranslationConfig
from realformer_nmt.model.layers import EncoderLayer
from realformer_nmt.model.stack import Side, rotation
from realformer_nmt.model.topologies.topology import Stack


class EncoderOut(dict[str, list[Tensor]]):
    """Encoder output, with each sentence once, however many beams it has in the decoder."""

    def __init__(self, values: Mapping[str, list[Tensor]], orders: OrderReader, beams: int = 1) -> None:
        super().__init__(values)
        self.orders, self.beams = orders, beams

    def in_source_order(self) -> "EncoderOut":
        """Return the output in the order of the source, with the padding on the source's side."""
        (memory,), (padding,), (leading,) = (self[name] for name in self)
        columns = rotation(-leading, len(memory))  # B x S
        turned = {
            "encoder_out": [memory.gather(0, columns.t().unsqueeze(-1).expand_as(memory))],
            "encoder_padding_mask": [padding.gather(1, columns)],
            "leading_padding": [torch.zeros_like(leading)],
        }
        return EncoderOut(turned, self.orders, self.beams)


class Encoder(Side, FairseqEncoder):
    """Encoder; it moves padding to the right, so that position i of a sentence is column i of every score table."""

    def __init__(
        self, cfg: TranslationConfig, dictionary: Dictionary, embed_tokens: nn.Embedding, no_decoder: bool = False
    ) -> None:
        super().__init__(dictionary)
        other_layers = 0 if no_decoder else cfg.decoder_layers
        stack = Stack("encoder", cfg.encoder_layers, other_layers, cfg.norm, cfg.residual_blocks)
        self.add_stack(cfg, dictionary, embed_tokens, EncoderLayer, stack, cfg.max_source_positions)

    def forward(self, src_tokens: Tensor, src_lengths: Tensor | None = None) -> EncoderOut:
        del src_lengths  # the padding shows them
        leading = src_tokens.eq(self.padding_idx).cumprod(1).sum(1, keepdim=True)  # B x 1
        tokens = src_tokens.gather(1, rotation(leading, src_tokens.size(1)))
        padding = tokens.eq(self.padding_idx)
        values = {
            "encoder_out": [self.read(tokens, padding).transpose(0, 1)],  # S x B x C, fairseq's order
            "encoder_padding_mask": [padding],  # B x S
            "leading_padding": [leading],
        }
        return EncoderOut(values, OrderReader())

    def read(self, tokens: Tensor, padding: Tensor) -> Tensor:
        """Encode tokens with their padding on the right: B x S to B x S x C."""
        x = self.embed(tokens, self.embed_positions(tokens) if self.embed_positions else None)
        stream = self.topology.enter(x.masked_fill(padding.unsqueeze(-1), 0))
        carried: Carried = ()
        for layer in self.layers:
            stream, carried = self.run(layer, stream, padding[:, None, None], carried)
        return self.topology.leave(stream, self.layer_norm)

    def reorder_encoder_out(self, encoder_out: EncoderOut, new_order: Tensor) -> EncoderOut:
        order, beams = sentences_of(encoder_out.orders.read(new_order), encoder_out.beams)
        if unchanged(order, len(encoder_out["leading_padding"][0])):
            return EncoderOut(dict(encoder_out), encoder_out.orders, beams)
        indices, dimensions = torch.tensor(order, device=new_order.device), {"encoder_out": 1}
        reordered = {
            name: [value.index_select(dimensions.get(name, 0), indices) for value in values]
            for name, values in encoder_out.items()
        }
        return EncoderOut(reordered, encoder_out.orders, beams)
