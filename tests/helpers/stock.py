"""fairseq's own transformer, of the sizes of tiny.py."""

from argparse import Namespace
from typing import Any

from fairseq.models.transformer import TransformerModel
from fairseq.models.transformer.transformer_legacy import base_architecture
from tiny import SIZE, task


def stock(before: bool, **options: Any) -> TransformerModel:
    args = Namespace(**(SIZE | {"dropout": 0.0} | options))
    args.encoder_normalize_before = args.decoder_normalize_before = before
    args.max_source_positions, args.max_target_positions = options.get("max_source_positions", 1024), 1024
    base_architecture(args)
    return TransformerModel.build_model(args, task())
