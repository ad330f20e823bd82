"""RealFormer, ADMIN, ResiDual, DeepNorm and Synthesizer for fairseq: what `--user-dir realformer_nmt` imports."""

import importlib

__version__ = "0.1.0"


def _fairseq_imports() -> bool:
    """Without a working fairseq there is nothing to register with; `realformer-nmt doctor` says what is wrong."""
    try:
        importlib.import_module("fairseq")
    except Exception:
        return False
    return True


if _fairseq_imports():
    from realformer_nmt import compat, model, presets
    from realformer_nmt import training as training  # registers the optimiser, the schedule and the loss

    compat.mend()
    presets.register(model.MODEL)
