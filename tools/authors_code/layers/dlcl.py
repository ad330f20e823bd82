"""DLCL's encoder and decoder, both forms."""

import importlib
from pathlib import Path

from same_weights.draws import LAYERS, Outputs

from authors_code.layers import old_fairseq
from authors_code.record import Source

FILE = "fairseq/models/dlcl_transformer.py"
SOURCE = Source("wangqiangneu/dlcl", "c632ee2bc22a007541243d8d6d2820697c62111b", FILE)
HISTORY = {f"history.layer_norms.{layer + 1}": f"topology.history_norms.{layer}" for layer in range(LAYERS)}
NAMES = {**HISTORY, "history.weight": "topology.weights"}


def run_code(checkout: Path, normalize_before: bool) -> Outputs:
    old_fairseq.install(checkout)
    code = importlib.import_module("fairseq.models.dlcl_transformer")
    sides = dict.fromkeys(("encoder_normalize_before", "decoder_normalize_before"), normalize_before)
    args = old_fairseq.options(normalize_learned_weight=False, **sides)
    code.base_architecture(args)
    encoder = code.DlclTransformerEncoder(args, None, old_fairseq.Vectors())
    decoder = code.DlclTransformerDecoder(args, None, old_fairseq.Vectors())
    initial = {"initial_weights": encoder.history.weight.detach().squeeze(-1).clone()}
    old_fairseq.prepared(encoder, NAMES | old_fairseq.ENCODER_NORMS)
    old_fairseq.prepared(decoder, NAMES | old_fairseq.DECODER_NORMS)
    return initial | old_fairseq.encoded(encoder) | old_fairseq.decoded(decoder)
