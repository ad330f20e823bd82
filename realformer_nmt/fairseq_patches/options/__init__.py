"""Patches of fairseq's options: their ranges, their values, what hydra makes of them."""
