"""Measures of a model: its attention, its residual stream, its gradients, its layers."""
