"""Patches of a training step: precision, ranks, averages, divergence, the end."""
