"""ODE Transformer's gated RK2: its encoder; the published file lacks a colon, which is put in."""

import tempfile
from pathlib import Path
from types import ModuleType

from same_weights.draws import Outputs

from authors_code.layers import old_fairseq
from authors_code.record import Source, load

FILE = "fairseq/models/ode_transformer.py"
SOURCE = Source("libeineu/ODE-Transformer", "bcf51e888d1f4d1d7ab6200ca468a200ca20d714", FILE)
BROKEN = 'elif self.calculate_num == 2 and self.rk_type == "initialization"\n'
NAMES = old_fairseq.ENCODER_NORMS | {"gate_linear": "topology.gate"}


def run_code(checkout: Path) -> Outputs:
    old_fairseq.install(checkout)
    code = repaired(checkout / FILE)
    args = old_fairseq.options(
        max_source_positions=16,
        max_relative_length=-1,
        no_token_positional_embeddings=True,
        encoder_normalize_before=True,
        encoder_history_type=None,
        enc_calculate_num=2,
        rk_type="learnable",
        use_word_dropout=False,
        word_dropout=0.0,
    )
    encoder = code.ODETransformerEncoder(args, None, old_fairseq.Vectors())
    return old_fairseq.encoded(old_fairseq.prepared(encoder, NAMES))


def repaired(file: Path) -> ModuleType:
    text = file.read_text()
    assert BROKEN in text
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, file.name)
        copy.write_text(text.replace(BROKEN, f"{BROKEN[:-1]}:\n"))
        return load(copy, f"fairseq.models.{file.stem}")
