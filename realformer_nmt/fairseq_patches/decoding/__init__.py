"""Patches of fairseq's decoding."""
