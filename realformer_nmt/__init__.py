"""RealFormer, ResiDual, ADMIN, DeepNorm and Synthesizer for fairseq: what `--user-dir realformer_nmt` imports."""

from realformer_nmt import compat

compat.mend()
