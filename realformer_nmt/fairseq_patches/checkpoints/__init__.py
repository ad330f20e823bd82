"""Patches of how fairseq saves, reads and continues a training."""
