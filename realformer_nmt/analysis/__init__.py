"""Analyses of trained models: attention, depth, one sentence."""
